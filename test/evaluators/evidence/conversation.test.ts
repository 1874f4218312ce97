import { expect, test } from 'vitest';
import { turnsOf } from '../../../evaluators/evidence/conversation.ts';
import { fromMessages } from '../../../src/library/openai-messages.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { EvaluatorEntry } from '../../../evaluators/configuration/configured.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { evaluateTurns, toolCorrectness, toolError, toolPermission } from '../../../src/library/evaluators.ts';
import { score } from '../score.ts';

const user: JsonValue = { role: 'user', content: 'u' };
const assistant = (...names: readonly string[]): JsonValue => ({
  role: 'assistant',
  content: 'a',
  tool_calls: names.map((name) => ({ name, args: {} })),
});
const trace = (...messages: JsonValue[]) => fromMessages(messages).trace;

const rows = [
  {
    name: 'two exchanges',
    messages: [user, assistant('a'), user, assistant('b', 'c')],
    count: 2,
    messageGroups: [['a'], ['b', 'c']],
    userGroups: [['a'], ['b', 'c']],
  },
  {
    name: 'two assistant messages in a row',
    messages: [user, assistant('a'), assistant('b')],
    count: 1,
    messageGroups: [['a'], ['b']],
    userGroups: [['a', 'b']],
  },
  {
    name: 'a greeting first',
    messages: [assistant(), user, assistant('a')],
    count: 1,
    messageGroups: [[], ['a']],
    userGroups: [[], ['a']],
  },
  { name: 'a user who gets no answer', messages: [user, assistant('a'), user], count: 1, messageGroups: [['a']], userGroups: [['a']] },
  { name: 'nobody', messages: [], count: 0, messageGroups: [], userGroups: [] },
];
for (const { name, messages, count, messageGroups, userGroups } of rows) {
  test(`turns: ${name} make ${count} turns`, () => {
    const byMessage = turnsOf(trace(...messages));
    const byUser = turnsOf(trace(...messages), 'user_turn');
    expect(byMessage?.turnCount).toBe(count);
    expect(byMessage?.groups.map((calls) => calls.map((call) => call.name))).toEqual(messageGroups);
    expect(byUser?.groups.map((calls) => calls.map((call) => call.name))).toEqual(userGroups);
  });
}

test('turns: they are unknown without messages', () => {
  expect(turnsOf(agentTrace())).toBeUndefined();
});

test('turns: every turn is scored against its own expectation, and the whole against all', async () => {
  const run = trace(user, assistant('a'), user, assistant('b'), user, assistant('c'));
  const expected = {
    byTurn: [{ toolCalls: [{ name: 'a' }] }, { toolCalls: [{ name: 'x' }] }],
    expect: { toolCalls: [{ name: 'a' }, { name: 'x' }] },
  };
  const [found] = await evaluateTurns(run, expected, [toolCorrectness()], { grouping: 'assistant_message' });
  expect(found).toMatchObject({
    byTurn: [{ score: 1 }, { score: 0 }, { kind: 'skipped', reason: 'no_expectation' }],
    flat: { score: 0.4 },
    worst: 1,
  });
});

test('turns: without a scored turn none is the worst', async () => {
  const [found] = await evaluateTurns(trace(user, assistant()), {}, [toolError()]);
  expect(found).toMatchObject({ byTurn: [{ kind: 'skipped' }], worst: undefined });
});

const said = (content: string): JsonValue => ({ role: 'user', content });
const asks = (id: string, name: string, sent: object = {}): JsonValue => ({
  role: 'assistant',
  content: null,
  tool_calls: [{ id, function: { name, arguments: JSON.stringify(sent) } }],
});
const gives = (id: string, content: string): JsonValue => ({ role: 'tool', tool_call_id: id, content });
const answers = (content: string): JsonValue => ({ role: 'assistant', content });
const talk = trace(
  said('One?'),
  asks('a', 'look'),
  gives('a', 'seen'),
  answers('First.'),
  said('Two?'),
  asks('b', 'book', { n: 1 }),
  gives('b', ''),
  answers('Second.'),
  said('Three?'),
  answers('Third.'),
);

test('turns: each is a separate run, with its question, its calls and its answer', () => {
  const found = turnsOf({ ...talk, startUnixNano: 1n, tokens: { input: 5 } }, 'user_turn')?.traces ?? [];
  expect(
    found.map(({ input, finalResponse, toolCalls, messages }) => [
      input,
      finalResponse,
      toolCalls.map(({ name }) => name),
      messages?.length,
    ]),
  ).toEqual([
    ['One?', 'First.', ['look'], 4],
    ['Two?', 'Second.', ['book'], 4],
    ['Three?', 'Third.', [], 2],
  ]);
  expect(found.flatMap(({ messages = [] }) => messages.flatMap(({ calls }) => calls))).toEqual([0, 0]);
  expect(found[0]).not.toHaveProperty('startUnixNano');
  expect(found[0]).not.toHaveProperty('tokens');
  expect(turnsOf(talk)?.traces.map(({ input, finalResponse }) => [input, finalResponse])).toEqual([
    ['One?', undefined],
    ['One?', 'First.'],
    ['Two?', undefined],
    ['Two?', 'Second.'],
    ['Three?', 'Third.'],
  ]);
});

