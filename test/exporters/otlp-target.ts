/** A receiver on loopback that keeps unchanged requests, read with the published messages. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import protobuf from 'protobufjs';
import { attributes } from './otlp-sink.ts';
import { traceRequest } from '../otlp/descriptors.ts';

export interface TargetRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

export interface TargetSpan {
  readonly id: string;
  readonly traceId: string;
  readonly name: string;
  /** The body as in the request. */
  readonly bytes: Buffer;
  readonly attributes: { readonly [key: string]: unknown };
  readonly events: readonly { readonly name: string; readonly attributes: { readonly [key: string]: unknown } }[];
}

export interface OtlpTarget {
  readonly url: string;
  /** Requests that were answered with success. */
  readonly taken: readonly TargetRequest[];
  /** Requests that came. */
  readonly seen: readonly TargetRequest[];
  /** The bodies of all accepted requests, in order. */
  spans(): readonly TargetSpan[];
  close(): Promise<void>;
}

/** `answer` writes status, headers and body; the end is not its affair. Undefined: no answer at all. */
export async function otlpTarget(
  answer: (response: ServerResponse, request: TargetRequest, at: number) => Buffer | string | undefined = () => '',
  port = 0,
): Promise<OtlpTarget> {
  const [taken, seen]: [TargetRequest[], TargetRequest[]] = [[], []];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const whole = { path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) };
      seen.push(whole);
      const body = answer(response, whole, seen.length - 1);
      if (body === undefined) return;
      if (response.statusCode < 300) taken.push(whole);
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    seen,
    spans: () => taken.filter(({ path }) => path === '/v1/traces').flatMap(({ body }) => spansOf(body)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Throws where the published messages cannot be read out of it. */
export function spansOf(body: Buffer): readonly TargetSpan[] {
  traceRequest.decode(body);
  return inner(body, 1)
    .flatMap((group) => inner(group, 2))
    .flatMap((scope) => inner(scope, 2))
    .map(spanOf);
}

type Pairs = Parameters<typeof attributes>[0];

function spanOf(bytes: Buffer): TargetSpan {
  const alone = traceRequest.decode(Buffer.concat([head(1, head(2, head(2, bytes)))]));
  const [group] = alone['resourceSpans'] as readonly { readonly scopeSpans: readonly { readonly spans: readonly DecodedSpan[] }[] }[];
  const [span] = group?.scopeSpans[0]?.spans ?? [];
  if (span === undefined) throw new Error('no span');
  return {
    id: span.spanId.toString('hex'),
    traceId: span.traceId.toString('hex'),
    name: span.name ?? '',
    bytes,
    attributes: attributes(span.attributes),
    events: (span.events ?? []).map((event) => ({ name: event.name, attributes: attributes(event.attributes) })),
  };
}

interface DecodedSpan {
  readonly traceId: Buffer;
  readonly spanId: Buffer;
  readonly name?: string;
  readonly attributes?: Pairs;
  readonly events?: readonly { readonly name: string; readonly attributes?: Pairs }[];
}

/** Every message under one field, as its bytes. */
function inner(bytes: Buffer, field: number): readonly Buffer[] {
  const reader = protobuf.Reader.create(bytes);
  const found: Buffer[] = [];
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    if (tag >>> 3 === field) found.push(Buffer.from(reader.bytes()));
    else reader.skipType(tag & 7);
  }
  return found;
}

function head(field: number, bytes: Buffer): Buffer {
  return Buffer.from(
    protobuf.Writer.create()
      .uint32(field * 8 + 2)
      .bytes(bytes)
      .finish(),
  );
}
