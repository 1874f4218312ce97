/** OTLP over HTTP: `POST /v1/traces` and `/v1/logs` on Fastify, as the OTLP specification (1.x) describes them. */
import type { TLSSocket } from 'node:tls';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Clock } from '../../model/clock.ts';
import { JuryError } from '../../model/errors.ts';
import type { HostRule } from '../../model/http-hosts.ts';
import type { Tenant } from '../../model/ids.ts';
import { keyShapes } from '../../otlp/read/key-shapes.ts';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import { exportResponse, grpcCode, statusResponse, type OtlpSignal } from '../../otlp/write/responses.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { sendAnswer } from './http-answer.ts';
import { aborted, contentEncoding, readBody, type ContentEncoding, type ReceivedBody } from '../body.ts';
import { openConnections, type Connections } from '../connection-tracker.ts';
import type { ByteLease, Lease } from '../byte-budget.ts';
import {
  answerUnparsed,
  defaultHttpBounds,
  endAnswered,
  otlpHttpServer,
  restLimits,
  stopTimeoutMs,
  wholeAnswer,
  type HttpBounds,
} from './otlp-http-server.ts';
import { type Receiver, type ReceiverLogger } from '../receiver.ts';
import { senderOf, type Ingest } from '../../model/ingest.ts';
import { refusalLog } from '../rejection-log.ts';
import {
  foreignHost,
  foreignOrigin,
  methodNotAllowed,
  noConnection,
  noRoom,
  noSuchPath,
  notOpen,
  isPlain,
  parserRefusal,
  refusalFor,
  refusalOf,
  retryAfterSeconds,
  unauthenticated,
  type Refusal,
} from '../rejection.ts';
import { takeLogs, takeTraces } from '../ingest-request.ts';
import { handshakeEnd, spokePlain, renewTls, type Tls } from '../tls.ts';
import { tenantByToken, type Token } from '../bearer-auth.ts';

export interface OtlpHttpLimits {
  /** Of one body, as it is sent. */
  readonly bodyBytes: number;
  /** Of one body, inflated. */
  readonly inflatedBytes: number;
}

export interface OtlpHttpOptions {
  readonly host: string;
  /** 0: any free port; `listen` tells which. */
  readonly port: number;
  readonly tls?: Tls;
  readonly limits: OtlpHttpLimits;
  /** Of the bytes of all requests that are not answered yet. */
  readonly lease: ByteLease;
  /** Empty: everybody may send. */
  readonly tokens: readonly Token[];
  /** Absent: requests to any name and from any page are taken. */
  readonly hosts?: HostRule;
  readonly ingest: Ingest;
  readonly telemetry: Telemetry;
  readonly logger: ReceiverLogger;
  readonly clock: Clock;
  readonly bounds?: Partial<HttpBounds>;
}

export function otlpHttpReceiver(options: OtlpHttpOptions): Receiver {
  const state: State = { stopping: false, answered: new WeakSet() };
  const bounds = { ...defaultHttpBounds, ...options.bounds };
  // Over TLS nothing can be said before the handshake.
  const connections = openConnections({
    ...options,
    transport: 'http',
    max: bounds.connectionsMax,
    ...(options.tls === undefined ? { fullAnswer: wholeAnswer(noConnection) } : {}),
  });
  const app = fastify({
    serverFactory(handler) {
      const server = otlpHttpServer(handler, options.tls, bounds);
      connections.watch(server);
      const ended = (reason: string): void =>
        options.telemetry.add('tracejury.receiver.connections_ended', 1, { 'tracejury.transport': 'http', 'tracejury.reason': reason });
      // Node would hand a failed handshake on as a request that cannot be read.
      server.removeAllListeners('tlsClientError').on('tlsClientError', (error: Error, socket: TLSSocket) => {
        const reason = handshakeEnd(error, socket);
        if (reason !== undefined) ended(reason);
        if (spokePlain(error)) warn(isPlain);
        socket.destroy();
      });
      return server;
    },
    bodyLimit: options.limits.bodyBytes,
    exposeHeadRoutes: false,
    // Ours answers in the protocol's words and in the request's encoding.
    return503OnClosing: false,
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET') socket.destroy();
      if (!socket.writable) return;
      // What goes wrong behind an answer is no request of its own.
      if (state.answered.has(socket)) return endAnswered(socket);
      const refusal = parserRefusal(error);
      warn(refusal);
      countRequest(options.telemetry, 'other', refusal.status, refusal.kind);
      answerUnparsed(socket, refusal);
    },
    frameworkErrors: (error, request, reply) => door.refuse(request, reply, refusalOf(error)),
  });
  const warn = refusalLog(options);
  const door = openDoor(options, state, warn);
  routes(app, door, options, connections);
  let stopped: Promise<void> | undefined;
  return {
    async listen() {
      const address = await app.listen({ host: options.host, port: options.port });
      // Fastify does not know what its server speaks.
      return { address: options.tls === undefined ? address : address.replace(/^http:/, 'https:') };
    },
    renew: (tls) => renewTls(app.server, tls),
    stop() {
      state.stopping = true;
      stopped ??= closeWithin(app, connections, stopTimeoutMs);
      return stopped;
    },
  };
}

