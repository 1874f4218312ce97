/** The partitions that this process gathers. The group assigns them; the store ends the right of the previous owner, and has the place to go on. */
import type { ClusterTopicMetadata } from '@platformatic/kafka';
import type { Clock } from '../../model/clock.ts';
import type { Fence, JournalPartitionStore } from '../../model/store/journal-partition-store.ts';
import type { KafkaClients } from './client.ts';
import { needsBelow, partitionLog, type PartitionLog } from './partition-log.ts';

interface OwnershipOptions {
  readonly clients: Pick<KafkaClients, 'member' | 'reader'>;
  readonly topic: string;
  readonly owner: string;
  readonly store: () => JournalPartitionStore | undefined;
  readonly clock: Clock;
  /** Records were deleted by the broker before they were gathered. */
  readonly onExpired: (partition: number, records: number) => void;
  /** The store gives no partition; the next call of `refresh` asks again. */
  readonly onRefused: (error: unknown) => undefined;
}

export interface Ownership {
  readonly owned: ReadonlyMap<number, PartitionLog>;
  /** The topic of the owned partitions; undefined while it is not known. */
  readonly topic: () => ClusterTopicMetadata | undefined;
  /** True when a broker leads the partition. */
  readonly isLed: (partition: number) => boolean;
  /** The topic as the store names it. */
  readonly name: () => string;
  /** Partitions of the topic, as far as known. */
  readonly partitions: () => number;
  /** Takes what the group gives, and resolves with what it takes away. Rejects when the broker does not answer. */
  refresh(): Promise<readonly PartitionLog[]>;
  /** Another process has taken them. */
  end(fences: readonly Fence[]): void;
  /** The broker has unexpected offsets: they are looked up again. */
  lookAgain(): void;
}

const earliest = -2n;
/** A partition without a leader is looked up again after this time. */
const leaderlessMs = 1_000;

export function ownership({ clients: { member, reader }, topic, owner, store, clock, onExpired, onRefused }: OwnershipOptions): Ownership {
  const owned = new Map<number, PartitionLog>();
  let lost: PartitionLog[] = [];
  let known: ClusterTopicMetadata | undefined;

  function leave(partition: number): void {
    const log = owned.get(partition);
    if (log === undefined) return;
    owned.delete(partition);
    lost.push(log);
  }

  const isLed = (partition: number): boolean => (known?.partitions[partition]?.leader ?? -1) >= 0;
  const name = (): string => `${topic} ${known?.id ?? ''}`;

  async function taken(wanted: readonly number[]): Promise<void> {
    const to = store();
    if (to === undefined) return;
    const places = wanted.map((partition) => ({ topic: name(), partition }));
    const rows = await to.take(places, { owner, at: Math.floor(clock.nowMs() * 1_000) }).catch(onRefused);
    if (rows === undefined) return;
    const among = { topics: [topic], partitions: { [topic]: [...wanted] } };
    const first = await reader.listOffsets({ ...among, timestamp: earliest });
    const end = await reader.listOffsets(among);
    for (const { partition, topic: named, epoch, ...before } of rows) {
      const [from, to_] = [Number(first.get(topic)?.[partition] ?? 0n), Number(end.get(topic)?.[partition] ?? 0n)];
      const expired = before.next < 0 ? 0 : needsBelow(before, from);
      if (expired > 0) onExpired(partition, expired);
      const next = before.next > to_ ? from : Math.max(before.next, from);
      // Brokers may have lost records, and others have their offsets then.
      const read = before.next > to_ ? from : Math.max(Math.min(before.read, to_), from);
      owned.set(partition, partitionLog({ topic: named, partition, epoch }, { ...before, next, read }));
    }
  }

  /** In a topic that was made again the offsets begin again. With more partitions, traces have different partitions. */
  async function look(): Promise<void> {
    const isWhole = known?.partitions.every(({ leader }) => leader >= 0) !== false;
    const found = (await reader.metadata({ topics: [topic], ...(isWhole ? {} : { metadataMaxAge: leaderlessMs }) })).topics.get(topic);
    if (found === undefined) return;
    const isOther = known !== undefined && (found.id !== known.id || found.partitionsCount !== known.partitionsCount);
    known = found;
    if (isOther) for (const partition of owned.keys()) leave(partition);
  }

  return {
    owned,
    topic: () => known,
    isLed,
    name,
    partitions: () => known?.partitionsCount ?? 0,
    async refresh() {
      await look();
      const given = new Set(member.assignments?.find((one) => one.topic === topic)?.partitions ?? []);
      for (const partition of owned.keys()) if (!given.has(partition)) leave(partition);
      const before = lost;
      lost = [];
      // Lost partitions are dropped before they may come back.
      if (before.length > 0) return before;
      const wanted = [...given].filter((partition) => !owned.has(partition) && isLed(partition));
      if (wanted.length > 0) await taken(wanted);
      return [];
    },
    end(fences) {
      for (const { partition, epoch } of fences) if (owned.get(partition)?.fence.epoch === epoch) leave(partition);
    },
    lookAgain() {
      for (const partition of owned.keys()) leave(partition);
    },
  };
}
