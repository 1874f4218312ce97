import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'task_completion' };
const trace = agentTrace({
  input: 'Book a room and tell the price',
  finalResponse: 'Booked.',
  tasks: ['Book a room', 'Tell the price'],
  toolCalls: [
    call({ name: 'book', arguments: { city: 'Oslo' }, result: 'done' }),
    call({ name: 'pay', executed: false, result: undefined }),
  ],
});
const done = (number: number, completed: boolean): JsonValue => ({ number, explanation: `because ${number}`, completed });
const answer = (...tasks: JsonValue[]) => [{ kind: 'answered' as const, value: { tasks }, truncated: false }];

test('task_completion: the verdicts count by task number, in any order', () => {
  const { verdict } = judged({ entry, trace }, answer(done(2, false), done(1, true)));
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 0.5,
    passed: true,
    explanation: '1 of 2 tasks is not done: "Tell the price" (because 2).',
    details: {
      completed: 1,
      total: 2,
      derived: false,
      tasks: [
        { number: 1, completed: true },
        { number: 2, completed: false },
      ],
    },
  });
});

const rows = [
  { name: 'a task without a verdict is not done', tasks: [done(1, true)], score: 0.5 },
  { name: 'the first verdict on a task counts', tasks: [done(1, true), done(2, false), done(2, true)], score: 0.5 },
  { name: 'a verdict on a task that was not asked is ignored', tasks: [done(1, true), done(2, false), done(3, true)], score: 0.5 },
  { name: 'without numbers the place counts', tasks: [{ completed: false }, { completed: true }], score: 0.5 },
  { name: 'numbers from 0 count by place', tasks: [done(0, true), done(1, true)], score: 1 },
  { name: 'no verdict at all is nothing done', tasks: [], score: 0 },
];
for (const { name, tasks, score } of rows) {
  test(`task_completion: ${name}`, () => {
    expect(judged({ entry, trace }, answer(...tasks)).verdict).toMatchObject({ kind: 'scored', score });
  });
}

test('task_completion: the judge sees input, calls with their results, response, tasks and constraints', () => {
  const { questions } = judged({ entry, trace, expected: { constraints: 'Under 500' } }, answer());
  expect(questions[0]?.data).toEqual([
    { title: 'user input', text: 'Book a room and tell the price' },
    { title: 'tool calls', text: '1. book({"city":"Oslo"})\n   returned: done\n2. pay({})\n   did not run' },
    { title: 'final response', text: 'Booked.' },
    { title: 'tasks', text: '1. Book a room\n2. Tell the price' },
    { title: 'constraints', text: 'Under 500' },
  ]);
});

test('task_completion: the answer must hold one verdict a task, the explanation before it', () => {
  const { questions } = judged({ entry, trace }, answer());
  const items = questions[0]?.answerSchema['properties'] as {
    readonly tasks: { readonly items: { readonly required: readonly string[]; readonly additionalProperties: boolean } };
  };
  expect(items.tasks.items).toMatchObject({ required: ['number', 'explanation', 'completed'], additionalProperties: false });
  const fault = (...tasks: JsonValue[]) => questions[0]?.check?.({ tasks });
  expect([
    fault(done(1, true), done(2, true)),
    fault(done(1, true)),
    fault(done(1, true), done(1, true)),
    fault(done(1, true), done(2, true), done(3, true)),
  ]).toEqual([undefined, 'task 2 has no verdict', 'task 1 has 2 verdicts', 'there are 3 verdicts for 2 tasks']);
});

test('task_completion: a judge that fails gives no score', () => {
  expect(judged({ entry, trace }, [{ kind: 'failed', error: 'timeout' }]).verdict).toMatchObject({
    kind: 'failed',
    error: 'timeout',
    details: { judge_called: true, judge_error: true },
  });
});

test('task_completion: without a task list the tasks are derived in the same call, and marked', () => {
  const { tasks: _none, ...run } = trace;
  const { questions, verdict } = judged({ entry, trace: run }, answer({ number: 1, task: 'Book it', explanation: 'e', completed: true }));
  expect(questions.map(({ id }) => id)).toEqual(['derive_and_judge']);
  expect(verdict).toMatchObject({ score: 1, details: { derived: true, tasks: [{ task: 'Book it' }] } });
  expect(judged({ entry, trace: run }, answer()).verdict).toMatchObject({ kind: 'skipped', reason: 'no_tasks' });
});

test('task_completion: long data is cut, and the details say so', () => {
  const { questions, verdict } = judged({ entry, trace: { ...trace, input: 'x'.repeat(100_000) } }, answer(done(1, true), done(2, true)));
  expect(questions[0]?.data[0]?.text.length).toBeLessThan(40_000);
  expect(verdict.details).toMatchObject({ truncated: true });
});

const { tasks: _tasks, ...withoutTasks } = trace;
const { input: _input, ...withoutInput } = trace;
const skips = [
  {
    name: 'no tasks, unless they may be derived',
    entry: { ...entry, options: { derive_tasks: false } },
    run: withoutTasks,
    reason: 'no_tasks',
  },
  { name: 'an empty task list', entry, run: { ...trace, tasks: [] }, reason: 'no_tasks' },
  { name: 'no input', entry, run: withoutInput, reason: 'no_input' },
  { name: 'more calls than the limit', entry, run: trace, reason: 'too_large' },
];
for (const { name, entry: configured, run, reason } of skips) {
  test(`task_completion: ${name} is skipped as ${reason} and asks no judge`, () => {
    const { questions, verdict } = judged({ entry: configured, trace: run, limits: { toolCallsMax: 1 } }, []);
    expect(verdict).toMatchObject({ kind: 'skipped', reason });
    expect(questions).toEqual([]);
  });
}
