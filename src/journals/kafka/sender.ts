/** Sends records to the topic. What waits meanwhile goes in the next request. */
import type { Clock, Sleep } from '../../model/clock.ts';
import type { JournalRefusal } from '../journal.ts';
import type { KafkaClients } from './client.ts';
import { signsOf } from './fault.ts';
import { partitionOf } from './partitioner.ts';
import type { KeyedRecord } from './requests.ts';

interface SenderOptions {
  readonly producer: Pick<KafkaClients['producer'], 'send' | 'metadata'>;
  readonly topic: string;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Bytes that wait for the broker. */
  readonly waitingBytesMax: number;
  readonly onFault: (error: unknown) => void;
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

interface Waiting {
  readonly records: readonly KeyedRecord[];
  readonly bytes: number;
  readonly leaveOut: (record: KeyedRecord) => void;
  /** Resolves with the refusal, or with what was noted of single records. */
  readonly settle: (refusal: JournalRefusal | undefined) => void;
}

interface Piece {
  readonly record: KeyedRecord;
  readonly of: Waiting;
}

type Compression = 'gzip' | 'none';

/** Bytes of one request to the broker. */
const requestBytesMax = 4 * 1024 * 1024;
/** Exporters give up after ten seconds. */
const answerMs = 8_000;
/** Requests are refused at once for this long after a failure. */
const failingMs = 500;

export function sender({ producer, topic, clock, sleep, waitingBytesMax, onFault }: SenderOptions): Sender {
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let failingUntilMs = 0;
  let isStopped = false;
  /** Records without a trace go to all partitions in turn. */
  let unkeyed = 0;
  let sending: Promise<void> | undefined;

  async function sent(pieces: readonly Piece[], compression: Compression): Promise<JournalRefusal | undefined> {
    const deadline = new AbortController();
    const send = async (): Promise<void> => {
      const partitions = (await producer.metadata({ topics: [topic] })).topics.get(topic)?.partitionsCount ?? 1;
      const messages = pieces.map(({ record: { key, value, headers, partition } }) => ({
        topic,
        value,
        headers: new Map(headers),
        ...(key === undefined ? {} : { key }),
        partition: partition ?? (key === undefined ? unkeyed++ % partitions : partitionOf(key, partitions)),
      }));
      await producer.send({ messages, compression });
    };
    try {
      const late = sleep(answerMs, deadline.signal).then(() => {
        if (!deadline.signal.aborted) throw new Error('the broker did not answer in time');
      });
      await Promise.race([send(), late]);
      return undefined;
    } catch (error) {
      const signs = signsOf(error);
      if (signs.includes('MESSAGE_TOO_LARGE') || signs.includes('RECORD_LIST_TOO_LARGE')) return 'too_large';
      onFault(error);
      return 'failed';
    } finally {
      deadline.abort();
    }
  }

  /** The broker bounds the compressed records of a partition, so they go in halves until it takes them, or until one alone is too large. */
  async function sentInHalves(pieces: readonly Piece[], compression: Compression = 'none'): Promise<JournalRefusal | undefined> {
    const refusal = await sent(pieces, compression);
    const [first] = pieces;
    if (refusal !== 'too_large' || first === undefined) return refusal;
    if (pieces.length === 1 && compression === 'gzip') {
      first.of.leaveOut(first.record);
      return undefined;
    }
    const half = Math.ceil(pieces.length / 2);
    const [begin, end] = [pieces.slice(0, half), pieces.slice(half)];
    return (await sentInHalves(begin, 'gzip')) ?? (end.length === 0 ? undefined : await sentInHalves(end, 'gzip'));
  }

  function taken(): readonly Waiting[] {
    let [count, bytes] = [0, 0];
    for (const one of waiting) {
      bytes += one.bytes;
      if (count > 0 && bytes > requestBytesMax) break;
      count++;
    }
    return waiting.splice(0, count);
  }

  function settle(batch: readonly Waiting[], refusal: JournalRefusal | undefined): void {
    if (refusal === 'failed') failingUntilMs = clock.nowMs() + failingMs;
    for (const one of batch) {
      waitingBytes -= one.bytes;
      one.settle(refusal);
    }
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const batch = taken();
      const refusal = await sentInHalves(batch.flatMap((of) => of.records.map((record) => ({ record, of }))));
      settle(batch, refusal);
      // The broker is away: those that came meanwhile may try again later.
      if (refusal === 'failed') settle(waiting.splice(0), 'failed');
    }
  }

  function pump(): void {
    sending ??= sendAll().finally(() => {
      sending = undefined;
      if (waiting.length > 0) pump();
    });
  }

  return {
    async send(records, leaveOut) {
      if (isStopped) return 'stopped';
      if (records.length === 0) return undefined;
      if (clock.nowMs() < failingUntilMs) return 'failed';
      const bytes = records.reduce((sum, { value }) => sum + value.length, 0);
      if (waiting.length > 0 && waitingBytes + bytes > waitingBytesMax) return 'busy';
      waitingBytes += bytes;
      const { promise, resolve } = Promise.withResolvers<JournalRefusal | undefined>();
      let noted: JournalRefusal | undefined;
      waiting.push({
        records,
        bytes,
        leaveOut(record) {
          if (leaveOut === undefined) noted = 'too_large';
          else leaveOut(record);
        },
        settle: (refusal) => resolve(refusal ?? noted),
      });
      pump();
      return await promise;
    },
    async stop() {
      isStopped = true;
      await sending;
    },
  };
}
