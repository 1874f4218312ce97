/** An outbox over a store that outlives it, driven by hand: processes begin and die, the store breaks, the backend answers on command. */
import type { Exporter, ExportOutcome } from '../../src/exporters/exporter.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import { deliveryQueue, type DeliveryQueue, type DeliveryQueueOptions } from '../../src/exporters/delivery/delivery-queue.ts';
import { manualClock } from '../../src/model/clock.ts';
import { itemSequence, type Delivered } from '../../src/model/watermark.ts';
import { memoryStore } from '../builders/memory-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { spanId } from '../builders/agent-trace.ts';
import { type ManualSleep, manualSleep, settled } from '../builders/manual-sleep.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';

export const later: ExportOutcome = { kind: 'failed', retryable: true, error: 'busy' };
export const never: ExportOutcome = { kind: 'failed', retryable: false, error: 'no' };
export const fine: ExportOutcome = { kind: 'sent' };

export function item(of: number, revision = 1): ScoredRun {
  return scoredRun({ e: scored(1) }, run({ spanId: spanId(of), revision }));
}

const nameOf = ({ run: of }: { readonly run: { readonly spanId: string; readonly revision: number } }): string =>
  `${Number.parseInt(of.spanId, 16)}.${of.revision}`;

/** A store that outlives processes, and may break. */
export interface Shelf {
  readonly store: Store;
  breaks: boolean;
}

export async function shelf({ isDurable = true } = {}): Promise<Shelf> {
  const inner = await memoryStore();
  const own: { store: Store; breaks: boolean } = { store: inner, breaks: false };
  const whole = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (own.breaks) throw new Error('disk full');
    return await work();
  };
  own.store = {
    ...inner,
    isDurable,
    write: (items, exports) => whole(() => inner.write(items, exports)),
    exports: {
      ...inner.exports,
      add: (rows) => whole(() => inner.exports.add(rows)),
      due: (query) => whole(() => inner.exports.due(query)),
      note: (notes) => whole(() => inner.exports.note(notes)),
      counts: () => whole(() => inner.exports.counts()),
    },
  };
  return own;
}

export interface Process {
  readonly box: DeliveryQueue;
  /** Items in the order in which they were sent. */
  readonly sent: string[];
  readonly sleep: ManualSleep;
  readonly clock: ReturnType<typeof manualClock>;
  offer(one: ScoredRun): Delivered<ScoredRun>;
  /** Answers the oldest sending. */
  answer(outcome: ExportOutcome): Promise<void>;
  /** The backend takes nothing until it gets a rest. */
  goDown(): Promise<void>;
  sending(): number;
  /** Writes the runs that were offered, with what is pending of them; false: the store broke. */
  write(): Promise<boolean>;
  /** Lets a second pass. */
  tick(): Promise<void>;
  count(outcome: string): number;
  gauge(name: string): number | undefined;
}

/** `beside`: the name of a process that has the store open together with others, and their clock. */
export async function started(
  of: Shelf,
  options: Partial<DeliveryQueueOptions> = {},
  beside?: { readonly owner: string; readonly clock: ReturnType<typeof manualClock> },
): Promise<Process> {
  const sent: string[] = [];
  const pending: ((outcome: ExportOutcome) => void)[] = [];
  const exporter: Exporter = {
    id: 'x',
    send: (one) => {
      sent.push(nameOf(one));
      return new Promise((resolve) => pending.push(resolve));
    },
    async stop() {},
  };
  const telemetry = metricRegistry();
  const sleep = manualSleep();
  const clock = beside?.clock ?? manualClock();
  const points = (name: string) => telemetry.snapshot().find((family) => family.name === name)?.points ?? [];
  const box = deliveryQueue({ exporter, telemetry, clock, random: () => 1, sleep: sleep.sleep, failuresMax: 3, rowAfterMs: 0, ...options });
  await box.open(of.store, beside?.owner);
  const ids = itemSequence();
  let unwritten: Delivered<ScoredRun>[] = [];
  return {
    box,
    sent,
    sleep,
    clock,
    offer(scoredItem) {
      const one = { ...scoredItem, id: ids.next() };
      unwritten.push(one);
      box.offer(one);
      return one;
    },
    async answer(outcome) {
      pending.shift()?.(outcome);
      await settled();
    },
    async goDown() {
      for (let turn = 0; turn < 20 && box.status().circuit !== 'open'; turn++) {
        if (pending.length === 0) await sleep.wakeAll();
        pending.shift()?.(later);
        await settled();
      }
    },
    sending: () => pending.length,
    async write() {
      const batch = unwritten;
      const pending = batch.flatMap((one) => box.pending(one) ?? []);
      try {
        const rows = await of.store.write(
          batch,
          pending.map(({ row }) => row),
        );
        pending.forEach((one, at) => one.written(rows[at]));
        for (const { id } of batch) box.runStored(id);
        unwritten = unwritten.slice(batch.length);
        await settled();
        return true;
      } catch {
        return false;
      }
    },
    async tick() {
      clock.advance(1_000);
      await sleep.wakeAll();
    },
    count: (outcome) =>
      points('tracejury.exporter.items').reduce(
        (sum, point) => (point.kind === 'number' && point.labels['tracejury.outcome'] === outcome ? sum + point.value : sum),
        0,
      ),
    gauge: (name) => points(name).map((point) => (point.kind === 'number' ? point.value : 0))[0],
  };
}

export async function rowsOf({ store }: Shelf): Promise<readonly string[]> {
  const { exports } = await store.exports.list({ limit: 200 });
  return exports.map((row) => `${nameOf({ run: row })} ${row.state}${row.reason === undefined ? '' : `: ${row.reason}`}`);
}
