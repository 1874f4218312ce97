/**
 * The rows of one exporter in the store. Outcomes are noted here and written together, so a sent row costs no separate transaction.
 * A crash loses notes; those rows are sent again under the same ids. Where several processes have the store open, each row has a lease: another
 * process sends it when the lease is over.
 */
import type { Clock } from '../../model/clock.ts';
import type { ExportNotes, WaitingExport, NewExport } from '../../model/store/export-store.ts';
import { type Lease, leaseMs, leaseOf, leaseRenewalMs } from '../../model/store/lease.ts';
import type { Store } from '../../model/store/store.ts';
import { trimOldest } from '../../runtime/lru.ts';
import { itemRevision, type ExportItem } from '../../model/scored-run.ts';
import { roughBytes } from '../../model/size-estimate.ts';
import { type PerRunQueue, queueKey, type Entry } from './per-run-queue.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { ItemId } from '../../model/watermark.ts';

/** The part of a store that exporters see. */
export type RowStore = Pick<Store, 'exports' | 'isDurable'>;

export interface OutboxRows {
  readonly isDurable: boolean;
  /** A run is written. `state`: of its row; `undefined` when it has none. */
  written(of: { readonly state: 'waiting' | 'dead' | undefined; readonly revision: number }): void;
  sent(row: number): void;
  putBack(row: number, attempts: number, restMs: number): void;
  dead(row: number, attempts: number, reason: string): void;
  /** A probe with this row failed. The next probe takes another row, so one bad item cannot prolong an outage. */
  triedInVain(row: number): void;
  isBack(): void;
  /** Waiting rows, oldest first, except `held`. Rejects when the store cannot be read or written. */
  take(limit: number, held: readonly number[]): Promise<readonly WaitingExport[]>;
  /** Writes the notes. Rejects when the store fails, and keeps them. */
  flush(): Promise<void>;
  /** Until when this process sends a row that it takes or adds now; `undefined` where no other process has the store open. */
  lease(): Lease | undefined;
  /** True when this process stood still for longer than a lease, so other ones may have taken its rows. */
  isLapsed(): boolean;
  /** Renews the leases of `held` rows when that is due. Resolves with rows that another process has taken, or that are gone. */
  renew(held: readonly number[]): Promise<readonly number[]>;
  /**
   * Called once a second while rows wait or runs come: writes the notes, and counts rows when that is due. `isDry`: no row can be sent now. Resolves as `count` does.
   */
  tend(isDry: boolean): Promise<number>;
  /** `true` while rows wait, or notes are to be written, or the count is in doubt. */
  hasWork(): boolean;
  /** Counts the rows. Resolves with the difference to the known number of waiting rows. Rejects when the store cannot be read. */
  count(): Promise<number>;
  /** Rows of unsent items, with those of `held` items. */
  waiting(): number;
  deadLetters(): number;
  /** Time of the oldest waiting row at the last read; the row may be sent since. */
  oldestMs(): number | undefined;
}

interface OutboxOptions {
  readonly clock: Clock;
  /** The name under which this process holds rows. Omitted when no other process has the store open. */
  readonly owner?: string | undefined;
}

type Note =
  | { readonly kind: 'sent' }
  | { readonly kind: 'put_back'; readonly attempts: number; readonly dueAt: number }
  | { readonly kind: 'dead'; readonly attempts: number; readonly reason: string };

/** Notes in memory while the store fails. A restart sends the row of a dropped note again. */
const notesMax = 100_000;
/** Notes of one transaction: a few milliseconds of work. */
const notesPerFlush = 500;
const triedMax = 100;
/** Attempts to count rows that change meanwhile. */
const countTriesMax = 5;
/** Seconds between two counts, and when rows may have been replaced: a count reads an index over all rows. */
const turnsPerCount = 600;
const turnsPerDoubt = 10;
/** Rows of one read. */
const takeMax = 200;

