/** Small inputs, one for each kind of reading that went wrong once, come out as what the agent really did. `kinds/README.md` gives the rules. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { differences } from './compare.ts';
import { play, recordingsIn } from './read.ts';

const kinds = recordingsIn(fileURLToPath(new URL('kinds', import.meta.url)));

test.each(kinds.map((kind) => [kind.name, kind] as const))('kinds: %s', (_name, kind) => {
  const replayed = play(kind);
  expect({ spans: replayed.spans, log_records: replayed.records, otlp_traces: replayed.traceIds.size }).toEqual(kind.expected.decoded);
  expect(differences(kind.expected, replayed.runs)).toEqual([]);
});
