/** One HTTP/2 session: it must begin, must not idle or grow old, and must not keep the service busy with frames that belong to no request. */
import { constants, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
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
  /** Sets of settings between two requests within a minute. Clients send one, and a few more while they measure the line. */
  readonly settingsMax: number;
  /** Bytes of frames that belong to no request, in a minute. A client that begins 500 requests before it knows the bound sends 100 KiB. */
  readonly overheadBytesMax: number;
  /** Between two checks of it. */
  readonly overheadCheckMs: number;
  /** From the first byte of a request to its last: twice what exporters give it. */
  readonly requestMs: number;
  /** Time for the client to read an answer. */
  readonly answerMs: number;
  /** Time for requests under way when the service stops. */
  readonly stopMs: number;
}

/** Why a session was ended by us. */
export type SessionEnd = 'no_handshake' | 'not_http2' | 'protocol_error' | 'pings' | 'settings' | 'flood' | 'idle' | 'age';

interface BoundedSessionOptions {
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
  /** Sent twice, as gRPC does: a request that crosses the first message is still taken, so that no client has to send it again. */
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

/**
 * Bytes of a session that belong to no request. Node reports neither WINDOW_UPDATE nor padding nor refused header lists, so they are what is left of
 * the socket's bytes. DATA counts when the HTTP/2 layer hands it over: whether its reader is paused makes no difference.
 */
interface OverheadBounds {
  /** In a minute, beyond what requests account for. Larger than what Node reads ahead of the HTTP/2 layer. */
  readonly overheadBytesMax: number;
  /** For one request: its headers, its resets and the window updates for its answer. */
  readonly requestOverheadBytes: number;
  /** Window of each stream, for DATA that its client may send. */
  readonly streamWindowBytes: number;
}

interface SessionOverhead {
  /** Called in the turn in which the request begins. */
  add(stream: ServerHttp2Stream): void;
  isBeyond(): boolean;
}

interface SessionOverheadOptions {
  readonly session: ServerHttp2Session;
  readonly bounds: OverheadBounds;
  readonly clock: Clock;
}

const frameHeadBytes = 9;
/** Around the smallest piece of DATA: the head of its frame, and padding with its length (RFC 9113, 6.1). */
const pieceOverheadBytes = frameHeadBytes + 256;
/** Node reads 64 KiB at once, and keeps one read back while a write is under way. */
const readAheadBytes = 128 * 1024;

function sessionOverhead({ session, bounds, clock }: SessionOverheadOptions): SessionOverhead {
  // Whose clients may still send. Bounded by the streams of one session.
  const open = new Set<ServerHttp2Stream>();
  let dataBytes = 0;
  let allowed = 0;
  let sinceMs = clock.nowMs();
  let overheadBefore = 0;
  // Bytes allowed in the minute before: bytes of a request may come after what allows them.
  let allowedBefore = 0;

  const receive = (bytes: number, overheadBytes: number): void => {
    dataBytes += bytes;
    allowed += overheadBytes;
  };
  // The client has not heard of the end yet: Node discards up to a window of DATA, at worst in frames of one byte.
  const endEarly = (stream: ServerHttp2Stream): void => {
    if (open.delete(stream)) allowed += bounds.streamWindowBytes * (1 + frameHeadBytes);
  };

  return {
    add(stream) {
      open.add(stream);
      allowed += bounds.requestOverheadBytes;
      // DATA of the read that brought the headers may be there already, in pieces that were not counted.
      const early = stream.readableLength;
      receive(early, Math.min(early * pieceOverheadBytes, readAheadBytes));
      const push = stream.push.bind(stream);
      stream.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
        if (chunk !== null) receive(chunk.length, pieceOverheadBytes);
        return push(chunk, encoding);
      };
      // Node lets a stream that is closed end as well, long before its client stops.
      stream.once('end', () => stream.closed || open.delete(stream));
      stream.once('close', () => endEarly(stream));
    },
    isBeyond() {
      for (const stream of open) if (stream.closed) endEarly(stream);
      const overhead = session.socket.bytesRead - dataBytes;
      if (overhead - overheadBefore > bounds.overheadBytesMax + allowed + allowedBefore) return true;
      const nowMs = clock.nowMs();
      if (nowMs - sinceMs >= minuteMs) [sinceMs, overheadBefore, allowedBefore, allowed] = [nowMs, overhead, allowed, 0];
      return false;
    },
  };
}
