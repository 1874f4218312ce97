/** Requests of one item, one after the other: the first that fails ends it, and all of them are sent again with the item. */
import type { ExportOutcome } from '../exporter.ts';

export async function oneByOne<Part>(parts: readonly Part[], send: (part: Part) => Promise<ExportOutcome>): Promise<ExportOutcome> {
  for (const part of parts) {
    const outcome = await send(part);
    if (outcome.kind === 'failed') return outcome;
  }
  return { kind: 'sent' };
}
