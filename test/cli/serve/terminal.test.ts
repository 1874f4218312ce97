/** Lines of the log for people, and the lines of the start. */
import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { hasColours, linesPerSecond, logLine, runLines, whatIsOn } from '../../../src/cli/serve/terminal.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { manualClock } from '../../../src/model/clock.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { failed, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { validators } from '../../builders/validators.ts';

const time = new Date(2026, 0, 2, 3, 4, 5).getTime();
const of = (fields: object): string => JSON.stringify({ level: 30, time, pid: 1, hostname: 'h', ...fields });

test.each([
  [{ msg: 'stopped', unsent: 0 }, '03:04:05 INFO  stopped  unsent=0'],
  [
    { msg: 'first spans', service: 'my shop', dialects: ['openinference', 'gen_ai'] },
    '03:04:05 INFO  first spans  service="my shop"  dialects=openinference,gen_ai',
  ],
  [
    { level: 40, msg: 'a backend takes nothing', exporter: 'phoenix', todo: 'Look at it.' },
    '03:04:05 WARN  a backend takes nothing  exporter=phoenix → Look at it.',
  ],
  [{ level: 50, msg: 'failed', error: 'Error: a\n    at b' }, '03:04:05 ERROR failed  error="Error: a at b"'],
  [{ level: 20, msg: 'm', keys: [], empty: '' }, '03:04:05 DEBUG m  keys=none  empty=""'],
  [{ time: 'never', msg: 'm' }, '--:--:-- INFO  m'],
  [{ level: 7, msg: 'm' }, '03:04:05 LOG   m'],
])('%j is one readable line', (fields, line) => expect(logLine(of(fields), { colours: false })).toBe(line));

test('colour is only at the level', () => {
  expect(logLine(of({ level: 50, msg: 'm' }), { colours: true })).toBe('03:04:05 \u001b[31mERROR\u001b[0m m');
});

test.each([true, false])(
  'nothing foreign reaches the terminal as a command, in a field, its name, the message or what to do (colours: %j)',
  (colours) => {
    const bad = 'a\u001b[2J\u009b31m\u0007\r\n\u202eb\u061c\u0000';
    for (const line of [
      logLine(of({ msg: bad, [bad]: bad, list: [bad, { [bad]: bad }], todo: bad }), { colours }),
      logLine(bad, { colours }),
    ]) {
      expect(line.replace('\u001b[32mINFO \u001b[0m', 'INFO')).not.toMatch(/[\p{Cc}\u202e\u061c]/u);
    }
  },
);

test('a line is bounded, however large its fields are', () => {
  const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`field${index}`, 'x'.repeat(10_000)]));
  expect(logLine(of({ msg: 'y'.repeat(100_000), ...fields }), { colours: false }).length).toBeLessThan(5_000);
});

test.each([
  [true, {}, true],
  [true, { NO_COLOR: '' }, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
])('on a terminal: %j, with %j, colours: %j', (isTerminal, env, want) => expect(hasColours(isTerminal, env)).toBe(want));

test.each([
  ['', ['Judges       none', 'Exporters    metrics']],
  [
    'judges: { main: { model: m, api_key: s3cret, budget: { requests_per_day: 20 } }, idle: { model: n } }\nevaluators: [ { use: task_completion, judge: main, sample: { rate: 0.05 } } ]\nexport: [ { to: metrics }, { to: span_events, name: mine, endpoint: "http://u:s3cret@h" } ]',
    [
      'Judges       main (m), asked by task_completion (5 % of runs), at most 20 requests a day',
      'Judges       idle (n), asked by no evaluator, no budget',
      'Exporters    metrics, mine',
    ],
  ],
])('what is on with %j', (text, lines) => {
  expect(whatIsOn(loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators }).config)).toEqual(lines);
});

// The lines of scored runs on a terminal.

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
  { name: 'a run without a score', item: scoredRun({ a: skipped }), line: `· travel-agent  nothing scored  ${trace}` },
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