interface State {
  stopping: boolean;
  /** Sockets whose last request was answered before it had come to its end. */
  readonly answered: WeakSet<object>;
}

/** What is known about a request before its body is read. */
interface Ticket {
  readonly signal: OtlpSignal;
  readonly encoding: OtlpEncoding;
  readonly mediaType: string;
  readonly contentEncoding: ContentEncoding;
  readonly tenant: Tenant;
  readonly sender: string;
  readonly lease: Lease;
  readonly leasedBytes: number;
}

interface Door {
  /** A refusal, or the ticket with which the body is read. */
  admit(request: FastifyRequest): Ticket | Refusal;
  refuse(request: FastifyRequest, reply: FastifyReply, refusal: Refusal): void;
  read(request: FastifyRequest, ticket: Ticket): Promise<ReceivedBody>;
  take(request: FastifyRequest, reply: FastifyReply, ticket: Ticket, received: ReceivedBody): Promise<void>;
}

const signals: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/v1/traces', 'traces'],
  ['/v1/logs', 'logs'],
]);

const encodings: ReadonlyMap<string, OtlpEncoding> = new Map([
  ['application/x-protobuf', 'protobuf'],
  ['application/protobuf', 'protobuf'],
  ['application/json', 'json'],
]);

const nothing = Buffer.alloc(0);

function routes(app: FastifyInstance, door: Door, options: OtlpHttpOptions, connections: Connections): void {
  const { ingest } = options;
  const tickets = new WeakMap<FastifyRequest, Ticket>();
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS' && options.hosts?.namesOrigin(request.headers.origin) === true && signals.has(pathOf(request)))
      return answerPreflight(request, reply, options.hosts);
    const ticket = door.admit(request);
    if ('kind' in ticket) return door.refuse(request, reply, ticket);
    connections.admitted(request.raw.socket);
    tickets.set(request, ticket);
    reply.raw.once('close', () => ticket.lease.release());
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const ticket = tickets.get(request);
    return ticket === undefined ? undefined : door.read(request, ticket);
  });
  app.setErrorHandler((error, request, reply) => {
    if (error === aborted || reply.raw.destroyed) {
      reply.hijack();
      reply.raw.destroy();
    } else door.refuse(request, reply, refusalFor(error, ingest));
  });
  for (const path of signals.keys()) {
    app.post(path, async (request, reply) => {
      const ticket = tickets.get(request);
      if (ticket === undefined) throw new Error('a request without a ticket reached its handler');
      // A request without a body is not parsed.
      await door.take(request, reply, ticket, (request.body as ReceivedBody | undefined) ?? { body: nothing, sent: nothing });
    });
  }
  app.setNotFoundHandler((request, reply) => door.refuse(request, reply, noSuchPath(pathOf(request))));
}

