/**
 * For every claimed recording it is pinned which evaluators score it: a dialect that loses a field turns scores into skips, which no
 * comparison of runs need notice. The fixture is renewed on purpose only: `npx vitest run test/recordings/scored.test.ts -u`.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { isClaimed } from './claimed.ts';
import { play, recordingsIn } from './read.ts';
import { scoredOf, scoredText } from './scored.ts';

const fixtures = fileURLToPath(new URL('../fixtures', import.meta.url));
const all = recordingsIn(join(fixtures, 'recordings'))
  .filter(({ expected }) => isClaimed(expected))
  .map((recording) => ({ name: recording.name, scored: scoredOf(recording.expected, play(recording).runs) }));

test('scored: each recording is scored by the evaluators that are pinned for it', async () => {
  await expect(scoredText(all)).toMatchFileSnapshot(join(fixtures, 'scored-evaluators.json'));
});

test('scored: with all expectations given, no evaluator skips for want of one', () => {
  const unsaid = all.flatMap(({ name, scored }) =>
    scored.flatMap(({ skipped }) => (skipped['no_expectation'] ?? []).map((one) => ({ name, one }))),
  );
  // These depend on their options, or want a vector, which no recorded agent answers with.
  const others = new Set([
    ...evaluators.filter(({ expectationSchema }) => expectationSchema === undefined).map(({ id }) => id),
    'cosine_similarity',
  ]);
  expect(unsaid.filter(({ one }) => !others.has(one))).toEqual([]);
});
