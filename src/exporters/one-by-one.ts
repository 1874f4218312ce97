/** Requests of one item, one after the other: the first that fails ends it, and all of them are sent again with the item. */
import type { ExportOutcome } from './exporter.ts';

export async function oneByOne<Part>(parts: readonly Part[], send: (part: Part) => Promise<ExportOutcome>): Promise<ExportOutcome> {
  for (const part of parts) {
    const outcome = await send(part);
    if (outcome.kind === 'failed') return outcome;
  }
  return { kind: 'sent' };
}

/** In order, none longer than `partsMax`. */
export function chunks<Part>(parts: readonly Part[], partsMax: number): readonly (readonly Part[])[] {
  return Array.from({ length: Math.ceil(parts.length / partsMax) }, (_, at) => parts.slice(at * partsMax, (at + 1) * partsMax));
}
