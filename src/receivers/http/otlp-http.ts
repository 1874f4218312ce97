/** OTLP over HTTP: `POST /v1/traces` and `/v1/logs` on Fastify, as the OTLP specification (1.x) describes them. */
import type { TLSSocket } from 'node:tls';
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { HostRule } from '../../model/http-hosts.ts';
import { grpcCode, statusResponse, type OtlpSignal } from '../../otlp/write/responses.ts';
import {
  sendAnswer,
  answerUnparsed,
  defaultHttpBounds,
  endAnswered,
  otlpHttpServer,
  restLimits,
  stopTimeoutMs,
  wholeAnswer,
  type HttpBounds,
} from './otlp-http-server.ts';
import { aborted, readBody, releaseBody, type ReceivedBody } from '../body.ts';
import { connectionTracker, type Connections } from '../connection-tracker.ts';
import type { Receiver, ReceiverOptions } from '../receiver.ts';
import {
  isPlain,
  methodNotAllowed,
  noConnection,
  noSuchPath,
  parserRejection,
  rejectionFor,
  rejectionOf,
  wholeSeconds,
  type RequestRejection,
} from '../rejection.ts';
import { encodings, requestHandler, type AdmittedRequest, type RequestHandler, type RequestHead } from '../request-handler.ts';
import { handshakeEnd, spokePlain, renewTls } from '../tls.ts';

export interface OtlpHttpOptions extends ReceiverOptions {
  readonly bounds?: Partial<HttpBounds>;
}

export function otlpHttpReceiver(options: OtlpHttpOptions): Receiver {
  const handler = requestHandler(options, 'http');
  const answers = answersOf(options, handler);
  const bounds = { ...defaultHttpBounds, ...options.bounds };
  // Over TLS nothing can be said before the handshake.
  const connections = connectionTracker({
    ...options,
    transport: 'http',
    max: bounds.connectionsMax,
    ...(options.tls === undefined ? { fullAnswer: wholeAnswer(noConnection) } : {}),
  });
  const app = fastify({
    serverFactory(listener) {
      const server = otlpHttpServer(listener, options.tls, bounds);
      connections.watch(server);
      const ended = (reason: string): void =>
        options.telemetry.add('tracejury.receiver.connections_ended', 1, { 'tracejury.transport': 'http', 'tracejury.reason': reason });
      // Node would hand a failed handshake on as a request that cannot be read.
      server.removeAllListeners('tlsClientError').on('tlsClientError', (error: Error, socket: TLSSocket) => {
        const reason = handshakeEnd(error, socket);
        if (reason !== undefined) ended(reason);
        if (spokePlain(error)) handler.warn(isPlain);
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
      // A fault after an answer is not a separate request.
      if (answers.isAnswered(socket)) return endAnswered(socket);
      const rejection = parserRejection(error);
      handler.answered('other', String(rejection.status), rejection);
      answerUnparsed(socket, rejection);
    },
    frameworkErrors: (error, request, reply) => answers.refuse(request, reply, rejectionOf(error)),
  });
  routes(app, handler, answers, { options, connections });
  let stopped: Promise<void> | undefined;
  return {
    async listen() {
      const address = await app.listen({ host: options.host, port: options.port });
      // Fastify does not know what its server speaks.
      return { address: options.tls === undefined ? address : address.replace(/^http:/, 'https:') };
    },
    renew: (tls) => renewTls(app.server, tls),
    stop() {
      handler.stop();
      stopped ??= closeWithin(app, connections, stopTimeoutMs);
      return stopped;
    },
  };
}

const signals: ReadonlyMap<string, OtlpSignal> = new Map([
  ['/v1/traces', 'traces'],
  ['/v1/logs', 'logs'],
]);

function routes(app: FastifyInstance, handler: RequestHandler, answers: Answers, { options, connections }: RouteDeps): void {
  const { ingest, limits } = options;
  const admitted = new WeakMap<FastifyRequest, AdmittedRequest>();
  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'OPTIONS' && options.hosts?.namesOrigin(request.headers.origin) === true && signals.has(pathOf(request)))
      return answerPreflight(request, reply, options.hosts);
    const own = await handler.admit(headOf(request), (left) => reply.raw.once('close', left));
    if ('kind' in own) return answers.refuse(request, reply, own);
    connections.admitted(request.raw.socket);
    admitted.set(request, own);
    reply.raw.once('close', () => own.lease.release());
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', async (request: FastifyRequest) => {
    const own = admitted.get(request);
    if (own === undefined) return undefined;
    const body = await readBody(request.raw, {
      encoding: own.contentEncoding,
      bodyBytesMax: limits.bodyBytes,
      inflatedBytesMax: limits.inflatedBytes,
      leasedBytes: own.bodyBytes,
      lease: own.lease,
      buffers: handler.buffers,
      received: (bytes) => handler.received(own.signal, bytes),
    });
    // Fastify calls no handler for a client that is gone.
    if (!request.raw.socket.destroyed) return body;
    releaseBody(body);
    return await Promise.reject(aborted);
  });
  app.setErrorHandler((error, request, reply) => {
    if (error === aborted || reply.raw.destroyed) {
      reply.hijack();
      reply.raw.destroy();
    } else answers.refuse(request, reply, rejectionFor(error, ingest));
  });
  for (const path of signals.keys()) {
    app.post(path, async (request, reply) => {
      const own = admitted.get(request);
      if (own === undefined) throw new Error('a request that was not admitted reached its handler');
      // A request without a body is not parsed.
      const body = request.body as ReceivedBody | undefined;
      answers.send(request, reply, own.mediaType, await handler.accept(own, body, () => reply.raw.destroyed));
    });
  }
  app.setNotFoundHandler((request, reply) => answers.refuse(request, reply, noSuchPath(pathOf(request))));
}

