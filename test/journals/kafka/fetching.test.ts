import { expect, test } from 'vitest';
import { fetching } from '../../../src/journals/kafka/fetching.ts';
import { partitionLog, type PartitionLog } from '../../../src/journals/kafka/partition-log.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { noTelemetry } from '../../../src/telemetry/telemetry.ts';

const topic = 'spans';
const found = { id: 'id', partitions: { 0: { leader: 1 }, 1: { leader: 2 } } } as never;

function logs(): Map<number, PartitionLog> {
  return new Map([0, 1].map((partition) => [partition, partitionLog({ topic, partition, epoch: 1 }, { next: 0, read: 0, open: '' })]));
}

function answerOf(partitionIndex: number, values: readonly string[]): unknown {
  const records = values.map((value, offsetDelta) => ({ offsetDelta, key: null, value: Buffer.from(value), headers: [] }));
  const batches = [{ firstOffset: 0n, lastOffsetDelta: values.length - 1, attributes: 0, records }];
  return { responses: [{ partitions: [{ partitionIndex, records: batches, highWatermark: 5n }] }] };
}

/** The values of one answer, and the reports meanwhile. */
async function read(
  fetch: (node: number) => Promise<unknown>,
  {
    owned = logs(),
    waiting = new Set<PartitionLog>(),
  }: { readonly owned?: Map<number, PartitionLog>; readonly waiting?: Set<PartitionLog> } = {},
) {
  const faults: boolean[] = [];
  const clock = manualClock();
  const fetches = fetching({
    reader: { fetch: ({ node }: { readonly node: number }) => fetch(node), listOffsets: async () => new Map() } as never,
    topic,
    owns: { owned, isLed: () => true, lookAgain: () => undefined },
    isWaiting: (log) => waiting.has(log),
    clock,
    sleep: (_ms, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
    telemetry: noTelemetry,
    rests: {},
    onRead: () => undefined,
    onAnswer: () => undefined,
    onFault: (_, isAll) => faults.push(isAll),
  });
  const values: string[] = [];
  for await (const { content, log } of fetches.next(found)) {
    values.push(String(content.value));
    if (values.length === 1 && content.value?.toString() === 'lost') owned.delete(log.fence.partition);
    if (content.value?.toString() === 'waits') waiting.add(log);
  }
  return { values, faults, next: owned.get(1)?.next() };
}

test('fetching: a broker that does not answer, or refuses, holds up nothing of another', async () => {
  const answer = async (): Promise<unknown> => answerOf(1, ['a', 'b']);
  expect(await read((node) => (node === 1 ? new Promise(() => undefined) : answer()))).toEqual({ values: ['a', 'b'], faults: [], next: 2 });
  const refusing = await read((node) => (node === 1 ? Promise.reject(new Error('away')) : answer()));
  expect(refusing).toEqual({ values: ['a', 'b'], faults: [false], next: 2 });
});

test('fetching: records of a partition that is lost on the way are left out', async () => {
  const answer = async (node: number): Promise<unknown> => (node === 2 ? answerOf(1, ['lost', 'b']) : await new Promise(() => undefined));
  expect((await read(answer)).values).toEqual(['lost']);
});

test('fetching: a partition that waits is not asked for, and the rest of an answer about it comes again later', async () => {
  const asked: number[] = [];
  const answer = async (node: number): Promise<unknown> => {
    asked.push(node);
    return node === 2 ? answerOf(1, ['a', 'waits', 'b']) : await new Promise(() => undefined);
  };
  const owned = logs();
  const waiting = new Set<PartitionLog>();
  expect(await read(answer, { owned, waiting })).toEqual({ values: ['a', 'waits'], faults: [], next: 2 });
  asked.length = 0;
  const first = async (node: number): Promise<unknown> => {
    asked.push(node);
    return answerOf(0, ['c']);
  };
  expect((await read(first, { owned, waiting })).values).toEqual(['c']);
  expect(asked).toEqual([1]);
});
