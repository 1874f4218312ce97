/** Over all recordings of known tokens: what the calls of a run cost is what its tokens cost, each token once. */
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { callCosts } from '../../evaluators/pricing/prices.ts';
import { numberOf, sum } from '../../evaluators/matching/rational.ts';
import { isClaimed } from './claimed.ts';
import { play, recordingsIn } from './read.ts';

/** Input and output stand apart in the sum: a dollar for an input token, a million for an output token. */
const prices = { '*': { inputPerMillion: 1_000_000, outputPerMillion: 1_000_000_000_000 } };

const recordings = recordingsIn(fileURLToPath(new URL('../fixtures/recordings', import.meta.url))).filter(
  ({ expected }) => isClaimed(expected) && expected.traces.every(({ tokens }) => tokens !== undefined),
);

test('costs: over the recordings every token is priced once, or the cost is unknown', () => {
  const outcomes = recordings.map(({ name, ...recording }) => {
    const { traces, not_carried: none, partly_carried: some } = recording.expected;
    const excused = [...none, ...some].some((path) => path.startsWith('tokens') || path === 'llm_calls' || path === 'model');
    const calls = play({ name, ...recording }).runs.flatMap((run) => callCosts(run.trace, prices));
    if (calls.some(({ kind }) => kind !== 'priced') || calls.length === 0)
      return excused ? 'unknown' : `${name}: unknown although the tokens are known`;
    const wanted = traces.reduce((total, { tokens }) => total + (tokens?.input ?? 0) + (tokens?.output ?? 0) * 1_000_000, 0);
    const actual = numberOf(sum(calls.flatMap((one) => (one.kind === 'priced' ? [one.amount] : []))));
    if (actual === wanted) return 'equal';
    return excused && actual < wanted ? 'less' : `${name}: ${actual} instead of ${wanted}`;
  });
  expect(outcomes.filter((one) => !['equal', 'unknown', 'less'].includes(one))).toEqual([]);
  expect(outcomes.filter((one) => one === 'equal').length).toBeGreaterThan(90);
});
