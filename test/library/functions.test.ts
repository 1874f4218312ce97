import { expect, test } from 'vitest';
import { agentTrace, toolCall } from '../../src/library/agent-trace.ts';
import {
  evaluate,
  messageOrder,
  toolCallArgs,
  toolCalled,
  toolCorrectness,
  toolEfficiency,
  toolError,
  toolRecovery,
  toolTrajectory,
  trajectoryMatch,
  type ArgumentMatcher,
  type ConfiguredRule,
  type ErrorPredicate,
} from '../../src/library/evaluators.ts';
import type { Expectation } from '../../src/model/expectation.ts';

/** Cities are the same in any case of their letters; other arguments play no part. */
const sameCity: ArgumentMatcher = (expected, actual) => String(expected['city']).toLowerCase() === String(actual['city']).toLowerCase();
const trace = agentTrace({
  toolCalls: [
    toolCall('search', { city: 'ROME', page: 1 }, { result: 'ok' }),
    toolCall('search', { city: 'Rome', page: 2 }, { result: 'ok' }),
    toolCall('book', { city: 'Rome' }, { result: 'ok' }),
  ],
});
const expect3: Expectation = { toolCalls: ['search', 'search', 'book'].map((name) => ({ name, arguments: { city: 'rome' } })) };
const messages: Expectation = { messages: [{ role: 'assistant', toolCalls: expect3.toolCalls ?? [] }] };

const scores: readonly {
  readonly name: string;
  readonly evaluator: ConfiguredRule;
  readonly expect?: Expectation;
  readonly score: number;
}[] = [
  { name: 'tool_trajectory', evaluator: toolTrajectory({ arguments: { matcher: sameCity } }), expect: expect3, score: 1 },
  { name: 'tool_trajectory without one', evaluator: toolTrajectory(), expect: expect3, score: 0 },
  {
    name: 'tool_trajectory that ignores arguments besides',
    evaluator: toolTrajectory({ arguments: { mode: 'ignore', matcher: () => false } }),
    expect: expect3,
    score: 0,
  },
  {
    name: 'tool_correctness',
    evaluator: toolCorrectness({ mode: 'names_and_args', arguments: { matcher: sameCity } }),
    expect: expect3,
    score: 1,
  },
  { name: 'tool_call_args', evaluator: toolCallArgs({ arguments: { matcher: sameCity } }), expect: expect3, score: 1 },
  {
    name: 'tool_called',
    evaluator: toolCalled({ name: 'search', times: 2, arguments: { city: 'rome' }, argumentsMatch: { matcher: sameCity } }),
    score: 1,
  },
  {
    name: 'message_order',
    evaluator: messageOrder({ sequence: [{ name: 'search', arguments: { city: 'rome' } }], argumentsMatch: { matcher: sameCity } }),
    score: 1,
  },
  {
    name: 'trajectory_match',
    evaluator: trajectoryMatch({ compare: 'subset', arguments: { matcher: sameCity } }),
    expect: messages,
    score: 1,
  },
  { name: 'tool_efficiency', evaluator: toolEfficiency({ arguments: { matcher: sameCity } }), score: 2 / 3 },
  {
    name: 'only one tool',
    evaluator: toolTrajectory({ arguments: { mode: 'ignore', overrides: { book: () => false } } }),
    expect: expect3,
    score: 2 / 3,
  },
  {
    name: 'a rule of one tool',
    evaluator: toolTrajectory({ arguments: { matcher: () => true, overrides: { book: { mode: 'exact' } } } }),
    expect: expect3,
    score: 2 / 3,
  },
  {
    name: 'a matcher in the rule of one tool',
    evaluator: toolTrajectory({ arguments: { mode: 'ignore', overrides: { book: { matcher: () => false } } } }),
    expect: expect3,
    score: 2 / 3,
  },
  {
    name: 'an expectation without arguments',
    evaluator: toolTrajectory({ arguments: { matcher: () => false } }),
    expect: { toolCalls: [{ name: 'search' }, { name: 'search' }, { name: 'book' }] },
    score: 1,
  },
];
for (const { name, evaluator, expect: wanted = {}, score } of scores) {
  test(`matcher: ${name} scores ${Math.round(score * 100) / 100}`, async () => {
    expect((await evaluate(trace, { expect: wanted }, [evaluator]))[0]).toMatchObject({ kind: 'scored', score });
  });
}

