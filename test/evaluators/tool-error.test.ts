import { expect, test } from 'vitest';
import type { ToolCall } from '../../src/model/agent-trace.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = { use: 'tool_error' };
const error = (sign: NonNullable<ToolCall['error']>['sign']): NonNullable<ToolCall['error']> => ({ message: 'boom', sign });

const rows = [
  { name: 'zero is an answer, not a blank', one: call({ result: 0 }), kind: undefined },
  { name: 'nothing is a blank', one: call({ result: null }), kind: 'blank' },
  { name: 'a zero-width space is not blank', one: call({ result: '\u200b' }), kind: undefined },
  { name: 'a no-break space is blank', one: call({ result: '\u00a0' }), kind: 'blank' },
  { name: 'an error member is a failure', one: call({ result: { error: 'x' } }), kind: 'error_field' },
  { name: 'an empty error list is none', one: call({ result: { error: [] } }), kind: undefined },
  { name: 'an empty error text is none', one: call({ result: { error: '' } }), kind: undefined },
  { name: 'a blank error text is a failure', one: call({ result: { error: ' ' } }), kind: 'error_field' },
  { name: 'an inherited name is not an error member', one: call({ result: '{"__proto__":{"error":"x"}}' }), kind: undefined },
  { name: 'a text that begins with an error object is a failure', one: call({ result: '{"error":"x"} and more' }), kind: 'error_field' },
  { name: 'a failed span is a failure with any result', one: call({ error: error('span_status') }), kind: 'span_status' },
  { name: 'an exception event is a failed span', one: call({ error: error('exception_event') }), kind: 'span_status' },
  { name: 'an isError mark is a separate kind of failure', one: call({ error: error('is_error') }), kind: 'is_error' },
  {
    name: 'a failed span counts only while it is switched on',
    one: call({ error: error('error_type') }),
    options: { use_span_status: 'ignore' },
    kind: undefined,
  },
  {
    name: 'an isError mark counts only while it is switched on',
    one: call({ error: error('result_status') }),
    options: { use_is_error: false },
    kind: undefined,
  },
  {
    name: 'a pattern is searched anywhere',
    one: call({ result: 'got HTTP 503 back' }),
    options: { error_patterns: ['HTTP 5\\d\\d'] },
    kind: 'pattern',
  },
  {
    name: 'a pattern sees structured results as JSON',
    one: call({ result: { status: 500 } }),
    options: { error_patterns: ['"status":5'] },
    kind: 'pattern',
  },
] as const;
for (const row of rows) {
  test(`tool_error: ${row.name}`, () => {
    const verdict = score({
      entry: { ...entry, options: 'options' in row ? { ...row.options } : {} },
      trace: agentTrace({ toolCalls: [row.one] }),
    });
    expect(verdict).toMatchObject({
      kind: 'scored',
      score: row.kind === undefined ? 1 : 0,
      details: { failed: row.kind === undefined ? [] : [{ index: 0, kind: row.kind }] },
    });
  });
}

test('tool_error: with one failure of two the score is at 0.5, and a threshold of 0.5 passes', () => {
  const trace = agentTrace({ toolCalls: [call({ spanId: spanId(1) }), call({ name: 'get', result: '', spanId: spanId(2) })] });
  expect(score({ entry: { ...entry, threshold: 0.5 }, trace })).toMatchObject({
    score: 0.5,
    passed: true,
    evidence: [spanId(2)],
    explanation: '1 of 2 tool calls failed: get (call 2): it returned nothing.',
  });
  expect(score({ entry: { ...entry, threshold: 0.51 }, trace })).toMatchObject({ passed: false });
});

