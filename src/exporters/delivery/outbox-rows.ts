/**
 * The rows of one exporter in the store. Outcomes are noted here and written together, so a sent row costs no transaction of its own.
 * A crash loses notes; those rows are sent again under the same ids.
 */
import type { Clock } from '../../model/clock.ts';
import type { ExportNotes, WaitingExport } from '../../model/store/export-store.ts';
import type { Store } from '../../model/store/store.ts';
import { trimOldest } from '../../runtime/lru.ts';

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
  /** Called once a second: writes the notes, and counts rows when that is due. `isDry`: no row can be sent now. Resolves as `count` does. */
  tend(isDry: boolean): Promise<number>;
  /** Counts the rows. Resolves with the difference to the known number of waiting rows. Rejects when the store cannot be read. */
  count(): Promise<number>;
  /** Rows of unsent items, with those of `held` items. */
  waiting(): number;
  deadLetters(): number;
  /** Time of the oldest waiting row at the last read; the row may be sent since. */
  oldestMs(): number | undefined;
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

export function outboxRows(exporter: string, { exports, isDurable }: RowStore, clock: Clock): OutboxRows {
  /** By row; the last note counts. */
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
  /** True: rows were there at the start. Replayed runs are written again and replace them. */
  let isInherited: boolean | undefined;
  /** True: a write may have replaced a row that is still counted. */
  let isDoubtful = false;
  /** Flushes run one after the other. */
  let flushing: Promise<void> = Promise.resolve();

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
    async tend(isDry) {
      turns++;
      if (isDry || turns % turnsPerCount === 0 || (isDoubtful && turns % turnsPerDoubt === 0)) return await count();
      await flush();
      return 0;
    },
    count,
    waiting: () => waiting,
    deadLetters: () => dead,
    oldestMs: () => oldestMs,
  };
}

function notesOf(some: readonly (readonly [number, Note])[]): ExportNotes {
  return {
    sent: some.flatMap(([id, { kind }]) => (kind === 'sent' ? [id] : [])),
    putBack: some.flatMap(([id, what]) => (what.kind === 'put_back' ? [{ id, attempts: what.attempts, dueAt: what.dueAt }] : [])),
    dead: some.flatMap(([id, what]) => (what.kind === 'dead' ? [{ id, attempts: what.attempts, reason: what.reason }] : [])),
  };
}
