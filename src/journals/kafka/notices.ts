/** Counts, and logs once, faults of the records of a topic, or of the store that assigns them. */
import type { JournalDeps } from '../journal.ts';

/** Between two words about a store that gives no partition. */
const refusedEveryMs = 60_000;
/** Without a partition for this long a replica is one too many. */
const idleMs = 30_000;

export interface KafkaNotices {
  expired(partition: number, records: number): void;
  refused(error: unknown): undefined;
  divided(): void;
  unreadable(partition: number, offset: number): void;
  /** The topic takes no record of this size. The request is refused, or its trace stays where it is. */
  tooLarge(outcome: 'refused' | 'stays', of: { readonly bytes: number; readonly partition?: number; readonly offset?: number }): void;
  /** This process owns none of the partitions of the topic. */
  idle(partitions: number): void;
  busy(): void;
}

export function kafkaNotices(
  topic: string,
  { telemetry, logger, clock }: Pick<JournalDeps, 'telemetry' | 'logger' | 'clock'>,
): KafkaNotices {
  let [warnedUnkeyed, warnedUnreadable, refusedAtMs] = [false, false, -Infinity];
  const warnedTooLarge = new Set<string>();
  let idleSinceMs: number | undefined;
  return {
    idle(partitions) {
      idleSinceMs ??= clock.nowMs();
      if (clock.nowMs() < idleSinceMs + idleMs) return;
      idleSinceMs = Infinity;
      logger.warn({ topic, partitions }, 'this replica owns no partition; add partitions to the topic, or run fewer replicas');
    },
    busy() {
      idleSinceMs = undefined;
    },
    expired(partition, records) {
      telemetry.add('tracejury.journal.expired', records);
      logger.warn({ partition, records }, 'the topic deleted records before they were gathered; raise its retention, or add replicas');
    },
    refused(error) {
      if (clock.nowMs() < refusedAtMs + refusedEveryMs) return;
      refusedAtMs = clock.nowMs();
      const cause = error instanceof Error ? error.message : 'unknown';
      logger.warn({ cause }, 'partitions of the topic could not be taken, for the store does not answer; it is tried again');
    },
    divided() {
      telemetry.add('tracejury.journal.divided', 1);
      if (!warnedUnkeyed)
        logger.warn(
          { topic },
          'records without the id of their one trace as key are divided and sent again; set partition_traces_by_id: true in the Collector',
        );
      warnedUnkeyed = true;
    },
    unreadable(partition, offset) {
      telemetry.add('tracejury.journal.corrupt', 1);
      if (!warnedUnreadable)
        logger.warn(
          { topic, partition, offset },
          'records of the topic cannot be read and are skipped; set encoding: otlp_proto in the Collector, and let no other program write to the topic',
        );
      warnedUnreadable = true;
    },
    tooLarge(outcome, of) {
      if (outcome === 'stays') telemetry.add('tracejury.journal.oversized', 1);
      if (warnedTooLarge.has(outcome)) return;
      warnedTooLarge.add(outcome);
      logger.warn(
        { topic, ...of },
        outcome === 'stays'
          ? 'traces are larger than a record of the topic, so their runs are scored where they are and lack parts that other replicas have; raise max.message.bytes of the topic'
          : 'requests are refused, for a span of them is larger than a record of the topic; raise max.message.bytes of the topic',
      );
    },
  };
}
