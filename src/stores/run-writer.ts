/**
 * Gathers scored runs, writes them to the store in batches, and prunes old ones. Its memory is bounded: while the store fails, it drops and
 * counts the oldest items. It never slows the pipeline.
 */
import { isValueRefused } from '../model/errors.ts';
import { oldestOfLargest } from '../model/shares.ts';
import { roughBytes } from '../model/size-estimate.ts';
import type { NewExport } from '../model/store/export-store.ts';
import type { Store, StoreItem } from '../model/store/store.ts';
import { watermarkTracker, type Delivered, type Watermark } from '../model/watermark.ts';
import { backoffMs } from '../runtime/retry.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { Context } from '../telemetry/context.ts';

/** Ages in milliseconds by the start of the run. */
export interface RetentionLimits {
  readonly runsMs: number;
  readonly contentMs: number;
  readonly bytes: number;
  /** Age of waiting exports and dead letters, since scoring. */
  readonly exportsMs: number;
  /** Rows of exports. */
  readonly exports: number;
  /** How long a waiting judge job keeps its run, since the run was chosen. */
  readonly jobsMs: number;
  /** How long a waiting turn of a session keeps its run, since the turn came. */
  readonly turnsMs: number;
}

/** The part of a batch that exporters have not sent. */
export interface PendingExports {
  readonly exports: readonly NewExport[];
  /** `rows`: one for each export, in their order; `undefined` when a newer revision takes its place. */
  written(rows: readonly (number | undefined)[]): void;
}

/** The writer writes what exporters have not sent together with its run. */
export interface UnsentItems {
  pending(items: readonly Delivered<StoreItem>[]): PendingExports;
}

export interface RunWriterOptions extends Context {
  readonly store: Store;
  readonly keep: RetentionLimits;
  /** Called when a batch could not be written. */
  readonly onFault: (error: unknown) => void;
  /** Called at a stop, before the store closes. */
  readonly beforeClose?: () => Promise<void>;
  /** Called after a batch is written. */
  readonly onWritten?: () => void;
  /** Absent when the store keeps nothing for exporters. */
  readonly unsent?: UnsentItems;
  readonly itemsMax?: number;
  readonly bytesMax?: number;
  /** False while another writer of the same store prunes it. The default is true. */
  readonly mayPrune?: () => boolean;
}

export interface RunWriter {
  /** Never waits, never throws. Drops the item after `stop`. `bytes` is the size of the item, estimated here when absent. */
  offer(item: Delivered<StoreItem>, bytes?: number): void;
  /** Items not written yet. */
  held(): number;
  /** Share of the limits that waiting items use, by items or by bytes. */
  fill(): number;
  /** True when items come faster than the store writes them, so the pipeline should wait. False while the store fails, unless `evenFailing`. */
  isBehind(evenFailing?: boolean): boolean;
  /** The items up to here are written or given up. Items that a stop gives up do not count: another process may write it. */
  settled(): Watermark;
  /** Writes the waiting items and gives up the rest at the deadline. May be called twice. */
  stop(deadlineMs: number): Promise<void>;
}

/** Items that wait for the store, shared by the tenants. */
export const itemsMaxDefault = 10_000;
/** Time for which items gather for one batch. */
const gatherMs = 100;
/** Items of one transaction. A sync of the disk takes as long as writing some tens of items. */
const batchItems = 200;
const firstRestMs = 500;
const longestRestMs = 30_000;
const pruneEveryMs = 60_000;
/** Share of `bytes` that may be written before the next pruning, even within a minute. */
const pruneShare = 1 / 16;
const pruneStepRuns = 200;
const restBetweenStepsMs = 20;
/** The store is behind from this fill on: a scored run takes more memory than the spans of an open one. */
const behindShare = 0.1;

interface Held {
  readonly item: Delivered<StoreItem>;
  readonly bytes: number;
}

