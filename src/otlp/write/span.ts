/** One span in OTLP's form, for attributes of any representation. */
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';

/** `Attributes`: what the attributes of span, events and links are made of. */
export interface WireSpan<Attributes> {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** OTLP's number. */
  readonly kind: number;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly attributes: Attributes;
  readonly droppedAttributes?: number | undefined;
  readonly events: readonly WireEvent<Attributes>[];
  readonly links: readonly WireLink<Attributes>[];
  /** `code`: OTLP's number; 0 is unset. */
  readonly status: { readonly code: number; readonly message: string };
  readonly flags: number;
}

export interface WireEvent<Attributes> {
  readonly timeUnixNano: bigint;
  readonly name: string;
  readonly attributes: Attributes;
}

export interface WireLink<Attributes> {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceState: string;
  readonly attributes?: Attributes;
  readonly flags: number;
}

export interface AttributesFormat<Attributes> {
  json(attributes: Attributes): readonly JsonValue[];
  protobuf(to: ProtobufWriter, field: number, attributes: Attributes): void;
}

/** Fields without a value are absent, as in protobuf. */
export function spanJson<Attributes>(span: WireSpan<Attributes>, { json }: AttributesFormat<Attributes>): JsonObject {
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    ...(span.traceState === '' ? {} : { traceState: span.traceState }),
    ...(span.parentSpanId === undefined ? {} : { parentSpanId: span.parentSpanId }),
    name: span.name,
    kind: span.kind,
    startTimeUnixNano: span.startUnixNano.toString(),
    endTimeUnixNano: span.endUnixNano.toString(),
    attributes: json(span.attributes),
    ...(span.droppedAttributes === undefined ? {} : { droppedAttributesCount: span.droppedAttributes }),
    events: span.events.map(({ timeUnixNano, name, attributes }) => ({
      timeUnixNano: timeUnixNano.toString(),
      name,
      attributes: json(attributes),
    })),
    links: span.links.map(({ traceId, spanId, traceState, attributes, flags }) => ({
      traceId,
      spanId,
      ...(traceState === '' ? {} : { traceState }),
      ...(attributes === undefined ? {} : { attributes: json(attributes) }),
      ...(flags === 0 ? {} : { flags }),
    })),
    ...(hasStatus(span) ? { status: { code: span.status.code, message: span.status.message } } : {}),
    flags: span.flags,
  };
}

/** Field of a span's attributes, also where another writer adds to the span. */
const attributesField = 9;

/** Within the message of the span. */
export function writeSpan<Attributes>(to: ProtobufWriter, span: WireSpan<Attributes>, { protobuf }: AttributesFormat<Attributes>): void {
  to.hex(1, span.traceId);
  to.hex(2, span.spanId);
  if (span.traceState !== '') to.text(3, span.traceState);
  if (span.parentSpanId !== undefined) to.hex(4, span.parentSpanId);
  if (span.name !== '') to.text(5, span.name);
  if (span.kind !== 0) to.varint(6, span.kind);
  to.fixed64(7, span.startUnixNano);
  to.fixed64(8, span.endUnixNano);
  protobuf(to, attributesField, span.attributes);
  if (span.droppedAttributes !== undefined) to.varint(10, span.droppedAttributes);
  for (const event of span.events) to.message(11, () => writeEvent(to, event, protobuf));
  for (const link of span.links) to.message(13, () => writeLink(to, link, protobuf));
  if (hasStatus(span)) to.message(15, () => writeStatus(to, span));
  if (span.flags !== 0) to.fixed32(16, span.flags);
}

/** Attributes and events at the end of a span that another writer has written. */
export function writeAddedFields<Attributes>(
  to: ProtobufWriter,
  { attributes, events }: Pick<WireSpan<Attributes>, 'attributes' | 'events'>,
  { protobuf }: AttributesFormat<Attributes>,
): void {
  protobuf(to, attributesField, attributes);
  for (const event of events) to.message(11, () => writeEvent(to, event, protobuf));
}

function writeEvent<Attributes>(
  to: ProtobufWriter,
  { timeUnixNano, name, attributes }: WireEvent<Attributes>,
  writeAttributes: AttributesFormat<Attributes>['protobuf'],
): void {
  to.fixed64(1, timeUnixNano);
  if (name !== '') to.text(2, name);
  writeAttributes(to, 3, attributes);
}

function writeLink<Attributes>(
  to: ProtobufWriter,
  { traceId, spanId, traceState, attributes, flags }: WireLink<Attributes>,
  writeAttributes: AttributesFormat<Attributes>['protobuf'],
): void {
  to.hex(1, traceId);
  to.hex(2, spanId);
  if (traceState !== '') to.text(3, traceState);
  if (attributes !== undefined) writeAttributes(to, 4, attributes);
  if (flags !== 0) to.fixed32(6, flags);
}

function hasStatus({ status }: Pick<WireSpan<unknown>, 'status'>): boolean {
  return status.code !== 0 || status.message !== '';
}

function writeStatus(to: ProtobufWriter, { status: { code, message } }: Pick<WireSpan<unknown>, 'status'>): void {
  if (message !== '') to.text(2, message);
  if (code !== 0) to.varint(3, code);
}
