/**
 * The journal in a topic of Apache Kafka, shared by all replicas. A request is durable when the brokers have its records. Each record comes back to
 * the replica that owns its partition, which gathers it and keeps it in memory until it is not needed any more. The store has how far each partition is.
 */
import { setImmediate as turn } from 'node:timers/promises';
import { JuryError } from '../model/errors.ts';
import type { Fence } from '../model/store/journal-partition-store.ts';
import type { BundlePart } from '../otlp/cut/bundle.ts';
import { backoffMs } from '../runtime/retry.ts';
import { countedKind, journalMetrics } from './journal-metrics.ts';
import type {
  Appended,
  Arrival,
  HasRoom,
  Journal,
  JournalDeps,
  JournalRecord,
  JournalRefusal,
  JournalSettings,
  Position,
} from './journal.ts';
import { kafkaAddress } from './kafka/address.ts';
import { kafkaClients } from './kafka/client.ts';
import { faultState } from './kafka/fault-state.ts';
import { dividing } from './kafka/dividing.ts';
import { fetching } from './kafka/fetching.ts';
import { heldClaims } from './kafka/held-claims.ts';
import { heldRecords } from './kafka/held-records.ts';
import { joinPlaces } from './kafka/join-places.ts';
import { kafkaNotices } from './kafka/notices.ts';
import { membership } from './kafka/membership.ts';
import { ownership } from './kafka/ownership.ts';
import type { PartitionLog } from './kafka/partition-log.ts';
import { keyedRecords, requestIn, type Arrived, type KeyedRecord } from './kafka/requests.ts';
import { sender } from './kafka/sender.ts';
import { sentClaims } from './kafka/sent-claims.ts';
import { sessionNotes } from './kafka/session-notes.ts';

const memoryBytesUsual = 64 * 1024 * 1024;
const waitingBytesUsual = 64 * 1024 * 1024;
/** One answer of a broker. It is in memory while its records are gathered. */
const fetchBytesMax = 8 * 1024 * 1024;
const inflatedBytesUsual = 64 * 1024 * 1024;
const zero = 0 as Position;
/** Between two looks for room, while the gathering is behind. */
const fullMs = 50;
const firstRestMs = 200;
const rests = { firstRestMs, longestRestMs: 5_000 };
/** Between two notes for tools that read the group's offsets. */
const commitEveryMs = 5_000;