export function outboxRows(exporter: string, { exports, isDurable }: RowStore, { clock, owner }: OutboxOptions): OutboxRows {
  /** Notes by row; the last one counts. */
  const notes = new Map<number, Note>();
  const tried = new Set<number>();
  /** Rows that got a note during a read; the answer is outdated for them. `undefined` when no read is running. */
  let passed: Set<number> | undefined;
  let waiting = 0;
  let dead = 0;
  let oldestMs: number | undefined;
  /** Changes of the numbers above. A count that was read before a change would undo it. */
  let changes = 0;
  let turns = 0;
  /** True when rows were there at the start. Replayed runs are written again and replace them. */
  let isInherited: boolean | undefined;
  /** True when a write may have replaced a row that is still counted. */
  let isDoubtful = false;
  /** The last answer of the store on writes of other processes. */
  let otherWrites: number | undefined;
  let renewedMs = clock.nowMs();
  /** Flushes run one after the other. */
  let flushing: Promise<void> = Promise.resolve();

  function lease(): Lease | undefined {
    return owner === undefined ? undefined : leaseOf(owner, clock);
  }

  function note(row: number, what: Note): void {
    notes.delete(row);
    notes.set(row, what);
    passed?.add(row);
    changes++;
    if (what.kind !== 'put_back') waiting = Math.max(0, waiting - 1);
    trimOldest(notes, notesMax);
  }

  async function writeNotes(): Promise<void> {
    while (notes.size > 0) {
      const some = [...notes].slice(0, notesPerFlush);
      await exports.note(notesOf(some));
      for (const [row, what] of some) if (notes.get(row) === what) notes.delete(row);
    }
  }

  async function flush(): Promise<void> {
    flushing = flushing.catch(() => undefined).then(writeNotes);
    await flushing;
  }

  async function read(limit: number, held: readonly number[]): Promise<readonly WaitingExport[]> {
    const gone = (passed = new Set(notes.keys()));
    try {
      const rows = await exports.due({
        exporter,
        now: Math.ceil(clock.nowMs() * 1_000),
        limit: Math.min(takeMax, limit),
        except: [...held, ...tried],
        lease: lease(),
      });
      return rows.filter(({ id }) => !gone.has(id));
    } finally {
      passed = undefined;
    }
  }

  async function count(): Promise<number> {
    isDoubtful = false;
    for (let tries = 1; ; tries++) {
      await flush();
      const before = changes;
      const own = (await exports.counts()).find((one) => one.exporter === exporter);
      if (changes !== before && tries < countTriesMax) continue;
      // A number that is too high heals, as an empty read counts again. One that is too low would leave rows unsent.
      const counted = own?.waiting ?? 0;
      const more = changes === before ? counted - waiting : Math.max(0, counted - waiting);
      waiting += more;
      dead = own?.dead ?? 0;
      oldestMs = own?.oldestAt === undefined ? undefined : own.oldestAt / 1_000;
      isInherited ??= counted > 0;
      return more;
    }
  }

  /** A replay adds rows from a separate process, and another process may die with rows that it holds. */
  async function doubtAfterOtherWrites(): Promise<void> {
    if (owner !== undefined) {
      isDoubtful = true;
      return;
    }
    const now = await exports.otherWrites();
    isDoubtful ||= otherWrites !== undefined && now !== otherWrites;
    otherWrites = now;
  }

  return {
    isDurable,
    written({ state, revision }) {
      changes++;
      if (state === 'waiting') waiting++;
      else if (state === 'dead') dead++;
      isDoubtful ||= revision > 1 || (isInherited === true && turns < turnsPerCount);
    },
    sent: (row) => note(row, { kind: 'sent' }),
    putBack: (row, attempts, restMs) => note(row, { kind: 'put_back', attempts, dueAt: Math.floor((clock.nowMs() + restMs) * 1_000) }),
    dead(row, attempts, reason) {
      note(row, { kind: 'dead', attempts, reason });
      dead++;
    },
    triedInVain: (row) => void tried.add(row),
    isBack: () => tried.clear(),
    async take(limit, held) {
      await flush();
      const rows = await read(limit, held);
      // Every waiting row has had its probe.
      if (rows.length === 0 || tried.size > triedMax) tried.clear();
      const first = rows[0]?.offeredAt;
      if (first !== undefined) oldestMs = first / 1_000;
      return rows;
    },
    flush,
    lease,
    isLapsed: () => owner !== undefined && clock.nowMs() - renewedMs >= leaseMs,
    async renew(held) {
      const own = lease();
      if (own === undefined || clock.nowMs() - renewedMs < leaseRenewalMs) return [];
      const nowMs = clock.nowMs();
      const kept = new Set(held.length === 0 ? [] : await exports.renew(held, own));
      renewedMs = nowMs;
      return held.filter((row) => !kept.has(row));
    },
    async tend(isDry) {
      turns++;
      await doubtAfterOtherWrites();
      if (isDry || turns % turnsPerCount === 0 || (isDoubtful && turns % turnsPerDoubt === 0)) return await count();
      await flush();
      return 0;
    },
    hasWork: () => waiting > 0 || notes.size > 0 || isDoubtful,
    count,
    waiting: () => waiting,
    deadLetters: () => dead,
    oldestMs: () => oldestMs,
  };
}

/** The queue whose next item this process may send: a row whose lease is over goes back to the store. */
export function leasedQueue(
  held: PerRunQueue,
  rows: () => Pick<OutboxRows, 'isLapsed'> | undefined,
  remove: (entry: Entry) => void,
): PerRunQueue {
  return {
    ...held,
    next() {
      for (let entry = held.next(); ; entry = held.next()) {
        if (entry?.row === undefined || rows()?.isLapsed() !== true) return entry;
        remove(entry);
      }
    },
  };
}

