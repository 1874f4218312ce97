/** The journals by the scheme of `journal.url`. One loads when it opens. */
import { JuryError, diskFullText, isDiskFull } from '../model/errors.ts';
import type { diskJournal } from './disk.ts';
import type { kafkaJournal } from './kafka.ts';
import { kafkaAddress, kafkaName } from './kafka/address.ts';
import type { memoryJournal } from './memory.ts';
import type { Journal, JournalDeps, JournalSettings } from './journal.ts';

export const journals = {
  disk: async (...given: Parameters<typeof diskJournal>) => await (await import('./disk.ts')).diskJournal(...given),
  kafka: async (...given: Parameters<typeof kafkaJournal>) => await (await import('./kafka.ts')).kafkaJournal(...given),
  memory: async (...given: Parameters<typeof memoryJournal>) => await (await import('./memory.ts')).memoryJournal(...given),
} as const satisfies { readonly [scheme: string]: (settings: JournalSettings, parts: JournalDeps) => Promise<Journal> };

export interface JournalAddress {
  readonly scheme: keyof typeof journals;
  /** The part after the colon: a folder for `disk`, brokers and a topic for `kafka`. */
  readonly rest: string;
}

/** Undefined: no journal has such a URL. */
export function journalAddress(url: string): JournalAddress | undefined {
  const [, scheme = '', rest = ''] = /^([a-z]+):(.*)$/s.exec(url) ?? [];
  if (scheme === 'memory') return rest === '' ? { scheme, rest } : undefined;
  if (scheme === 'kafka') return kafkaAddress(rest) === undefined ? undefined : { scheme, rest };
  return scheme === 'disk' && rest !== '' && !rest.startsWith('//') ? { scheme, rest } : undefined;
}

/** Shown to people, so without a login. */
export function journalName({ scheme, rest }: JournalAddress): string {
  return scheme === 'kafka' ? kafkaName(rest) : rest;
}

/** Rejects with a JuryError. */
export async function openJournal(
  { scheme, rest }: JournalAddress,
  settings: Omit<JournalSettings, 'folder'>,
  parts: JournalDeps,
): Promise<Journal> {
  try {
    return await journals[scheme]({ ...settings, folder: rest }, parts);
  } catch (error) {
    throw error instanceof JuryError
      ? error
      : new JuryError(
          'JOURNAL_UNUSABLE',
          isDiskFull(error) ? `${diskFullText(rest)} (${messageOf(error)}).` : `${journalName({ scheme, rest })}: ${messageOf(error)}.`,
          error,
        );
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'unknown error';
}
