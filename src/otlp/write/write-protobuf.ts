/** Spans → the bytes of an ExportTraceServiceRequest. The grammar stands beside the readers. */
import type { Attributed, AttributeValue, Resource, Scope, Span, SpanStatus } from '../../model/span.ts';
import { isValueList } from '../read/attributes.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import { regroup } from './group-by-resource.ts';

export function writeTracesProtobuf(spans: readonly Span[]): Buffer {
  const out = protobufWriter();
  const alone = (write: (to: ProtobufWriter) => void): string => {
    const writer = protobufWriter();
    write(writer);
    return writer.result().toString('latin1');
  };
  const groups = regroup(
    spans,
    (resource) => alone((to) => writeAttributes(to, 1, resource)),
    (scope) => alone((to) => writeScope(to, scope)),
  );
  for (const { resource, scopes } of groups) {
    out.message(1, () => {
      writeResource(out, resource);
      for (const group of scopes) {
        out.message(2, () => {
          if (!isEmptyScope(group.scope)) out.message(1, () => writeScope(out, group.scope));
          for (const span of group.spans) out.message(2, () => writeSpan(out, span));
        });
      }
    });
  }
  return out.result();
}

export function writeResource(to: ProtobufWriter, resource: Resource): void {
  if (resource.attributeKeys().length > 0) to.message(1, () => writeAttributes(to, 1, resource));
}

export function isEmptyScope(scope: Scope): boolean {
  return scope.name === '' && scope.version === '' && scope.attributeKeys().length === 0;
}

export function writeScope(to: ProtobufWriter, scope: Scope): void {
  if (scope.name !== '') to.text(1, scope.name);
  if (scope.version !== '') to.text(2, scope.version);
  writeAttributes(to, 3, scope);
}

function writeSpan(to: ProtobufWriter, span: Span): void {
  to.hex(1, span.traceId);
  to.hex(2, span.spanId);
  if (span.traceState !== '') to.text(3, span.traceState);
  if (span.parentSpanId !== undefined) to.hex(4, span.parentSpanId);
  if (span.name !== '') to.text(5, span.name);
  if (span.kind !== 0) to.varint(6, span.kind);
  to.fixed64(7, span.startUnixNano);
  to.fixed64(8, span.endUnixNano);
  writeAttributes(to, 9, span);
  if (span.droppedAttributes !== undefined) to.varint(10, span.droppedAttributes);
  for (const event of span.events) {
    to.message(11, () => {
      to.fixed64(1, event.timeUnixNano);
      if (event.name !== '') to.text(2, event.name);
      writeAttributes(to, 3, event);
    });
  }
  for (const link of span.links) {
    to.message(13, () => {
      to.hex(1, link.traceId);
      to.hex(2, link.spanId);
      writeAttributes(to, 4, link);
    });
  }
  writeStatus(to, span.status);
  if (span.flags !== 0) to.fixed32(16, span.flags);
}

function writeStatus(to: ProtobufWriter, status: SpanStatus): void {
  if (status.code === 'unset' && status.message === '') return;
  to.message(15, () => {
    if (status.message !== '') to.text(2, status.message);
    if (status.code !== 'unset') to.varint(3, status.code === 'ok' ? 1 : 2);
  });
}

function writeAttributes(to: ProtobufWriter, field: number, from: Attributed): void {
  for (const key of from.attributeKeys()) writePair(to, field, key, from.attribute(key) ?? null);
}

function writePair(to: ProtobufWriter, field: number, key: string, value: AttributeValue): void {
  if (key !== '' && (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'))
    return to.pair(field, key, value, false);
  to.message(field, () => {
    if (key !== '') to.text(1, key);
    to.message(2, () => writeAnyValue(to, value));
  });
}

/** An integer outside 64 bits, which no reader gives, is written as a text: it keeps every digit. */
function writeAnyValue(to: ProtobufWriter, value: AttributeValue): void {
  if (value === null) return;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') to.scalar(value, false);
  else if (typeof value === 'bigint') {
    if (BigInt.asIntN(64, value) === value) to.varint(3, value);
    else to.text(1, value.toString());
  } else if (value instanceof Uint8Array) to.bytes(7, value);
  else if (isValueList(value)) {
    to.message(5, () => {
      for (const item of value) to.message(1, () => writeAnyValue(to, item));
    });
  } else {
    to.message(6, () => {
      for (const key of Object.keys(value)) writePair(to, 1, key, value[key] ?? null);
    });
  }
}
