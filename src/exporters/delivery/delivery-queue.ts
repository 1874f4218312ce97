/**
 * The queue between the pipeline and one exporter. It sends the items of one run one at a time, in order, and retries a failed item after a
 * backoff. An item that fails, or is not sent within a second, becomes a row of the store beside its run: it then costs disk instead of
 * memory and outlives the process. Until then the journal has it. Without a store the queue is bounded memory. It never slows the pipeline.
 */
import { chunks } from '../../model/chunks.ts';
import { oldestOfLargest } from '../../model/shares.ts';
import { roughBytes } from '../../model/size-estimate.ts';
import { watermarkTracker, type Delivered, type ItemId, type Watermark } from '../../model/watermark.ts';
import type { NewExport } from '../../model/store/export-store.ts';
import type { ScoresStatus } from '../../model/exporter-status.ts';
import { backoffMs } from '../../runtime/retry.ts';
import type { BreakerOptions, Circuit } from '../../runtime/circuit-breaker.ts';
import { periodicTask, type PeriodicTask } from '../../runtime/periodic-task.ts';
import type { OutageLogger } from './outage-log.ts';
import type { Exporter, ExportFailure, ExportOutcome } from '../exporter.ts';
import { itemRevision, type ScoredRun } from '../../model/scored-run.ts';
import { perRunQueue, partOf, type Entry } from './per-run-queue.ts';
import { deliveryMetrics } from './delivery-metrics.ts';
import {
  outboxRows,
  type RowStore,
  type OutboxRows,
  outboxPrefetch,
  prefetchMax,
  type OutboxPrefetch,
  unstoredOutcomes,
  leasedQueue,
} from './outbox-rows.ts';
import { deliveryWorker } from './delivery-worker.ts';
import type { RestingContext } from '../../telemetry/context.ts';

export interface DeliveryQueueOptions extends BreakerOptions, Omit<RestingContext, 'onFault'> {
  /** Name of the exporter's entry in the configuration. Default: the name of the exporter. */
  readonly name?: string;
  readonly exporter: Exporter;
  /** Logs the start and the end of an outage, and items that are given up. */
  readonly logger?: OutageLogger | undefined;
  /** Items in memory. Beyond it the oldest idle one leaves memory: its row stays, and one without a row is dropped. */
  readonly itemsMax?: number;
  /** Estimated bytes of the items in memory; beyond it the oldest leaves as well. */
  readonly bytesMax?: number;
  /** Items that are sent at the same time. Default: the exporter's number. */
  readonly sendingMax?: number;
  /** Attempts before an item is given up; probes during an outage do not count. Read at each failure, like the two below. */
  readonly attemptsMax?: number;
  /** Age at which a failed item is given up. */
  readonly giveUpMs?: number;
  /** Age at which an item is given up when the backend does not have its span or trace. */
  readonly missingMs?: number;
  /** Age at which an item becomes a row of the store even if it has not failed. */
  readonly rowAfterMs?: number;
  /** The last item that was delivered before this queue came. */
  readonly after?: Watermark;
}

export interface PendingExport {
  readonly row: NewExport;
  /** Called when the run is written. `id` is the row of the item; `undefined` when it has none, because it is sent or a newer revision replaced it. */
  written(id: number | undefined): void;
}

export interface DeliveryQueue {
  readonly name: string;
  /** Never waits, never throws. Drops the item after `stop`. `bytes` is the size of the item, estimated by default. */
  offer(item: Delivered<ScoredRun>, bytes?: number): void;
  /** Counts an item that is sent in another way. */
  pass(id: ItemId): void;
  /**
   * Sends the rows of the store from now on, and keeps unsent items there. `owner`: the name under which this process holds rows; absent: no
   * other process has the store open. Rejects when the store cannot be read.
   */
  open(store: RowStore, owner?: string): Promise<void>;
  /** The row to be written with the run; `undefined` when the item is sent or about to be. */
  pending(item: Delivered<ScoredRun>): PendingExport | undefined;
  /** The run of the item is written. */
  runStored(id: ItemId): void;
  /** Ends the wait of an open circuit: the address or the key has changed. */
  wake(): void;
  /** Counts the rows of the store again after another component has changed them. */
  recount(): Promise<void>;
  /** Unsent items and the state of the backend. */
  status(): ScoresStatus;
  /** Items in memory that are not sent yet. */
  held(): number;
  /**
   * The items up to here are sent, given up, or kept by a durable store. Items that a stop gives up do not count: another process may send it.
   */
  settled(): Watermark;
  /**
   * Refuses new items and sends the held ones until the deadline. Afterwards a durable store keeps the rest for the next process; otherwise
   * it is lost. With a durable store it does not wait for a backend that is down. Resolves with the number of unsent items. May be called
   * twice.
   */
  stop(deadlineMs: number): Promise<number>;
}

