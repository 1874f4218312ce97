/** Recordings with every scripted word replaced are read as well as the recordings themselves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isClaimed } from './claimed.ts';
import { differences } from './compare.ts';
import { contentsOf, play, recordingsIn, type Recording } from './read.ts';
import { renamed } from './rename.ts';
import { scoredOf } from './scored.ts';

const recordings = recordingsIn(fileURLToPath(new URL('../fixtures/recordings', import.meta.url))).filter(({ expected }) =>
  isClaimed(expected),
);
const folder = mkdtempSync(join(tmpdir(), 'renamed-recordings-'));
afterAll(() => rmSync(folder, { recursive: true }));

for (const [index, recording] of recordings.entries()) {
  test(`recordings: ${recording.name} is read as well when all its words are others`, () => {
    const copy = written(recording, index);
    const replayed = play(copy);
    expect(replayed.spans).toBe(recording.expected.decoded.spans);
    expect(copy.expected.traces[0]?.input).not.toBe(recording.expected.traces[0]?.input);
    expect(differences(copy.expected, replayed.runs)).toEqual([]);
    expect(scoredOf(copy.expected, replayed.runs)).toEqual(scoredOf(recording.expected, play(recording).runs));
  });
}

test('recordings: a renamed copy keeps nothing of a scripted answer', () => {
  const recording = recordings.find(({ expected }) => expected.traces[0]?.final_response?.includes('Lutetia') === true);
  if (recording === undefined) throw new Error('no recording books the Hotel Lutetia');
  const texts = contentsOf(written(recording, 0)).spans.flatMap((span) => [
    span.name,
    ...span.attributeKeys().map((key) => String(span.attribute(key))),
  ]);
  expect(texts.filter((text) => /lutetia|search_flights|CDG/i.test(text))).toEqual([]);
});

function written(recording: Recording, seed: number): Recording {
  const { files, expected } = renamed(recording, seed);
  const own = mkdtempSync(join(folder, 'copy-'));
  for (const { file, bytes } of files) writeFileSync(join(own, file), bytes);
  return { name: recording.name, folder: own, expected };
}
