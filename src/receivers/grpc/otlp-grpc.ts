/** OTLP over gRPC: `TraceService/Export` and `LogsService/Export` on Node's HTTP/2, as the OTLP specification (1.x) describes them. */
import type { IncomingHttpHeaders, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../model/clock.ts';
import { JuryError } from '../../model/errors.ts';
import type { HostRule } from '../../model/http-hosts.ts';
import type { Tenant } from '../../model/ids.ts';
import { keyShapes } from '../../otlp/read/key-shapes.ts';
import { exportResponse, type OtlpSignal } from '../../otlp/write/responses.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { aborted, contentEncoding, type ContentEncoding } from '../body.ts';
import { openConnections, type Connections } from '../connection-tracker.ts';
import { sendMessage, sendRefusal, statusText } from './grpc-answer.ts';
import { readMessage, type ReceivedMessage } from './grpc-message.ts';
import { defaultGrpcBounds, grpcServer } from './grpc-server.ts';
import type { GrpcBounds } from './grpc-session.ts';
import type { ByteLease, Lease } from '../byte-budget.ts';
import { type Receiver, type ReceiverLogger } from '../receiver.ts';
import { senderOf, type Ingest } from '../../model/ingest.ts';
import { refusalLog } from '../rejection-log.ts';
import {
  foreignHost,
  foreignOrigin,
  methodNotAllowed,
  noRoom,
  isPlain,
  notHttp2,
  notInTime,
  noSuchService,
  notOpen,
  refusalFor,
  refusalOf,
  retryAfterSeconds,
  unauthenticated,
  type Refusal,
} from '../rejection.ts';
import { takeLogs, takeTraces } from '../ingest-request.ts';
import type { Tls } from '../tls.ts';
import { tenantByToken, type Token } from '../bearer-auth.ts';

export interface OtlpGrpcOptions {
  readonly host: string;
  /** 0: any free port; `listen` tells which. */
  readonly port: number;
  readonly tls?: Tls;
  /** Of one message: as it is sent, and inflated. */
  readonly limits: { readonly bodyBytes: number; readonly inflatedBytes: number };
  /** Of the bytes of all requests that are not answered yet. */
  readonly lease: ByteLease;
  /** Empty: everybody may send. */
  readonly tokens: readonly Token[];
  /** Absent: calls to any name are taken. */
  readonly hosts?: HostRule;
  readonly ingest: Ingest;
  readonly telemetry: Telemetry;
  readonly logger: ReceiverLogger;
  readonly clock: Clock;
  readonly bounds?: Partial<GrpcBounds>;
}

export function otlpGrpcReceiver(options: OtlpGrpcOptions): Receiver {
  const state: State = { stopping: false };
  const bounds = { ...defaultGrpcBounds, ...options.bounds };
  const warn = refusalLog(options);
  const door = openDoor(options, state, warn);
  const connections = openConnections({ ...options, transport: 'grpc', max: bounds.connectionsMax });
  const server = grpcServer({
    tls: options.tls,
    bounds,
    clock: options.clock,
    connections,
    ended(reason, isPlainText) {
      options.telemetry.add('tracejury.receiver.connections_ended', 1, { 'tracejury.transport': 'grpc', 'tracejury.reason': reason });
      // Most often an exporter of OTLP over HTTP that was given this address: without TLS it gets no answer that it could read.
      if (reason === 'not_http2') warn(notHttp2);
      if (isPlainText === true) warn(isPlain);
    },
    call: (stream, headers) => void answered({ door, ingest: options.ingest, bounds, connections }, stream, headers),
  });
  let stopped: Promise<void> | undefined;
  return {
    listen: () => server.listen(options),
    renew: server.renew,
    stop() {
      state.stopping = true;
      stopped ??= server.stop();
      return stopped;
    },
  };
}

interface State {
  stopping: boolean;
}

/** What is known about a call before its message is read. */
interface Ticket {
  readonly signal: OtlpSignal;
  readonly encoding: ContentEncoding;
  readonly tenant: Tenant;
  readonly sender: string;
  readonly lease: Lease;
}

interface Door {
  /** A refusal, or the ticket with which the message is read. */
  admit(headers: IncomingHttpHeaders, address: string | undefined): Ticket | Refusal;
  refuse(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, refusal: Refusal): void;
  read(stream: ServerHttp2Stream, ticket: Ticket): Promise<ReceivedMessage>;
  take(stream: ServerHttp2Stream, ticket: Ticket, message: ReceivedMessage): Promise<void>;
}

const signals: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/opentelemetry.proto.collector.trace.v1.TraceService/Export', 'traces'],
  ['/opentelemetry.proto.collector.logs.v1.LogsService/Export', 'logs'],
]);

/** What a call holds besides its message: headers, buffers of the stream. So the calls that are under way are bounded with the bytes. */
export const callBytes = 16 * 1024;

