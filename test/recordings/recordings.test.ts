/** Every recorded run of the dialects that we claim comes out as what the agent really did; the others are read without a fault. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isClaimed } from './claimed.ts';
import { differences } from './compare.ts';
import { play, recordingsIn } from './read.ts';

const recordings = recordingsIn(fileURLToPath(new URL('../fixtures/recordings', import.meta.url)));

test('recordings: there are some, and some are claimed', () => {
  expect(recordings.filter(({ expected }) => isClaimed(expected)).length).toBeGreaterThan(100);
});

test.each(recordings.map((recording) => [recording.name, recording] as const))('recordings: %s', (_name, recording) => {
  const replayed = play(recording);
  const { decoded } = recording.expected;
  expect({ spans: replayed.spans, log_records: replayed.records, otlp_traces: replayed.traceIds.size }).toEqual(decoded);
  if (isClaimed(recording.expected)) expect([...differences(recording.expected, replayed.runs)]).toEqual([]);
});