function openDoor(options: OtlpHttpOptions, state: State, warn: (refusal: Refusal) => void): Door {
  const { limits, telemetry, ingest, lease, hosts } = options;
  const tenantOf = tenantByToken(options.tokens);
  const rest = restLimits(limits.bodyBytes);
  const shapes = keyShapes();
  const send = (request: FastifyRequest, reply: FastifyReply, mediaType: string, body: Buffer, refusal?: Refusal): void => {
    const status = refusal?.status ?? 200;
    countRequest(telemetry, signals.get(pathOf(request)) ?? 'other', status, refusal?.kind ?? '');
    reply.hijack();
    if (!request.raw.complete) state.answered.add(request.raw.socket);
    const close = state.stopping ? { connection: 'close' } : {};
    const retry = refusal?.retryAfterSeconds === undefined ? {} : { 'retry-after': String(refusal.retryAfterSeconds) };
    sendAnswer(
      request.raw,
      reply.raw,
      {
        status,
        headers: { ...refusal?.headers, ...retry, ...close, ...readableFor(hosts, request.headers.origin), 'content-type': mediaType },
        body,
      },
      rest,
    );
  };

  return {
    admit(request) {
      const { host, origin } = request.headers;
      if (host !== undefined && hosts?.allowsHost(host) === false) return foreignHost(host);
      if (origin !== undefined && hosts?.allowsOrigin(origin, host) === false) return foreignOrigin(origin);
      const signal = signals.get(pathOf(request));
      if (signal === undefined) return noSuchPath(pathOf(request));
      if (request.method !== 'POST') return methodNotAllowed;
      const tenant = tenantOf(request.headers.authorization);
      if (tenant === undefined) return unauthenticated;
      const sender = senderOf(tenant, request.raw.socket.remoteAddress);
      const isModest = ingest.isModest?.(sender) ?? false;
      const admission = state.stopping ? { refuse: 'stopping' as const, retryAfterSeconds } : ingest.admission(isModest);
      if (admission !== 'open') return notOpen(admission.refuse, admission.retryAfterSeconds);
      const mediaType = mediaTypeOf(request);
      const encoding = encodings.get(mediaType);
      if (encoding === undefined) return refusalOf(new JuryError('OTLP_MEDIA_TYPE', ''));
      const coding = contentEncoding(request.headers['content-encoding']);
      if (coding === undefined) return refusalOf(new JuryError('OTLP_ENCODING', ''));
      const leasedBytes = Number(request.headers['content-length'] ?? 0);
      if (leasedBytes > limits.bodyBytes)
        return refusalOf(new JuryError('OTLP_TOO_LARGE', `It has ${leasedBytes} bytes, the limit is ${limits.bodyBytes}.`));
      const taken = lease(isModest);
      if (!taken.take(leasedBytes)) return noRoom(ingest);
      return { signal, encoding, mediaType, contentEncoding: coding, tenant, sender, lease: taken, leasedBytes };
    },

    refuse(request, reply, refusal) {
      warn(refusal);
      const mediaType = encodings.has(mediaTypeOf(request)) ? mediaTypeOf(request) : 'application/json';
      const body = statusResponse(encodings.get(mediaType) ?? 'json', grpcCode(refusal.status), refusal.message);
      send(request, reply, mediaType, body, refusal);
    },

    read: (request, ticket) =>
      readBody(request.raw, {
        encoding: ticket.contentEncoding,
        bodyBytesMax: limits.bodyBytes,
        inflatedBytesMax: limits.inflatedBytes,
        leasedBytes: ticket.leasedBytes,
        lease: ticket.lease,
        received: (bytes) =>
          telemetry.add('tracejury.receiver.bytes', bytes, { 'tracejury.transport': 'http', 'tracejury.signal': ticket.signal }),
      }),

    async take(request, reply, ticket, { body, sent }) {
      ingest.took?.(ticket.sender, body.length);
      const take = ticket.signal === 'traces' ? takeTraces : takeLogs;
      const partial = await take({
        ingest,
        telemetry,
        tenant: ticket.tenant,
        body,
        encoding: ticket.encoding,
        request: {
          contentType: ticket.mediaType,
          contentEncoding: ticket.contentEncoding === 'identity' ? '' : ticket.contentEncoding,
          body: sent,
        },
        shapes,
        isGone: () => reply.raw.destroyed,
      });
      send(request, reply, ticket.mediaType, exportResponse(ticket.signal, ticket.encoding, partial));
    },
  };
}

/** A page of another origin asks whether it may send (CORS). */
function answerPreflight(request: FastifyRequest, reply: FastifyReply, hosts: HostRule): FastifyReply {
  return reply
    .code(204)
    .headers({
      ...readableFor(hosts, request.headers.origin),
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-encoding, content-type',
      'access-control-max-age': '3600',
    })
    .send();
}

function readableFor(hosts: HostRule | undefined, origin: string | undefined): { readonly [header: string]: string } {
  return origin !== undefined && hosts?.namesOrigin(origin) === true ? { 'access-control-allow-origin': origin, vary: 'Origin' } : {};
}

function countRequest(telemetry: Telemetry, signal: OtlpSignal | 'other', status: number, reason: string): void {
  telemetry.add('tracejury.receiver.requests', 1, {
    'tracejury.transport': 'http',
    'tracejury.signal': signal,
    'tracejury.status': String(status),
    'tracejury.reason': reason,
  });
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}

function mediaTypeOf(request: FastifyRequest): string {
  return (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

async function closeWithin(app: FastifyInstance, connections: Connections, timeoutMs: number): Promise<void> {
  const timer = setTimeout(connections.closeAll, timeoutMs);
  try {
    const closed = app.close();
    connections.closeIdle();
    await closed;
  } finally {
    clearTimeout(timer);
  }
}
