/** The parts of a span or its log records for each field that evaluators look at, and the same with one place hidden. */
import type { Carried, Collector, SpanFacts } from '../../collectors/collector.ts';
import { jsonText, type JsonValue } from '../../src/model/json.ts';
import type { Attributed, LogRecord, Span } from '../../src/model/span.ts';
import { replaced } from '../builders/replaced.ts';

export const fields = [
  'input',
  'final_response',
  'tool_calls',
  'tool_arguments',
  'tool_results',
  'tool_definitions',
  'tokens',
] as const satisfies readonly Carried[];

/** The field as text; undefined when it is not carried. */
export function told(field: Carried, facts: SpanFacts): string | undefined {
  const known = valuesOf[field](facts).filter((value) => value !== undefined);
  return known.length === 0 ? undefined : jsonText(known as JsonValue);
}

const valuesOf: { readonly [field in Carried]: (facts: SpanFacts) => readonly unknown[] } = {
  input: ({ input, inputDump, inputMessages = [] }) => [
    input,
    inputDump,
    ...inputMessages.map(({ role, text }) => (role === 'user' ? text : undefined)),
  ],
  final_response: ({ output, outputDump, outputMessages = [] }) => [output, outputDump, ...outputMessages.map(({ text }) => text)],
  tool_calls: (facts) => [facts.tool?.name, ...messages(facts).flatMap(({ requested }) => requested.map(({ name }) => name))],
  tool_arguments: (facts) => [
    facts.tool?.arguments ?? facts.tool?.argumentsText,
    ...messages(facts).flatMap(({ requested }) => requested.map((call) => call.arguments ?? call.argumentsText)),
  ],
  tool_results: (facts) => [
    facts.tool?.result,
    facts.tool?.failed,
    ...messages(facts).flatMap((message) => message.results.map(({ result }) => result)),
  ],
  tool_definitions: ({ toolDefinitions, tool }) => [toolDefinitions, tool?.inputSchema],
  tokens: ({ inputTokens, outputTokens }) => [inputTokens, outputTokens],
};

function messages({ inputMessages = [], outputMessages = [] }: SpanFacts): readonly NonNullable<SpanFacts['inputMessages']>[number][] {
  return [...inputMessages, ...outputMessages];
}

/** A span without the attribute, the attributes of the prefix, or the events that the place names. */
export function without(span: Span, place: string): Span {
  const [, event] = /^event (.+)$/.exec(place) ?? [];
  if (event !== undefined) return replaced(span, { events: span.events.filter(({ name }) => name !== event) });
  const isHidden = (key: string): boolean => (place.endsWith('*') ? key.startsWith(place.slice(0, -1)) : key === place);
  const less: Attributed = {
    attribute: (key) => (isHidden(key) ? undefined : span.attribute(key)),
    attributeKeys: () => span.attributeKeys().filter((key) => !isHidden(key)),
  };
  return replaced(span, less);
}

/** True when hiding the place loses a part of some recorded span or its records. */
export function carries(
  place: string,
  field: Carried,
  collector: Collector,
  from: { readonly spans: readonly Span[]; readonly records: readonly LogRecord[] },
): boolean {
  const [, event] = /^record (.+)$/.exec(place) ?? [];
  if (event === undefined)
    return from.spans.some((span) => isLess(told(field, collector.read(without(span, place))), told(field, collector.read(span))));
  return [...Map.groupBy(from.records, ({ traceId, spanId }) => `${traceId}/${spanId}`).values()].some((records) => {
    const others = records.filter(({ eventName }) => eventName !== event);
    return isLess(told(field, collector.logs?.read(others) ?? {}), told(field, collector.logs?.read(records) ?? {}));
  });
}

function isLess(left: string | undefined, right: string | undefined): boolean {
  return right !== undefined && (left === undefined || left.length < right.length);
}
