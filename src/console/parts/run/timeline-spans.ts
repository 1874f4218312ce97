/** Spans of a brief timeline, whose null and empty members are absent, with all members. */
import type { TimelineSpan } from './waterfall.ts';

/** A span of the page's timeline. */
export interface PageSpan extends TimelineSpan {
  readonly status_message: string;
}

type Always = 'span_id' | 'of_run' | 'name' | 'status' | 'started_at' | 'ended_at';
export type BriefSpan = Pick<PageSpan, Always> & { readonly [Key in Exclude<keyof PageSpan, Always>]?: PageSpan[Key] | undefined };

/** `trace`: the id of the trace of the run. */
export function wholeSpans(trace: string, spans: readonly BriefSpan[]): readonly PageSpan[] {
  return spans.map((span) => ({
    trace_id: span.trace_id ?? trace,
    span_id: span.span_id,
    parent_span_id: span.parent_span_id ?? null,
    of_run: span.of_run,
    name: span.name,
    role: span.role ?? null,
    agent: span.agent ?? null,
    tool: span.tool ?? null,
    model: span.model ?? null,
    status: span.status,
    status_message: span.status_message ?? '',
    started_at: span.started_at,
    ended_at: span.ended_at,
  }));
}