function notesOf(some: readonly (readonly [number, Note])[]): ExportNotes {
  return {
    sent: some.flatMap(([id, { kind }]) => (kind === 'sent' ? [id] : [])),
    putBack: some.flatMap(([id, what]) => (what.kind === 'put_back' ? [{ id, attempts: what.attempts, dueAt: what.dueAt }] : [])),
    dead: some.flatMap(([id, what]) => (what.kind === 'dead' ? [{ id, attempts: what.attempts, reason: what.reason }] : [])),
  };
}

export interface OutboxPrefetchOptions {
  readonly rows: OutboxRows;
  readonly held: PerRunQueue;
  readonly unstored: UnstoredOutcomes;
  readonly backend: Pick<DeliveryWorker, 'circuit' | 'sending' | 'pump'>;
  readonly metrics: { count(outcome: 'failed'): void };
  /** True when sending is over. */
  readonly isOver: () => boolean;
}

export interface OutboxPrefetch {
  /** Reads as many rows as there is room for, and sends them. Never rejects: a failed read is tried again. */
  fill(): Promise<void>;
  /** True when the last read found no row that can be sent now. The next read follows after the call below. */
  isEmpty(): boolean;
  retry(): void;
}

/** Items with a row in memory. */
export const prefetchMax = 400;

export function outboxPrefetch({ rows, held, unstored, backend, metrics, isOver }: OutboxPrefetchOptions): OutboxPrefetch {
  let isFilling = false;
  let isDry = false;

  /** Rows that may be read now. */
  function room(): number {
    if (isFilling || isDry || rows.waiting() <= held.rows()) return 0;
    if (backend.circuit() === 'half_open') return held.hasReady() || backend.sending() > 0 ? 0 : 1;
    return backend.circuit() === 'open' || held.size() > prefetchMax / 2 ? 0 : prefetchMax - held.size();
  }

  /** Returns false when the row stays only in the store. */
  function take({ id, part, item, attempts, offeredAt }: WaitingExport): boolean {
    if (isOver() || held.hasRow(id)) return false;
    if (item === undefined) {
      rows.dead(id, attempts, 'unreadable');
      metrics.count('failed');
      return true;
    }
    const newest = Math.max(held.revisionOf(item, part), unstored.revisionOf(item, part));
    // The queue holds the same item, and `written` is about to give it a row.
    const own = itemRevision(item);
    if (newest === own) return false;
    if (newest > own) rows.sent(id);
    else held.add(item, { part, attempts, offeredMs: offeredAt / 1_000, bytes: roughBytes(item), row: id });
    return true;
  }

  return {
    async fill() {
      const limit = room();
      if (limit === 0) return;
      isFilling = true;
      const taken = await rows.take(limit, held.rowIds()).catch((): readonly WaitingExport[] => []);
      isFilling = false;
      isDry = taken.filter(take).length === 0;
      backend.pump();
    },
    isEmpty: () => isDry,
    retry() {
      isDry = false;
    },
  };
}

type Already = NonNullable<NewExport['already']>;

interface UnstoredOutcome extends Pick<Entry, 'key' | 'part' | 'offeredMs' | 'item'> {
  readonly revision: number;
  readonly already: Already;
  /** True when the store has the run. */
  isRunStored: boolean;
}

export interface UnstoredOutcomes {
  add(id: ItemId, entry: Entry, already: Already): void;
  of(id: ItemId): UnstoredOutcome | undefined;
  all(): MapIterator<[ItemId, UnstoredOutcome]>;
  /** False when there was none. */
  remove(id: ItemId): boolean;
  /** Newest revision of the same run and part; 0 when there is none. */
  revisionOf(item: ExportItem, part: string): number;
}

/** `forgotten`: called with the oldest item when there are more than `itemsMax`. */
export function unstoredOutcomes(itemsMax: number, forgotten: (id: ItemId) => void): UnstoredOutcomes {
  const outcomes = new Map<ItemId, UnstoredOutcome>();
  return {
    add(id, { item, key, part, offeredMs, isRunStored }, already) {
      outcomes.set(id, { item, key, part, offeredMs, already, isRunStored, revision: itemRevision(item) });
      for (const oldest of outcomes.keys()) {
        if (outcomes.size <= itemsMax) return;
        outcomes.delete(oldest);
        forgotten(oldest);
      }
    },
    of: (id) => outcomes.get(id),
    all: () => outcomes.entries(),
    remove: (id) => outcomes.delete(id),
    revisionOf({ run }, part) {
      const key = queueKey(run);
      return [...outcomes.values()].reduce(
        (newest, one) => (one.key === key && one.part === part ? Math.max(newest, one.revision) : newest),
        0,
      );
    },
  };
}
