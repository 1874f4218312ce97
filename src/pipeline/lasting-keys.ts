/**
 * A run keeps the key under which it first closed. Later spans can show that another span is the better one to hang it on (an agent
 * inside a workflow that closed before the agent's span came); a run under a new key would then count the same work twice.
 */
import type { RunKey } from '../model/agent-trace.ts';
import type { SpanId } from '../model/ids.ts';
import type { Draft } from './assemble.ts';

/** The drafts under the keys that they have already closed under, references among them included. */
export function withLastingKeys(drafts: readonly Draft[], closed: ReadonlyMap<SpanId, unknown>): readonly Draft[] {
  const present = new Set(drafts.map((draft) => draft.key.spanId));
  const vanished = new Set([...closed.keys()].filter((spanId) => !present.has(spanId)));
  if (vanished.size === 0) return drafts;
  const lasting = new Map<SpanId, SpanId>();
  for (const draft of drafts) {
    if (closed.has(draft.key.spanId)) continue;
    const former = draft.spans.find((span) => vanished.has(span.spanId))?.spanId;
    if (former === undefined) continue;
    vanished.delete(former);
    lasting.set(draft.key.spanId, former);
  }
  return lasting.size === 0 ? drafts : drafts.map((draft) => renamed(draft, lasting));
}

function renamed(draft: Draft, lasting: ReadonlyMap<SpanId, SpanId>): Draft {
  const name = (spanId: SpanId): SpanId => lasting.get(spanId) ?? spanId;
  const rekeyed = (key: RunKey): RunKey => ({ ...key, spanId: name(key.spanId) });
  const subAgents = draft.trace.subAgents.map((sub) => ({ ...sub, spanId: name(sub.spanId) }));
  return { ...draft, key: rekeyed(draft.key), parent: draft.parent === undefined ? undefined : rekeyed(draft.parent), trace: { ...draft.trace, subAgents } };
}
