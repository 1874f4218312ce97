import { expect, test } from 'vitest';
import type { Answer } from '../../evaluators/evaluator.ts';
import type { ExpectedToolCall } from '../../src/model/expectation.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { judged, score } from './score.ts';

const entry = { use: 'expected_tools' };
const made = (name: string, sent: JsonObject, at: number, result: JsonValue = 'ok') =>
  call({ name, arguments: sent, result, spanId: spanId(at) });
const trace = agentTrace({ toolCalls: [made('find', { q: 'x', n: 1 }, 1), made('book', { id: 7 }, 2, { price: 5 })] });

const rows: readonly {
  readonly name: string;
  readonly expected: readonly ExpectedToolCall[];
  readonly options: JsonObject;
  readonly want: object;
}[] = [
  {
    name: 'only names count by default',
    expected: [{ name: 'book', arguments: { id: 8 }, result: 'no' }],
    options: {},
    want: { score: 1, passed: true, details: { compare: [], matched: 1, extra_calls: [{ index: 0 }] } },
  },
  {
    name: 'half of the calls pass the default threshold',
    expected: [{ name: 'book' }, { name: 'pay' }],
    options: {},
    want: { score: 0.5, passed: true },
  },
  {
    name: 'strict makes of less than all nothing',
    expected: [{ name: 'book' }, { name: 'pay' }],
    options: { strict: true },
    want: { score: 0, passed: false },
  },
  {
    name: 'arguments count with the share that agrees',
    expected: [{ name: 'find', arguments: { q: 'x', n: 2 } }],
    options: { compare: ['arguments'] },
    want: {
      score: 0.5,
      details: { matched: 0, pairs: [{ index: 0, score: 0.5, unequal: ['n'], missing: [], extra: [], output_differs: false }] },
      parts: [{ index: 0, score: 0.5, passed: false }],
    },
  },
  {
    name: 'an output that differs counts nothing',
    expected: [{ name: 'book', result: { price: 6 } }],
    options: { compare: ['output'] },
    want: { score: 0, details: { missing_calls: [{ tool: 'book', nearest: { output_differs: true } }] } },
  },
  {
    name: 'equal outputs in another notation are equal',
    expected: [{ name: 'book', result: '{"price": 5.0}' }],
    options: { compare: ['output'] },
    want: { score: 1 },
  },
  {
    name: 'the preset gllm compares both',
    expected: [{ name: 'book', arguments: { id: 7 }, result: { price: 6 } }],
    options: { preset: 'gllm' },
    want: { score: 0, details: { preset: 'gllm', compare: ['arguments', 'output'] } },
  },
  {
    name: 'what is given wins over the preset',
    expected: [{ name: 'book', result: 'no' }],
    options: { preset: 'gllm', compare: [] },
    want: { score: 1 },
  },
  {
    name: 'an expectation without arguments and result accepts any',
    expected: [{ name: 'find' }, { name: 'book' }],
    options: { preset: 'gllm' },
    want: { score: 1 },
  },
  {
    name: 'ordered counts what is in order',
    expected: [{ name: 'book' }, { name: 'find' }],
    options: { ordered: true },
    want: { score: 0.5 },
  },
  { name: 'exact allows no further call', expected: [{ name: 'book' }], options: { exact_match: true }, want: { score: 0 } },
  {
    name: 'exact wins over ordered',
    expected: [{ name: 'find' }, { name: 'book' }],
    options: { exact_match: true, ordered: true },
    want: { score: 1 },
  },
  {
    name: 'reasons may be left out',
    expected: [{ name: 'find', arguments: { q: 'y', n: 1 } }],
    options: { compare: ['arguments'], include_reasons: false },
    want: { details: { pairs: [{ expected_index: 0, index: 0, tool: 'find', span_id: spanId(1), score: 0.5 }] } },
  },
  {
    name: 'nothing expected and something called is 0',
    expected: [],
    options: {},
    want: {
      score: 0,
      evidence: [spanId(1), spanId(2)],
      explanation: 'No tool call was expected, yet 2 calls were made: find (call 1), book (call 2).',
    },
  },
];
for (const { name, expected, options, want } of rows) {
  test(`expected_tools: ${name}`, () => {
    expect(score({ entry: { ...entry, options }, trace, expected: { toolCalls: expected } })).toMatchObject({ kind: 'scored', ...want });
  });
}

