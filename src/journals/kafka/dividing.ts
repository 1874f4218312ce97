/**
 * Divides records that hold several traces, or are in a wrong partition: the topic gets each trace again, in the partition of its key.
 * While a trace cannot be sent, only the partition of the divided record waits.
 */
import type { Sleep } from '../../model/clock.ts';
import { backoffMs, type BackoffOptions } from '../../runtime/retry.ts';
import type { Position } from '../journal.ts';
import type { PartitionLog } from './partition-log.ts';
import { partitionOf } from './partitioner.ts';
import type { KeyedRecord } from './requests.ts';
import type { Sender } from './sender.ts';

interface DividingOptions {
  readonly send: Sender['send'];
  /** False when another process divides the record. */
  readonly isOwned: (log: PartitionLog) => boolean;
  readonly partitions: () => number;
  readonly sleep: Sleep;
  readonly rests: BackoffOptions;
}

/** A record that is divided. */
interface Undivided {
  readonly log: PartitionLog;
  readonly offset: number;
  readonly position: Position;
}

interface Divided extends Undivided {
  /** Traces that are larger than a record of the topic may be. */
  readonly left: readonly KeyedRecord[];
}

export interface Dividing {
  /** Resolves when the topic has the traces. After a moment it resolves anyway and the partition waits, unless too many traces wait already. */
  divide(of: Undivided, traces: readonly KeyedRecord[]): Promise<void>;
  /** True while a record of the partition is divided. Later records of the partition stay in the topic meanwhile. */
  isWaiting(log: PartitionLog): boolean;
  /** The records that were divided since the last call. */
  takeDivided(): readonly Divided[];
}

/** A short fault of a broker is over by then. */
const patienceMs = 1_000;
/** Traces of divided records that wait for the topic. Beyond it the reading waits as a whole. */
const waitingBytesMax = 64 * 1024 * 1024;

export function dividing({ send, isOwned, partitions, sleep, rests }: DividingOptions): Dividing {
  const waiting = new Set<PartitionLog>();
  let divided: Divided[] = [];
  let waitingBytes = 0;

  const placeOf = ({ key, partition }: KeyedRecord): number =>
    partition ?? (key === undefined ? -1 : partitionOf(key, Math.max(1, partitions())));

  /** Gives the traces that are too large; `undefined`: another process goes on. */
  async function sent(log: PartitionLog, traces: readonly KeyedRecord[]): Promise<readonly KeyedRecord[] | undefined> {
    const left = new Set<KeyedRecord>();
    let open: readonly (readonly KeyedRecord[])[] = [traces];
    for (let failures = 0; isOwned(log);) {
      const refused = await Promise.all(
        open.map(async (some) => ((await send(some, (large) => left.add(large))) === undefined ? [] : some)),
      );
      // One partition that takes nothing must not have the others take their traces again and again.
      open = [...Map.groupBy(refused.flat(), placeOf).values()];
      if (open.length === 0) return [...left];
      await sleep(backoffMs(++failures, rests));
    }
    return undefined;
  }

  return {
    async divide(of, traces) {
      const bytes = traces.reduce((sum, { value }) => sum + value.length, 0);
      waiting.add(of.log);
      waitingBytes += bytes;
      const work = sent(of.log, traces).then((left) => {
        waiting.delete(of.log);
        waitingBytes -= bytes;
        if (left !== undefined) divided.push({ ...of, left });
      });
      if (waitingBytes > waitingBytesMax) return await work;
      const patience = new AbortController();
      await Promise.race([work, sleep(patienceMs, patience.signal)]);
      patience.abort();
    },
    isWaiting: (log) => waiting.has(log),
    takeDivided() {
      const all = divided.filter(({ log }) => isOwned(log));
      divided = [];
      return all;
    },
  };
}
