/** The matchers as a test meets them, types included: `npm test` compiles this file. */
import { expect, test } from 'vitest';
import { scriptedJudge } from '../../src/judges/scripted.ts';
import { agentTrace, toolCall } from '../../src/library/agent-trace.ts';
import { taskCompletion, toolCallValidity, toolEfficiency, toolError, toolTrajectory } from '../../src/library/evaluators.ts';
import { experiment } from '../../src/library/experiment.ts';
import type { Report } from '../../src/library/report.ts';
import { matchers } from '../../src/library/vitest.ts';
import { parseSpanId } from '../../src/model/ids.ts';

expect.extend(matchers);

const good = agentTrace({ input: 'Book it.', toolCalls: [toolCall('book', {}, { result: 'ok' })], finalResponse: 'Done.' });
const spanId = parseSpanId('00000000000000aa');
if (spanId === undefined) throw new Error('no span id');
const bad = agentTrace({
  toolCalls: [toolCall('find', {}, { result: 'x' }), { ...toolCall('book', {}, { error: 'no room left' }), spanId }],
});
const judge = scriptedJudge({});

test('toPass: a run that passes', () => {
  expect(good).toPass(toolError());
  expect(good).toPass(toolTrajectory(), { expect: { toolCalls: [{ name: 'book' }] } });
  expect(bad).not.toPass(toolError());
});

test('toPass: the message names the evaluator, the score, the call and its span', () => {
  const message = messageOf(() => expect(bad).toPass(toolError()));
  for (const part of [
    'expected the run to pass tool_error: score 0.5, passes from 1.',
    'book (call 2) failed',
    'no room left',
    '(span 00000000000000aa)',
  ])
    expect(message).toContain(part);
  expect(messageOf(() => expect(good).not.toPass(toolError()))).toContain('expected the run not to pass tool_error: score 1');
});

test('toPass: what was skipped, or never passes or fails, satisfies neither toPass nor its opposite', () => {
  for (const evaluator of [toolCallValidity(), toolEfficiency({}, { threshold: null })]) {
    expect(messageOf(() => expect(good).toPass(evaluator))).toContain('expected a pass or fail of ');
    expect(messageOf(() => expect(good).not.toPass(evaluator))).toContain('expected a pass or fail of ');
  }
  expect(messageOf(() => expect(good).toPass(toolCallValidity()))).toContain('tool_call_validity: skipped (no_tool_definitions)');
});

test('toPass: a judge evaluator is awaited, and a broken judge passes nothing', async () => {
  await expect(async () => await expect(good).toPass(taskCompletion(), { judge, expect: { tasks: ['book'] } })).rejects.toThrow(
    'task_completion: no verdict (',
  );
});

test('toPass: anything but an agent trace is refused', () => {
  expect(messageOf(() => expect('text').toPass(toolError()))).toContain('toPass looks at an agent trace');
  expect(messageOf(() => expect(good).toHaveNoFailures())).toContain('toHaveNoFailures looks at the report');
});

test('toHaveNoFailures: the message names the example, the evaluator and the evidence', async () => {
  const dataset = [
    { id: 'fine', input: 'good' },
    { id: 'full-hotel', input: 'bad' },
    { id: 'broken', input: 'throw' },
    { id: 'empty', input: '' },
  ];
  const task = (input: string) => {
    if (input === 'throw') throw new Error('crashed');
    return input === '' ? agentTrace({}) : input === 'good' ? good : bad;
  };
  const report = await experiment({ dataset, task, evaluators: [toolError()] }).run();
  const message = messageOf(() => expect(report).toHaveNoFailures());
  for (const part of [
    '2 of 4 examples failed (1 skipped)',
    'example full-hotel\n  tool_error: score 0.5',
    'book (call 2) failed',
    '(span 00000000000000aa)',
    'example broken\n  task_failed: crashed',
  ])
    expect(message).toContain(part);
  expect(message).not.toContain('example fine');
  expect(report).not.toHaveNoFailures();
  expect(await experiment({ dataset: dataset.slice(0, 1), task, evaluators: [toolError()] }).run()).toHaveNoFailures();
});

const silent = agentTrace({ input: 'hello' });
const broken = { ask: () => Promise.resolve({ kind: 'failed', error: 'offline' } as const) };
const unscored: readonly { readonly name: string; readonly report: () => Promise<Report>; readonly says: string }[] = [
  {
    name: 'nothing was scored',
    report: () => experiment({ dataset: [{ input: 'x' }], task: () => silent, evaluators: [toolError()] }).run(),
    says: '0 of 1 examples failed (1 skipped), but nothing was scored\n\nexample 1\n  tool_error: skipped (no_tool_calls)',
  },
  {
    name: 'there is no example',
    report: () => experiment({ dataset: [], task: () => silent, evaluators: [toolError()] }).run(),
    says: '0 of 0 examples failed, but nothing was scored',
  },
  {
    name: 'a judge broke off',
    report: () =>
      experiment({ dataset: [{ input: 'x' }], task: () => good, evaluators: [toolError(), taskCompletion()], judge: broken }).run(),
    says: 'but 1 of 1 examples has no score where one is wanted\n\nexample 1\n  task_completion: no verdict (offline)',
  },
  {
    name: 'an expectation has no score',
    report: () =>
      experiment({
        dataset: [{ input: 'x', expect: { output: 'Done.' } }, { input: 'y' }],
        task: (input) => (input === 'x' ? agentTrace({ toolCalls: [toolCall('book', {}, { result: 'ok' })] }) : good),
        evaluators: [toolError()],
      }).run(),
    says: 'example 1\n  expect.output has no score\n  exact_match: skipped (no_final_response)',
  },
];

for (const { name, report, says } of unscored) {
  test(`toHaveNoFailures: where ${name} neither it nor its opposite holds, unless that is allowed`, async () => {
    const found = await report();
    expect(messageOf(() => expect(found).toHaveNoFailures())).toContain(says);
    expect(messageOf(() => expect(found).not.toHaveNoFailures())).toContain(says);
    expect(found).toHaveNoFailures({ allowUnscored: true });
  });
}

test('toPass: an expectation that the evaluator does not check at all is refused', () => {
  expect(messageOf(() => expect(good).toPass(toolError(), { expect: { output: 'Done.', toolCalls: [] } }))).toContain(
    'tool_error checks nothing of what is expected: expect.tool_calls, expect.output.',
  );
  expect(good).toPass(toolTrajectory(), { expect: { output: 'Other.', toolCalls: [{ name: 'book' }] } });
});

/** Where the type of a matcher is wrong, this does not compile. */
test('toPass: its types ask for a judge where one is needed', async () => {
  const atOnce: () => void = () => expect(good).toPass(toolError());
  const waits: () => Promise<void> = () => expect(good).toPass(taskCompletion(), { judge });
  expect(atOnce).not.toThrow();
  await expect(waits()).rejects.toThrow('no verdict');
});

function messageOf(assertion: () => unknown): string {
  try {
    assertion();
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
  throw new Error('the assertion held');
}
