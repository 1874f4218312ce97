/**
 * The rows that the store holds for one exporter. What became of them is noted here and written in one go, so that a row that is sent costs no transaction
 * of its own; what is lost of the notes when the process dies is sent again, under the same ids.
 */
import type { Clock } from '../../model/clock.ts';
import type { ExportNotes, WaitingExport } from '../../model/store/export-store.ts';
import type { Store } from '../../model/store/store.ts';
import { trimOldest } from '../../runtime/lru.ts';

/** The part of a store that exporters see. */
export type RowStore = Pick<Store, 'exports' | 'isDurable'>;

export interface OutboxRows {
  readonly isDurable: boolean;
  /** A run is written. `state`: that of its row; undefined: it has none. */
  written(of: { readonly state: 'waiting' | 'dead' | undefined; readonly revision: number }): void;
  sent(row: number): void;
  putBack(row: number, attempts: number, restMs: number): void;
  dead(row: number, attempts: number, reason: string): void;
  /** The backend is down, and was tried with this one: the next one shows whether it is the backend or the item. */
  triedInVain(row: number): void;
  isBack(): void;
  /** Rows that wait, oldest first, without those that are held. Rejects when the store cannot be read or written. */
  take(limit: number, held: readonly number[]): Promise<readonly WaitingExport[]>;
  /** Writes what is noted. Rejects when it cannot, and keeps it. */
  flush(): Promise<void>;
  /** Once a second: writes what is noted, and counts anew when that is due. `isDry`: there is nothing to be sent. Gives what `count` does. */
  tend(isDry: boolean): Promise<number>;
  /** Counts anew. Gives by how many more rows wait than was known, below 0 by how many fewer. Rejects when the store cannot be read. */
  count(): Promise<number>;
  /** Rows of items that are not sent, also of those that are held. */
  waiting(): number;
  deadLetters(): number;
  /** Age of the oldest one that waits, as far as it is known; it may have been sent since. */
  oldestMs(): number | undefined;
}

type Note =
  | { readonly kind: 'sent' }
  | { readonly kind: 'put_back'; readonly attempts: number; readonly dueAt: number }
  | { readonly kind: 'dead'; readonly attempts: number; readonly reason: string };

/** Notes that wait for a store that cannot be written. A forgotten one is sent again after a restart. */
const notesMax = 100_000;
/** Notes of one transaction: a few milliseconds of work. */
const notesPerFlush = 500;
const triedMax = 100;
/** Times that rows are counted while they change. */
const countTriesMax = 5;
/** Turns after which rows are counted, and after which they are when some may have been replaced: a count reads an index over all of them. */
const turnsPerCount = 600;
const turnsPerDoubt = 10;
/** Rows that one look takes. */
const takeMax = 200;

export function outboxRows(exporter: string, { exports, isDurable }: RowStore, clock: Clock): OutboxRows {
  /** By row; the last word on it counts. */
  const notes = new Map<number, Note>();
  const tried = new Set<number>();
  /** While rows are read: those of which something became meanwhile, which the answer does not know. */
  let passed: Set<number> | undefined;
  let waiting = 0;
  let dead = 0;
  let oldestMs: number | undefined;
  /** Of the numbers above; a count that was read before one of them would undo it. */
  let changes = 0;
  let turns = 0;
  /** True: rows were there at the start. Runs that an earlier process has not finished are written again and take their place. */
  let isInherited: boolean | undefined;
  /** True: what was written may have taken the place of a row that is still counted. */
  let isDoubtful = false;
  /** One after the other. */
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
      // Too many heal by themselves, for a look that finds nothing counts anew; too few would be left where they are.
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
      // All of them have had their turn.
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
