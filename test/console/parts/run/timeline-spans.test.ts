import { expect, test } from 'vitest';
import { type BriefSpan, wholeSpans } from '../../../../src/console/parts/run/timeline-spans.ts';

const brief: BriefSpan = {
  span_id: 'a',
  of_run: true,
  name: 'chat',
  status: 'ok',
  started_at: '2026-11-26T00:00:00.000000Z',
  ended_at: '2026-11-26T00:00:01.000000Z',
};
const whole = { ...brief, trace_id: 't', parent_span_id: null, role: null, agent: null, tool: null, model: null, status_message: '' };
const given = { trace_id: 'other', parent_span_id: 'p', role: 'tool', agent: 'x', tool: 'find', model: 'm', status_message: 'no' };

test.each([
  ['absent members are null or empty, and the trace is that of the run', brief, whole],
  ['given members stay', { ...brief, ...given }, { ...whole, ...given }],
])('timeline spans: %s', (_, span, want) => expect(wholeSpans('t', [span])).toEqual([want]));
