/** A receiver that notes when the last span of each trace comes. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { pieces } from '../../../src/otlp/cut/trace-extract.ts';

export interface Arrived {
  /** Time from the sending of a trace's last request to the arrival of its last span. */
  readonly latenciesMs: readonly number[];
  readonly lost: number;
  readonly doubled: number;
}

export interface WatchedTarget {
  readonly url: string;
  /** Bodies that are about to be sent to the sender here. */
  expect(body: Buffer): void;
  /** Waits until all of it has come. */
  complete(): Promise<Arrived>;
  /** Where no one sends anything here. */
  nothing(): Promise<Arrived>;
  forget(): void;
  close(): Promise<void>;
}

interface Watched {
  sent: number;
  sentMs: number;
  arrived: number;
  arrivedMs: number;
}

const withinMs = 60_000;
/** For what would come twice, and for what goes on behind the scenes. */
const afterMs = 2_000;

export async function watchedTarget(): Promise<WatchedTarget> {
  const traces = new Map<string, Watched>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const nowMs = performance.now();
      for (const [traceId, { items }] of pieces(Buffer.concat(chunks), 'traces')) {
        const trace = traces.get(traceId);
        if (trace === undefined) continue;
        trace.arrived += items;
        trace.arrivedMs = nowMs;
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const all = (): readonly Watched[] => [...traces.values()];
  const count = (of: (trace: Watched) => number): number => all().reduce((sum, trace) => sum + Math.max(0, of(trace)), 0);
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    expect(body) {
      for (const [traceId, { items }] of pieces(body, 'traces')) {
        const trace = traces.get(traceId) ?? { sent: 0, sentMs: 0, arrived: 0, arrivedMs: 0 };
        traces.set(traceId, trace);
        trace.sent += items;
        trace.sentMs = performance.now();
      }
    },
    async complete() {
      const startMs = performance.now();
      while (all().some(({ sent, arrived }) => arrived < sent) && performance.now() - startMs < withinMs) await pause(100);
      await pause(afterMs);
      return {
        latenciesMs: all()
          .filter(({ sent, arrived }) => arrived >= sent)
          .map(({ sentMs, arrivedMs }) => arrivedMs - sentMs),
        lost: count(({ sent, arrived }) => sent - arrived),
        doubled: count(({ sent, arrived }) => arrived - sent),
      };
    },
    async nothing() {
      await pause(afterMs * 2);
      return { latenciesMs: [], lost: 0, doubled: 0 };
    },
    forget: () => traces.clear(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
