import type { Schemas } from '../../api/client.ts';
import type { TimelineSpan } from './waterfall.ts';

/** Spans that end because a call waits for a person or another program: the call and, in a paused run, those around it up to the run itself. */
export function waitingSpans(
  { status, span_id: own, tool_calls: calls }: Pick<Schemas['Run'], 'status' | 'span_id' | 'tool_calls'>,
  spans: readonly Pick<TimelineSpan, 'span_id' | 'parent_span_id'>[],
): ReadonlySet<string> {
  const parents = new Map(spans.map((span) => [span.span_id, span.parent_span_id]));
  const isPaused = status === 'paused';
  const waiting = new Set(isPaused ? [own] : []);
  for (const { outcome, span_id: call } of calls ?? [])
    for (let at = outcome === 'waiting' ? call : null; at !== null && !waiting.has(at); at = isPaused ? (parents.get(at) ?? null) : null)
      waiting.add(at);
  return waiting;
}
