/** OTLP over gRPC: `TraceService/Export` and `LogsService/Export` on Node's HTTP/2, as the OTLP specification (1.x) describes them. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import { JuryError } from '../../model/errors.ts';
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import { aborted, releaseBody } from '../body.ts';
import { connectionTracker, type Connections } from '../connection-tracker.ts';
import { sendMessage, sendRejection, statusText, readMessage } from './grpc-message.ts';
import { defaultGrpcBounds, grpcServer } from './grpc-server.ts';
import type { GrpcBounds } from './grpc-session.ts';
import type { Receiver, ReceiverOptions } from '../receiver.ts';
import {
  isPlain,
  methodNotAllowed,
  noSuchService,
  notHttp2,
  notInTime,
  rejectionFor,
  rejectionOf,
  type RequestRejection,
} from '../rejection.ts';
import { requestHandler, type RequestHandler, type RequestHead } from '../request-handler.ts';

export interface OtlpGrpcOptions extends ReceiverOptions {
  readonly bounds?: Partial<GrpcBounds>;
}

export function otlpGrpcReceiver(options: OtlpGrpcOptions): Receiver {
  const bounds = { ...defaultGrpcBounds, ...options.bounds };
  const handler = requestHandler(options, 'grpc');
  const connections = connectionTracker({ ...options, transport: 'grpc', max: bounds.connectionsMax });
  const server = grpcServer({
    tls: options.tls,
    bounds,
    clock: options.clock,
    connections,
    ended(reason, isPlainText) {
      options.telemetry.add('tracejury.receiver.connections_ended', 1, { 'tracejury.transport': 'grpc', 'tracejury.reason': reason });
      // Most often an exporter of OTLP over HTTP that was given this address: without TLS it gets no answer that it could read.
      if (reason === 'not_http2') handler.warn(notHttp2);
      if (isPlainText === true) handler.warn(isPlain);
    },
    call: (stream, headers) => void call({ options, handler, bounds, connections }, stream, headers),
  });
  let stopped: Promise<void> | undefined;
  return {
    listen: () => server.listen(options),
    renew: server.renew,
    stop() {
      handler.stop();
      stopped ??= server.stop();
      return stopped;
    },
  };
}

const signals: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'traces'],
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'logs'],
]);

/** Memory of a call besides its message: headers, buffers of the stream. So the calls that are under way are bounded with the bytes. */
export const callBytes = 16 * 1024;

interface CallDeps {
  readonly options: OtlpGrpcOptions;
  readonly handler: RequestHandler;
  readonly bounds: GrpcBounds;
  readonly connections: Connections;
}

/** Answers one call. Never rejects: what goes wrong is answered while the client waits. */
async function call(
  { options: { ingest, limits }, handler, bounds, connections }: CallDeps,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const refuse = (rejection: RequestRejection): void => {
    const { ':path': path = '' } = headers;
    handler.answered(signals.get(path) ?? 'other', statusText(rejection), rejection, path);
    sendRejection(stream, rejection);
    endAnswered();
  };
  const late = setTimeout(() => isWaiting(stream) && refuse(notInTime), bounds.requestMs);
  let unread: NodeJS.Timeout | undefined;
  /** The client may send the rest of its request and read its answer. While the service works on a request, no time limit applies. */
  const endAnswered = (): void => void (unread ??= setTimeout(() => stream.destroy(), bounds.requestMs + bounds.answerMs));
  stream.on('error', () => undefined).once('close', () => [late, unread].forEach((timer) => clearTimeout(timer)));
  try {
    const peer = stream.session?.socket;
    const head = headOf(headers, peer?.remoteAddress);
    const request = 'kind' in head ? head : await handler.admit(head, (left) => stream.once('close', left));
    if ('kind' in request) return refuse(request);
    if (peer !== undefined) connections.admitted(peer);
    stream.once('close', () => request.lease.release());
    const { encoding, ...message } = await readMessage(stream, {
      encoding: request.contentEncoding,
      lease: request.lease,
      buffers: handler.buffers,
      bodyBytesMax: limits.bodyBytes,
      inflatedBytesMax: limits.inflatedBytes,
      received: (bytes) => handler.received(request.signal, bytes),
    });
    clearTimeout(late);
    if (!isWaiting(stream)) return releaseBody(message);
    const answer = await handler.accept({ ...request, contentEncoding: encoding }, message, () => !isWaiting(stream));
    if (!isWaiting(stream)) return;
    handler.answered(request.signal, 'OK');
    sendMessage(stream, answer);
    endAnswered();
  } catch (error) {
    if (error !== aborted && isWaiting(stream)) refuse(rejectionFor(error, ingest));
  }
}

/** The head of a call, or a refusal where the request is not a call of gRPC at all. */
function headOf(headers: IncomingHttpHeaders, address: string | undefined): RequestHead | RequestRejection {
  if (headers[':method'] !== 'POST') return methodNotAllowed;
  if (!/^application\/grpc(?:\+proto)?(?:;|$)/i.test(headers['content-type'] ?? ''))
    return rejectionOf(new JuryError('OTLP_MEDIA_TYPE', ''));
  const { ':authority': authority = headers.host, ':path': path = '', origin, authorization } = headers;
  return {
    host: authority,
    origin,
    route: signals.get(path) ?? noSuchService(path),
    authorization,
    address,
    mediaType: 'application/x-protobuf',
    contentEncoding: text(headers['grpc-encoding']),
    bodyBytes: 0,
    overheadBytes: callBytes,
    ...deadline(headers['grpc-timeout']),
  };
}

/** Milliseconds of each unit of `grpc-timeout`. */
const unitMs: ReadonlyMap<string, number> = new Map([
  ['H', 3_600_000],
  ['M', 60_000],
  ['S', 1_000],
  ['m', 1],
  ['u', 1e-3],
  ['n', 1e-6],
]);
const TIMEOUT = /^(\d{1,8})([HMSmun])$/;

function deadline(timeout: IncomingHttpHeaders[string]): Pick<RequestHead, 'deadlineMs'> {
  const [, count, unit = ''] = TIMEOUT.exec(text(timeout) ?? '') ?? [];
  const ms = unitMs.get(unit);
  return ms === undefined ? {} : { deadlineMs: Number(count) * ms };
}

/** True when the client waits for an answer. A stream that the client took back is closed before it is destroyed. */
function isWaiting(stream: ServerHttp2Stream): boolean {
  return !stream.headersSent && !stream.closed && !stream.destroyed;
}

function text(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(',') : header;
}
