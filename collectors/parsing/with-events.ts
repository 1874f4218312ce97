/** Spans whose content is in their events, named after classes: `ModelChatBegin`, `ToolExecutionResult`. */
import { spanWith, type Span, type SpanEvent } from '../../src/model/span.ts';
import { keyEvidenceOf } from './key-evidence.ts';

/** Events of one span that are looked at, the last ones. */
const eventsMax = 64;

/** The span with the attributes of its events among its own, those of later events before those of earlier ones. Undefined when no event carries any. */
export function withEvents(span: Span): Span | undefined {
  const events = span.events.slice(-eventsMax).filter(mayTell);
  if (events.length === 0) return undefined;
  const sources = new Map<string, SpanEvent>();
  for (const event of events) for (const key of event.attributeKeys()) sources.set(key, event);
  const keys = [...new Set([...span.attributeKeys(), ...sources.keys()])];
  return spanWith(span, { attributeKeys: () => keys, attribute: (key) => span.attribute(key) ?? sources.get(key)?.attribute(key) });
}

/** Events of the conventions have their own form. */
function mayTell(event: SpanEvent): boolean {
  if (event.name === 'exception' || event.name.startsWith('gen_ai.')) return false;
  const { keys, lists, objects } = keyEvidenceOf(event);
  return [keys, lists, objects].some((found) => Object.keys(found).length > 0);
}
