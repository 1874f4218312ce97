import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_recovery' };
const bad = (name: string, q: string, at: number) => call({ name, arguments: { q }, result: '{"error":"x"}', spanId: spanId(at) });
const good = (name: string, q: string, at: number) => call({ name, arguments: { q }, result: 'ok', spanId: spanId(at) });

const rows = [
  {
    name: 'a later success of the tool puts it right',
    toolCalls: [bad('a', 'x', 1), good('a', 'x', 2)],
    options: {},
    want: {
      score: 1,
      passed: true,
      evidence: [],
      details: { repaired: 1, failed: 1, failures: [{ index: 0, attempts: 2, repaired_by: { index: 1 }, arguments_changed: false }] },
    },
  },
  {
    name: 'the details say that the arguments changed',
    toolCalls: [bad('a', 'x', 1), good('a', 'y', 2)],
    options: {},
    want: { score: 1, details: { failures: [{ arguments_changed: true }] } },
  },
  {
    name: 'with same_arguments other arguments put nothing right',
    toolCalls: [bad('a', 'x', 1), good('a', 'y', 2)],
    options: { same_arguments: true },
    want: { score: 0 },
  },
  {
    name: 'a success before the failure does not count',
    toolCalls: [good('a', 'x', 1), bad('a', 'x', 2)],
    options: {},
    want: { score: 0, evidence: [spanId(2)] },
  },
  { name: 'a success of another tool does not count', toolCalls: [bad('a', 'x', 1), good('b', 'x', 2)], options: {}, want: { score: 0 } },
  {
    name: 'one success puts a chain of failures right',
    toolCalls: [bad('a', 'x', 1), bad('a', 'x', 2), good('a', 'x', 3)],
    options: {},
    want: { score: 1, details: { failures: [{ attempts: 3 }, { attempts: 2 }] } },
  },
  {
    name: 'half of the failures are half',
    toolCalls: [bad('a', 'x', 1), bad('b', 'x', 2), good('b', 'x', 3)],
    options: {},
    want: {
      score: 0.5,
      parts: [
        { index: 0, passed: false },
        { index: 1, passed: true, explanation: 'b (call 2) failed and b (call 3) succeeded.' },
      ],
    },
  },
  {
    name: 'the signs of failure may be switched off',
    toolCalls: [bad('a', 'x', 1), call({ name: 'b', result: '' })],
    options: { detect_error_field: false },
    want: { score: 0, details: { failed: 1, failures: [{ tool: 'b', kind: 'blank' }] } },
  },
  {
    name: 'names may be normalised',
    toolCalls: [bad('a_x7c9', 'x', 1), good('a_b8d1', 'x', 2)],
    options: { normalize_tool_names: true },
    want: { score: 1 },
  },
  {
    name: 'a failed span and a later one that ended without a mark',
    toolCalls: [
      call({ name: 'a', result: undefined, error: { message: 'no', sign: 'span_status' } }),
      call({ name: 'a', result: undefined, endUnixNano: 2n }),
    ],
    options: {},
    want: { score: 1 },
  },
] as const;
for (const { name, toolCalls, options, want } of rows) {
  test(`tool_recovery: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace: agentTrace({ toolCalls: [...toolCalls] }) })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

test('tool_recovery: the sentence names the failure, why, and how often it was tried', () => {
  const toolCalls = [bad('a', 'x', 1), bad('a', 'y', 2), bad('b', 'x', 3)];
  expect(score({ entry, trace: agentTrace({ toolCalls }) })).toMatchObject({
    explanation:
      '3 of 3 failures were not put right: a (call 1) failed (its result has the error "x") and did not succeed in 2 attempts; a (call 2) failed (its result has the error "x") and was not tried again; b (call 3) failed (its result has the error "x") and was not tried again.',
  });
});

const skips = [
  { name: 'nothing failed', toolCalls: [good('a', 'x', 1)], options: {}, reason: 'no_errors' },
  { name: 'nothing was called', toolCalls: [], options: {}, reason: 'no_tool_calls' },
  { name: 'no outcome is carried', toolCalls: [call({ result: undefined })], options: {}, reason: 'results_not_carried' },
  {
    name: 'arguments are compared and not carried',
    toolCalls: [call({ result: '', arguments: undefined }), call({ arguments: undefined })],
    options: { same_arguments: true },
    reason: 'arguments_not_carried',
  },
] as const;
for (const { name, toolCalls, options, reason } of skips) {
  test(`tool_recovery: it is skipped when ${name}`, () => {
    expect(score({ entry: { ...entry, options: { ...options } }, trace: agentTrace({ toolCalls: [...toolCalls] }) })).toMatchObject({
      kind: 'skipped',
      reason,
    });
  });
}

test('tool_recovery: a result that reads as an error is a failure, and the sentence claims no success that nothing states', () => {
  const refused = call({ name: 'pay', result: 'Error: amount 500 is more than the limit' });
  expect(score({ entry, trace: agentTrace({ toolCalls: [refused, call({ name: 'pay' })] }) })).toMatchObject({
    score: 1,
    details: { repaired: 1, failed: 1 },
  });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call(), call()] }) })).toMatchObject({
    reason: 'no_errors',
    explanation: 'No sign of an error in 2 tool calls, so there was nothing to put right.',
  });
});

test('tool_recovery: takes a run of 20,000 calls, each failure before its repair, and names a thousand', () => {
  const toolCalls = Array.from({ length: 20_000 }, (_, at) => (at % 2 === 0 ? bad('a', 'x', at + 1) : good('a', 'x', at + 1)));
  const verdict = score({ entry, trace: agentTrace({ toolCalls }) });
  expect(verdict).toMatchObject({ score: 1, details: { repaired: 10_000, parts_left_out: { failed: 0, passed: 9_000 } } });
  expect(verdict.kind === 'scored' ? verdict.parts.length : 0).toBe(1_000);
});

test('tool_recovery: spans without tool data are skipped', () => {
  expect(score({ entry, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
});

const long = call({ name: 'a', result: `${'x'.repeat(100_000)} HTTP 503` });
for (const { name, toolCalls, want } of [
  {
    name: 'a success whose result was searched in part puts nothing right for certain',
    toolCalls: [bad('a', 'x', 1), long],
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'without a failure a result that was searched in part is not free of errors',
    toolCalls: [long],
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'a long result that puts nothing right takes nothing away',
    toolCalls: [bad('b', 'x', 1), long],
    want: { kind: 'scored', score: 0 },
  },
]) {
  test(`tool_recovery: ${name}`, () => {
    expect(score({ entry: { ...entry, options: { error_patterns: ['HTTP 5'] } }, trace: agentTrace({ toolCalls }) })).toMatchObject(want);
  });
}