test('matcher: the sentence has the reason for which a call was refused', async () => {
  const [verdict] = await evaluate(trace, { expect: { toolCalls: [{ name: 'book', arguments: {} }] } }, [
    toolCallArgs({ arguments: { matcher: () => false } }),
  ]);
  expect(verdict).toMatchObject({
    explanation:
      '1 of 1 expected call was not made with the expected arguments: book (nearest is book (call 3): the matcher refuses its arguments).',
  });
});

test('matcher: many calls are compared by it as few are', async () => {
  const many = agentTrace({ toolCalls: Array.from({ length: 60 }, (_, at) => toolCall('t', { id: `A${at}` })) });
  const wanted = { toolCalls: Array.from({ length: 60 }, (_, at) => ({ name: 't', arguments: { id: `a${at}` } })) };
  const sameId: ArgumentMatcher = (expected, actual) => String(expected['id']).toUpperCase() === actual['id'];
  expect((await evaluate(many, { expect: wanted }, [toolTrajectory({ arguments: { matcher: sameId } })]))[0]).toMatchObject({ score: 1 });
});

test('matcher: one that throws is a failed verdict, and no fault of the agent', async () => {
  const broken: ArgumentMatcher = () => {
    throw new Error('oops');
  };
  expect((await evaluate(trace, { expect: expect3 }, [toolTrajectory({ arguments: { matcher: broken } })]))[0]).toMatchObject({
    kind: 'failed',
    error: 'evaluator_crashed',
  });
});

test('matcher: one that gives neither true nor false, a promise say, is a failed verdict', async () => {
  expect(
    (
      await evaluate(trace, { expect: expect3 }, [
        toolTrajectory({ arguments: { matcher: (async () => await Promise.resolve(true)) as never } }),
      ])
    )[0],
  ).toMatchObject({ kind: 'failed', error: 'evaluator_crashed' });
});

const results = agentTrace({
  toolCalls: [
    toolCall('pay', {}, { result: { code: 17 } }),
    toolCall('pay', {}, { result: { code: 0 } }),
    toolCall('look', {}, { result: { code: 17 } }),
    toolCall('pay', {}, { result: ' ' }),
  ],
});

test('isError: the program decides which results are errors, and in which words; blank ones are judged before it', async () => {
  const asked: unknown[] = [];
  const isError: ErrorPredicate = (result, { name }) => {
    asked.push(result);
    return name === 'pay' && JSON.stringify(result) === '{"code":17}' ? 'no funds' : false;
  };
  const [verdict, recovery] = await evaluate(results, {}, [toolError({ isError }), toolRecovery({ isError })]);
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 0.5,
    details: {
      failed: [
        { index: 0, kind: 'predicate', message: 'the program finds "no funds"' },
        { index: 3, kind: 'blank' },
      ],
    },
  });
  expect(recovery).toMatchObject({ kind: 'scored' });
  expect(asked).not.toContain(' ');
});

test('isError: only true is enough, a blank result that is none is not asked about, and any other answer is a failed verdict', async () => {
  const scored = async (isError: ErrorPredicate) => (await evaluate(results, {}, [toolError({ isError, blankIsError: false })]))[0];
  expect(await scored(() => true)).toMatchObject({ score: 0.25, details: { failed: [{ index: 0 }, { index: 1 }, { index: 2 }] } });
  expect(await scored(() => '')).toMatchObject({ score: 1 });
  expect(await scored((async () => await Promise.resolve(true)) as never)).toMatchObject({ kind: 'failed', error: 'evaluator_crashed' });
});

test('functions: evaluators with different ones are distinguished, and a function elsewhere is refused', () => {
  expect(toolTrajectory({ arguments: { matcher: sameCity } }).optionsHash).not.toBe(toolTrajectory().optionsHash);
  expect(() => toolTrajectory({ mode: () => 'strict' } as never)).toThrow('options.mode must be one of strict');
  expect(() => toolTrajectory({ matcher: sameCity } as never)).toThrow('options.matcher is not known');
});
