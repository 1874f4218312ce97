import { expect, test } from 'vitest';
import { countsBetween, countsIn } from '../../../src/cli/demo/summary.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { wholePage } from '../../telemetry/whole-page.ts';

/** Names that a page must escape, or that look like its own grammar. */
const agents = ['travel-agent', 'a "quoted" one', 'two\nlines', 'back\\slash', '', '} 7', 'zażółć'] as const;

test('counts: the counts of a registry are read back from its page, under any names of agents', () => {
  const registry = metricRegistry();
  agents.forEach((agent, at) => {
    registry.add('tracejury.runs', 1, { 'gen_ai.agent.name': agent });
    registry.add('tracejury.evaluation.results', at + 1, {
      'gen_ai.evaluation.name': 'tool_error',
      'gen_ai.agent.name': agent,
      'gen_ai.evaluation.score.label': 'pass',
    });
  });
  const counts = countsIn(wholePage(registry.snapshot()));
  expect(counts.runs).toBe(agents.length);
  expect(counts.verdicts).toEqual(agents.map((agent, at) => ({ evaluator: 'tool_error', agent, label: 'pass', count: at + 1 })));
});

test('counts: between two looks only what is new counts', () => {
  const one = { evaluator: 'e', agent: 'a', label: 'pass', count: 3 };
  const other = { evaluator: 'e', agent: 'b', label: 'fail', count: 1 };
  expect(
    countsBetween(
      { runs: 4, verdicts: [one, other] },
      { runs: 6, verdicts: [{ ...one, count: 4 }, other, { ...one, count: 1 }, { ...other, label: 'pass' }] },
    ),
  ).toEqual({
    runs: 2,
    verdicts: [
      { ...one, count: 2 },
      { ...other, label: 'pass', count: 1 },
    ],
  });
});

test('counts: a page of something else counts nothing', () => {
  expect(countsIn('<html>\ntracejury_runs_total{ \ntracejury_runs_total x\n')).toEqual({ runs: 0, verdicts: [] });
});
