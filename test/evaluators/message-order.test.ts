import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';
import { fromMessages } from '../../src/library/openai-messages.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const scored = (sequence: JsonValue, trace: ReturnType<typeof agentTrace>, more: JsonObject = {}) =>
  score({ entry: { use: 'message_order', options: { sequence, ...more } }, trace });
const calls = agentTrace({
  input: 'Find it',
  finalResponse: 'Found.',
  toolCalls: ['a', 'b', 'a'].map((name, at) => call({ name, arguments: { i: at }, result: `r${at}`, spanId: spanId(at + 1) })),
});

const rows: readonly { readonly name: string; readonly sequence: JsonValue; readonly want: object }[] = [
  {
    name: 'others may come between',
    sequence: [{ name: 'a' }, { name: 'a' }],
    want: { score: 1, passed: true, details: { met: 2, met_calls: [{ index: 0 }, { index: 2 }] } },
  },
  {
    name: 'a call satisfies one step',
    sequence: [{ name: 'b' }, { name: 'b' }],
    want: { score: 0, passed: false, details: { met: 1, first_unmet: 1, unmet: { name: 'b' } } },
  },
  { name: 'arguments choose the call', sequence: [{ name: 'a', arguments: { i: 2 } }], want: { score: 1 } },
  { name: 'a name is equal or another', sequence: [{ name: 'a.' }], want: { score: 0 } },
  { name: 'times are honoured', sequence: [{ name: 'a', times: 3 }], want: { score: 0, details: { met: 2, expected: 3 } } },
  { name: 'an empty sequence holds', sequence: [], want: { score: 1, explanation: 'No sequence was expected.' } },
  {
    name: 'input and response are texts',
    sequence: [{ role: 'user', contains: 'Find' }, { name: 'a' }, { role: 'assistant', matches: '^Found' }],
    want: { score: 1 },
  },
  { name: 'results are texts of the tool', sequence: [{ role: 'tool', contains: 'r0' }, { name: 'b' }], want: { score: 1 } },
  {
    name: 'a text that comes too late is unmet',
    sequence: [{ name: 'a' }, { contains: 'Find' }],
    want: { score: 0, explanation: 'Step 2 of 2 did not come in its place: a text that contains "Find".' },
  },
  {
    name: 'a call that satisfied another step is not evidence',
    sequence: [{ name: 'b' }, { name: 'b' }, { name: 'a' }],
    want: { evidence: [] },
  },
  {
    name: 'a call before its turn is evidence',
    sequence: [{ name: 'a', arguments: { i: 2 } }, { name: 'b' }],
    want: {
      score: 0,
      evidence: [spanId(2)],
      explanation: 'Step 2 of 2 did not come in its place: a call of b; b (call 2) came too early.',
    },
  },
  {
    name: 'a call with other arguments is evidence',
    sequence: [{ name: 'b', arguments: { i: 9 } }],
    want: {
      score: 0,
      evidence: [spanId(2)],
      explanation: 'Step 1 of 1 did not come in its place: a call of b with "{"i":9}"; b (call 2) has other arguments, or came too early.',
    },
  },
  {
    name: 'texts that no step names hide no call with other arguments',
    sequence: [{ name: 'a' }, { name: 'b', arguments: { i: 9 } }],
    want: {
      score: 0,
      evidence: [spanId(2)],
      explanation: 'Step 2 of 2 did not come in its place: a call of b with "{"i":9}"; b (call 2) has other arguments, or came too early.',
    },
  },
];
for (const { name, sequence, want } of rows) {
  test(`message_order: ${name}`, () => {
    expect(scored(sequence, calls)).toMatchObject({ kind: 'scored', ...want });
  });
}

test('message_order: with partial the score is the share that came in order', () => {
  expect(scored([{ name: 'x' }, { name: 'a' }, { name: 'b' }], calls, { partial: true })).toMatchObject({
    score: 2 / 3,
    details: { met: 2, first_unmet: 0 },
  });
});

test('message_order: the order of messages wins over that of the calls', () => {
  const { trace } = fromMessages([
    { role: 'user', content: 'u' },
    {
      role: 'assistant',
      content: 'Let me see.',
      tool_calls: [
        { id: '1', name: 'a', args: {} },
        { id: '2', name: 'b', args: {} },
      ],
    },
    { role: 'tool', tool_call_id: '2', content: 'B' },
  ]);
  expect(
    scored([{ role: 'assistant', contains: 'see' }, { name: 'a' }, { name: 'b' }, { role: 'tool', contains: 'B' }], trace),
  ).toMatchObject({ score: 1 });
});

test('message_order: names may be normalised', () => {
  expect(scored([{ name: 'a' }], agentTrace({ toolCalls: [call({ name: 'a_x7c9' })] }), { normalize_tool_names: true })).toMatchObject({
    score: 1,
    details: { normalized: [{ normalized: 'a' }] },
  });
});

test('message_order: it is skipped where the spans carry no order, or too much', () => {
  const long = agentTrace({ messages: Array.from({ length: 11 }, () => ({ role: 'user', text: 'x', calls: [] })) });
  expect(scored([{ name: 'a' }], agentTrace({ toolCallsCarried: false }))).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(scored([{ name: 't', arguments: {} }], agentTrace({ toolCalls: [call({ arguments: undefined })] }))).toMatchObject({
    kind: 'skipped',
    reason: 'arguments_not_carried',
  });
  expect(
    scored([{ matches: '^a*$' }], agentTrace({ messages: [{ role: 'user', text: `${'a'.repeat(100_000)}!`, calls: [] }] })),
  ).toMatchObject({ kind: 'skipped', reason: 'too_large' });
  expect(score({ entry: { use: 'message_order', options: { sequence: [] } }, trace: long, limits: { toolCallsMax: 1 } })).toMatchObject({
    kind: 'skipped',
    reason: 'too_large',
  });
});

const refused: readonly { readonly options: JsonObject; readonly path: readonly (string | number)[] }[] = [
  { options: {}, path: ['options', 'sequence'] },
  { options: { sequence: [{}] }, path: ['options', 'sequence', 0] },
  { options: { sequence: [{ matches: '(' }] }, path: ['options', 'sequence', 0] },
  { options: { sequence: [{ name: 'a', times: 0 }] }, path: ['options', 'sequence', 0] },
];
for (const { options, path } of refused) {
  test(`message_order: ${JSON.stringify(options)} is refused with its path`, () => {
    expect(configuredEvaluator({ use: 'message_order', options }, evaluators)).toMatchObject({ kind: 'faulty', faults: [{ path }] });
  });
}
