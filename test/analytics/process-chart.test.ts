import { expect, test } from 'vitest';
import { processChart } from '../../src/analytics/process-chart.ts';
import { processOf, runOf } from '../builders/process-runs.ts';

test('a chart has the tools with their calls, and the steps with their shares', () => {
  const chart = processChart(
    processOf([
      [runOf(['lookup', 'refund']), 75],
      [runOf(['lookup']), 25],
    ]),
  );
  expect(chart).toBe(`flowchart TD
  start(["start: 100 runs"])
  t1["lookup: 100 calls"]
  t2["refund: 75 calls"]
  finish(["end"])
  start -->|"100, 100 %"| t1
  t1 -->|"75, 75 %"| t2
  t2 -->|"75, 100 %"| finish
  t1 -->|"25, 25 %"| finish
`);
});

test('a step that no run of the period took is neither drawn nor counted', () => {
  const model = processOf([[runOf(['lookup']), 3]]);
  const unused = { ...model, transitions: [...model.transitions, { from: 'lookup', to: 'refund', times: 0, runs: 0 }] };
  expect(processChart(unused)).toBe(processChart(model));
});

test('a name cannot break out of its place', () => {
  const chart = processChart(processOf([[runOf(['a"] --> b["x', 'end', '', 'x'.repeat(150)]), 1]]));
  expect(chart).toContain('["a#34;#93; --#62; b#91;#34;x: 1 calls"]');
  expect(chart).toContain('["(no name): 1 calls"]');
  expect(chart.split('\n').every((line) => line.length < 120)).toBe(true);
});

test('of many steps the most frequent are drawn, and the others are counted', () => {
  const chart = processChart(processOf(Array.from({ length: 40 }, (_, at) => [runOf([`a${at}`, `b${at}`]), at + 1])));
  expect(chart.match(/-->/g)).toHaveLength(60);
  expect(chart).toContain('%% 60 rarer steps are left out');
  expect(chart).not.toContain('"a0:');
});