const ended = call({ result: undefined, endUnixNano: 2n });
const unknown = call({ result: undefined });
const live = [
  {
    name: 'without results and errors nothing is known',
    toolCalls: [ended, unknown],
    want: { kind: 'skipped', reason: 'results_not_carried' },
  },
  {
    name: 'where errors show, a call that ended without one succeeded',
    toolCalls: [ended, call({ result: undefined, error: error('span_status') })],
    want: { score: 0.5, details: { succeeded: 1, total: 2 } },
  },
  {
    name: 'a call of unknown outcome is left out and counted',
    toolCalls: [unknown, call()],
    want: { score: 1, details: { total: 1, unknown_outcome: 1 } },
  },
  {
    name: 'a call that never ran is left out',
    toolCalls: [call({ executed: false, result: undefined }), call()],
    want: { score: 1, details: { total: 1 } },
  },
  {
    name: 'calls that did not run are not evidence',
    toolCalls: [call({ executed: false, result: undefined })],
    want: { kind: 'skipped', reason: 'no_tool_calls' },
  },
] as const;
for (const { name, toolCalls, want } of live) {
  test(`tool_error: ${name}`, () => {
    expect(score({ entry, trace: agentTrace({ toolCalls: [...toolCalls] }) })).toMatchObject(want);
  });
}

const wrong = 'Error: amount 500 is more than the limit of 300';
const signs = [
  { name: 'a text that reads as an error is a failure', one: call({ result: wrong }), kind: 'error_sign' },
  {
    name: 'a span with status OK does not hide a text that reads as an error',
    one: call({ result: wrong, statedOk: true }),
    kind: 'error_sign',
  },
  { name: 'a span with status OK outweighs an exit code', one: call({ result: 'Exit code 1', statedOk: true }), kind: undefined },
  {
    name: 'a trusted span with status OK states the outcome',
    one: call({ result: wrong, statedOk: true }),
    options: { use_span_status: 'trust' },
    kind: undefined,
  },
  {
    name: 'an exit code counts beside a status that is ignored',
    one: call({ result: 'Exit code 1', statedOk: true }),
    options: { use_span_status: 'ignore' },
    kind: 'error_sign',
  },
  {
    name: 'an SDK’s text in place of a result counts with any status of the span',
    one: call({ result: 'An error occurred while running the tool. Please try again. Error: boom', statedOk: true }),
    kind: 'error_sign',
  },
  {
    name: 'the beginning of a result that was cut short shows an error',
    one: call({ result: undefined, truncated: { result: 'Traceback (most recent call last):\n  File "a.py", line 1' } }),
    kind: 'error_sign',
  },
  {
    name: 'signs count only while they are switched on',
    one: call({ result: wrong }),
    options: { use_error_signs: false },
    kind: undefined,
  },
  {
    name: 'an error member is left to its own option',
    one: call({ result: { error: 'x' } }),
    options: { detect_error_field: false },
    kind: undefined,
  },
  { name: 'an error member of no meaning is none', one: call({ result: { error: 'none' } }), kind: undefined },
  { name: 'a fraction under error is a measurement', one: call({ result: { error: 0.05, value: 3 } }), kind: undefined },
  { name: 'a document about errors is none', one: call({ result: 'Error: a history' }), kind: undefined },
] as const;
for (const row of signs) {
  test(`tool_error: ${row.name}`, () => {
    const verdict = score({
      entry: { ...entry, options: 'options' in row ? { ...row.options } : {} },
      trace: agentTrace({ toolCalls: [row.one] }),
    });
    expect(verdict).toMatchObject({
      kind: 'scored',
      score: row.kind === undefined ? 1 : 0,
      details: { failed: row.kind === undefined ? [] : [{ index: 0, kind: row.kind }] },
    });
  });
}

