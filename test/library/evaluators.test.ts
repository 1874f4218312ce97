import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { readExpectation, writtenExpectation } from '../../evaluators/expectation/expectation.ts';
import { evaluators as members } from '../../evaluators/index.ts';
import { scriptedJudge } from '../../src/judges/scripted.ts';
import { agentTrace, toolCall } from '../../src/library/agent-trace.ts';
import {
  convergence,
  evaluate,
  evaluationContext,
  factory,
  taskCompletion,
  toolCallValidity,
  toolError,
  toolTrajectory,
  type Question,
  type RuleEvaluator,
} from '../../src/library/evaluators.ts';
import type { Expectation } from '../../src/model/expectation.ts';

const trace = agentTrace({
  input: 'Book me a room in Rome.',
  toolCalls: [
    toolCall('search_hotels', { city: 'Rome' }, { result: ['Roma Inn'] }),
    toolCall('book_hotel', { name: 'Roma Inn' }, { error: 'no room left' }),
  ],
  finalResponse: 'Sorry, no room is left.',
});
const expected: Expectation = { toolCalls: [{ name: 'search_hotels' }, { name: 'book_hotel', arguments: { name: 'Roma Inn' } }] };

test('library: evaluate gives one verdict an evaluator, in their order', async () => {
  const verdicts = await evaluate(trace, { expect: expected }, [toolTrajectory({ mode: 'strict' }), toolError(), toolCallValidity()]);
  expect(
    verdicts.map((verdict) => [
      verdict.kind,
      verdict.kind === 'scored' ? verdict.score : verdict.kind === 'skipped' ? verdict.reason : verdict.error,
    ]),
  ).toEqual([
    ['scored', 1],
    ['scored', 0.5],
    ['skipped', 'no_tool_definitions'],
  ]);
});

test('library: a factory sets up what the same entry of a configuration sets up', () => {
  const made = toolTrajectory(
    { mode: 'in_order', onlySuccessful: true, arguments: { mode: 'subset', trimStrings: true, overrides: { bookHotel: 'exact' } } },
    { name: 'path', threshold: 0.5, expect: { toolCalls: [{ name: 'x', toolId: 't-1' }] }, includeExplanation: false },
  );
  const read = configuredEvaluator(
    {
      use: 'tool_trajectory',
      name: 'path',
      threshold: 0.5,
      expect: { tool_calls: [{ name: 'x', tool_id: 't-1' }] },
      include_explanation: false,
      options: {
        mode: 'in_order',
        only_successful: true,
        arguments: { mode: 'subset', trim_strings: true, overrides: { bookHotel: 'exact' } },
      },
    },
    members,
  );
  if (read.kind !== 'ready') throw new Error('the entry has faults');
  const { name, threshold, optionsHash, expect: expectation } = read.evaluator;
  expect(made).toMatchObject({ name, threshold, optionsHash, expect: expectation });
});

test('library: an option left undefined is left out', () => {
  expect(toolError({ blankIsError: undefined } as object).optionsHash).toBe(toolError().optionsHash);
});

const faulty: readonly { readonly name: string; readonly make: () => unknown; readonly says: string }[] = [
  { name: 'an unknown option', make: () => toolTrajectory({ speed: 2 } as object), says: 'tool_trajectory: options.speed is not known' },
  {
    name: 'an option out of its values',
    make: () => toolTrajectory({ mode: 'backwards' } as object),
    says: 'options.mode must be one of strict',
  },
  {
    name: 'an unknown setting',
    make: () => toolError({}, { thresold: 0.5 } as object),
    says: 'tool_error: setting "thresold" is not known; did you mean threshold?',
  },
  {
    name: 'every fault of options and setting',
    make: () => toolTrajectory({ speed: 2 } as object, { when: {} } as object),
    says: 'tool_trajectory: setting "when" is not known; known are name, threshold, expect, includeExplanation, turns, on, map, withJudge; options.speed',
  },
  { name: 'a threshold above 1', make: () => toolError({}, { threshold: 2 }), says: 'threshold must be a number from 0 to 1' },
  {
    name: 'an expectation where none is taken',
    make: () => toolError({}, { expect: { tasks: ['x'] } }),
    says: 'expect is not for tool_error',
  },
];

for (const { name, make, says } of faulty) {
  test(`library: ${name} is refused where it is written`, () => {
    expect(make).toThrow(TypeError);
    expect(make).toThrow(says);
  });
}

