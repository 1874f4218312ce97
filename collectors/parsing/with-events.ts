/** Spans whose content stands in their events, named after classes: `ModelChatBegin`, `ToolExecutionResult`. */
import type { Span, SpanEvent } from '../../src/model/span.ts';
import { keyEvidenceOf } from './key-evidence.ts';

/** Events of one span that are looked at, the last ones. */
const eventsMax = 64;

/** The span with the attributes of its events among its own, the last event's first; undefined: no event carries any. */
export function withEvents(span: Span): Span | undefined {
  const events = span.events.slice(-eventsMax).filter(mayTell);
  if (events.length === 0) return undefined;
  const sources = new Map<string, SpanEvent>();
  for (const event of events) for (const key of event.attributeKeys()) sources.set(key, event);
  const keys = [...new Set([...span.attributeKeys(), ...sources.keys()])];
  return {
    resource: span.resource,
    scope: span.scope,
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId,
    traceState: span.traceState,
    flags: span.flags,
    name: span.name,
    kind: span.kind,
    startUnixNano: span.startUnixNano,
    endUnixNano: span.endUnixNano,
    status: span.status,
    events: span.events,
    links: span.links,
    wireBytes: span.wireBytes,
    attributeKeys: () => keys,
    attribute: (key) => span.attribute(key) ?? sources.get(key)?.attribute(key),
  };
}

/** Events of the conventions have their own form. */
function mayTell(event: SpanEvent): boolean {
  if (event.name === 'exception' || event.name.startsWith('gen_ai.')) return false;
  const { keys, lists, objects } = keyEvidenceOf(event);
  return [keys, lists, objects].some((found) => Object.keys(found).length > 0);
}