const outputs: readonly { readonly name: string; readonly wanted: JsonValue; readonly got: JsonValue; readonly equal: boolean }[] = [
  { name: 'the number 42 and the text 42', wanted: 42, got: '42', equal: false },
  { name: 'the text 42 and the number 42', wanted: '42', got: 42, equal: false },
  { name: 'true and its notation', wanted: true, got: 'true', equal: false },
  { name: 'nothing and the empty text', wanted: null, got: '', equal: false },
  { name: 'nothing and nothing', wanted: null, got: null, equal: true },
  { name: 'texts of one value in two notations', wanted: '{"a":1}', got: '{"a": 1}', equal: false },
  { name: 'one number in two notations', wanted: 42, got: 42.0, equal: true },
  { name: 'a list and a text that holds it', wanted: [1, 2], got: '[1, 2]', equal: true },
];
for (const { name, wanted, got, equal } of outputs) {
  for (const options of [{}, { ordered: true }, { exact_match: true }]) {
    test(`expected_tools: as outputs ${name} are ${equal ? 'equal' : 'different'} (${JSON.stringify(options)})`, () => {
      expect(
        score({
          entry: { ...entry, options: { ...options, compare: ['output'] } },
          trace: agentTrace({ toolCalls: [made('a', {}, 1, got)] }),
          expected: { toolCalls: [{ name: 'a', result: wanted }] },
        }),
      ).toMatchObject({ kind: 'scored', score: equal ? 1 : 0 });
    });
  }
}

const conversation: JsonValue = [
  { role: 'user', content: 'book it' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'find', arguments: '{"q":"x","n":1}' } },
      { id: 'c2', type: 'function', function: { name: 'book', arguments: '{"id":7}' } },
    ],
  },
  { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  { role: 'tool', tool_call_id: 'c2', content: '{"price":6}' },
  { role: 'assistant', content: 'done' },
];
const told = [
  { name: 'names count', expect: { messages: conversation }, options: {}, want: { score: 1 } },
  {
    name: 'arguments count where they are compared',
    expect: { messages: conversation },
    options: { compare: ['arguments'] },
    want: { score: 1 },
  },
  {
    name: 'messages of the role tool hold the outputs',
    expect: { messages: conversation },
    options: { compare: ['output'] },
    want: { score: 0.5, details: { missing_calls: [{ tool: 'book' }] } },
  },
  {
    name: 'a call may hold its result itself',
    expect: { messages: [{ role: 'assistant', tool_calls: [{ name: 'book', args: { id: 7 }, result: { price: 5 } }] }] },
    options: { compare: ['arguments', 'output'] },
    want: { score: 1 },
  },
  {
    name: 'calls that are listed besides win',
    expect: { messages: conversation, tool_calls: [{ name: 'pay' }] },
    options: {},
    want: { score: 0 },
  },
  {
    name: 'a conversation without calls expects none',
    expect: { messages: [{ role: 'user', content: 'hi' }] },
    options: {},
    want: { score: 0 },
  },
];
for (const { name, expect: wanted, options, want } of told) {
  test(`expected_tools: of a reference conversation, ${name}`, () => {
    expect(score({ entry: { ...entry, options, expect: wanted }, trace })).toMatchObject({ kind: 'scored', ...want });
  });
}

test('expected_tools: the pairing has the greatest total weight', () => {
  const run = agentTrace({ toolCalls: [made('a', { x: 1, y: 2 }, 1), made('a', { x: 5 }, 2)] });
  const expected = {
    toolCalls: [
      { name: 'a', arguments: { x: 1, y: 3 } },
      { name: 'a', arguments: { x: 1, y: 2 } },
    ],
  };
  expect(score({ entry: { ...entry, options: { compare: ['arguments'] } }, trace: run, expected })).toMatchObject({
    score: 0.5,
    details: { matching: 'exact' },
  });
});

test('expected_tools: sums of thirds are exact at the threshold', () => {
  const run = agentTrace({ toolCalls: [1, 2, 3].map((x) => made(`t${x}`, { x, y: 0, z: 0 }, x)) });
  const expected = { toolCalls: [1, 2, 3].map((x) => ({ name: `t${x}`, arguments: { x, y: x === 3 ? 0 : 1, z: 1 } })) };
  expect(score({ entry: { ...entry, options: { compare: ['arguments'] }, threshold: 4 / 9 }, trace: run, expected })).toMatchObject({
    score: 4 / 9,
    passed: true,
  });
});

test('expected_tools: the sentence names each pair and its keys, and the calls are evidence', () => {
  const expected = { toolCalls: [{ name: 'find', arguments: { q: 'y', k: 1 } }, { name: 'pay' }] };
  expect(score({ entry: { ...entry, options: { compare: ['arguments'] } }, trace, expected })).toMatchObject({
    explanation:
      '0 of 2 expected calls were made as expected; missing: find (nearest is find (call 1): "q" not equal, "k" missing, "n" not expected), pay.',
    evidence: [spanId(1)],
  });
});

