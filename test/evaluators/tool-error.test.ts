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
  { name: 'an inherited name is no error member', one: call({ result: '{"__proto__":{"error":"x"}}' }), kind: undefined },
  { name: 'a text that begins with an error object is a failure', one: call({ result: '{"error":"x"} and more' }), kind: 'error_field' },
  { name: 'a failed span is a failure whatever the result', one: call({ error: error('span_status') }), kind: 'span_status' },
  { name: 'an exception event is a failed span', one: call({ error: error('exception_event') }), kind: 'span_status' },
  { name: 'an isError mark is a failure of its own kind', one: call({ error: error('is_error') }), kind: 'is_error' },
  { name: 'a failed span counts only while it is switched on', one: call({ error: error('error_type') }), options: { use_span_status: false }, kind: undefined },
  { name: 'an isError mark counts only while it is switched on', one: call({ error: error('result_status') }), options: { use_is_error: false }, kind: undefined },
  { name: 'a pattern is searched anywhere', one: call({ result: 'got HTTP 503 back' }), options: { error_patterns: ['HTTP 5\\d\\d'] }, kind: 'pattern' },
  { name: 'a pattern sees structured results as JSON', one: call({ result: { status: 500 } }), options: { error_patterns: ['"status":5'] }, kind: 'pattern' },
] as const;
for (const row of rows) {
  test(`tool_error: ${row.name}`, () => {
    const verdict = score({ entry: { ...entry, options: 'options' in row ? { ...row.options } : {} }, trace: agentTrace({ toolCalls: [row.one] }) });
    expect(verdict).toMatchObject({ kind: 'scored', score: row.kind === undefined ? 1 : 0, details: { failed: row.kind === undefined ? [] : [{ index: 0, kind: row.kind }] } });
  });
}

test('tool_error: with one failure of two the score is at 0.5, and a threshold of 0.5 passes', () => {
  const trace = agentTrace({ toolCalls: [call({ spanId: spanId(1) }), call({ name: 'get', result: '', spanId: spanId(2) })] });
  expect(score({ entry: { ...entry, threshold: 0.5 }, trace })).toMatchObject({ score: 0.5, passed: true, evidence: [spanId(2)], explanation: '1 of 2 tool calls failed: get (call 2): it returned nothing.' });
  expect(score({ entry: { ...entry, threshold: 0.51 }, trace })).toMatchObject({ passed: false });
});

const ended = call({ result: undefined, endUnixNano: 2n });
const unknown = call({ result: undefined });
const live = [
  { name: 'without results and errors nothing is known', toolCalls: [ended, unknown], want: { kind: 'skipped', reason: 'results_not_carried' } },
  { name: 'where errors show, a call that ended without one succeeded', toolCalls: [ended, call({ result: undefined, error: error('span_status') })], want: { score: 0.5, details: { succeeded: 1, total: 2 } } },
  { name: 'a call of unknown outcome is left out and counted', toolCalls: [unknown, call()], want: { score: 1, details: { total: 1, unknown_outcome: 1 } } },
  { name: 'a call that never ran is left out', toolCalls: [call({ executed: false, result: undefined }), call()], want: { score: 1, details: { total: 1 } } },
  { name: 'calls none of which ran are no evidence', toolCalls: [call({ executed: false, result: undefined })], want: { kind: 'skipped', reason: 'no_tool_calls' } },
] as const;
for (const { name, toolCalls, want } of live) {
  test(`tool_error: ${name}`, () => {
    expect(score({ entry, trace: agentTrace({ toolCalls: [...toolCalls] }) })).toMatchObject(want);
  });
}

test('tool_error: an empty run is skipped, or full with on_empty original', () => {
  expect(score({ entry, trace: agentTrace() })).toMatchObject({ kind: 'skipped', reason: 'no_tool_calls' });
  expect(score({ entry, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({ kind: 'skipped', reason: 'tool_calls_not_carried' });
  expect(score({ entry: { ...entry, on_empty: 'original' }, trace: agentTrace() })).toMatchObject({ kind: 'scored', score: 1 });
  expect(score({ entry: { ...entry, on_empty: 'original' }, trace: agentTrace({ toolCallsCarried: false }) })).toMatchObject({ kind: 'skipped', reason: 'tool_calls_not_carried' });
  expect(score({ entry, trace: agentTrace({ toolCalls: [call(), call()] }), limits: { toolCallsMax: 1 } })).toMatchObject({ kind: 'skipped', reason: 'too_large' });
});
