/** The journals by the scheme of `journal.url`. */
import { diskJournal } from './disk.ts';
import type { Journal } from './journal.ts';
import { memoryJournal } from './memory.ts';
import type { JournalParts, JournalSettings } from './settings.ts';

export const journals = {
  disk: diskJournal,
  memory: memoryJournal,
} as const satisfies { readonly [scheme: string]: (settings: JournalSettings, parts: JournalParts) => Promise<Journal> };