const stated = call({ statedOk: true });
const sentences = [
  { name: 'nothing is stated', toolCalls: [call(), call()], explanation: 'No sign of an error in 2 results.' },
  { name: 'one result is silent', toolCalls: [call()], explanation: 'No sign of an error in 1 result.' },
  { name: 'a span states success', toolCalls: [stated], explanation: 'The tool call succeeded by its span.' },
  { name: 'all spans state success', toolCalls: [stated, stated], explanation: 'All 2 tool calls succeeded by their spans.' },
  {
    name: 'some spans state it',
    toolCalls: [stated, call(), call()],
    explanation: '1 of 3 tool calls succeeded by its span, no sign of an error in the other 2 results.',
  },
  {
    name: 'a call carries nothing',
    toolCalls: [call(), call({ result: undefined })],
    explanation: 'No sign of an error in 1 result. The spans carry neither a result nor an error of 1 further call.',
  },
  {
    name: 'a result contradicts its span',
    toolCalls: [call({ result: 'Exit code 1', statedOk: true }), stated],
    explanation: 'All 2 tool calls succeeded by their spans. The result of t (call 1) reads as an error, though its span states success.',
  },
  {
    name: 'a result reads as an error',
    toolCalls: [call({ result: wrong }), call()],
    explanation: `1 of 2 tool calls failed: t (call 1): its result reads as an error: "${wrong}".`,
  },
] as const;
for (const { name, toolCalls, explanation } of sentences) {
  test(`tool_error: the sentence claims what is known where ${name}`, () => {
    expect(score({ entry, trace: agentTrace({ toolCalls: [...toolCalls] }) })).toMatchObject({ explanation });
  });
}

test('tool_error: takes a run of 50,000 calls, counts all and names the failures first', () => {
  const toolCalls = Array.from({ length: 50_000 }, (_, at) => call({ spanId: spanId(at + 1), result: at % 100 === 99 ? wrong : 'ok' }));
  const verdict = score({ entry, trace: agentTrace({ toolCalls }) });
  expect(verdict).toMatchObject({
    score: 0.99,
    details: { succeeded: 49_500, total: 50_000, parts_left_out: { failed: 0, passed: 49_000 } },
  });
  const parts = verdict.kind === 'scored' ? verdict.parts : [];
  expect([
    parts.length,
    parts.filter(({ passed }) => !passed).length,
    parts.map(({ index }) => index).every((index, at, all) => at === 0 || index > (all[at - 1] ?? 0)),
  ]).toEqual([1_000, 500, true]);
});

test('tool_error: an empty run is skipped, or full with on_empty original', () => {
  expect(score({ entry, trace: agentTrace() })).toMatchObject({ kind: 'skipped', reason: 'no_tool_calls' });
  expect(score({ entry, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(score({ entry: { ...entry, on_empty: 'original' }, trace: agentTrace() })).toMatchObject({ kind: 'scored', score: 1 });
  expect(score({ entry: { ...entry, on_empty: 'original' }, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({
    kind: 'skipped',
    reason: 'tool_calls_not_carried',
  });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call(), call()] }), limits: { toolCallsMax: 1 } })).toMatchObject({
    kind: 'scored',
    score: 1,
  });
});

const late = call({ name: 'read', result: `${'x'.repeat(100_000)} HTTP 503` });
const cutRows = [
  {
    name: 'a pattern that may be beyond the searched part is not a success',
    toolCalls: [late, call()],
    want: {
      kind: 'skipped',
      reason: 'too_large',
      explanation: 'The result of read (call 1) is longer than the 100000 characters in which error_patterns are searched.',
    },
  },
  {
    name: 'a structured result is as long as its JSON',
    toolCalls: [call({ result: { text: 'x'.repeat(100_000) } })],
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'a failure that is found counts, and the part of a long result shows what was searched',
    toolCalls: [late, call({ result: 'HTTP 500' })],
    want: {
      score: 0.5,
      parts: [
        { index: 0, explanation: 'No sign of an error in the first 100000 characters of the result.' },
        { index: 1, passed: false },
      ],
    },
  },
] as const;
for (const { name, toolCalls, want } of cutRows) {
  test(`tool_error: ${name}`, () => {
    expect(
      score({ entry: { ...entry, options: { error_patterns: ['HTTP 5'] } }, trace: agentTrace({ toolCalls: [...toolCalls] }) }),
    ).toMatchObject(want);
  });
}

test('tool_error: without patterns a long result is not too large', () => {
  expect(score({ entry, trace: agentTrace({ toolCalls: [late] }) })).toMatchObject({ kind: 'scored', score: 1 });
});