export async function kafkaJournal(settings: JournalSettings, deps: JournalDeps): Promise<Journal> {
  const { telemetry, clock, sleep, logger } = deps;
  const rest = settings.folder;
  const address = kafkaAddress(rest);
  if (address === undefined) throw new JuryError('JOURNAL_UNUSABLE', 'journal.url names no topic of Kafka.');
  const { memoryBytesMax = memoryBytesUsual, waitingBytesMax = waitingBytesUsual, inflatedBytesMax = inflatedBytesUsual } = settings;
  const { topic } = address;
  const owner = deps.owner ?? deps.randomBytes(8).toString('hex');
  const metrics = journalMetrics(deps);
  const notices = kafkaNotices(topic, deps);
  const clients = await kafkaClients(address, { fetchBytesMax });
  const faults = faultState(rest, address, deps);
  const common = { topic, clock, sleep, telemetry, store: () => deps.partitions?.() };
  const sending = sender({ ...common, producer: clients.producer, waitingBytesMax, faults: faults.sending });
  let dirty = new Set<PartitionLog>();
  const held = heldRecords((log) => void dirty.add(log), metrics.used);
  const claims = heldClaims(clock.nowMs, (log) => void dirty.add(log));
  let saving: Promise<void> | undefined;
  let committedMs = 0;
  let isLeaving = false;
  let reading: Promise<void> = Promise.resolve();
  let stopped: Promise<void> | undefined;

  const owns = ownership({ ...common, clients, owner, onExpired: notices.expired, onRefused: notices.refused });
  const places = joinPlaces({ isOwned: (partition) => owns.owned.has(partition), partitions: owns.partitions, nowMs: clock.nowMs });
  const { send } = sending;
  const publish = sessionNotes({ ...common, owner, topic: owns.name, send });
  const claimed = sentClaims({ ...common, send, isWanted: (key) => !isLeaving && places.joins(key), onLost: unclaimed, rests });
  const group = membership({ ...common, member: clients.member, newest: owns.topic });
  const onRead = (log: PartitionLog): unknown => dirty.add(log);
  const { answered: onAnswer } = faults.reading;
  const isOwned = (log: PartitionLog): boolean => !isLeaving && owns.owned.get(log.fence.partition) === log;
  const dividings = dividing({ ...common, send, isOwned, partitions: owns.partitions, rests });
  const { isWaiting } = dividings;
  const fetches = fetching({ ...common, reader: clients.reader, owns, isWaiting, rests, onRead, onAnswer, onFault: fetchFailed });

  function fetchFailed(error: unknown, isAll: boolean): void {
    faults.reading.failed(error, isAll);
    group.hurry();
  }

  async function append(record: JournalRecord): Promise<Appended> {
    const { kind } = record;
    // The store has the progress, so notes about other records need no record.
    if (kind === 'done' || kind === 'forwarded') return { kind: 'appended', position: held.end() };
    let refusal: JournalRefusal | undefined;
    try {
      refusal = await sending.send(await keyedRecords({ ...record, kind }, inflatedBytesMax));
      if (refusal === 'too_large') notices.tooLarge('refused', { bytes: record.body.length });
    } catch (error) {
      // The receiver has read the same body before.
      refusal = error instanceof JuryError && error.code === 'OTLP_TOO_LARGE' ? 'too_large' : 'failed';
    }
    if (refusal !== undefined) {
      metrics.refused(refusal);
      return { kind: 'refused', reason: refusal };
    }
    metrics.appended([countedKind(record)], record.body.length);
    return { kind: 'appended', position: held.end() };
  }

  async function* fetched(): AsyncGenerator<Arrival> {
    const found = owns.topic();
    if (found === undefined || owns.owned.size === 0) {
      if (found !== undefined) faults.reading.answered();
      notices.idle(found?.partitionsCount ?? 0);
      fetches.noLag();
      await sleep(firstRestMs);
      return;
    }
    notices.busy();
    yield* divided();
    // An answer has no lag of a partition that waits.
    if ([...owns.owned.values()].some(isWaiting)) void fetches.noteLag().catch(() => undefined);
    for await (const { log, offset, content } of fetches.next(found)) {
      const { partition } = log.fence;
      yield* arrived(log, offset, requestIn(content, { partition, partitions: owns.partitions(), nowMs: clock.nowMs() }));
    }
  }

  async function* arrived(log: PartitionLog, offset: number, one: Arrived): AsyncGenerator<Arrival> {
    if (one.kind === 'claim') claims.hold(log, offset, one.sentMs);
    if (one.kind !== 'request') {
      yield one;
      return;
    }
    const { record, isKeyed, moves, key } = one;
    const position = held.hold(log, offset, record, isKeyed ? key : undefined);
    held.keepFrom(position);
    if (moves > 0) places.came(key, { partition: log.fence.partition, moves });
    const records = isKeyed ? undefined : await keyedRecords(record, inflatedBytesMax).catch(() => undefined);
    if (!isKeyed && records === undefined) notices.unreadable(log.fence.partition, offset);
    else if (records === undefined) yield { kind: 'entry', position, record };
    else {
      notices.divided();
      // After a stop the next owner divides it.
      held.pin(position);
      await dividings.divide({ log, offset, position }, records);
      yield* divided();
    }
    held.keepFrom(undefined);
  }

  /** Traces that are too large for the topic are gathered where their record is. */
  function* divided(): Generator<Arrival> {
    for (const { log, offset, position, left } of dividings.takeDivided()) {
      held.keepFrom(held.end());
      for (const large of left) yield* staying(log, offset, large);
      held.keepFrom(undefined);
      held.free(position);
    }
  }

  /** A trace of an undivided record is gathered in the partition of that record. */
  function* staying(log: PartitionLog, offset: number, { key: id, value, headers }: KeyedRecord): Generator<Arrival> {
    const { partition } = log.fence;
    const own = requestIn(
      { key: id ?? null, value, headers: [...headers] },
      { partition, partitions: owns.partitions(), nowMs: clock.nowMs() },
    );
    if (own.kind !== 'request') return;
    places.stays(own.key, partition);
    notices.tooLarge('stays', { bytes: value.length, partition, offset });
    yield { kind: 'entry', position: held.hold(log, offset, own.record, own.key), record: own.record };
  }

  async function handOver(key: string, part: BundlePart): Promise<boolean> {
    const refusal = await sending.send([places.moved(key, part)]);
    if (refusal === 'too_large') {
      places.stays(key, held.logOf(key)?.fence.partition ?? places.ownedOf(key) ?? -1);
      notices.tooLarge('stays', { bytes: part.bytes.length });
      return false;
    }
    if (refusal !== undefined) throw new Error(`the topic does not take the trace: ${refusal}`);
    telemetry.add('tracejury.traces.handed_over', 1);
    return true;
  }

  /** Offsets of the partition that has the records of the trace. They may be released before its last revision. */
  function fenceOf(key: string): Fence {
    const log = held.logOf(key) ?? owns.owned.get(places.ownedOf(key) ?? -1);
    // No partition has the other one, so the store writes nothing.
    return log !== undefined && owns.owned.get(log.fence.partition) === log ? log.fence : { topic, partition: -1, epoch: 0 };
  }

  function claim(key: string): void {
    const record = places.claim(key);
    if (record !== undefined) claimed(key, record);
  }

  function unclaimed(key: string, isWanted: boolean): void {
    places.unclaim(key);
    if (isWanted) telemetry.add('tracejury.traces.unclaimed', 1);
  }

  async function* arrivals(hasRoom: HasRoom): AsyncGenerator<Arrival> {
    const { promise, resolve } = Promise.withResolvers<void>();
    reading = promise;
    try {
      for (let failures = 0; !isLeaving;) {
        try {
          claims.expire();
          await group.stay();
          const lost = await owns.refresh();
          if (lost.length > 0) {
            // Records must stay until they are gathered again.
            held.keepFrom(zero);
            yield dropped(new Set(lost));
            held.keepFrom(undefined);
          }
          if (lost.length > 0) continue;
          if (hasRoom(held.bytes() / memoryBytesMax)) yield* fetched();
          else {
            await fetches.noteLag();
            await sleep(fullMs);
          }
          failures = 0;
          await turn();
        } catch (error) {
          faults.reading.failed(error);
          group.hurry();
          await sleep(backoffMs(++failures, rests));
        }
      }
    } finally {
      resolve();
    }
  }

  function dropped(lost: ReadonlySet<PartitionLog>): Arrival {
    const isLost = held.drop(lost);
    for (const log of lost) dirty.delete(log);
    return { kind: 'lost', isLost };
  }

  async function save(): Promise<void> {
    const store = deps.partitions?.();
    const logs = [...dirty].filter((log) => owns.owned.get(log.fence.partition) === log);
    dirty = new Set();
    if (logs.length === 0 || store === undefined) return;
    try {
      const progress = logs.map((log) => ({ ...log.fence, ...log.progress() }));
      const ended = await store.save(progress, Math.floor(clock.nowMs() * 1_000));
      if (ended.length > 0) telemetry.add('tracejury.journal.fenced', ended.length);
      owns.end(ended);
      await noteOffsets(progress);
    } catch (error) {
      for (const log of logs) dirty.add(log);
      logger.warn(
        { cause: error instanceof Error ? error.message : 'unknown' },
        'the progress in the topic could not be stored; it is tried again',
      );
    }
  }

  /** Lets tools show the lag of groups. The journal itself goes by the store. */
  async function noteOffsets(progress: readonly { readonly partition: number; readonly next: number }[]): Promise<void> {
    if (clock.nowMs() < committedMs + commitEveryMs || !clients.member.isActive()) return;
    committedMs = clock.nowMs();
    const offsets = progress.map(({ partition, next }) => ({ topic, partition, offset: BigInt(next), leaderEpoch: 0 }));
    await clients.member.commit({ offsets }).catch(() => undefined);
  }

  function saveSoon(): Promise<void> {
    return (saving ??= save().finally(() => {
      saving = undefined;
    }));
  }

  async function stop(): Promise<void> {
    isLeaving = true;
    await reading;
    await sending.stop();
    await clients.close();
  }

  return {
    append,
    async *read() {},
    at: async (position) => held.at(position),
    commit(below, isNeeded = () => true) {
      held.commit(below, isNeeded);
      if (dirty.size > 0) void saveSoon();
    },
    recover: () => ({ starts: 1, entries: nothing(), finish: async () => undefined, leave: async () => undefined }),
    oldest: () => zero,
    end: held.end,
    bytesUsed: held.bytes,
    // Reading waits for room, so the journal is never full.
    bytesMax: Infinity,
    isDiskFull: () => false,
    tryRoom: async () => undefined,
    stop: () => (stopped ??= stop()),
    shared: {
      arrivals,
      fault: faults.text,
      fenceOf,
      joins: places.joins,
      handOver,
      claim,
      publish,
      isAlone: () => owns.owned.size >= owns.partitions(),
      async leave() {
        isLeaving = true;
        await reading;
      },
      async save() {
        await saving;
        await saveSoon();
      },
    },
  };
}

async function* nothing(): AsyncGenerator<never> {}