test('expected_tools: the preset gllm normalises names, unless it is switched off', () => {
  const run = agentTrace({ toolCalls: [call({ name: 'agent_x7c9' })] });
  const expected = { toolCalls: [{ name: 'agent' }] };
  expect(score({ entry: { ...entry, options: { preset: 'gllm' } }, trace: run, expected })).toMatchObject({
    score: 1,
    details: { normalized: [{ name: 'agent_x7c9', normalized: 'agent' }] },
  });
  expect(score({ entry: { ...entry, options: { preset: 'gllm', normalize_tool_names: false } }, trace: run, expected })).toMatchObject({
    score: 0,
  });
});

const skips = [
  { name: 'nothing is expected', run: trace, expected: {}, options: {}, limits: {}, reason: 'no_expectation' },
  {
    name: 'the spans carry no calls',
    run: agentTrace({ toolCallsCarried: false }),
    expected: { toolCalls: [] },
    options: {},
    limits: {},
    reason: 'tool_calls_not_carried',
  },
  {
    name: 'compared arguments are not carried',
    run: agentTrace({ toolCalls: [call({ arguments: undefined })] }),
    expected: { toolCalls: [{ name: 't', arguments: {} }] },
    options: { compare: ['arguments'] },
    limits: {},
    reason: 'arguments_not_carried',
  },
  {
    name: 'compared outputs are not carried',
    run: agentTrace({ toolCalls: [call({ result: undefined })] }),
    expected: { toolCalls: [{ name: 't', result: 1 }] },
    options: { compare: ['output'] },
    limits: {},
    reason: 'results_not_carried',
  },
  {
    name: 'there are too many pairs',
    run: trace,
    expected: { toolCalls: [{ name: 't' }, { name: 't' }] },
    options: {},
    limits: { toolCallsMax: 1 },
    reason: 'too_large',
  },
] as const;
for (const { name, run, expected, options, limits, reason } of skips) {
  test(`expected_tools: it is skipped when ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace: run, expected, limits })).toMatchObject({
      kind: 'skipped',
      reason,
    });
  });
}

const asking = { ...entry, judge: 'main' };
const choice = agentTrace({ ...trace, input: 'Book it', toolDefinitions: [tool('find'), { name: 'book', description: 'Books.' }] });
const answer = (score: number): readonly Answer[] => [{ kind: 'answered', value: { reason: 'pay was better', score }, truncated: false }];
const both = { toolCalls: [{ name: 'find' }, { name: 'book' }] };

test('expected_tools: with a judge the lower of both scores counts', () => {
  expect(judged({ entry: asking, trace: choice, expected: both }, answer(0.25)).verdict).toMatchObject({
    kind: 'scored',
    score: 0.25,
    passed: false,
    explanation: 'The judge rates the choice of tools 0.25: pay was better',
    details: { judge_calls: 1, calls_score: 1, selection: { score: 0.25, reason: 'pay was better' } },
  });
  expect(
    judged({ entry: asking, trace: choice, expected: { toolCalls: [{ name: 'find' }, { name: 'pay' }] } }, answer(1)).verdict,
  ).toMatchObject({ score: 0.5, explanation: '1 of 2 expected calls was made as expected; missing: pay.' });
  expect(judged({ entry: { ...asking, options: { strict: true } }, trace: choice, expected: both }, answer(0.75)).verdict).toMatchObject({
    score: 0,
  });
});

test('expected_tools: the judge sees the input, the tools and the calls, and reasons before it scores', () => {
  const { questions } = judged({ entry: asking, trace: choice, expected: both }, answer(1));
  expect(questions).toMatchObject([
    {
      data: [
        { title: 'user input', text: 'Book it' },
        { title: 'available tools', text: '- find: (no description)\n- book: Books.' },
        { title: 'tool calls' },
      ],
      answerSchema: { required: ['reason', 'score'] },
    },
  ]);
});

test('expected_tools: without defined tools, and when it is skipped, no judge is asked', () => {
  expect(judged({ entry: asking, trace, expected: both }, [])).toMatchObject({
    questions: [],
    verdict: { score: 1, details: { judge_calls: 0 } },
  });
  expect(judged({ entry: asking, trace: choice }, [])).toMatchObject({
    questions: [],
    verdict: { kind: 'skipped', reason: 'no_expectation' },
  });
});

test('expected_tools: a judge that gives no usable answer gives no score', () => {
  expect(judged({ entry: asking, trace: choice, expected: both }, [{ kind: 'failed', error: 'timeout' }]).verdict).toMatchObject({
    kind: 'failed',
    error: 'timeout',
    details: { judge_error: true, judge_calls: 1, calls_score: 1 },
  });
});

test('expected_tools: long data is cut before it is shown, and the details say so', () => {
  const { questions, verdict } = judged({ entry: asking, trace: { ...choice, input: 'x'.repeat(100_000) }, expected: both }, answer(1));
  expect(questions[0]?.data[0]?.text.length).toBeLessThan(40_000);
  expect(verdict.details).toMatchObject({ truncated: true });
});
