/** Bodies and pieces of bodies. Spans are written as OTLP/JSON has them; `protobuf` turns the same description into bytes. */
import { traceRequest } from '../otlp/descriptors.ts';

export interface SpanFields {
  readonly [field: string]: unknown;
}

export const MiB = 1024 * 1024;

const text = (key: string, value: string): object => ({ key, value: { stringValue: value } });

/** An agent's span: each makes a run. */
export function good(trace: string, fields: SpanFields = {}): SpanFields {
  const attributes = [text('gen_ai.operation.name', 'invoke_agent'), text('gen_ai.agent.name', 'good')];
  return {
    traceId: trace,
    spanId: spanId(0xa9e27),
    name: 'invoke_agent good',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    attributes,
    ...fields,
  };
}

/** A span like any other, unless `fields` say otherwise. */
export function plain(trace: string, fields: SpanFields = {}): SpanFields {
  return {
    traceId: trace,
    spanId: spanId(0xbad),
    name: 'bad',
    startTimeUnixNano: '1700000000000000000',
    endTimeUnixNano: '1700000001000000000',
    ...fields,
  };
}

export function spanId(number: number): string {
  return number.toString(16).padStart(16, '0');
}

export function json(...spans: readonly unknown[]): Buffer {
  return Buffer.from(jsonText(JSON.stringify(spans).slice(1, -1)));
}

/** A request around the text of its spans. */
export function jsonText(spans: string): string {
  return `{"resourceSpans":[{"scopeSpans":[{"spans":[${spans}]}]}]}`;
}

/** The text of one span whose members are written by hand, beside a good one. */
export function besideGood(trace: string, members: string): Buffer {
  return Buffer.from(jsonText(`{"traceId":"${trace}","spanId":"${spanId(0xbad)}",${members}},${JSON.stringify(good(trace))}`));
}

export function protobuf(...spans: readonly SpanFields[]): Buffer {
  return traceRequest.encode({ resourceSpans: [{ scopeSpans: [{ spans: spans.map(idsAsBytes) }] }] });
}

/** A request whose one scope has the spans given in bytes. */
export function requestOf(spans: readonly Uint8Array[]): Buffer {
  return field(0x0a, field(0x12, Buffer.concat(spans.map((span) => field(0x12, span)))));
}

/** The bytes of a good span, to be put beside bad ones. */
export function goodBytes(trace: string): Buffer {
  return spanBytes(good(trace));
}

/** The ids of a span, to be followed by what is wrong with it. */
export function idBytes(trace: string): Buffer {
  return Buffer.from(`0a10${trace}1208${spanId(0xbad)}`, 'hex');
}

/** A field of length-delimited bytes; `tag` is below 128. */
export function field(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  return Buffer.concat([Uint8Array.of(tag, ...varint(body.length)), body]);
}

/** Lists in each other, as AnyValue has them. */
export function deepList(levels: number): Buffer {
  const heads: Uint8Array[] = [];
  let length = 0;
  for (let level = 0; level < levels * 2; level++) {
    const head = Uint8Array.of(level % 2 === 0 ? 0x0a : 0x2a, ...varint(length));
    heads.push(head);
    length += head.length;
  }
  return Buffer.concat(heads.reverse());
}

function spanBytes(span: SpanFields): Buffer {
  const body = protobuf(span);
  // Around one span stand three lengths; the innermost is behind the third tag.
  let at = 0;
  for (let level = 0; level < 3; level++) {
    at++;
    while ((body[at] ?? 0) >= 0x80) at++;
    at++;
  }
  return body.subarray(at);
}

function idsAsBytes(span: SpanFields): object {
  return Object.fromEntries(
    Object.entries(span).map(([name, value]) => [name, name.endsWith('Id') ? Buffer.from(String(value), 'hex') : value]),
  );
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];
}
