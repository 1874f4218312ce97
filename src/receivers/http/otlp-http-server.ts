/** The server of OTLP over HTTP: limits of time and headers, and answers to clients that do not speak HTTP. */
import type { RequestListener, Server, ServerOptions, IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { idleTimeout } from '../../http/idle-timeout.ts';
import { createServer, STATUS_CODES } from '../../http/node-http.ts';
import { grpcCode, statusResponse } from '../../otlp/write/responses.ts';
import { isHttp2, wholeSeconds, type RequestRejection } from '../rejection.ts';
import { tlsOptions, type Tls } from '../tls.ts';

export interface HttpBounds {
  /**
   * Time from the first byte of a request to its last. Exporters give it 10 s by default; twice that leaves room for a slow line and ends a client
   * that trickles.
   */
  readonly requestMs: number;
  /** Time for its headers. They are one packet; no client needs longer. */
  readonly headersMs: number;
  /** Interval at which Node checks the time limits of requests. */
  readonly checkingMs: number;
  /** Exporters keep one or two connections each. */
  readonly connectionsMax: number;
}

export const defaultHttpBounds: HttpBounds = { requestMs: 20_000, headersMs: 10_000, checkingMs: 5_000, connectionsMax: 4_096 };

/** No byte either way: longer than any request may take, so only dead sockets meet it. */
const connectionTimeoutMs = 30_000;
/** Longer than the usual export intervals (5 s spans, 60 s metrics), so that the client closes first and no request meets a closing socket. */
const keepAliveTimeoutMs = 75_000;
/** Room for a bearer token and a chain of proxies. */
const headerBytesMax = 16 * 1024;
const headersMax = 100;
/** Time for requests under way when the service stops: as long as an exporter waits. */
export const stopTimeoutMs = 10_000;

const restTimeoutMs = 5_000;

/** A refused client may send as much as a whole body, for a short while, before it is cut off. */
export function restLimits(bodyBytes: number): RestLimits {
  return { restBytes: bodyBytes, restTimeoutMs };
}

export function otlpHttpServer(handler: RequestListener, tls: Tls | undefined, bounds: HttpBounds): Server {
  const options: ServerOptions = {
    requestTimeout: bounds.requestMs,
    headersTimeout: bounds.headersMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    connectionsCheckingInterval: bounds.checkingMs,
    maxHeaderSize: headerBytesMax,
    // Node would refuse a request without one in words that are not the protocol's, and the server does not need to know the host.
    requireHostHeader: false,
  };
  const server = tls === undefined ? createServer(options, handler) : createTlsServer({ ...options, ...tlsOptions(tls) }, handler);
  // Likewise what expects something else than 100-continue: it gets its answer all the same.
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  idleTimeout(server, connectionTimeoutMs);
  server.maxHeadersCount = headersMax;
  return server;
}

/** Answers what Node's parser refused. Called again for every later piece of the same input. */
export function answerUnparsed(socket: Socket, rejection: RequestRejection): void {
  socket.write(rejection === isHttp2 ? goAway(rejection.message) : wholeAnswer(rejection));
  endAnswered(socket);
}

/** An answer to what was not read. No content type is known, so the Status is JSON. */
export function wholeAnswer({ status, message, retryAfterSeconds }: RequestRejection): string {
  const body = statusResponse('json', grpcCode(status), message).toString();
  const retry = retryAfterSeconds === undefined ? [] : [`retry-after: ${wholeSeconds(retryAfterSeconds)}`];
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    ...retry,
    'connection: close',
    '',
    body,
  ].join('\r\n');
}

/** Types of frames and the error HTTP_1_1_REQUIRED (RFC 9113, 6 and 7). */
const [settingsFrame, goAwayFrame, http11Required] = [0x4, 0x7, 0xd];
const frameHeadBytes = 9;

/** An answer in HTTP/2: empty SETTINGS, with which a connection begins, and GOAWAY with the sentence, which clients of gRPC show. */
function goAway(message: string): Buffer {
  const [settings, head, fields, text] = [
    Buffer.alloc(frameHeadBytes),
    Buffer.alloc(frameHeadBytes),
    Buffer.alloc(8),
    Buffer.from(message),
  ];
  settings[3] = settingsFrame;
  head.writeUIntBE(fields.length + text.length, 0, 3);
  head[3] = goAwayFrame;
  fields.writeUInt32BE(http11Required, 4);
  return Buffer.concat([settings, head, fields, text]);
}

/** Lets the client read its answer before the socket is closed. */
export function endAnswered(socket: Socket): void {
  socket.end();
  const timer = setTimeout(() => socket.destroy(), restTimeoutMs);
  socket.once('close', () => clearTimeout(timer));
}

/** Puts an answer on the wire so that it reaches the client, also while the client is still sending. */
interface Answer {
  readonly status: number;
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer;
}

/** Limits of reading away a body that is refused; a client that sends more than this after its answer is cut off. */
interface RestLimits {
  readonly restBytes: number;
  readonly restTimeoutMs: number;
}

/**
 * Closing a socket with unread bytes resets the connection and takes the answer with it. So a request that is still being sent is
 * answered first, completely, then its rest is read away within limits, and only then the connection is closed.
 */
export function sendAnswer(request: IncomingMessage, response: ServerResponse, answer: Answer, limits: RestLimits): void {
  const complete = isComplete(request);
  const close = complete ? {} : { connection: 'close' };
  response.writeHead(answer.status, { ...answer.headers, ...close, 'content-length': String(answer.body.length) });
  if (complete) {
    response.end(answer.body);
    return;
  }
  response.write(answer.body);
  readAway(request, limits, () => response.end());
}

function isComplete(request: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': transfer } = request.headers;
  return request.complete || (transfer === undefined && (length === undefined || length === '0'));
}

function readAway(request: IncomingMessage, { restBytes, restTimeoutMs }: RestLimits, then: () => void): void {
  let rest = restBytes;
  let done = false;
  const finish = (): void => {
    if (done) return;
    done = true;
    clearTimeout(timer);
    request.off('data', onData);
    then();
  };
  const onData = (chunk: Buffer): void => {
    rest -= chunk.length;
    if (rest < 0) finish();
  };
  const timer = setTimeout(finish, restTimeoutMs);
  request.on('data', onData).once('end', finish).once('close', finish).on('error', finish);
  request.resume();
}
