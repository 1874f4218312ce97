/** Lines of the log for people, and the lines of the start. */
import { expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { hasColours, logLine } from '../../../src/cli/serve/log-lines.ts';
import { whatIsOn } from '../../../src/cli/serve/started-text.ts';
import { loadConfig } from '../../../src/config/load.ts';

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

test('colour stands at the level alone', () => {
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
  expect(whatIsOn(loadConfig({ file: 'a.yaml', text, env: {}, evaluators }).config)).toEqual(lines);
});
