/**
 * Streams of server-sent events. A stream reads its source again when its client has read what came before, so a slow client holds the rows
 * of one reading at most. Streams have separate room from other answers.
 */
import type { ServerResponse } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { jsonText, type JsonValue } from '../model/json.ts';

export interface StreamEvent {
  readonly event: string;
  readonly data: JsonValue;
  /** A client that connects again sends the last one as `Last-Event-ID`. */
  readonly id?: string;
}

export interface EventSource {
  /** Events since the last call. */
  next(): Promise<readonly StreamEvent[]>;
}

export interface StreamBounds {
  /** Concurrent streams. */
  readonly streamsMax: number;
  /** Time between two readings of the source. */
  readonly everyMs: number;
  /** A stream without events has a comment after this time, so that neither end takes it for dead. */
  readonly heartbeatMs: number;
  /** A client that has not read its events for this time loses its stream. */
  readonly stallMs: number;
  /** A stream ends after this time, and the client connects again: its token may not hold any more. */
  readonly lifeMs: number;
}

export const defaultStreamBounds: StreamBounds = {
  streamsMax: 16,
  everyMs: 500,
  heartbeatMs: 4_000,
  stallMs: 8_000,
  lifeMs: 15 * 60_000,
};

/** Share of the streams that one holder may open. */
const holderShare = 0.75;

export interface StreamsOptions extends StreamBounds {
  /** Called with the number of open streams. */
  readonly onOpen: (open: number) => void;
  /** Called when a client loses its stream, as it does not read. */
  readonly onStalled: () => void;
  readonly onFault: (error: Error) => void;
}

export interface EventStreams {
  /** False when all streams are open, or the holder has its share of them. */
  hasRoom(holder: string): boolean;
  /** Resolves when the stream has ended. Writes the head of the answer with these headers. */
  open(response: ServerResponse, headers: { readonly [name: string]: string }, source: EventSource, holder: string): Promise<void>;
  /** Ends all streams. Another one ends at once. */
  stop(): void;
}

export function eventStreams(options: StreamsOptions): EventStreams {
  const { streamsMax, everyMs, heartbeatMs, stallMs, lifeMs, onOpen, onStalled, onFault } = options;
  const shutdown = new AbortController();
  /** Holders of the open streams. */
  const streams: string[] = [];

  async function pump(response: ServerResponse, source: EventSource, ended: AbortSignal): Promise<void> {
    let quietMs = 0;
    while (!ended.aborted) {
      const text = (await source.next()).map(eventText).join('');
      quietMs = text === '' ? quietMs + everyMs : 0;
      if (text !== '' || quietMs >= heartbeatMs) {
        if (text === '') quietMs = 0;
        if (!response.write(text === '' ? ':\n\n' : text) && !(await drained(response, ended))) return;
      }
      await wait(everyMs, undefined, { signal: ended }).catch(() => undefined);
    }
  }

  /** False when the client did not read for too long, and its connection is gone. */
  async function drained(response: ServerResponse, ended: AbortSignal): Promise<boolean> {
    const read = new AbortController();
    const done = (): void => read.abort();
    response.once('drain', done);
    await wait(stallMs, undefined, { signal: AbortSignal.any([ended, read.signal]) }).catch(() => undefined);
    response.off('drain', done);
    if (read.signal.aborted || ended.aborted) return true;
    onStalled();
    response.destroy();
    return false;
  }

  return {
    hasRoom: (holder) =>
      streams.length < streamsMax && streams.filter((one) => one === holder).length < Math.ceil(streamsMax * holderShare),
    async open(response, headers, source, holder) {
      const gone = new AbortController();
      const ended = AbortSignal.any([shutdown.signal, gone.signal, AbortSignal.timeout(lifeMs)]);
      response.once('close', () => gone.abort());
      onOpen(streams.push(holder));
      try {
        response.writeHead(200, { ...headers, 'content-type': 'text/event-stream', connection: 'close' });
        response.write(':\n\n');
        await pump(response, source, ended);
      } catch (error) {
        // A stopping service closes the store first.
        if (!shutdown.signal.aborted) onFault(error instanceof Error ? error : new Error('the source of a stream failed'));
      } finally {
        streams.splice(streams.indexOf(holder), 1);
        onOpen(streams.length);
        response.end();
      }
    },
    stop: () => shutdown.abort(),
  };
}

function eventText({ event, data, id }: StreamEvent): string {
  return `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${jsonText(data)}\n\n`;
}
