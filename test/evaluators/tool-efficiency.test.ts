import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_efficiency' };
const get = (u: string, result: string | undefined = 'ok') => call({ name: 'get', arguments: { u }, result });

const rows = [
  { name: 'different arguments make different calls', toolCalls: [get('a'), get('b')], want: { score: 1, passed: true } },
  {
    name: 'the same call again is redundant',
    toolCalls: [get('a'), get('a')],
    want: { score: 0.5, passed: false, details: { redundant_calls: ['get'], repeats: [{ index: 1, repeats_index: 0, kind: 'repeat' }] } },
  },
  {
    name: 'a repeat of a failed call is a retry',
    toolCalls: [get('a', '{"error":"x"}'), get('a')],
    want: { score: 0.5, details: { repeats: [{ kind: 'retry' }] } },
  },
  {
    name: 'a repeat with another result is a poll',
    toolCalls: [get('a', 'pending'), get('a', 'done')],
    want: { score: 0.5, details: { repeats: [{ kind: 'poll' }] } },
  },
  { name: 'retries may be allowed', toolCalls: [get('a', ''), get('a')], options: { allow_retries: true }, want: { score: 1 } },
  { name: 'polls may be allowed', toolCalls: [get('a', 'pending'), get('a', 'done')], options: { allow_polls: true }, want: { score: 1 } },
  { name: 'an allowed poll does not allow repeats', toolCalls: [get('a'), get('a')], options: { allow_polls: true }, want: { score: 0.5 } },
  {
    name: 'a loop of two calls is found',
    toolCalls: [get('x'), get('a'), get('b'), get('a'), get('b')],
    want: { details: { consecutive_duplicates: [], cycle: { period: 2, length: 4, first_index: 1 } } },
  },
  {
    name: 'a call that never ran is left out',
    toolCalls: [get('a'), call({ ...get('a'), executed: false })],
    want: { score: 1, details: { total_calls: 1 } },
  },
  {
    name: 'with subset, a call with more arguments repeats an earlier one',
    toolCalls: [call({ arguments: { q: 'x' } }), call({ arguments: { q: 'x', page: 2 } }), call({ arguments: { q: 'y' } })],
    options: { arguments: { mode: 'subset' } },
    want: { details: { distinct_calls: 2, repeats: [{ index: 1, repeats_index: 0 }] } },
  },
  {
    name: 'with superset, a call with fewer arguments repeats an earlier one',
    toolCalls: [call({ arguments: { q: 'x', page: 2 } }), call({ arguments: { q: 'x' } }), call({ arguments: { q: 'x', page: 3 } })],
    options: { arguments: { mode: 'superset' } },
    want: { details: { distinct_calls: 2, repeats: [{ index: 1, repeats_index: 0 }] } },
  },
  { name: 'one call of a tool needs no arguments', toolCalls: [call({ arguments: undefined }), get('a')], want: { score: 1 } },
  {
    name: 'two calls of a tool need theirs',
    toolCalls: [call({ arguments: undefined }), call()],
    want: { kind: 'skipped', reason: 'arguments_not_carried' },
  },
  {
    name: 'ignored arguments are not needed',
    toolCalls: [call({ arguments: undefined }), call()],
    options: { arguments: { mode: 'ignore' } },
    want: { score: 0.5 },
  },
  {
    name: 'unreadable arguments are equal as texts',
    toolCalls: [
      call({ arguments: null, argumentsText: '{"a' }),
      call({ arguments: null, argumentsText: '{"b' }),
      call({ arguments: null, argumentsText: '{"a' }),
    ],
    want: { details: { distinct_calls: 2 } },
  },
  {
    name: 'whole numbers beyond 2^53 are exact',
    toolCalls: [call({ arguments: { n: 12345678901234567890n } }), call({ arguments: { n: 12345678901234567891n } })],
    want: { score: 1 },
  },
] as const;
for (const row of rows) {
  test(`tool_efficiency: ${row.name}`, () => {
    expect(
      score({
        entry: { ...entry, options: 'options' in row ? { ...row.options } : {} },
        trace: agentTrace({ toolCalls: [...row.toolCalls] }),
      }),
    ).toMatchObject(row.want);
  });
}

test('tool_efficiency: the repeat is evidence and named with the call that it repeats', () => {
  const toolCalls = [
    call({ name: 'get', spanId: spanId(1) }),
    call({ name: 'put', spanId: spanId(2) }),
    call({ name: 'get', spanId: spanId(3) }),
  ];
  expect(score({ entry, trace: agentTrace({ toolCalls }) })).toMatchObject({
    evidence: [spanId(3)],
    explanation: '1 of 3 tool calls repeats earlier ones: get (call 3) repeats call 1.',
    parts: [{ passed: true }, { passed: true }, { passed: false }],
  });
});

test('tool_efficiency: an empty run is skipped, or full with on_empty original', () => {
  expect(score({ entry, trace: agentTrace() })).toMatchObject({ kind: 'skipped', reason: 'no_tool_calls' });
  expect(score({ entry: { ...entry, on_empty: 'original' }, trace: agentTrace() })).toMatchObject({ kind: 'scored', score: 1 });
  expect(score({ entry: { ...entry, on_empty: 'original' }, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
});

test('tool_efficiency: names may be normalised, so that one tool under two names repeats itself', () => {
  const trace = agentTrace({ toolCalls: [call({ name: 'agent_x7c9' }), call({ name: 'agent_b8d1' })] });
  expect(score({ entry, trace })).toMatchObject({ score: 1 });
  expect(score({ entry: { ...entry, options: { normalize_tool_names: true } }, trace })).toMatchObject({
    score: 0.5,
    details: {
      normalized: [
        { name: 'agent_x7c9', normalized: 'agent' },
        { name: 'agent_b8d1', normalized: 'agent' },
      ],
    },
  });
});

test('tool_efficiency: more calls than are compared with each other are too large, only in the modes that compare', () => {
  const run = (count: number) => agentTrace({ toolCalls: Array.from({ length: count }, (_, at) => get(`u${at}`)) });
  const options = { arguments: { mode: 'subset' } };
  expect(score({ entry: { ...entry, options }, trace: run(3), limits: { toolCallsMax: 3 } })).toMatchObject({ kind: 'scored', score: 1 });
  expect(score({ entry: { ...entry, options }, trace: run(4), limits: { toolCallsMax: 3 } })).toMatchObject({
    kind: 'skipped',
    reason: 'too_large',
    details: { tool_calls: 4, to_compare: 4 },
  });
  expect(score({ entry, trace: run(4), limits: { toolCallsMax: 3 } })).toMatchObject({ kind: 'scored', score: 1 });
});
