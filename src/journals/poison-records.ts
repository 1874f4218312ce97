/**
 * Finds records that crash the process. The replay stores a cursor before each record; a start that finds a cursor counts one crash against its
 * record.
 */
import type { JournalEntry, Position, Recovery } from './journal.ts';

/** State for the next start. */
export interface RecoveryCursor {
  /** Start-ups in a row whose replay was not finished; 0: the last one was. */
  readonly starts: number;
  /** The record that is being worked on. */
  readonly at?: Position;
  readonly suspects: readonly Suspect[];
}

interface Suspect {
  readonly position: Position;
  readonly deaths: number;
}

export interface RecoveryDeps {
  /** Cursor of the last process. */
  readonly last: RecoveryCursor;
  readonly keep: (cursor: RecoveryCursor) => Promise<void>;
  readonly entries: () => AsyncIterable<JournalEntry>;
  readonly isSetAside: (position: Position) => boolean;
  readonly setAside: (entry: JournalEntry) => Promise<void>;
}

/** Once may be chance: the machine was switched off. */
const deathsMax = 2;
/** A handful is usual; the cursor has to fit into one page of a file. */
const suspectsMax = 64;

export const newCursor: RecoveryCursor = { starts: 0, suspects: [] };

export function recovery(parts: RecoveryDeps): Recovery {
  const starts = parts.last.starts + 1;
  const suspects = charged(parts.last);
  const deadly = suspects.filter(({ deaths }) => deaths >= deathsMax);

  async function* entries(): AsyncGenerator<JournalEntry> {
    await parts.keep({ starts, suspects });
    for await (const entry of parts.entries()) {
      if (parts.isSetAside(entry.position)) continue;
      if (deadly.some(({ position }) => position === entry.position)) {
        await parts.setAside(entry);
        continue;
      }
      await parts.keep({ starts, at: entry.position, suspects });
      yield entry;
    }
    await parts.keep({ starts, suspects });
  }

  return {
    starts,
    entries: entries(),
    // A survived record is not suspected any more; other suspects may have found no room in the quarantine.
    finish: () => parts.keep({ starts: 0, suspects: deadly }),
    leave: () => parts.keep({ starts: starts - 1, suspects }),
  };
}

function charged({ at, suspects }: RecoveryCursor): readonly Suspect[] {
  if (at === undefined) return suspects;
  const before = suspects.find(({ position }) => position === at)?.deaths ?? 0;
  return [...suspects.filter(({ position }) => position !== at), { position: at, deaths: before + 1 }].slice(-suspectsMax);
}

/** `undefined` when `recovery` did not write the text. */
export function parsedCursor(text: string): RecoveryCursor | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isCursor(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isCursor(value: unknown): value is RecoveryCursor {
  if (typeof value !== 'object' || value === null || !('starts' in value) || !('suspects' in value)) return false;
  const isCount = (count: unknown): boolean => Number.isSafeInteger(count) && (count as number) >= 0;
  const isSuspect = (one: unknown): boolean =>
    typeof one === 'object' && one !== null && 'position' in one && 'deaths' in one && isCount(one.position) && isCount(one.deaths);
  return (
    isCount(value.starts) && Array.isArray(value.suspects) && value.suspects.every(isSuspect) && (!('at' in value) || isCount(value.at))
  );
}