export function runWriter(options: RunWriterOptions): RunWriter {
  const {
    store,
    keep,
    telemetry,
    clock,
    sleep,
    onFault,
    unsent,
    itemsMax = itemsMaxDefault,
    bytesMax = 128 * 1024 * 1024,
    mayPrune = () => true,
  } = options;
  /** Oldest first. */
  let waiting: Held[] = [];
  /** The batch that is being written. */
  let current: readonly Held[] = [];
  let bytes = 0;
  const progress = watermarkTracker();
  /** Bytes written since the last pruning. */
  let writtenBytes = 0;
  /** The last write failed. */
  let failing = false;
  const ended = new AbortController();
  let writing: Promise<void> | undefined;
  let stopped: Promise<void> | undefined;

  function count(outcome: 'written' | 'retried' | 'dropped', items: number): void {
    if (items > 0) telemetry.add('tracejury.store.items', items, { 'tracejury.outcome': outcome });
    telemetry.set('tracejury.store.queue', waiting.length + current.length);
  }

  function left(gone: readonly Held[], outcome: 'written' | 'dropped'): void {
    for (const { item, bytes: own } of gone) {
      bytes -= own;
      progress.settle(item.id);
    }
    count(outcome, gone.length);
  }

  /** The tenant that takes the most of the limits loses its oldest item. */
  function dropOne(): void {
    const one = oldestOfLargest(
      waiting,
      ({ item }) => item.run.tenant,
      (held) => 1 / itemsMax + held.bytes / bytesMax,
    );
    if (one !== undefined) left(waiting.splice(waiting.indexOf(one), 1), 'dropped');
  }

  /** Writes batches until no item waits. */
  async function writeAll(): Promise<void> {
    await sleep(gatherMs, ended.signal);
    let size = batchItems;
    /** Was refused once in a batch of one. */
    let suspect: Held | undefined;
    for (let failures = 0; waiting.length > 0;) {
      current = waiting.splice(0, size);
      const fault = await written(current);
      const batch = current;
      current = [];
      const isRefused = fault !== undefined && isValueRefused(fault.error);
      failing = fault !== undefined && !isRefused;
      if (fault === undefined) {
        failures = 0;
        size = Math.min(batchItems, size * 2);
        left(batch, 'written');
        options.onWritten?.();
        writtenBytes += batch.reduce((sum, { bytes: own }) => sum + own, 0);
        if (writtenBytes > keep.bytes * pruneShare) pruning.wake();
      } else if (isRefused && batch.length === 1 && batch[0] === suspect) {
        // Otherwise it would keep the runs of all tenants from the store for ever.
        onFault(fault.error);
        left(batch, 'dropped');
      } else {
        waiting = [...batch, ...waiting];
        count('retried', batch.length);
        if (isRefused) {
          // Smaller batches, until the item that the store cannot take is by itself.
          if (batch.length === 1) [suspect] = batch;
          size = Math.ceil(batch.length / 2);
        } else {
          onFault(fault.error);
          // A stop allows one more attempt, without a backoff.
          if (ended.signal.aborted && failures > 0) return;
          await sleep(backoffMs(++failures, { firstRestMs, longestRestMs }), ended.signal);
        }
      }
      // Waiting requests are answered between two batches.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async function written(batch: readonly Held[]): Promise<{ readonly error: unknown } | undefined> {
    const startMs = clock.nowMs();
    try {
      const items = batch.map(({ item }) => item);
      const pending = unsent?.pending(items);
      const rows = await store.write(items, pending?.exports);
      pending?.written(rows);
      telemetry.record('tracejury.store.write.duration', (clock.nowMs() - startMs) / 1_000);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  const fill = (): number => Math.max((waiting.length + current.length) / itemsMax, bytes / bytesMax);

  function pump(): void {
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (waiting.length > 0 && !ended.signal.aborted) pump();
    });
  }

  async function prune(): Promise<void> {
    writtenBytes = 0;
    for (let more = true; more && mayPrune() && !ended.signal.aborted;) {
      const before = (ageMs: number): number => Math.floor((clock.nowMs() - ageMs) * 1_000);
      const step = await store.prune({
        runsBefore: before(keep.runsMs),
        contentBefore: before(keep.contentMs),
        exportsBefore: before(keep.exportsMs),
        jobsBefore: before(keep.jobsMs),
        turnsBefore: before(keep.turnsMs),
        exportsMax: keep.exports,
        bytesMax: keep.bytes,
        stepRuns: pruneStepRuns,
      });
      if (step.runs > 0) telemetry.add('tracejury.store.pruned', step.runs, { 'tracejury.what': 'run' });
      if (step.contents > 0) telemetry.add('tracejury.store.pruned', step.contents, { 'tracejury.what': 'content' });
      if (step.spans > 0) telemetry.add('tracejury.store.pruned', step.spans, { 'tracejury.what': 'spans' });
      if (step.jobs > 0) telemetry.add('tracejury.judge.jobs', step.jobs, { 'tracejury.outcome': 'dropped' });
      for (const [exporter, rows] of Object.entries(step.exports))
        telemetry.add('tracejury.exporter.items', rows, { 'tracejury.exporter': exporter, 'tracejury.outcome': 'dropped' });
      more = step.more;
      if (more) await sleep(restBetweenStepsMs, ended.signal);
    }
  }

  const pruning = periodicTask({ everyMs: pruneEveryMs, sleep, work: prune, onFault, restsFirst: true });

  async function end(deadlineMs: number): Promise<void> {
    ended.abort();
    const deadline = new AbortController();
    await Promise.race([Promise.all([writing, pruning.stop()]), sleep(deadlineMs, deadline.signal)]);
    deadline.abort();
    count('dropped', waiting.splice(0).length);
    await options.beforeClose?.();
    await store.stop();
  }

  return {
    offer(item, own = roughBytes(item)) {
      if (stopped !== undefined) {
        count('dropped', 1);
        return;
      }
      const one: Held = { item, bytes: own };
      waiting.push(one);
      progress.add(item.id);
      bytes += one.bytes;
      while (waiting.length > 1 && (waiting.length > itemsMax || bytes > bytesMax)) dropOne();
      count('written', 0);
      pump();
    },
    held: () => waiting.length + current.length,
    fill,
    isBehind: (evenFailing = false) => (evenFailing || !failing) && fill() > behindShare,
    settled: progress.low,
    stop: (deadlineMs) => (stopped ??= end(deadlineMs)),
  };
}
