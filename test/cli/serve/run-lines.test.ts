/** The lines of scored runs on a terminal. */
import { expect, test } from 'vitest';
import { linesPerSecond, runLines } from '../../../src/cli/serve/run-lines.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';

function terminal(colours = false) {
  const clock = manualClock();
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  const shown = runLines({ colours, say: (line) => lines.push(line), clock, sleep: () => new Promise((resolve) => waiting.push(resolve)) });
  return {
    ...shown,
    lines,
    clock,
    async wake() {
      for (const resolve of waiting.splice(0)) resolve();
      await Promise.resolve();
    },
  };
}

const trace = `trace=${run().traceId}`;
const cases: readonly { readonly name: string; readonly item: ScoredRun; readonly line: string }[] = [
  { name: 'a run that passed', item: scoredRun({ a: scored(1), b: scored(1) }), line: `✓ travel-agent  2 passed  ${trace}` },
  {
    name: 'a raw metric beside it',
    item: scoredRun({ a: scored(1), b: scored(0.2, { threshold: null, passed: null, label: '' }) }),
    line: `✓ travel-agent  1 passed, 1 measured  ${trace}`,
  },
  {
    name: 'a run that failed, with its sentence',
    item: scoredRun({ a: scored(1), tool_error: scored(0, { explanation: '1 of 2 tool calls failed.' }) }),
    line: `✗ travel-agent  tool_error: 1 of 2 tool calls failed.  ${trace}`,
  },
  {
    name: 'a judge that broke off',
    item: scoredRun({ a: scored(1), judged: failed() }),
    line: `⚠ travel-agent  judged: The judge did not answer.  ${trace}`,
  },
  {
    name: 'a failure before a judge that broke off',
    item: scoredRun({ judged: failed(), a: scored(0, { explanation: 'No.' }) }),
    line: `✗ travel-agent  a: No.  judged: The judge did not answer.  ${trace}`,
  },
  { name: 'a run of which nothing was scored', item: scoredRun({ a: skipped }), line: `· travel-agent  nothing scored  ${trace}` },
  {
    name: 'more failures than a line holds',
    item: scoredRun({ a: scored(0), b: scored(0), c: scored(0), d: scored(0), e: scored(0) }),
    line: `✗ travel-agent  a: It is 0.  b: It is 0.  c: It is 0.  and 2 more  ${trace}`,
  },
  {
    name: 'a later revision of a run that is not whole',
    item: scoredRun({ a: scored(1) }, run({ revision: 2, completeness: 'partial' })),
    line: `✓ travel-agent  1 passed  (partial, revision 2)  ${trace}`,
  },
  {
    name: 'foreign names without what a terminal obeys',
    item: scoredRun({ a: scored(0, { explanation: 'x\u001b[2J\ny' }) }, run({ trace: agentTrace({ agent: 'a\u001b[31m\u202e' }) })),
    line: String.raw`✗ a\u001b[31m\u202e  a: x\u001b[2J y  ` + trace,
  },
];

test.each(cases)('run lines: $name', ({ item, line }) => {
  const { lines, scored: show } = terminal();
  show(item);
  expect(lines.map((text) => text.replace(/^\d\d:\d\d:\d\d RUN {3}/, ''))).toEqual([line]);
});

test('run lines: only the sign is coloured', () => {
  const { lines, scored: show } = terminal(true);
  show(scoredRun({ a: scored(0) }));
  expect(lines[0]).toContain('\u001b[31m✗\u001b[0m travel-agent');
});

test('run lines: what turned out to be a part of another run has none', () => {
  const { lines, scored: show } = terminal();
  show(scoredRun({ a: scored(1) }, run({ partOf: { tenant: run().tenant, traceId: run().traceId, spanId: run().spanId } })));
  expect(lines).toEqual([]);
});

test('run lines: a second has a few, the others are counted when it is over, and the next second has lines again', async () => {
  const { lines, scored: show, clock, wake } = terminal();
  for (let nth = 0; nth < linesPerSecond + 7; nth++) show(scoredRun({ a: scored(nth % 2) }));
  expect(lines).toHaveLength(linesPerSecond);
  clock.advance(1_000);
  await wake();
  expect(lines.slice(linesPerSecond).map((line) => line.slice(9))).toEqual(['RUN   … 7 more runs, 3 failed']);
  show(scoredRun({ a: scored(1) }));
  expect(lines).toHaveLength(linesPerSecond + 2);
  await wake();
  expect(lines).toHaveLength(linesPerSecond + 2);
});