/** Items in memory, shared by the tenants. */
export const itemsMaxDefault = 10_000;
const attemptsMaxDefault = 100;
const missingMsDefault = 600_000;
const tendEveryMs = 1_000;
const rowAfterMsDefault = 1_000;
/** Items that wait only in memory; further ones get their row with their run. */
const rowlessMax = 2_000;
/** Rows of one transaction that adds them later than their runs. */
const rowsAtOnce = 200;

export function deliveryQueue(options: DeliveryQueueOptions): DeliveryQueue {
  const {
    name = options.exporter.id,
    telemetry,
    clock,
    sleep,
    itemsMax = itemsMaxDefault,
    bytesMax = 128 * 1024 * 1024,
    rowAfterMs = rowAfterMsDefault,
    sendingMax = options.exporter.itemsAtOnce ?? 4,
  } = options;
  const metrics = deliveryMetrics({ name, telemetry, clock, logger: options.logger });
  const held = perRunQueue();
  const progress = watermarkTracker(options.after);
  const unstored = unstoredOutcomes(itemsMax, progress.settle);
  let rows: OutboxRows | undefined;
  let store: RowStore | undefined;
  let prefetch: OutboxPrefetch | undefined;
  let tending: PeriodicTask | undefined;
  let stopped: Promise<number> | undefined;
  let drained: (() => void) | undefined;
  const over = new AbortController();
  const sendable = leasedQueue(held, () => rows, remove);
  const backend = deliveryWorker({ ...options, held: sendable, sendingMax, onFailure: metrics.failed, onOutcome, onCircuitChange, onTurn });

  const observe = (): void => metrics.queue(held, rows);

  /** A restart need not deliver the item again: it is sent, given up, or its row is in the store. */
  function settle({ id }: Entry): void {
    if (id !== undefined) progress.settle(id);
  }

  function remove(entry: Entry): void {
    held.remove(entry);
    settle(entry);
  }

  function leave(entry: Entry, outcome: 'sent' | 'dropped' | 'replaced'): void {
    remove(entry);
    metrics.count(outcome);
    observe();
  }

  function onOutcome(entry: Entry, outcome: ExportOutcome, isProbe: boolean): void {
    if (outcome.kind === 'sent') {
      if (entry.row !== undefined) rows?.sent(entry.row);
      // The store may hold an older revision, which must not be sent after this one.
      else if (
        entry.id !== undefined &&
        !entry.isKept &&
        itemRevision(entry.item) > 1 &&
        rows !== undefined &&
        rows.waiting() > held.rows()
      )
        unstored.add(entry.id, entry, 'sent');
      leave(entry, 'sent');
    } else if (!outcome.retryable) giveUp(entry, outcome);
    else if (!isProbe && entry.attempts >= (options.attemptsMax ?? attemptsMaxDefault))
      giveUp(entry, outcome, `tried ${entry.attempts} times: `);
    else if ('isMissing' in outcome && clock.nowMs() - entry.offeredMs > (options.missingMs ?? missingMsDefault)) giveUp(entry, outcome);
    else if (clock.nowMs() - entry.offeredMs > (options.giveUpMs ?? Infinity)) giveUp(entry, outcome, 'too old: ');
    else if (entry.row !== undefined && backend.circuit() !== 'closed') leaveToStore(entry.row, entry, isProbe);
    else void retry(entry);
  }

  /** After the outage the prefetch takes the row again. */
  function leaveToStore(row: number, entry: Entry, isProbe: boolean): void {
    rows?.putBack(row, entry.attempts, 0);
    if (isProbe) rows?.triedInVain(row);
    metrics.count('retried');
    remove(entry);
    observe();
  }

  /** Turns the item into a dead letter. */
  function giveUp(entry: Entry, outcome: ExportFailure, why = ''): void {
    const reason = `${why}${outcome.error}`;
    metrics.givenUp(outcome);
    held.remove(entry);
    // Until the store has the dead letter, only the journal has it.
    if (entry.row === undefined && entry.id !== undefined && !entry.isKept && rows !== undefined)
      unstored.add(entry.id, entry, { attempts: entry.attempts, reason });
    else settle(entry);
    if (entry.row !== undefined) rows?.dead(entry.row, entry.attempts, reason);
    metrics.count('failed');
    observe();
    metrics.dead(rows);
  }

  async function retry(entry: Entry): Promise<void> {
    metrics.count('retried');
    entry.state = 'resting';
    if (over.signal.aborted) return;
    const ms = backoffMs(Math.max(1, entry.attempts), options);
    if (entry.row !== undefined) rows?.putBack(entry.row, entry.attempts, ms);
    // The lag grows during an outage even when no run ends.
    observe();
    const rest = new AbortController();
    entry.rest = rest;
    await sleep(ms, rest.signal);
    entry.rest = undefined;
    if (!held.has(entry) || over.signal.aborted) return;
    held.makeReady(entry);
    backend.pump();
  }

  function onCircuitChange(circuit: Circuit, isKnown: boolean): void {
    metrics.circuit(circuit, isKnown);
    if (circuit === 'closed') rows?.isBack();
    // During an outage an item with a row costs no memory.
    if (circuit === 'open') for (const entry of held.all()) if (entry.row !== undefined && entry.state !== 'sending') remove(entry);
  }

  function onTurn(): void {
    // No item is left to probe the backend with, so its state is unknown.
    if (backend.circuit() === 'half_open' && backend.sending() === 0 && held.size() === 0 && (rows?.waiting() ?? 0) === 0) backend.forget();
    // During a stop, a durable store keeps its rows for the next process.
    if (stopped === undefined || rows?.isDurable !== true) void prefetch?.fill();
    if (drained !== undefined && isDrained()) drained();
  }

  /** The tenant that takes the most of the limits loses its oldest item, but none that is being sent. */
  function makeRoom(): void {
    while (held.size() > itemsMax || held.bytes() > bytesMax) {
      const entry = oldestOfLargest(
        [...held.all()].filter(({ state }) => state !== 'sending'),
        ({ item }) => item.run.tenant,
        (one) => 1 / itemsMax + one.bytes / bytesMax,
      );
      if (entry === undefined) return;
      if (entry.row === undefined) leave(entry, 'dropped');
      else remove(entry);
    }
  }

  /** A first attempt is due or under way, and the backend takes items. A newer revision has to replace the row of an older one at once. */
  function isAboutToGo({ attempts, state, offeredMs, item }: Entry): boolean {
    return (
      stopped === undefined &&
      backend.circuit() === 'closed' &&
      attempts <= (state === 'sending' ? 1 : 0) &&
      clock.nowMs() - offeredMs < rowAfterMs &&
      itemRevision(item) === 1
    );
  }

  function rowOf({ part, item, offeredMs, already }: Pick<Entry, 'part' | 'item' | 'offeredMs'> & Pick<NewExport, 'already'>): NewExport {
    const row = { exporter: name, part, item, offeredAt: Math.floor(offeredMs * 1_000), lease: rows?.lease() };
    return already === undefined ? row : { ...row, already };
  }

  /** Items that need a row and whose run was written without one, and dead letters likewise. */
  function rowless(): readonly (readonly [ItemId, NewExport])[] {
    const waiting = [...held.all()].flatMap((entry) =>
      entry.id === undefined || !entry.isRunStored || entry.isKept || isAboutToGo(entry) ? [] : [[entry.id, rowOf(entry)] as const],
    );
    return [...waiting, ...[...unstored.all()].flatMap(([id, one]) => (one.isRunStored ? [[id, rowOf(one)] as const] : []))];
  }

  /** Rejects when the store fails: the journal keeps the items meanwhile. */
  async function addRows({ exports }: RowStore): Promise<void> {
    for (const some of chunks(rowless(), rowsAtOnce)) {
      const added = await exports.add(some.map(([, row]) => row));
      for (const [at, [id, { item }]] of some.entries()) {
        const row = added[at];
        if (row === 'gone') runGone(id);
        else written(id, itemRevision(item), row);
      }
    }
  }

  /** The item stays in memory until it is sent or given up. */
  function runGone(id: ItemId): void {
    const entry = held.of(id);
    if (entry !== undefined) entry.isKept = true;
    if (unstored.remove(id)) progress.settle(id);
  }

  async function tend(own: OutboxRows, store: RowStore): Promise<void> {
    await addRows(store).catch(() => undefined);
    const lost = new Set(await own.renew(held.rowIds()).catch(() => []));
    for (const entry of lost.size === 0 ? [] : held.all()) if (entry.state !== 'sending' && lost.has(entry.row ?? 0)) remove(entry);
    // The run writer reports a store that fails.
    counted(await own.tend(prefetch?.isEmpty() === true).catch(() => 0));
    prefetch?.retry();
    observe();
    metrics.dead(own);
    backend.pump();
  }

  /** Another component made rows wait again, or a newer revision replaced rows. */
  function counted(more: number): void {
    if (more !== 0) metrics.count(more > 0 ? 'resumed' : 'replaced', Math.abs(more));
  }

  async function recount(): Promise<void> {
    if (rows !== undefined) counted(await rows.count());
    prefetch?.retry();
    backend.pump();
    tending?.wake();
  }

  function isDrained(): boolean {
    if (rows?.isDurable !== true) return held.size() === 0 && (rows === undefined || prefetch?.isEmpty() === true || rows.waiting() === 0);
    // An item in backoff, or behind an open circuit, has a row or gets one before the store stops.
    return backend.sending() === 0 && (backend.circuit() !== 'closed' || !held.hasReady());
  }

  async function drain(deadlineMs: number): Promise<number> {
    const deadline = new AbortController();
    const empty = new Promise<void>((resolve) => {
      drained = resolve;
    });
    if (rows?.isDurable !== true) {
      for (const entry of held.all()) entry.rest?.abort();
      backend.wake();
    }
    if (isDrained()) drained?.();
    await Promise.race([empty, sleep(deadlineMs, deadline.signal)]);
    deadline.abort();
    over.abort();
    for (const entry of held.all()) entry.rest?.abort();
    const left = rows?.isDurable === true ? held.size() - held.rows() + rows.waiting() : abandon();
    await Promise.all([backend.stop(), tending?.stop()]);
    if (store?.isDurable === true) await addRows(store).catch(() => undefined);
    await rows?.flush().catch(() => undefined);
    return left;
  }

  /** Only the journal still has these items, so they stay unsettled. */
  function abandon(): number {
    const inStore = Math.max(0, (rows?.waiting() ?? 0) - held.rows());
    if (inStore > 0) metrics.count('dropped', inStore);
    const left = [...held.all()].reverse();
    for (const entry of left) held.remove(entry);
    if (left.length > 0) metrics.count('dropped', left.length);
    observe();
    return left.length + inStore;
  }

  function written(id: ItemId, revision: number, row: number | undefined): void {
    const entry = held.of(id);
    const isDead = unstored.of(id) !== undefined;
    rows?.written({ state: row === undefined ? undefined : isDead ? 'dead' : 'waiting', revision });
    if (unstored.remove(id)) {
      progress.settle(id);
      return metrics.dead(rows);
    }
    // The item was sent, or dropped, during the write.
    if (entry === undefined) return row === undefined ? undefined : rows?.sent(row);
    held.keep(entry, row);
    if (rows?.isDurable === true) settle(entry);
    if (row === undefined && entry.state !== 'sending') leave(entry, 'replaced');
    else if (entry.state !== 'sending' && (backend.circuit() !== 'closed' || held.size() > prefetchMax)) remove(entry);
    return undefined;
  }

  return {
    name,
    offer(item, own = roughBytes(item)) {
      if (stopped !== undefined) return metrics.count('dropped');
      progress.add(item.id);
      held.add(item, { part: partOf(item), attempts: 0, offeredMs: clock.nowMs(), bytes: own, id: item.id });
      makeRoom();
      observe();
      return backend.pump();
    },
    pass(id) {
      progress.add(id);
      progress.settle(id);
      metrics.count('passed');
    },
    async open(opened, owner) {
      const own = outboxRows(name, opened, { clock, owner });
      counted(await own.count());
      rows = own;
      store = opened;
      prefetch = outboxPrefetch({ rows: own, held, unstored, backend, metrics, isOver: () => over.signal.aborted });
      metrics.circuit(backend.circuit());
      metrics.dead(own);
      observe();
      tending = periodicTask({
        everyMs: tendEveryMs,
        sleep,
        rest: options.rest,
        hasWork: () => held.size() > 0 || unstored.all().next().done !== true || own.hasWork(),
        work: () => tend(own, opened),
        onFault: () => undefined,
        restsFirst: true,
      });
      backend.pump();
    },
    pending(item) {
      const entry = held.of(item.id);
      const outcome = unstored.of(item.id);
      const known = entry ?? outcome;
      if (rows === undefined || known === undefined || entry?.isKept === true) return undefined;
      if (entry !== undefined && isAboutToGo(entry) && held.size() - held.rows() <= rowlessMax) return undefined;
      return {
        row: rowOf({ part: known.part, item, offeredMs: known.offeredMs, ...(outcome === undefined ? {} : { already: outcome.already }) }),
        written: (row) => written(item.id, itemRevision(item), row),
      };
    },
    runStored(id) {
      const one = held.of(id) ?? unstored.of(id);
      if (one !== undefined) one.isRunStored = true;
    },
    wake: backend.wake,
    recount,
    status: () => metrics.status(held, rows, backend),
    held: () => held.size(),
    settled: progress.low,
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}
