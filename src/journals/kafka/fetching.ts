/**
 * Reads the owned partitions. Each broker has one request at a time, which waits for records there: a broker that does not answer holds up none of
 * the partitions that others lead.
 */
import type { ClusterTopicMetadata } from '@platformatic/kafka';
import { backoffMs, type BackoffOptions } from '../../runtime/retry.ts';
import type { KafkaClients } from './client.ts';
import { noLeader, signsOf } from './fault.ts';
import type { Ownership } from './ownership.ts';
import type { PartitionLog } from './partition-log.ts';
import type { TopicRecord } from './requests.ts';
import type { Context } from '../../telemetry/context.ts';

interface FetchingOptions extends Context {
  readonly reader: Pick<KafkaClients['reader'], 'fetch' | 'listOffsets'>;
  readonly topic: string;
  readonly owns: Pick<Ownership, 'owned' | 'isLed' | 'lookAgain'>;
  /** True while no further record of the partition can be taken. The others are read. */
  readonly isWaiting: (log: PartitionLog) => boolean;
  readonly rests: BackoffOptions;
  /** Something of the partition was read. */
  readonly onRead: (log: PartitionLog) => unknown;
  /** A broker has answered; `isAll`: none fails. */
  readonly onAnswer: (isAll: boolean) => void;
  /** A broker does not answer; `isAll`: none of those that lead a partition here does. */
  readonly onFault: (error: unknown, isAll: boolean) => void;
}

interface Fetched {
  readonly log: PartitionLog;
  readonly offset: number;
  readonly content: TopicRecord;
}

export interface Fetching {
  /** The records of the next answer, or of none. A record of a partition that was lost meanwhile is left out. */
  next(found: ClusterTopicMetadata): AsyncIterable<Fetched>;
  /** Measures the lag while nothing is read. */
  noteLag(): Promise<void>;
  noLag(): void;
}

type Answer = Awaited<ReturnType<KafkaClients['reader']['fetch']>>;

interface Landed {
  readonly node: number;
  readonly logs: ReadonlyMap<number, PartitionLog>;
  readonly answer: Answer | undefined;
}

const partitionBytesMax = 2 * 1024 * 1024;
/** The wait for any answer. The owner looks at its partitions between two. */
const waitMs = 1_000;
/** Between two looks at the ends of the partitions, while nothing is read. */
const lagEveryMs = 5_000;
/** In the head of a batch: it has no records of producers. */
const isControl = 0x20;

export function fetching({
  reader,
  topic,
  owns,
  isWaiting,
  clock,
  sleep,
  telemetry,
  rests,
  onRead,
  onAnswer,
  onFault,
}: FetchingOptions): Fetching {
  /** Requests under way, by broker. */
  const flights = new Map<number, Promise<Landed>>();
  const failures = new Map<number, number>();
  const lags = new Map<PartitionLog, number>();
  let lagAtMs = 0;

  function showLag(): void {
    for (const log of lags.keys()) if (owns.owned.get(log.fence.partition) !== log) lags.delete(log);
    telemetry.set(
      'tracejury.journal.lag',
      [...lags.values()].reduce((sum, lag) => sum + lag, 0),
    );
  }

  function ask(node: number, topicId: string, logs: ReadonlyMap<number, PartitionLog>): Promise<Answer> {
    const partitions = [...logs].map(([partition, log]) => ({
      partition,
      fetchOffset: BigInt(log.next()),
      partitionMaxBytes: partitionBytesMax,
      currentLeaderEpoch: -1,
      lastFetchedEpoch: -1,
    }));
    return reader.fetch({ node, topics: [{ topicId, partitions }] });
  }

  async function flight(node: number, topicId: string, logs: ReadonlyMap<number, PartitionLog>, nodes: number): Promise<Landed> {
    try {
      if (node < 0) throw noLeader();
      const answer = await ask(node, topicId, logs);
      failures.delete(node);
      onAnswer(failures.size === 0);
      return { node, logs, answer };
    } catch (error) {
      if (signsOf(error).includes('OFFSET_OUT_OF_RANGE')) owns.lookAgain();
      else {
        failures.set(node, (failures.get(node) ?? 0) + 1);
        onFault(error, failures.size >= nodes);
      }
      await sleep(backoffMs(failures.get(node) ?? 1, rests));
      return { node, logs, answer: undefined };
    }
  }

  async function landed({ id, partitions }: ClusterTopicMetadata): Promise<Landed | undefined> {
    const wanted = [...owns.owned].filter(([, log]) => !isWaiting(log));
    const byNode = Map.groupBy(wanted, ([partition]) => partitions[partition]?.leader ?? -1);
    for (const node of failures.keys()) if (!byNode.has(node)) failures.delete(node);
    for (const [node, some] of byNode) if (!flights.has(node)) flights.set(node, flight(node, id, new Map(some), byNode.size));
    const deadline = new AbortController();
    try {
      const first = await Promise.race([...flights.values(), sleep(waitMs, deadline.signal).then(() => undefined)]);
      if (first !== undefined) flights.delete(first.node);
      return first;
    } finally {
      deadline.abort();
    }
  }

  return {
    async *next(found) {
      const { logs, answer } = (await landed(found)) ?? {};
      for (const { partitionIndex, records: batches, highWatermark } of (answer?.responses ?? []).flatMap((one) => one.partitions)) {
        const log = logs?.get(partitionIndex);
        if (log === undefined || owns.owned.get(partitionIndex) !== log) continue;
        for (const batch of batches ?? []) {
          // The rest of the answer comes again when the partition goes on.
          if (isWaiting(log)) break;
          if ((batch.attributes & isControl) !== 0) {
            log.read(Number(batch.firstOffset) + batch.lastOffsetDelta);
            onRead(log);
            continue;
          }
          for (const { offsetDelta, ...content } of batch.records) {
            const offset = Number(batch.firstOffset) + offsetDelta;
            // Another process has taken the partition meanwhile.
            if (owns.owned.get(partitionIndex) !== log || isWaiting(log)) break;
            if (!log.read(offset)) continue;
            onRead(log);
            yield { log, offset, content };
          }
        }
        lags.set(log, Math.max(0, Number(highWatermark) - log.next()));
      }
      showLag();
    },
    async noteLag() {
      const logs = [...owns.owned].filter(([partition]) => owns.isLed(partition));
      if (clock.nowMs() < lagAtMs + lagEveryMs || logs.length === 0) return;
      lagAtMs = clock.nowMs();
      const among = { topics: [topic], partitions: { [topic]: logs.map(([partition]) => partition) } };
      const ends = (await reader.listOffsets(among)).get(topic);
      for (const [partition, log] of logs) lags.set(log, Math.max(0, Number(ends?.[partition] ?? 0n) - log.next()));
      showLag();
    },
    noLag() {
      lags.clear();
      showLag();
    },
  };
}