interface Answering {
  readonly door: Door;
  readonly ingest: Ingest;
  readonly bounds: GrpcBounds;
  readonly connections: Connections;
}

/** Never rejects: what goes wrong is answered, when anybody is left to be answered. */
async function answered(
  { door, ingest, bounds, connections }: Answering,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
): Promise<void> {
  const timers = [
    setTimeout(() => isWaiting(stream) && door.refuse(stream, headers, notInTime), bounds.requestMs),
    setTimeout(() => stream.destroy(), bounds.requestMs + bounds.answerMs),
  ];
  stream.on('error', () => undefined).once('close', () => timers.forEach((timer) => clearTimeout(timer)));
  try {
    const peer = stream.session?.socket;
    const ticket = door.admit(headers, peer?.remoteAddress);
    if ('kind' in ticket) return door.refuse(stream, headers, ticket);
    if (peer !== undefined) connections.admitted(peer);
    stream.once('close', () => ticket.lease.release());
    const message = await door.read(stream, ticket);
    if (isWaiting(stream)) await door.take(stream, ticket, message);
  } catch (error) {
    if (error !== aborted && isWaiting(stream)) door.refuse(stream, headers, refusalFor(error, ingest));
  }
}

/** Somebody is there to be answered. A stream that the client took back is closed before it is destroyed. */
function isWaiting(stream: ServerHttp2Stream): boolean {
  return !stream.headersSent && !stream.closed && !stream.destroyed;
}

function openDoor(
  { limits, telemetry, ingest, lease, tokens, hosts }: OtlpGrpcOptions,
  state: State,
  warn: (refusal: Refusal) => void,
): Door {
  const tenantOf = tenantByToken(tokens);
  const shapes = keyShapes();
  const count = (signal: OtlpSignal | 'other', status: string, reason: string): void =>
    telemetry.add('tracejury.receiver.requests', 1, {
      'tracejury.transport': 'grpc',
      'tracejury.signal': signal,
      'tracejury.status': status,
      'tracejury.reason': reason,
    });

  return {
    admit(headers, address) {
      if (headers[':method'] !== 'POST') return methodNotAllowed;
      if (!/^application\/grpc(?:\+proto)?(?:;|$)/i.test(headers['content-type'] ?? ''))
        return refusalOf(new JuryError('OTLP_MEDIA_TYPE', ''));
      const authority = headers[':authority'] ?? headers.host;
      if (authority !== undefined && hosts?.allowsHost(authority) === false) return foreignHost(authority);
      if (headers.origin !== undefined && hosts?.allowsOrigin(headers.origin, authority) === false) return foreignOrigin(headers.origin);
      const signal = signals.get(headers[':path'] ?? '');
      if (signal === undefined) return noSuchService(headers[':path'] ?? '');
      const tenant = tenantOf(headers.authorization);
      if (tenant === undefined) return unauthenticated;
      const sender = senderOf(tenant, address);
      const isModest = ingest.isModest?.(sender) ?? false;
      const admission = state.stopping ? { refuse: 'stopping' as const, retryAfterSeconds } : ingest.admission(isModest);
      if (admission !== 'open') return notOpen(admission.refuse, admission.retryAfterSeconds);
      const encoding = contentEncoding(text(headers['grpc-encoding']));
      if (encoding === undefined) return refusalOf(new JuryError('OTLP_ENCODING', ''));
      const taken = lease(isModest);
      if (!taken.take(callBytes)) return noRoom(ingest);
      return { signal, encoding, tenant, sender, lease: taken };
    },

    refuse(stream, headers, refusal) {
      warn(refusal);
      count(signals.get(headers[':path'] ?? '') ?? 'other', statusText(refusal), refusal.kind);
      sendRefusal(stream, refusal);
    },

    read: (stream, { signal, ...ticket }) =>
      readMessage(stream, {
        ...ticket,
        bodyBytesMax: limits.bodyBytes,
        inflatedBytesMax: limits.inflatedBytes,
        received: (bytes) =>
          telemetry.add('tracejury.receiver.bytes', bytes, { 'tracejury.transport': 'grpc', 'tracejury.signal': signal }),
      }),

    async take(stream, { signal, tenant, sender }, { body, sent, encoding }) {
      ingest.took?.(sender, body.length);
      const take = signal === 'traces' ? takeTraces : takeLogs;
      const partial = await take({
        ingest,
        telemetry,
        tenant,
        body,
        encoding: 'protobuf',
        request: { contentType: 'application/x-protobuf', contentEncoding: encoding === 'identity' ? '' : encoding, body: sent },
        shapes,
        isGone: () => !isWaiting(stream),
      });
      // It may have come too late while the request was written down: it was told so.
      if (!isWaiting(stream)) return;
      count(signal, 'OK', '');
      sendMessage(stream, exportResponse(signal, 'protobuf', partial));
    },
  };
}

function text(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'object' ? header.join(',') : header;
}
