/** Closing a run under its key: the next revision, if it says anything new. */
import type { Completeness, Run } from '../../model/agent-trace.ts';
import type { SpanId } from '../../model/ids.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Lasting } from './run-identity.ts';
import { contentHash, expectedOf, partOf, runOf } from './run.ts';
import { spansPerStep } from '../assembly/span-tree.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import type { Trace } from './trace-table.ts';

/** What closing a run costs beside its spans, in spans: it is scored and handed on. */
const spansPerRun = 20;
/** Hashing the content of a larger run takes milliseconds, and so does each rule that scores it: each is a piece of its own. */
const bytesPerStep = 256 * 1024;

export interface ClosingTo {
  /** Takes what closes. */
  readonly ready: Run[];
  readonly telemetry: Telemetry;
  readonly beforeClose?: ((run: Run) => Steps<void>) | undefined;
}

/** Closes the drafts that `closes` says anything of, a few at a time. */
export function* closing(
  { ready, telemetry, beforeClose }: ClosingTo,
  trace: Trace,
  { drafts, takenBack }: Lasting,
  closes: (draft: Draft) => Completeness | undefined,
): Steps<void> {
  let weight = 0;
  for (const draft of drafts) {
    if (weight >= spansPerStep) {
      yield;
      weight = 0;
    }
    weight += spansPerRun + draft.spans.length;
    const completeness = closes(draft);
    if (completeness === undefined) continue;
    const expected = expectedOf(draft);
    const hash = contentHash(draft, expected);
    const isLarge = bytesOf(draft) > bytesPerStep;
    if (isLarge) yield;
    const revision = nextRevision(trace, draft.key.spanId, hash);
    // It has already closed with this content.
    if (revision === undefined) continue;
    const run = runOf(draft, { completeness, revision, contentHash: hash }, expected);
    if (isLarge && beforeClose !== undefined) yield* beforeClose(run);
    // After the last yield: a look that is given up has closed nothing.
    remember(trace, draft, run);
    ready.push(run);
  }
  ready.push(...takenBackRuns(trace, takenBack, telemetry));
}

function bytesOf({ spans }: Draft): number {
  let bytes = 0;
  for (const { wireBytes } of spans) bytes += wireBytes;
  return bytes;
}

/** Runs that turned out to be part of another one, once that has closed. */
function takenBackRuns(trace: Trace, takenBack: Lasting['takenBack'], telemetry: Telemetry): readonly Run[] {
  return [...takenBack].flatMap(([spanId, whole]) => takenBackRun(trace, spanId, whole, telemetry) ?? []);
}

function takenBackRun(trace: Trace, spanId: SpanId, whole: Draft, telemetry: Telemetry): Run | undefined {
  const closed = trace.closed?.get(spanId);
  if (closed === undefined || trace.closed?.has(whole.key.spanId) !== true) return undefined;
  const hash = `part of ${whole.key.traceId}/${whole.key.spanId}`;
  const key = { ...whole.key, traceId: closed.traceId, spanId };
  const revision = nextRevision(trace, spanId, hash);
  if (revision === undefined) return undefined;
  remember(trace, { key, spanTraceId: closed.spanTraceId }, { revision, contentHash: hash });
  telemetry.add('tracejury.runs.joined', 1);
  return partOf(whole, { traceId: closed.traceId, spanId, spanTraceId: closed.spanTraceId, revision, contentHash: hash });
}

/** Undefined: the run has already closed with this content. */
function nextRevision(trace: Trace, spanId: SpanId, hash: string): number | undefined {
  const before = trace.closed?.get(spanId);
  return before?.contentHash === hash ? undefined : (before?.revision ?? 0) + 1;
}

function remember(
  trace: Trace,
  { key: { traceId, spanId }, spanTraceId }: Pick<Draft, 'key' | 'spanTraceId'>,
  { revision, contentHash: hash }: Pick<Run, 'revision' | 'contentHash'>,
): void {
  (trace.closed ??= new Map()).set(spanId, { traceId, spanTraceId, revision, contentHash: hash });
}
