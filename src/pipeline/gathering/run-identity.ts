/**
 * A run keeps the key under which it first closed. Later spans can show that another span is the better one to hang it on (an agent
 * inside a workflow that closed before the agent's span came, an earlier request of the same loop); a run under a new key would then
 * count the same work twice. For the same reason a run that closed and turned out to be part of another one is taken back.
 */
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { Draft } from '../assembly/assemble.ts';

export interface KeyPlace {
  readonly traceId: TraceId;
  /** The trace that the key's span is in; another one for a run that is known under the trace id of the run that it works for. */
  readonly spanTraceId: TraceId;
}

export interface Lasting {
  /** The drafts under the keys that they have already closed under, references among them included. */
  readonly drafts: readonly Draft[];
  /** Keys that closed as runs, and the runs whose spans theirs are now. */
  readonly takenBack: ReadonlyMap<SpanId, Draft>;
}

/** `closed`: absent: no run of the trace has. */
export function withLastingKeys(drafts: readonly Draft[], closed: ReadonlyMap<SpanId, KeyPlace> | undefined): Lasting {
  if (closed === undefined) return { drafts, takenBack: new Map() };
  const present = new Set(drafts.map((draft) => draft.key.spanId));
  const vanished = new Set([...closed.keys()].filter((spanId) => !present.has(spanId)));
  const lasting = new Map<SpanId, KeyPlace & Pick<RunKey, 'spanId'>>();
  /** Runs that work for another one are known under its trace id. */
  const traceIds = new Map<TraceId, TraceId>();
  for (const { key, parent, spans } of drafts) {
    const spanId = closed.has(key.spanId) ? key.spanId : spans.find((span) => vanished.has(span.spanId))?.spanId;
    const place = spanId === undefined ? undefined : closed.get(spanId);
    if (spanId === undefined || place === undefined || (spanId === key.spanId && place.traceId === key.traceId)) continue;
    vanished.delete(spanId);
    lasting.set(key.spanId, { spanId, traceId: place.traceId, spanTraceId: place.spanTraceId });
    if (parent === undefined) traceIds.set(key.traceId, place.traceId);
  }
  for (const { key, parent, spanTraceId } of drafts) {
    const traceId = traceIds.get(key.traceId);
    if (parent !== undefined && traceId !== undefined && !lasting.has(key.spanId))
      lasting.set(key.spanId, { spanId: key.spanId, traceId, spanTraceId });
  }
  const kept = lasting.size === 0 ? drafts : drafts.map((draft) => renamed(draft, lasting));
  const takenBack = new Map<SpanId, Draft>();
  if (vanished.size > 0)
    for (const draft of kept) for (const { spanId } of draft.spans) if (vanished.has(spanId)) takenBack.set(spanId, draft);
  return { drafts: kept, takenBack };
}

function renamed(draft: Draft, lasting: ReadonlyMap<SpanId, KeyPlace & Pick<RunKey, 'spanId'>>): Draft {
  const rekeyed = (key: RunKey): RunKey => {
    const { spanId, traceId } = lasting.get(key.spanId) ?? key;
    return { tenant: key.tenant, traceId, spanId };
  };
  const key = rekeyed(draft.key);
  const subAgents = draft.trace.subAgents.map((sub) => {
    const { spanId, traceId } = lasting.get(sub.spanId) ?? { spanId: sub.spanId, traceId: key.traceId };
    return { ...sub, spanId, ...(traceId === key.traceId ? {} : { traceId }) };
  });
  return {
    ...draft,
    key,
    spanTraceId: lasting.get(draft.key.spanId)?.spanTraceId ?? draft.spanTraceId,
    parent: draft.parent === undefined ? undefined : rekeyed(draft.parent),
    trace: { ...draft.trace, subAgents },
  };
}
