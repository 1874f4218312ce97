/** A tracing backend on loopback that keeps what it is sent, read with the official message layout. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';

/** opentelemetry-proto: trace/v1, common/v1 and resource/v1, as far as they concern a span. */
const proto = `
syntax = "proto3";
message ExportTraceServiceRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; string version = 2; }
message Span {
  message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; uint32 dropped_attributes_count = 4; }
  message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; repeated KeyValue attributes = 4; fixed32 flags = 6; }
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
  fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; uint32 dropped_attributes_count = 10;
  repeated Event events = 11; uint32 dropped_events_count = 12; repeated Link links = 13; Status status = 15; fixed32 flags = 16;
}
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; ArrayValue array_value = 5; } }
message ArrayValue { repeated AnyValue values = 1; }
`;

export interface SinkValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  readonly intValue?: string | number;
  readonly doubleValue?: number;
  readonly arrayValue?: { readonly values?: readonly SinkValue[] };
}
interface SinkPair {
  readonly key: string;
  readonly value: SinkValue;
}
export interface SinkSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly traceState?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly SinkPair[];
  readonly events?: readonly { readonly name: string; readonly timeUnixNano: string; readonly attributes: readonly SinkPair[] }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly flags: number;
  readonly kind?: number;
  readonly status?: { readonly code?: number; readonly message?: string };
}
interface SinkRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes?: readonly SinkPair[] };
    readonly scopeSpans: readonly { readonly spans: readonly SinkSpan[] }[];
  }[];
}

/** A request, or of one with several spans the part with one of them. */
export interface Received {
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** The answer to the n-th request, from 0. */
export type SinkAnswer = (response: ServerResponse, at: number) => void;

export interface Sink {
  readonly url: string;
  readonly received: readonly Received[];
  close(): Promise<void>;
}

export async function otlpSink(answer: SinkAnswer = (response) => void response.end(), wanted = 0): Promise<Sink> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const whole: Received = { url: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      received.push(...bodiesOf(whole).map((body) => ({ ...whole, body })));
      answer(response, received.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(wanted, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** The one span of a request, with its resource. Ids are hex in both encodings. */
export function readCarrier({ headers, body }: Received): {
  readonly span: SinkSpan;
  readonly resource: { readonly [key: string]: unknown };
} {
  const request = headers['content-type'] === 'application/json' ? (JSON.parse(body.toString()) as SinkRequest) : decoded(body);
  const [group] = request.resourceSpans;
  const [span] = group?.scopeSpans[0]?.spans ?? [];
  if (group === undefined || span === undefined) throw new Error('the request holds no span');
  return { span, resource: attributes(group.resource.attributes) };
}

/** One request for each span of a request with several. */
function bodiesOf({ url, headers, body }: Received): readonly Buffer[] {
  if (url.endsWith('/v1/logs')) return [body];
  const isJson = headers['content-type'] === 'application/json';
  if (!isJson && headers['content-type'] !== 'application/x-protobuf') return [body];
  const { resourceSpans = [] } = (isJson ? JSON.parse(body.toString()) : type.toObject(type.decode(body))) as Partial<SinkRequest>;
  const alone = resourceSpans.flatMap((group) =>
    group.scopeSpans.flatMap((scope) =>
      scope.spans.map((span) => ({ resourceSpans: [{ ...group, scopeSpans: [{ ...scope, spans: [span] }] }] })),
    ),
  );
  return alone.length < 2
    ? [body]
    : alone.map((one) => (isJson ? Buffer.from(JSON.stringify(one)) : Buffer.from(type.encode(type.fromObject(one)).finish())));
}

export function attributes(pairs: readonly SinkPair[] = []): { readonly [key: string]: unknown } {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: SinkValue): unknown {
  if (value.arrayValue !== undefined) return (value.arrayValue.values ?? []).map(plain);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue;
}

const type = protobuf.parse(proto).root.lookupType('ExportTraceServiceRequest');

function decoded(body: Buffer): SinkRequest {
  const request = type.toObject(type.decode(body), { longs: String, bytes: Buffer }) as SinkRequest;
  return JSON.parse(
    JSON.stringify(request, (_key, value: unknown) => (isBytes(value) ? Buffer.from(value.data).toString('hex') : value)),
  ) as SinkRequest;
}

function isBytes(value: unknown): value is { readonly type: 'Buffer'; readonly data: readonly number[] } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'Buffer';
}
