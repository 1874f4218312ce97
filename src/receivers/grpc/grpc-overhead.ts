/**
 * Bytes of a session that belong to no request. Node reports neither WINDOW_UPDATE nor padding nor refused header lists, so they are what is left of
 * the socket's bytes. DATA counts when the HTTP/2 layer hands it over: whether its reader is paused makes no difference.
 */
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../../model/clock.ts';

export interface OverheadBounds {
  /** In a minute, beyond what requests account for. Larger than what Node reads ahead of the HTTP/2 layer. */
  readonly overheadBytesMax: number;
  /** For one request: its headers, its resets and the window updates for its answer. */
  readonly requestOverheadBytes: number;
  /** Of each stream, for DATA that its client may send. */
  readonly streamWindowBytes: number;
}

export interface SessionOverhead {
  /** Called in the turn in which the request begins. */
  add(stream: ServerHttp2Stream): void;
  isBeyond(): boolean;
}

export interface SessionOverheadOptions {
  readonly session: ServerHttp2Session;
  readonly bounds: OverheadBounds;
  readonly clock: Clock;
}

const minuteMs = 60_000;
const frameHeadBytes = 9;
/** Around the smallest piece of DATA: the head of its frame, and padding with its length (RFC 9113, 6.1). */
const pieceOverheadBytes = frameHeadBytes + 256;
/** Node reads 64 KiB at once, and keeps one read back while a write is under way. */
const readAheadBytes = 128 * 1024;

export function sessionOverhead({ session, bounds, clock }: SessionOverheadOptions): SessionOverhead {
  // Whose clients may still send. Bounded by the streams of one session.
  const open = new Set<ServerHttp2Stream>();
  let dataBytes = 0;
  let allowed = 0;
  let sinceMs = clock.nowMs();
  let overheadBefore = 0;
  // Of the minute before: bytes of a request may come after what allows them.
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
      // DATA of the read that brought the headers may be there already, in pieces that nobody counted.
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
