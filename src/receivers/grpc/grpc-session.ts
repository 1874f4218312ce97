/** One HTTP/2 session: it must begin, must not idle or grow old, and must not ping without end. */
import { constants, type ServerHttp2Session } from 'node:http2';
import type { Clock } from '../../model/clock.ts';

export interface GrpcBounds {
  /** An exporter keeps one connection. */
  readonly connectionsMax: number;
  /** Requests under way on one connection; exporters have one or two, a Collector ten. */
  readonly streamsMax: number;
  /** Until a new connection has said its first HTTP/2 words. */
  readonly handshakeMs: number;
  /** Without a request. Also what ends connections whose client is gone without a word. */
  readonly idleMs: number;
  /** Then a connection is ended in order, so that clients spread over new replicas. */
  readonly ageMs: number;
  /** Between the first word about the end and the last: requests that are on the way still arrive. */
  readonly farewellMs: number;
  /** Pings between two requests within a minute. */
  readonly pingsMax: number;
  /** From the first byte of a request to its last: twice what exporters give it. */
  readonly requestMs: number;
  /** For an answer to be taken off our hands. */
  readonly answerMs: number;
  /** For requests under way when the service stops. */
  readonly stopMs: number;
}

/** Why a session was ended by us. */
export type SessionEnd = 'no_handshake' | 'not_http2' | 'protocol_error' | 'pings' | 'idle' | 'age';

export interface BoundedSessionOptions {
  readonly session: ServerHttp2Session;
  readonly bounds: Pick<GrpcBounds, 'handshakeMs' | 'idleMs' | 'ageMs' | 'farewellMs' | 'pingsMax' | 'requestMs'>;
  readonly clock: Clock;
  readonly ended: (reason: SessionEnd) => void;
}

const minuteMs = 60_000;
/** nghttp2's error for a client that did not start with the words of HTTP/2. */
const badClientMagic = -903;
/** The largest stream id: everything that is on the way is still taken. */
const lastStreamId = 2 ** 31 - 1;

export function boundedSession({ session, bounds, clock, ended }: BoundedSessionOptions): void {
  let streams = 0;
  let pings = 0;
  let pingsSinceMs = clock.nowMs();
  let reason: SessionEnd | undefined;

  const endWith = (why: SessionEnd): boolean => {
    if (reason !== undefined || session.closed || session.destroyed) return false;
    reason = why;
    ended(why);
    return true;
  };
  const cutOff = (why: SessionEnd, code: number): void => {
    if (endWith(why)) session.destroy(undefined, code);
  };
  /** Told twice, as gRPC does: a request that crosses the first word is still taken, so nobody has to send it again. */
  const sayFarewell = (why: SessionEnd): void => {
    if (!endWith(why)) return;
    session.goaway(constants.NGHTTP2_NO_ERROR, lastStreamId);
    farewell = setTimeout(() => session.close(), bounds.farewellMs);
    last = setTimeout(() => session.destroy(), bounds.farewellMs + bounds.requestMs);
  };
  let farewell: NodeJS.Timeout | undefined;
  let last: NodeJS.Timeout | undefined;
  let quiet = setTimeout(() => cutOff('no_handshake', constants.NGHTTP2_SETTINGS_TIMEOUT), bounds.handshakeMs);
  const age = setTimeout(() => sayFarewell('age'), bounds.ageMs);
  const idle = (): void => {
    clearTimeout(quiet);
    if (streams === 0) quiet = setTimeout(() => sayFarewell('idle'), bounds.idleMs);
  };

  session.once('remoteSettings', idle);
  session.on('stream', (stream) => {
    streams++;
    pings = 0;
    clearTimeout(quiet);
    stream.once('close', () => {
      streams--;
      idle();
    });
  });
  session.on('ping', () => {
    const nowMs = clock.nowMs();
    if (nowMs - pingsSinceMs >= minuteMs) [pings, pingsSinceMs] = [0, nowMs];
    pings++;
    if (pings > bounds.pingsMax) cutOff('pings', constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  session.on('error', (error: NodeJS.ErrnoException) => {
    if (reason !== undefined || !error.code?.startsWith('ERR_HTTP2')) return;
    reason = error.errno === badClientMagic ? 'not_http2' : 'protocol_error';
    ended(reason);
  });
  session.once('close', () => [quiet, age, farewell, last].forEach((timer) => clearTimeout(timer)));
}
