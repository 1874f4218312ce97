/** A gRPC client that is not ours, and one that speaks HTTP/2 by hand for what no decent client sends. */
import { connect, type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2';
import { Client, compressionAlgorithms, credentials, Metadata, status, type ChannelCredentials, type ServiceError } from '@grpc/grpc-js';
import protobuf from 'protobufjs';

export const tracesPath = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
export const logsPath = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
export const metricsPath = '/opentelemetry.proto.collector.metrics.v1.MetricsService/Export';

export interface GrpcAnswer {
  /** The status by its name in the gRPC specification. */
  readonly code: string;
  readonly message: string;
  /** The delay of google.rpc.RetryInfo. */
  readonly retryAfterSeconds: number | undefined;
  readonly body: Buffer;
}

export interface GrpcSend {
  readonly path?: string;
  readonly message: Uint8Array;
  readonly metadata?: { readonly [name: string]: string };
  readonly coding?: 'gzip' | 'deflate' | undefined;
}

export interface GrpcClient {
  send(request: GrpcSend): Promise<GrpcAnswer>;
  close(): void;
}

export function grpcClient(
  port: number,
  { coding, channel = credentials.createInsecure() }: { readonly coding?: GrpcSend['coding']; readonly channel?: ChannelCredentials } = {},
): GrpcClient {
  const algorithm = coding === undefined ? compressionAlgorithms.identity : compressionAlgorithms[coding];
  const client = new Client(`127.0.0.1:${port}`, channel, {
    'grpc.default_compression_algorithm': algorithm,
    'grpc.enable_retries': 0,
    'grpc.ssl_target_name_override': 'localhost',
  });
  return {
    send({ path = tracesPath, message, metadata = {} }) {
      const sent = new Metadata();
      for (const [name, value] of Object.entries(metadata)) sent.set(name, value);
      return new Promise((resolve) => {
        client.makeUnaryRequest(
          path,
          (one: Buffer) => one,
          (one: Buffer) => one,
          Buffer.from(message),
          sent,
          (error, body) =>
            resolve(
              error === null ? { code: 'OK', message: '', retryAfterSeconds: undefined, body: body ?? Buffer.alloc(0) } : refused(error),
            ),
        );
      });
    },
    close: () => client.close(),
  };
}

/** One request on a separate connection. */
export async function grpcSend(port: number, request: GrpcSend): Promise<GrpcAnswer> {
  const client = grpcClient(port, { coding: request.coding });
  try {
    return await client.send(request);
  } finally {
    client.close();
  }
}

function refused({ code, details, metadata }: ServiceError): GrpcAnswer {
  const [bytes] = metadata.get('grpc-status-details-bin');
  return {
    code: status[code] ?? String(code),
    message: details,
    retryAfterSeconds: bytes === undefined ? undefined : retryAfter(Buffer.from(bytes), code),
    body: Buffer.alloc(0),
  };
}

/** Follows google/rpc/status.proto, google/rpc/error_details.proto, any.proto and duration.proto. */
const google = protobuf.parse(
  `
  syntax = "proto3";
  message Status { int32 code = 1; string message = 2; repeated Any details = 3; }
  message Any { string type_url = 1; bytes value = 2; }
  message RetryInfo { Duration retry_delay = 1; }
  message Duration { int64 seconds = 1; int32 nanos = 2; }`,
  { keepCase: true },
).root;

function retryAfter(bytes: Buffer, code: number): number | undefined {
  const read = (name: string, from: Uint8Array): { readonly [field: string]: unknown } =>
    google.lookupType(name).toObject(google.lookupType(name).decode(from), { longs: Number, defaults: true });
  const told = read('Status', bytes);
  if (told['code'] !== code) throw new Error(`the details have another code: ${String(told['code'])}`);
  const [detail] = told['details'] as readonly { readonly type_url: string; readonly value: Uint8Array }[];
  if (detail?.type_url !== 'type.googleapis.com/google.rpc.RetryInfo')
    throw new Error(`the details are not a RetryInfo: ${detail?.type_url}`);
  const delay = read('RetryInfo', detail.value)['retry_delay'] as { readonly seconds: number; readonly nanos: number };
  return delay.seconds + delay.nanos / 1e9;
}

export interface RawAnswer {
  /** Headers and trailers. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly rstCode: number;
}

/** A connection on which a test speaks by hand. */
export function rawSession(port: number): ClientHttp2Session {
  return connect(`http://127.0.0.1:${port}`).on('error', () => undefined);
}

export function rawCall(
  session: ClientHttp2Session,
  headers: OutgoingHttpHeaders = {},
): { readonly stream: ClientHttp2Stream; readonly answer: Promise<RawAnswer> } {
  const stream = session.request(
    { ':method': 'POST', ':path': tracesPath, 'content-type': 'application/grpc', te: 'trailers', ...headers },
    { endStream: false },
  );
  const answer = new Promise<RawAnswer>((resolve) => {
    let all: IncomingHttpHeaders = {};
    const body: Buffer[] = [];
    const more = (headers: IncomingHttpHeaders): void => void (all = { ...all, ...headers });
    stream
      .on('response', more)
      .on('trailers', more)
      .on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('close', () => resolve({ headers: all, body: Buffer.concat(body), rstCode: stream.rstCode ?? 0 }));
  });
  return { stream, answer };
}

/** The framing of gRPC; `length` can lie. */
export function message(body: Uint8Array, { flag = 0, length = body.length } = {}): Buffer {
  const prefix = Buffer.from([flag, 0, 0, 0, 0]);
  prefix.writeUInt32BE(length, 1);
  return Buffer.concat([prefix, body]);
}