test('turns: an entry that asks for them has the score of the worst turn, and names it; parts count calls in the run', () => {
  const verdict = score({ entry: { use: 'tool_error', turns: 'user_turn' }, trace: talk });
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 0,
    passed: false,
    explanation: 'Turn 2 of 3 scores lowest: 1 of 1 tool call failed: book (call 1): it returned nothing.',
    details: {
      by_turn: 'user_turn',
      worst_turn: 2,
      whole: { score: 0.5 },
      turns: [
        { turn: 1, score: 1 },
        { turn: 2, score: 0 },
        { turn: 3, skipped: 'no_tool_calls' },
      ],
    },
  });
  expect(verdict.kind === 'scored' ? verdict.parts.map(({ index, tool, passed }) => [index, tool, passed]) : []).toEqual([
    [0, 'look', true],
    [1, 'book', false],
  ]);
});

const byTurn: readonly { readonly name: string; readonly expect: JsonValue; readonly want: object }[] = [
  {
    name: 'each turn as expected',
    expect: { by_turn: [{ tool_calls: [{ name: 'look' }] }, { tool_calls: [{ name: 'book' }] }, { tool_calls: [] }] },
    want: {
      score: 1,
      explanation: 'Each of 3 scored turns has the full score.',
      details: { worst_turn: 1, whole: { skipped: 'no_expectation' } },
    },
  },
  {
    name: 'the right tools in the wrong turns',
    expect: { by_turn: [{ tool_calls: [{ name: 'book' }] }, { tool_calls: [{ name: 'look' }] }] },
    want: { score: 0, details: { worst_turn: 1, turns: [{ score: 0 }, { score: 0 }, { skipped: 'no_expectation' }] } },
  },
  {
    name: 'nothing is expected of a turn',
    expect: { by_turn: [null, { tool_calls: [{ name: 'book' }] }] },
    want: { score: 1, details: { worst_turn: 2 } },
  },
  {
    name: 'a turn that never came',
    expect: { by_turn: [null, null, null, { tool_calls: [{ name: 'pay' }] }] },
    want: { score: 0, details: { worst_turn: 4 } },
  },
  {
    name: 'one expectation for every turn',
    expect: { tool_calls: [{ name: 'look' }] },
    want: { score: 0, details: { turns: [{ score: 1 }, { score: 0 }, { score: 0 }] } },
  },
];
for (const { name, expect: wanted, want } of byTurn) {
  test(`turns: with ${name} the verdict is that of the worst turn`, () => {
    expect(score({ entry: { use: 'tool_correctness', turns: 'user_turn', expect: wanted }, trace: talk })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

test('turns: a run without messages is one turn, and one without a scorable turn is skipped', () => {
  const { messages: _messages, ...bare } = talk;
  expect(score({ entry: { use: 'tool_error', turns: 'user_turn' }, trace: bare })).toMatchObject({
    score: 0.5,
    details: { turns: [{ turn: 1, score: 0.5 }] },
  });
  expect(score({ entry: { use: 'tool_error', turns: 'user_turn' }, trace: trace(said('Hi'), answers('Hello.')) })).toMatchObject({
    kind: 'skipped',
    reason: 'no_tool_calls',
  });
});

const refused: readonly { readonly entry: EvaluatorEntry; readonly path: readonly (string | number)[] }[] = [
  { entry: { use: 'tool_error', turns: 'each' }, path: ['turns'] },
  { entry: { use: 'task_completion', turns: 'user_turn', judge: 'main' }, path: ['turns'] },
  { entry: { use: 'expected_tools', turns: 'user_turn', judge: 'main', expect: { tool_calls: [] } }, path: ['turns'] },
  { entry: { use: 'tool_correctness', expect: { by_turn: [] } }, path: ['expect', 'by_turn'] },
  {
    entry: { use: 'tool_correctness', turns: 'user_turn', expect: { by_turn: [{ tool_call: [] }] } },
    path: ['expect', 'by_turn', 0, 'tool_call'],
  },
  {
    entry: { use: 'tool_correctness', turns: 'user_turn', expect: { by_turn: [{ tool_calls: [] }, { by_turn: [] }] } },
    path: ['expect', 'by_turn', 1, 'by_turn'],
  },
];
for (const { entry, path } of refused) {
  test(`turns: ${JSON.stringify(entry)} is refused at ${path.join('.')}`, () => {
    const configuration = configuredEvaluator(entry, evaluators);
    expect(configuration.kind === 'faulty' ? configuration.faults.map((fault) => fault.path) : []).toContainEqual(path);
  });
}

test('turns: the library gives every turn its verdict, the whole too, and names the worst turn', async () => {
  const [errors, tools, silent] = await evaluateTurns(
    talk,
    {
      expect: { toolCalls: [{ name: 'look' }, { name: 'book' }] },
      byTurn: [{ toolCalls: [{ name: 'look' }] }, { toolCalls: [{ name: 'pay' }] }],
    },
    [toolError(), toolCorrectness({}, { name: 'tools' }), toolPermission({ deny: ['rm'] })],
  );
  expect(errors).toMatchObject({
    name: 'tool_error',
    worst: 1,
    flat: { score: 0.5 },
    byTurn: [{ score: 1 }, { score: 0 }, { kind: 'skipped' }],
  });
  expect(tools).toMatchObject({
    name: 'tools',
    worst: 1,
    flat: { score: 1 },
    byTurn: [{ score: 1 }, { score: 0 }, { reason: 'no_expectation' }],
  });
  expect(silent).toMatchObject({ worst: 0, byTurn: [{ score: 1 }, { score: 1 }, { kind: 'skipped' }] });
  expect((await evaluateTurns(talk, {}, [toolError()], { grouping: 'assistant_message' }))[0]?.byTurn).toHaveLength(5);
  expect((await evaluateTurns(talk, {}, [toolError({}, { turns: 'user_turn' })]))[0]).toMatchObject({
    flat: { details: { worst_turn: 2 } },
  });
});