/** Every member that there is: the compiler asks for new ones. */
const whole: Required<Expectation> = {
  toolCalls: [{ name: 'a', arguments: { camelCase: { __proto__x: 1 } }, result: { camelCase: 1 }, toolId: 't' }],
  toolOutputs: [{ name: 'a', output: { camelCase: [1n] }, toolId: 't' }],
  toolCallsCount: [
    { name: 'a', least: 1, most: 3 },
    { name: 'b', not: 2 },
    { name: 'camelCase', most: 0 },
  ],
  toolCallsOrder: ['a', 'b'],
  messages: [
    { role: 'user', toolCalls: [] },
    { role: 'assistant', toolCalls: [{ name: 'a', arguments: { camelCase: 1 } }] },
  ],
  tasks: ['one'],
  constraints: 'none',
  plan: ['first', 'second'],
  output: [{ camelCase: { innerName: 1 } }],
  context: ['Oslo is in Norway.'],
  searchText: ['a', 'b'],
  byTurn: [{ toolCalls: [{ name: 'a' }] }, {}],
};

test('library: a written expectation reads back as what it was', () => {
  expect(readExpectation(writtenExpectation(whole))).toEqual({ expectation: whole, faults: [] });
});

test('library: what is expected of one run wins over what an evaluator expects of all', async () => {
  const path = toolTrajectory({}, { expect: { toolCalls: [{ name: 'other' }] } });
  const [own] = await evaluate(trace, { expect: expected }, [path]);
  const [general] = await evaluate(trace, {}, [path]);
  expect([own, general]).toMatchObject([{ passed: true }, { passed: false }]);
});

test('library: several runs of one task are compared', () => {
  expect(convergence([{ steps: 2 }, { steps: 4 }])).toMatchObject({ kind: 'scored', score: 0.75, details: { runs: 2 } });
});

test('library: a judge evaluator asks the judge that is given', async () => {
  const judge = scriptedJudge({ tasks: [] });
  const questions: Question[] = [];
  const answering = { ask: async (question: Question) => (questions.push(question), await judge.ask(question)) };
  const [verdict] = await evaluate(trace, { expect: { tasks: ['book a room'] } }, [taskCompletion()], { judge: answering });
  expect(questions).toHaveLength(1);
  expect(verdict).toMatchObject({ kind: 'failed' });
});

test('library: a judge that throws gives a failed verdict, never a score', async () => {
  const broken = { ask: () => Promise.reject(new Error('offline')) };
  const [verdict] = await evaluate(trace, { expect: { tasks: ['book a room'] } }, [taskCompletion()], { judge: broken });
  expect(verdict?.kind).toBe('failed');
});

test('library: without a judge, a judge evaluator is refused by name', async () => {
  await expect(evaluate(trace, {}, [toolError(), taskCompletion({}, { name: 'done' })])).rejects.toThrow('done asks a judge');
});

const politeness = {
  kind: 'rule',
  id: 'politeness',
  version: 1,
  summary: 'The answer says sorry.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { searchedWord: 'sorry' },
  optionsSchema: { type: 'object', additionalProperties: false, properties: { searched_word: { type: 'string' } } },
  source: 'this test',
  evaluate: ({ trace: { finalResponse } }, { searchedWord }) => ({
    kind: 'scored',
    score: String(finalResponse).toLowerCase().includes(searchedWord) ? 1 : 0,
    explanation: `The answer was searched for ${searchedWord}.`,
    evidence: [],
    details: {},
  }),
} as const satisfies RuleEvaluator<{ readonly searchedWord: string }>;

test('library: a custom evaluator runs with its defaults, or through its factory', async () => {
  const polite = factory(politeness);
  const verdicts = await evaluate(trace, {}, [politeness, polite({ searchedWord: 'welcome' })], {
    context: evaluationContext({ toolCallsMax: 5 }),
  });
  expect(verdicts).toMatchObject([
    { kind: 'scored', passed: true },
    { kind: 'scored', passed: false },
  ]);
  expect(() => polite({ searched: 1 } as object)).toThrow('options.searched is not known');
});

test('library: an evaluator of your own that throws gives a failed verdict', async () => {
  const broken = {
    ...politeness,
    evaluate: () => {
      throw new Error('secret text of the run');
    },
  };
  const [verdict] = await evaluate(trace, {}, [broken]);
  expect(verdict).toMatchObject({ kind: 'failed', error: 'evaluator_crashed' });
  expect(JSON.stringify(verdict)).not.toContain('secret');
});
