/**
 * Messages to people: so many a minute at most, one at a time. What is ready while none may go is not dropped: it goes with the next one, and until then
 * it is not taken.
 */
import type { Clock, Sleep } from '../../model/clock.ts';
import type { ExportOutcome } from '../exporter.ts';

export interface PacedOptions<Item> {
  /** Resolves, never rejects. */
  readonly send: (items: readonly Item[]) => Promise<ExportOutcome>;
  readonly perMinute: number;
  /** Messages that may go at once after a time without any. */
  readonly atOnce: number;
  readonly itemsMax: number;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

export interface Paced<Item> {
  /** Whoever calls bounds how many items wait. */
  send(item: Item): Promise<ExportOutcome>;
  /** What waits may be sent later, by somebody else. */
  stop(): void;
}

interface Waiting<Item> {
  readonly item: Item;
  readonly done: (outcome: ExportOutcome) => void;
}

export function paced<Item>({ send, perMinute, atOnce, itemsMax, clock, sleep }: PacedOptions<Item>): Paced<Item> {
  const waiting: Waiting<Item>[] = [];
  const over = new AbortController();
  const restMs = 60_000 / perMinute;
  let turns = atOnce;
  let reckonedMs = clock.nowMs();
  let isRunning = false;

  async function turn(): Promise<void> {
    for (;;) {
      const nowMs = clock.nowMs();
      turns = Math.min(atOnce, turns + Math.max(0, nowMs - reckonedMs) / restMs);
      reckonedMs = nowMs;
      if (turns >= 1 || over.signal.aborted) break;
      await sleep((1 - turns) * restMs, over.signal);
    }
    turns--;
  }

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.length > 0) {
      await turn();
      // Everybody who has something to send now has said so.
      await new Promise((resolve) => setImmediate(resolve));
      const batch = waiting.splice(0, itemsMax);
      const outcome: ExportOutcome = over.signal.aborted
        ? { kind: 'failed', retryable: true, error: 'stopped' }
        : await send(batch.map(({ item }) => item));
      for (const { done } of batch) done(outcome);
    }
    isRunning = false;
  }

  return {
    send: (item) =>
      new Promise((done) => {
        waiting.push({ item, done });
        if (!isRunning) void run();
      }),
    stop: () => over.abort(),
  };
}