interface RouteDeps {
  readonly options: OtlpHttpOptions;
  readonly connections: Connections;
}

function headOf(request: FastifyRequest): RequestHead {
  const { host, origin, authorization, 'content-encoding': coding, 'content-length': length } = request.headers;
  const signal = signals.get(pathOf(request));
  return {
    host,
    origin,
    route: signal === undefined ? noSuchPath(pathOf(request)) : request.method === 'POST' ? signal : methodNotAllowed,
    authorization,
    address: request.raw.socket.remoteAddress,
    mediaType: mediaTypeOf(request),
    contentEncoding: coding,
    bodyBytes: Number(length ?? 0),
    overheadBytes: 0,
  };
}

interface Answers {
  /** `rejection` is the content of the body; omitted when the request was accepted. */
  send(request: FastifyRequest, reply: FastifyReply, mediaType: string, body: Buffer, rejection?: RequestRejection): void;
  refuse(request: FastifyRequest, reply: FastifyReply, rejection: RequestRejection): void;
  /** The last request of the socket was answered before it had come to its end. */
  isAnswered(socket: object): boolean;
}

function answersOf({ limits, hosts }: OtlpHttpOptions, handler: RequestHandler): Answers {
  const rest = restLimits(limits.bodyBytes);
  const answered = new WeakSet<object>();

  function send(request: FastifyRequest, reply: FastifyReply, mediaType: string, body: Buffer, rejection?: RequestRejection): void {
    const status = rejection?.status ?? 200;
    handler.answered(signals.get(pathOf(request)) ?? 'other', String(status), rejection, pathOf(request));
    reply.hijack();
    if (!request.raw.complete) answered.add(request.raw.socket);
    const close = handler.isStopping() ? { connection: 'close' } : {};
    const retry = rejection?.retryAfterSeconds === undefined ? {} : { 'retry-after': String(wholeSeconds(rejection.retryAfterSeconds)) };
    const headers = { ...rejection?.headers, ...retry, ...close, ...readableFor(hosts, request.headers.origin), 'content-type': mediaType };
    sendAnswer(request.raw, reply.raw, { status, headers, body }, rest);
  }

  return {
    send,
    refuse(request, reply, rejection) {
      const mediaType = encodings.has(mediaTypeOf(request)) ? mediaTypeOf(request) : 'application/json';
      const body = statusResponse(encodings.get(mediaType) ?? 'json', grpcCode(rejection.status), rejection.message);
      send(request, reply, mediaType, body, rejection);
    },
    isAnswered: (socket) => answered.has(socket),
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
