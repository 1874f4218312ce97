import { expect, test } from 'vitest';
import { waitingSpans } from '../../../../src/console/parts/run/waiting-spans.ts';

const spans = [
  { span_id: 'server', parent_span_id: null },
  { span_id: 'run', parent_span_id: 'server' },
  { span_id: 'step', parent_span_id: 'run' },
  { span_id: 'call', parent_span_id: 'step' },
  { span_id: 'other', parent_span_id: 'step' },
];
const call = (outcome: 'waiting' | 'succeeded', id: string | null) => ({ outcome, span_id: id }) as never;

test.each([
  ['a paused run waits up to its own span', 'paused', [call('waiting', 'call'), call('succeeded', 'other')], ['run', 'call', 'step']],
  ['a paused run without a waiting call waits itself', 'paused', [], ['run']],
  ['a call without a span', 'paused', [call('waiting', null)], ['run']],
  ['a run that went on has only the call', 'ok', [call('waiting', 'call')], ['call']],
  ['a run in which nothing waits', 'error', [call('succeeded', 'call')], []],
] as const)('waiting spans: %s', (_, status, calls, want) => {
  expect([...waitingSpans({ status, span_id: 'run', tool_calls: [...calls] }, spans)]).toEqual(want);
});

test('waiting spans: parents in a circle end', () => {
  const circle = [
    { span_id: 'a', parent_span_id: 'b' },
    { span_id: 'b', parent_span_id: 'a' },
  ];
  expect([...waitingSpans({ status: 'paused', span_id: 'run', tool_calls: [call('waiting', 'a')] }, circle)]).toEqual(['run', 'a', 'b']);
});
