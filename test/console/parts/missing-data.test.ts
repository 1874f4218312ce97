import { expect, test } from 'vitest';
import { type EvaluabilityRow, evaluableOf, skipReasons } from '../../../src/console/parts/missing-data.ts';

const row = (own: Partial<EvaluabilityRow>): EvaluabilityRow => ({
  agent: 'a',
  dialect: 'gen_ai',
  name: 'tool_error',
  outcome: 'scored',
  reason: null,
  need: null,
  missing: null,
  todo: null,
  count: 1,
  ...own,
});
const lacks = { outcome: 'skipped', reason: 'results_not_carried', need: 'tool_results', missing: 'results of tool calls', todo: 'Set X.' };
const nothing = { outcome: 'skipped', reason: 'no_tool_calls' };

test('missing data: skips that lack data come first, with their setting, by dialect', () => {
  const reasons = skipReasons([
    row({ count: 90 }),
    row({ ...nothing, count: 50 }),
    row({ ...nothing, dialect: 'mastra', agent: 'b', count: 5 }),
    row({ ...lacks, count: 3 }),
    row({ ...lacks, agent: 'b', count: 4 }),
    row({ ...lacks, dialect: 'mastra', todo: null, count: 1 }),
  ]);
  expect(reasons.map(({ reason, dialect, todo, runs, agents }) => [reason, dialect, todo, runs, agents.join()])).toEqual([
    ['results_not_carried', 'gen_ai', 'Set X.', 7, 'a,b'],
    ['results_not_carried', 'mastra', null, 1, 'a'],
    ['no_tool_calls', '', null, 55, 'a,b'],
  ]);
});

test('missing data: the share counts only runs with something to score', () => {
  expect(
    evaluableOf([
      row({ count: 6 }),
      row({ outcome: 'failed', count: 1 }),
      row({ ...nothing, count: 50 }),
      row({ ...lacks, agent: 'b', count: 3 }),
    ]),
  ).toEqual({
    scored: 6,
    of: 10,
    agents: 2,
    agentsScored: 1,
  });
  expect(evaluableOf([])).toEqual({ scored: 0, of: 0, agents: 0, agentsScored: 0 });
});
