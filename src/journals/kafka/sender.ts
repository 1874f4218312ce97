/**
 * Sends records to the topic. Each broker has one request at a time, and what waits for it meanwhile goes in the next one: a broker that does not
 * answer refuses only requests with a record for a partition that it leads. A partition that its broker refuses leaves that queue until it is taken again.
 */
import type { ClusterTopicMetadata } from '@platformatic/kafka';
import type { JournalRefusal } from '../journal.ts';
import type { KafkaClients } from './client.ts';
import type { Faults } from './fault-state.ts';
import { noLeader } from './fault.ts';
import { partitionOf } from './partitioner.ts';
import { refusalsIn } from './refusals.ts';
import type { KeyedRecord } from './requests.ts';
import type { Context } from '../../telemetry/context.ts';

interface SenderOptions extends Pick<Context, 'clock' | 'sleep'> {
  readonly producer: Pick<KafkaClients['producer'], 'send' | 'metadata'>;
  readonly topic: string;
  /** Bytes that wait for the brokers. */
  readonly waitingBytesMax: number;
  /** Told when a broker or a partition begins to fail, each time while none takes records, and when one takes some. */
  readonly faults: Faults;
}

export interface Sender {
  /**
   * Resolves when all brokers in charge have the records, or with the reason of a refusal. Some may be there after a refusal. `leaveOut`: takes the
   * records that are too large for the topic, and the others count as all. Without it they refuse the request.
   */
  send(records: readonly KeyedRecord[], leaveOut?: (record: KeyedRecord) => void): Promise<JournalRefusal | undefined>;
  /** Refuses new records and waits for those under way. */
  stop(): Promise<void>;
}

interface Request {
  readonly leaveOut: (record: KeyedRecord) => void;
  readonly settle: (refusal: JournalRefusal | undefined) => void;
  /** Records that no broker has taken or refused yet. */
  open: number;
  isRefused: boolean;
}

interface Piece {
  readonly record: KeyedRecord;
  readonly partition: number;
  readonly of: Request;
}

/** A queue of records for one broker, or for one partition that its broker has refused. */
interface Lane {
  /** Absent for the queue of a broker. */
  readonly partition?: number;
  readonly waiting: Piece[];
  sending?: Promise<void> | undefined;
  /** Set while the broker fails: it gets one request at a time to try, and none before this time. */
  retryAtMs?: number | undefined;
}

/** The part of a request that a broker did not take. */
interface Failure {
  readonly error: unknown;
  readonly pieces: ReadonlySet<Piece>;
  /** True when it gave no answer; otherwise it has taken the other partitions. */
  readonly isUnanswered: boolean;
}

function together(one: Failure, other: Failure | undefined): Failure {
  if (other === undefined) return one;
  return { error: one.error, pieces: new Set([...one.pieces, ...other.pieces]), isUnanswered: one.isUnanswered || other.isUnanswered };
}

type Compression = 'gzip' | 'none';

/** Bytes of one request to a broker. */
const requestBytesMax = 4 * 1024 * 1024;
/** Exporters give up after ten seconds. */
const answerMs = 8_000;
/** Requests are refused at once for this long after a failure. */
const failingMs = 500;
/** Leaders are looked up again after this time. */
const lookedMs = 30_000;
const acksOfAll = -1;

