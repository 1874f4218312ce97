/** Closing a run under its key: the next revision, if it says anything new. */
import type { Completeness, Run } from '../model/agent-trace.ts';
import type { SpanId } from '../model/ids.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Draft } from './assemble.ts';
import type { Lasting } from './lasting-keys.ts';
import { contentHash, expectedOf, partOf, runOf } from './run.ts';
import type { Trace } from './traces.ts';

/** The draft as a run that closes. Undefined: it has already closed with this content. */
export function closedRun(trace: Trace, draft: Draft, completeness: Completeness): Run | undefined {
  const expected = expectedOf(draft);
  const hash = contentHash(draft, expected);
  const revision = nextRevision(trace, draft, hash);
  return revision === undefined ? undefined : runOf(draft, { completeness, revision, contentHash: hash }, expected);
}

/** Runs that turned out to be part of another one, once that has closed. */
export function takenBackRuns(trace: Trace, takenBack: Lasting['takenBack'], telemetry: Telemetry): readonly Run[] {
  return [...takenBack].flatMap(([spanId, whole]) => takenBackRun(trace, spanId, whole, telemetry) ?? []);
}

function takenBackRun(trace: Trace, spanId: SpanId, whole: Draft, telemetry: Telemetry): Run | undefined {
  const closed = trace.closed?.get(spanId);
  if (closed === undefined || trace.closed?.has(whole.key.spanId) !== true) return undefined;
  const hash = `part of ${whole.key.traceId}/${whole.key.spanId}`;
  const key = { ...whole.key, traceId: closed.traceId, spanId };
  const revision = nextRevision(trace, { key, spanTraceId: closed.spanTraceId }, hash);
  if (revision === undefined) return undefined;
  telemetry.add('tracejury.runs.joined', 1);
  return partOf(whole, { traceId: closed.traceId, spanId, spanTraceId: closed.spanTraceId, revision, contentHash: hash });
}

function nextRevision(trace: Trace, { key: { traceId, spanId }, spanTraceId }: Pick<Draft, 'key' | 'spanTraceId'>, contentHashNow: string): number | undefined {
  const before = trace.closed?.get(spanId);
  if (before?.contentHash === contentHashNow) return undefined;
  const revision = (before?.revision ?? 0) + 1;
  (trace.closed ??= new Map()).set(spanId, { traceId, spanTraceId, revision, contentHash: contentHashNow });
  return revision;
}
