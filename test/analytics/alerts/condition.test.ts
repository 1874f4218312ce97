import fc from 'fast-check';
import { expect, test } from 'vitest';
import { alertCondition, conditionForms } from '../../../src/analytics/alerts/condition.ts';

const hour = 3_600_000;
const conditions: readonly (readonly [text: string, condition: object])[] = [
  ['tool_error.rate worse than previous version', { kind: 'worse_than_previous', evaluator: 'tool_error' }],
  ['  tool_error.rate   worse than previous version ', { kind: 'worse_than_previous', evaluator: 'tool_error' }],
  ['tool_error.rate < 0.95 over 1h', { kind: 'rate', evaluator: 'tool_error', side: '<', threshold: 0.95, overMs: hour }],
  ['my.own.rate < 95% over 30m', { kind: 'rate', evaluator: 'my.own', side: '<', threshold: 0.95, overMs: hour / 2 }],
  ['e.rate > 0.5', { kind: 'rate', evaluator: 'e', side: '>', threshold: 0.5, overMs: hour }],
  ['cost per run > 0.10', { kind: 'per_run', what: 'cost', side: '>', threshold: 0.1, overMs: hour }],
  ['output tokens per run > 2000 over 2h', { kind: 'per_run', what: 'output_tokens', side: '>', threshold: 2000, overMs: 2 * hour }],
  ['run errors > 5%', { kind: 'status', status: 'error', side: '>', threshold: 0.05, overMs: hour }],
  ['paused runs > 0.2 over 2h', { kind: 'status', status: 'paused', side: '>', threshold: 0.2, overMs: 2 * hour }],
  ['p95 duration > 30s', { kind: 'duration', share: 0.95, side: '>', threshold: 30_000_000, overMs: hour }],
  ['median duration > 500ms over 5m', { kind: 'duration', share: 0.5, side: '>', threshold: 500_000, overMs: 300_000 }],
  ['mean duration > 1m', { kind: 'duration', share: 'mean', side: '>', threshold: 60_000_000, overMs: hour }],
  ['e.burn rate > 14.4 over 1h', { kind: 'burn_rate', evaluator: 'e', windows: [{ rate: 14.4, longMs: hour, shortMs: 300_000 }] }],
  [
    'e.burn rate',
    {
      kind: 'burn_rate',
      evaluator: 'e',
      windows: [
        { rate: 14.4, longMs: hour, shortMs: 300_000 },
        { rate: 6, longMs: 6 * hour, shortMs: hour / 2 },
        { rate: 1, longMs: 72 * hour, shortMs: 6 * hour },
      ],
    },
  ],
];
for (const [text, condition] of conditions) {
  test(`alert condition: reads ${JSON.stringify(text)}`, () => expect(alertCondition(text)).toEqual({ kind: 'condition', condition }));
}

test('alert condition: reads every form that its messages name', () => {
  for (const form of conditionForms) expect(alertCondition(form.replace('NAME', 'e')).kind).toBe('condition');
});

const faults: readonly (readonly [text: string, problem: RegExp, todo: RegExp])[] = [
  ['tool_error < 1', /is not a condition/, /Write one of: NAME\.rate worse than previous version; /],
  ['tool_error.rate', /the comparison is missing/, /Write for example tool_error\.rate < 0\.95 over 1h/],
  ['tool_error.rate worse than last version', /"worse than last version" is not a comparison/, /worse than previous version\.$/],
  ['tool_error.rate below 0.9', /"below 0\.9" is not a comparison/, /tool_error\.rate < 0\.95 over 1h/],
  ['tool_error.rate < 95 over 1h', /a rate is between 0 and 1, and 95 is not/, /0\.95, or 95%/],
  ['tool_error.rate < high over 1h', /"high" is not what the figure is measured in/, /tool_error\.rate < 0\.95/],
  ['tool_error.rate < 0.9 over an hour', /is not a comparison/, /over 1h/],
  ['tool_error.rate < 0.9 over 1', /"1" is not a duration/, /10m, 1h or 7d/],
  ['tool_error.rate < 0.9 over 1m', /a window of 1m is not between 5m and 30d/, /between 5m and 30d/],
  ['tool_error.rate < 0.9 over 31d', /is not between/, /30d/],
  ['run errors', /the comparison is missing/, /run errors > 5% over 1h/],
  ['paused runs > 20', /a rate is between 0 and 1, and 20 is not/, /0\.95, or 95%/],
  ['cost per run', /the comparison is missing/, /cost per run > 0\.10/],
  ['p95 duration > 30', /"30" is not what the figure is measured in/, /p95 duration > 30s/],
  ['p0 duration > 30s', /p0 is the shortest/, /p50/],
  ['e.burn rate < 1 over 1h', /low burn rate/, />/],
  ['e.burn rate > 2', /needs its window/, /e\.burn rate > 2 over 1h/],
];
for (const [text, problem, todo] of faults) {
  test(`alert condition: names the fault of ${JSON.stringify(text)}`, () => {
    const parsed = alertCondition(text);
    expect(parsed).toMatchObject({ kind: 'fault', problem: expect.stringMatching(problem), todo: expect.stringMatching(todo) });
  });
}

test('alert condition: any text is a condition or a fault', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc
          .array(fc.constantFrom('e.rate', '.', '<', '>', '0.9', 'over', '1h', 'p95', 'duration', 'cost', 'per', 'run', 'burn rate'))
          .map((words) => words.join(' ')),
      ),
      (text) => {
        expect(['condition', 'fault']).toContain(alertCondition(text).kind);
      },
    ),
  );
});