export function sender({ producer, topic, clock, sleep, waitingBytesMax, faults }: SenderOptions): Sender {
  /** The keys are the ids of the brokers that lead partitions. */
  const lanes = new Map<number, Lane>();
  /** Partitions that their brokers refuse. */
  const apart = new Map<number, Lane>();
  let waitingBytes = 0;
  let isStopped = false;
  /** Records without a trace go to all partitions in turn. */
  let unkeyed = 0;
  let known: ClusterTopicMetadata | undefined;
  let looking: Promise<void> | undefined;
  let lookAtMs = -Infinity;
  let isBlind = false;

  async function inTime<Answer>(work: Promise<Answer>): Promise<Answer> {
    const deadline = new AbortController();
    const late = sleep(answerMs, deadline.signal).then(() => {
      throw new Error('the broker did not answer in time');
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      late.catch(() => undefined);
      deadline.abort();
    }
  }

  /** Looks up who leads the partitions, and goes by what is known when that fails. */
  function look(): Promise<void> {
    return (looking ??= inTime(producer.metadata({ topics: [topic], forceUpdate: true }))
      .then(({ topics }) => {
        known = topics.get(topic) ?? known;
        lookAtMs = clock.nowMs() + lookedMs;
        isBlind = false;
        for (const [node, { waiting, sending }] of lanes)
          if (waiting.length === 0 && sending === undefined && !leaders().has(node)) lanes.delete(node);
      })
      .catch((error: unknown) => {
        lookAtMs = clock.nowMs() + failingMs;
        if (known === undefined && !isBlind) faults.failed(error, true);
        isBlind = known === undefined;
      })
      .finally(() => {
        looking = undefined;
      }));
  }

  const leaderOf = (partition: number): number => known?.partitions[partition]?.leader ?? -1;

  const leaders = (): ReadonlySet<number> => new Set(known?.partitions.map(({ leader }) => leader));

  /** Gives the topic in its last known state. */
  async function found(): Promise<ClusterTopicMetadata | undefined> {
    const looked = clock.nowMs() >= lookAtMs ? look() : looking;
    if (known === undefined) await looked;
    return known;
  }

  async function sent(pieces: readonly Piece[], compression: Compression): Promise<unknown> {
    const messages = pieces.map(({ record: { key, value, headers }, partition }) => ({
      topic,
      value,
      headers: new Map(headers),
      ...(key === undefined ? {} : { key }),
      partition,
    }));
    try {
      await inTime(producer.send({ messages, compression, acks: acksOfAll }));
      return undefined;
    } catch (error) {
      return error;
    }
  }

  /** The broker bounds the compressed records of a partition, so they go in halves until it takes them, or until a single one is too large. */
  async function sentInHalves(pieces: readonly Piece[], compression: Compression = 'none'): Promise<Failure | undefined> {
    const error = await sent(pieces, compression);
    if (error === undefined) return undefined;
    const { taken: done, refused, isUnanswered } = refusalsIn(error);
    // A partition that the answer does not mention may have nothing: the client may have asked two brokers, and one did not answer.
    const outcome = ({ partition }: Piece): 'taken' | 'too_large' | 'failed' =>
      refused.get(partition) ?? (done.has(partition) ? 'taken' : 'failed');
    const failed = new Set(pieces.filter((piece) => outcome(piece) === 'failed'));
    const inHalves = await halved(
      pieces.filter((piece) => outcome(piece) === 'too_large'),
      compression,
    );
    return failed.size === 0 ? inHalves : together({ error, pieces: failed, isUnanswered }, inHalves);
  }

  async function halved(pieces: readonly Piece[], compression: Compression): Promise<Failure | undefined> {
    const [first] = pieces;
    if (first === undefined) return undefined;
    if (pieces.length === 1 && compression === 'gzip') {
      first.of.leaveOut(first.record);
      return undefined;
    }
    const half = Math.ceil(pieces.length / 2);
    const [begin, rest] = [pieces.slice(0, half), pieces.slice(half)];
    const failure = await sentInHalves(begin, 'gzip');
    if (failure?.isUnanswered === true) return { ...failure, pieces: new Set([...failure.pieces, ...rest]) };
    const other = rest.length === 0 ? undefined : await sentInHalves(rest, 'gzip');
    return failure === undefined ? other : together(failure, other);
  }

  function taken(lane: Lane): readonly Piece[] {
    let [count, bytes] = [0, 0];
    for (const { record } of lane.waiting) {
      bytes += record.value.length;
      if (count > 0 && bytes > requestBytesMax) break;
      count++;
    }
    return lane.waiting.splice(0, count);
  }

  function end(pieces: readonly Piece[], refusal?: JournalRefusal): void {
    for (const { record, of } of pieces) {
      waitingBytes -= record.value.length;
      of.open--;
      of.isRefused ||= refusal !== undefined;
      if (refusal !== undefined || of.open === 0) of.settle(refusal);
    }
  }

  /** True when no partition can be written to. */
  const isAllFailing = (): boolean =>
    (known?.partitions ?? []).every(
      ({ leader }, partition) => leader < 0 || (apart.get(partition) ?? lanes.get(leader))?.retryAtMs !== undefined,
    );

  /** Nothing goes to the lane for a moment, and then one request to try. */
  function close(lane: Lane, error: unknown): void {
    const isNew = lane.retryAtMs === undefined;
    lane.retryAtMs = clock.nowMs() + failingMs;
    const isAll = isAllFailing();
    if (isNew || isAll) faults.failed(error, isAll);
    // Another broker may lead its partitions by now.
    void look();
    // Those that came meanwhile may try again later.
    end(lane.waiting.splice(0), 'failed');
  }

  /** The partition gets its own queue. The others of its broker go on. */
  function part(partition: number, lane: Lane, error: unknown): void {
    const own = apart.get(partition) ?? { partition, waiting: [] };
    apart.set(partition, own);
    for (const piece of lane.waiting.splice(0)) (piece.partition === partition ? own : lane).waiting.push(piece);
    close(own, error);
  }

  /** Sends one request, and gives what the broker did not take. */
  async function attempted(lane: Lane, pieces: readonly Piece[]): Promise<ReadonlySet<Piece>> {
    if (pieces.length === 0) return new Set();
    const [led = [], unled = []] = [true, false].map((isLed) => pieces.filter(({ partition }) => leaderOf(partition) >= 0 === isLed));
    const failure: Failure | undefined =
      led.length === 0 ? { error: noLeader(), pieces: new Set(), isUnanswered: true } : await sentInHalves(led);
    const failed = new Set([...unled, ...(failure?.pieces ?? [])]);
    if (failure !== undefined && (failure.isUnanswered || lane.partition !== undefined)) close(lane, failure.error);
    else {
      lane.retryAtMs = undefined;
      if (failed.size < pieces.length) faults.answered(allLanes().every(({ retryAtMs }) => retryAtMs === undefined));
      for (const partition of new Set([...(failure?.pieces ?? [])].map((piece) => piece.partition))) part(partition, lane, failure?.error);
    }
    return failed;
  }

  async function sendAll(lane: Lane): Promise<void> {
    while (lane.waiting.length > 0) {
      const pieces = taken(lane);
      // A request that another broker has refused comes again as a whole.
      const failed = await attempted(
        lane,
        pieces.filter(({ of }) => !of.isRefused),
      );
      end([...failed], 'failed');
      end(pieces.filter((piece) => !failed.has(piece)));
    }
  }

  function pump(lane: Lane): void {
    lane.sending ??= sendAll(lane).finally(() => {
      lane.sending = undefined;
      if (lane.waiting.length > 0) pump(lane);
      else if (lane.partition !== undefined && lane.retryAtMs === undefined) apart.delete(lane.partition);
    });
  }

  function laneOf(partition: number, node: number): Lane {
    const lane = (node < 0 ? undefined : apart.get(partition)) ?? lanes.get(node);
    if (lane !== undefined) return lane;
    const first: Lane = { waiting: [] };
    lanes.set(node, first);
    return first;
  }

  const isClosed = ({ retryAtMs, sending }: Lane): boolean =>
    retryAtMs !== undefined && (sending !== undefined || clock.nowMs() < retryAtMs);

  const allLanes = (): readonly Lane[] => [...lanes.values(), ...apart.values()];

  const isQueued = (): boolean => waitingBytes > 0 && (known === undefined || allLanes().some(({ waiting }) => waiting.length > 0));

  const placeOf = ({ key, partition }: KeyedRecord, partitions: number): number =>
    partition ?? (key === undefined ? unkeyed++ % partitions : partitionOf(key, partitions));

  return {
    async send(records, leaveOut) {
      if (isStopped) return 'stopped';
      if (records.length === 0) return undefined;
      const bytes = records.reduce((sum, { value }) => sum + value.length, 0);
      if (isQueued() && waitingBytes + bytes > waitingBytesMax) return 'busy';
      waitingBytes += bytes;
      const at = await found();
      const { promise, resolve } = Promise.withResolvers<JournalRefusal | undefined>();
      let noted: JournalRefusal | undefined;
      const of: Request = {
        leaveOut(record) {
          if (leaveOut === undefined) noted = 'too_large';
          else leaveOut(record);
        },
        settle: (refusal) => resolve(refusal ?? noted),
        open: records.length,
        isRefused: false,
      };
      const byLane = Map.groupBy(
        records.map((record) => ({ record, partition: placeOf(record, at?.partitionsCount ?? 1), of })),
        ({ partition }) => laneOf(partition, at?.partitions[partition]?.leader ?? -1),
      );
      if (at === undefined || [...byLane.keys()].some(isClosed)) {
        waitingBytes -= bytes;
        return 'failed';
      }
      for (const [lane, pieces] of byLane) {
        lane.waiting.push(...pieces);
        pump(lane);
      }
      return await promise;
    },
    async stop() {
      isStopped = true;
      await looking;
      await Promise.all(allLanes().flatMap(({ sending }) => sending ?? []));
    },
  };
}
