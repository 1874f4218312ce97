/** One HTTP/2 session: it must begin, must not idle or grow old, and must not keep the service busy with frames that belong to no request. */
import { constants, type ServerHttp2Session } from 'node:http2';
import type { Clock } from '../../model/clock.ts';
import { sessionOverhead, type OverheadBounds } from './grpc-overhead.ts';

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
  /** Sets of settings between two requests within a minute. Clients send one, and a few more while they measure the line. */
  readonly settingsMax: number;
  /** Of frames that belong to no request, in a minute. A client that begins 500 requests before it knows the bound sends 100 KiB. */
  readonly overheadBytesMax: number;
  /** Between two checks of it. */
  readonly overheadCheckMs: number;
  /** From the first byte of a request to its last: twice what exporters give it. */
  readonly requestMs: number;
  /** For an answer to be taken off our hands. */
  readonly answerMs: number;
  /** For requests under way when the service stops. */
  readonly stopMs: number;
}

/** Why a session was ended by us. */
export type SessionEnd = 'no_handshake' | 'not_http2' | 'protocol_error' | 'pings' | 'settings' | 'flood' | 'idle' | 'age';

export interface BoundedSessionOptions {
  readonly session: ServerHttp2Session;
  readonly bounds: Pick<
    GrpcBounds,
    'handshakeMs' | 'idleMs' | 'ageMs' | 'farewellMs' | 'pingsMax' | 'settingsMax' | 'overheadCheckMs' | 'requestMs'
  > &
    OverheadBounds & { readonly headerBytesMax: number };
  readonly clock: Clock;
  readonly ended: (reason: SessionEnd) => void;
}

const minuteMs = 60_000;
/** nghttp2's error for a client that did not start with the words of HTTP/2. */
const badClientMagic = -903;
/** nghttp2's error for a thousand answers to pings and settings that wait in one turn. */
const flooded = -904;
/** Node's error for frames that nghttp2 refuses one by one, among them headers beyond the bound. */
const tooManyInvalidFrames = 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES';
/** The largest stream id: everything that is on the way is still taken. */
const lastStreamId = 2 ** 31 - 1;

export function boundedSession({ session, bounds, clock, ended }: BoundedSessionOptions): void {
  let streams = 0;
  const pings = perMinute(clock, bounds.pingsMax);
  const settings = perMinute(clock, bounds.settingsMax);
  const overhead = sessionOverhead({ session, bounds, clock });
  let reason: SessionEnd | undefined;

  const count = (why: SessionEnd): void => {
    if (reason !== undefined) return;
    reason = why;
    ended(why);
  };
  /** Also ends a session that is on its way out: a request under way would hold it open. */
  const cutOff = (why: SessionEnd, code: number): void => {
    if (session.destroyed) return;
    count(why);
    session.destroy(undefined, code);
  };
  /** Told twice, as gRPC does: a request that crosses the first word is still taken, so nobody has to send it again. */
  const sayFarewell = (why: SessionEnd): void => {
    if (reason !== undefined || session.closed || session.destroyed) return;
    count(why);
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
  session.on('remoteSettings', () => {
    if (settings.add()) cutOff('settings', constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  const checks = setInterval(() => {
    if (!session.destroyed && overhead.isBeyond()) cutOff('flood', constants.NGHTTP2_ENHANCE_YOUR_CALM);
  }, bounds.overheadCheckMs);
  session.on('stream', (stream, _headers, _flags, rawHeaders) => {
    streams++;
    pings.reset();
    settings.reset();
    // Node applies the bound once the client has acknowledged it, and a client can leave that out.
    if (session.pendingSettingsAck && listBytes(rawHeaders) > bounds.headerBytesMax) stream.close(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    else overhead.add(stream);
    clearTimeout(quiet);
    stream.once('close', () => {
      streams--;
      idle();
    });
  });
  session.on('ping', () => {
    if (pings.add()) cutOff('pings', constants.NGHTTP2_ENHANCE_YOUR_CALM);
  });
  session.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code?.startsWith('ERR_HTTP2')) count(reasonOf(error));
  });
  session.once('close', () => [quiet, age, farewell, last, checks].forEach((timer) => clearTimeout(timer)));
}

/** As RFC 9113, 6.5.2 counts: 32 bytes for each name and value beside their own. */
function listBytes(namesAndValues: readonly string[]): number {
  return namesAndValues.reduce((bytes, text) => bytes + text.length + 16, 0);
}

function reasonOf({ code, errno }: NodeJS.ErrnoException): SessionEnd {
  if (errno === badClientMagic) return 'not_http2';
  return errno === flooded || code === tooManyInvalidFrames ? 'flood' : 'protocol_error';
}

/** Counts what may come `max` times between two requests within a minute; `add` returns true when it is more. */
function perMinute(clock: Clock, max: number): { add(): boolean; reset(): void } {
  let count = 0;
  let sinceMs = clock.nowMs();
  return {
    add() {
      const nowMs = clock.nowMs();
      if (nowMs - sinceMs >= minuteMs) [count, sinceMs] = [0, nowMs];
      return ++count > max;
    },
    reset: () => void (count = 0),
  };
}
