/**
 * What a client sends on a session besides its messages. HTTP/2 has frames that ask for nothing, and Node reports none of WINDOW_UPDATE, PRIORITY and unknown types.
 * So they are found by what is left over: bytes of the socket that are neither messages nor what requests need around them.
 */
import type { ServerHttp2Session, ServerHttp2Stream } from 'node:http2';
import type { Clock } from '../model/clock.ts';

export interface OverheadBounds {
  /** In a minute without a request: keepalive, settings, windows. */
  readonly overheadBytesMax: number;
  /** Around one request: its headers, and frames about its windows and its end. */
  readonly requestOverheadBytesMax: number;
  /** What may still come for a request that is over before its client has sent all of it: Node throws it away uncounted. */
  readonly streamWindowBytes: number;
  /** Requests in a minute that are refused for their headers, besides as many as are taken. */
  readonly refusedMax: number;
}

export interface SessionOverhead {
  /** In the turn in which its request is taken, after its reader. */
  add(stream: ServerHttp2Stream): void;
  /** One that was added is refused for its headers. */
  refuse(): void;
  isBeyond(): boolean;
}

export interface SessionOverheadOptions {
  readonly session: ServerHttp2Session;
  readonly bounds: OverheadBounds;
  readonly clock: Clock;
}

const minuteMs = 60_000;
/** A DATA frame of one byte has a head of nine. */
const headBytes = 9;

export function sessionOverhead({ session, bounds, clock }: SessionOverheadOptions): SessionOverhead {
  // As many as the session may have under way.
  const open = new Set<ServerHttp2Stream>();
  let messageBytes = 0;
  let sinceMs = clock.nowMs();
  let overheadBefore = 0;
  let allowed = 0;
  // Of the minute before: what it allowed may still be on its way.
  let allowedBefore = 0;
  let taken = 0;
  let refusedBefore = 0;
  let takenBefore = 0;

  return {
    add(stream) {
      open.add(stream);
      taken++;
      allowed += bounds.requestOverheadBytesMax;
      stream.on('data', (chunk: Buffer) => {
        messageBytes += chunk.length;
        allowed += chunk.length * headBytes;
      });
      stream.once('close', () => {
        open.delete(stream);
        if (!stream.readableEnded) allowed += bounds.streamWindowBytes;
      });
    },
    refuse: () => void taken--,
    isBeyond() {
      // Node emits nothing for a request whose headers it refuses. Ids of requests are odd, and clients leave hardly any out.
      const begun = Math.floor(((session.state.lastProcStreamID ?? 0) + 1) / 2);
      const refused = begun - taken;
      if (refused - refusedBefore > bounds.refusedMax + taken - takenBefore) return true;
      let unread = 0;
      for (const stream of open) unread += stream.readableLength;
      const overhead = session.socket.bytesRead - messageBytes - unread;
      if (overhead - overheadBefore > bounds.overheadBytesMax + allowed + allowedBefore + unread * headBytes) return true;
      const nowMs = clock.nowMs();
      if (nowMs - sinceMs >= minuteMs) {
        [sinceMs, overheadBefore, allowedBefore, allowed] = [nowMs, overhead, allowed, 0];
        [refusedBefore, takenBefore] = [refused, taken];
      }
      return false;
    },
  };
}
