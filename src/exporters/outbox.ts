/**
 * The bounded queue between the pipeline and one exporter, in memory. Items of one run are sent one at a time and in order; a failed one
 * rests and is sent again; a backend that is down costs memory up to the limit and never slows whoever offers.
 */
import { type RunKey } from '../model/agent-trace.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { runTargetId } from '../model/verdict.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Exporter, ExportOutcome, ScoredRun } from './exporter.ts';
import { roughBytes } from '../model/weight.ts';

export interface OutboxOptions {
  readonly exporter: Exporter;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  /** 0..1; spreads the attempts of many items. */
  readonly random: () => number;
  readonly sleep: Sleep;
  /** Items held; beyond it the oldest that is not being sent is dropped. */
  readonly itemsMax?: number;
  /** Memory that the items held may take, roughly; beyond it as well the oldest is dropped. */
  readonly bytesMax?: number;
  readonly sendingMax?: number;
  /** Times that an item is sent before it is given up. */
  readonly attemptsMax?: number;
  readonly firstRestMs?: number;
  readonly longestRestMs?: number;
}

export interface Outbox {
  /** Never waits, never throws. After `stop` it drops. `bytes`: what it weighs, where somebody has weighed it already. */
  offer(item: ScoredRun, bytes?: number): void;
  /** Items not sent yet. */
  held(): number;
  /** Items from the first on that are sent or given up, all of them. What a stop gives up does not count: another process may send it. */
  settled(): number;
  /** Refuses new items, sends what is there, gives up what is left at the deadline; tells how many these are. May be called twice. */
  stop(deadlineMs: number): Promise<number>;
}

interface Entry {
  readonly item: ScoredRun;
  readonly key: string;
  readonly offeredMs: number;
  /** Counts from 1. */
  readonly nth: number;
  readonly bytes: number;
  attempts: number;
  /** Behind another item of its run, next in line, on its way, or resting before another attempt. */
  state: 'behind' | 'ready' | 'sending' | 'resting' | 'gone';
  /** Ends the rest. */
  rest: AbortController | undefined;
}

type ItemOutcome = 'sent' | 'retried' | 'failed' | 'dropped';

export function outbox(options: OutboxOptions): Outbox {
  const { exporter, telemetry, clock, itemsMax = 10_000, bytesMax = 128 * 1024 * 1024, sendingMax = 4, attemptsMax = 100 } = options;
  /** All entries, oldest first. */
  const entries = new Set<Entry>();
  /** Entries of one run, in order; only the first is ever sent. */
  const lanes = new Map<string, Set<Entry>>();
  const ready = new Set<Entry>();
  let bytes = 0;
  let sending = 0;
  let offered = 0;
  /** At the end of a stop. */
  let settledAtEnd: number | undefined;
  let stopped: Promise<number> | undefined;
  let drained: (() => void) | undefined;

  function count(outcome: ItemOutcome): void {
    telemetry.add('tracejury.exporter.items', 1, { 'tracejury.exporter': exporter.id, 'tracejury.outcome': outcome });
  }

  function observe(): void {
    const labels = { 'tracejury.exporter': exporter.id };
    const [oldest] = entries;
    telemetry.set('tracejury.exporter.queue', entries.size, labels);
    telemetry.set('tracejury.exporter.lag', oldest === undefined ? 0 : Math.max(0, clock.nowMs() - oldest.offeredMs) / 1000, labels);
  }

  function settled(): number {
    const [oldest] = entries;
    return settledAtEnd ?? (oldest === undefined ? offered : oldest.nth - 1);
  }

  function leave(entry: Entry, outcome: ItemOutcome): void {
    entry.state = 'gone';
    entry.rest?.abort();
    entries.delete(entry);
    bytes -= entry.bytes;
    ready.delete(entry);
    const lane = lanes.get(entry.key);
    lane?.delete(entry);
    const [next] = lane ?? [];
    if (next === undefined) lanes.delete(entry.key);
    else if (next.state === 'behind') makeReady(next);
    count(outcome);
    observe();
    if (entries.size === 0) drained?.();
  }

  function makeReady(entry: Entry): void {
    entry.state = 'ready';
    ready.add(entry);
  }

  /** What is on its way is never dropped. */
  function dropOldest(): void {
    for (const entry of entries) {
      if (entries.size <= itemsMax && bytes <= bytesMax) return;
      if (entry.state !== 'sending') leave(entry, 'dropped');
    }
  }

  function pump(): void {
    for (const entry of ready) {
      if (sending >= sendingMax) return;
      ready.delete(entry);
      void attempt(entry);
    }
  }

  async function attempt(entry: Entry): Promise<void> {
    entry.state = 'sending';
    entry.attempts++;
    sending++;
    const outcome = await sent(exporter, entry.item);
    sending--;
    // Given up at the deadline of a stop: what the backend said afterwards no longer counts.
    if (!entries.has(entry)) return;
    if (outcome.kind === 'sent') leave(entry, 'sent');
    else if (!outcome.retryable || entry.attempts >= attemptsMax) leave(entry, 'failed');
    else void retry(entry);
    pump();
  }

  async function retry(entry: Entry): Promise<void> {
    count('retried');
    // A backend that is away while no run ends makes the oldest item older all the same.
    observe();
    entry.state = 'resting';
    const rest = new AbortController();
    entry.rest = rest;
    await options.sleep(restMs(entry.attempts, options), rest.signal);
    entry.rest = undefined;
    if (!entries.has(entry)) return;
    makeReady(entry);
    pump();
  }

  async function drain(deadlineMs: number): Promise<number> {
    const deadline = new AbortController();
    const empty = new Promise<void>((resolve) => {
      drained = resolve;
      if (entries.size === 0) resolve();
    });
    for (const entry of entries) entry.rest?.abort();
    await Promise.race([empty, options.sleep(deadlineMs, deadline.signal)]);
    deadline.abort();
    settledAtEnd = settled();
    const left = [...entries].reverse();
    for (const entry of left) leave(entry, 'dropped');
    await exporter.stop();
    return left.length;
  }

  return {
    offer(item, own = roughBytes(item)) {
      if (stopped !== undefined) {
        count('dropped');
        return;
      }
      const key = keyText(item.run);
      const entry: Entry = { item, key, offeredMs: clock.nowMs(), nth: ++offered, bytes: own, attempts: 0, state: 'behind', rest: undefined };
      const lane = lanes.get(key) ?? new Set();
      lanes.set(key, lane.add(entry));
      entries.add(entry);
      bytes += entry.bytes;
      if (lane.size === 1) makeReady(entry);
      dropOldest();
      observe();
      pump();
    },
    held: () => entries.size,
    settled,
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}

/** Exporters promise never to reject; the queue must not stand still if one does. */
async function sent(exporter: Exporter, item: ScoredRun): Promise<ExportOutcome> {
  try {
    return await exporter.send(item);
  } catch (error) {
    return { kind: 'failed', retryable: false, error: error instanceof Error ? error.name : 'unknown' };
  }
}

/** Doubles with every attempt; half of it is chance. */
function restMs(attempts: number, { random, firstRestMs = 1000, longestRestMs = 60_000 }: OutboxOptions): number {
  const full = Math.min(longestRestMs, firstRestMs * 2 ** Math.min(attempts - 1, 30));
  return full / 2 + (full / 2) * random();
}

function keyText(run: RunKey): string {
  return `${run.tenant}/${runTargetId(run)}`;
}
