/** The way of records to the brokers. */
import { expect, test } from 'vitest';
import type { KeyedRecord } from '../../../src/journals/kafka/requests.ts';
import { sender } from '../../../src/journals/kafka/sender.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { refusalOf, type Outcome } from '../../builders/kafka-refusals.ts';
import { manualSleep, settled } from '../../builders/manual-sleep.ts';

const topic = 'spans';
const record = (partition: number, text: string): KeyedRecord => ({
  key: undefined,
  value: Buffer.from(text),
  headers: new Map(),
  partition,
});

interface Sent {
  readonly partition: number;
  readonly value: Buffer;
}

/** A sender over one broker that takes this many bytes of a partition at once. Gzip halves them. */
function senderOf(bytesMax: number) {
  const taken: string[] = [];
  const faults: unknown[] = [];
  const own = sender({
    producer: {
      metadata: async () => ({ topics: new Map([[topic, { partitionsCount: 2, partitions: [{ leader: 1 }, { leader: 1 }] }]]) }),
      async send({ messages, compression }: { readonly messages: readonly Sent[]; readonly compression: string }) {
        const outcomes = new Map<number, Outcome>();
        for (const [partition, some] of Map.groupBy(messages, (message) => message.partition)) {
          const bytes = some.reduce((sum, { value }) => sum + value.length, 0) / (compression === 'gzip' ? 2 : 1);
          outcomes.set(partition, bytes > bytesMax ? 'too_large' : 'taken');
          if (bytes <= bytesMax) taken.push(...some.map(({ value }) => value.toString()));
        }
        if ([...outcomes.values()].includes('too_large')) throw refusalOf(outcomes);
      },
    } as never,
    topic,
    clock: manualClock(),
    sleep: manualSleep().sleep,
    waitingBytesMax: 1_000,
    faults: { failed: (error) => faults.push(error), answered: () => undefined },
  });
  return { ...own, taken, faults };
}

test('sender: records that are too large together go one by one, and one that is too large by itself refuses only its request', async () => {
  const { send, taken, faults } = senderOf(4);
  const first = send([record(0, 'a')]);
  const others = [[record(0, 'bbbbbb'), record(0, 'cccc')], [record(1, 'dddddddddd'), record(1, 'e')], [record(1, 'ffffff')]];
  const refusals = await Promise.all([first, ...others.map((records) => send(records))]);
  expect(refusals).toEqual([undefined, undefined, 'too_large', undefined]);
  expect(taken).toEqual(['a', 'bbbbbb', 'cccc', 'e', 'ffffff']);
  expect(faults).toEqual([]);
});

test('sender: where a record that is too large is left out, the others count as the whole request', async () => {
  const { send, taken } = senderOf(4);
  const left: string[] = [];
  const records = ['a', 'bbbbbbbbbb', 'c', 'dddddddddd'].map((text) => record(0, text));
  expect(await send(records, ({ value }) => left.push(value.toString()))).toBeUndefined();
  expect([taken, left]).toEqual([
    ['a', 'c'],
    ['bbbbbbbbbb', 'dddddddddd'],
  ]);
});

/** A sender over brokers that each lead the partition of their number. `broker` answers for one of them. */
function senderOver(broker: (node: number) => Promise<unknown>) {
  const [clock, faults, asked] = [manualClock(), [] as boolean[], [] as number[]];
  let leaders = [0, 1, 2];
  const own = sender({
    producer: {
      metadata: async () => ({ topics: new Map([[topic, { partitionsCount: 3, partitions: leaders.map((leader) => ({ leader })) }]]) }),
      async send({ messages }: { readonly messages: readonly Sent[] }) {
        const nodes = new Set(messages.map(({ partition }) => leaders[partition] ?? -1));
        expect(nodes.size).toBe(1);
        for (const node of nodes) {
          asked.push(node);
          await broker(node);
        }
      },
    } as never,
    topic,
    clock,
    sleep: (_ms, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
    waitingBytesMax: 1_000,
    faults: { failed: (_error, isAll) => faults.push(isAll ?? true), answered: () => undefined },
  });
  return { ...own, clock, faults, asked, lead: (nodes: number[]) => (leaders = nodes) };
}

test('sender: a broker that refuses fails the requests with a record for it, and one that is silent delays no others', async () => {
  const { send, faults } = senderOver((node) =>
    node === 0 ? new Promise(() => undefined) : node === 1 ? Promise.reject(new Error('away')) : Promise.resolve(),
  );
  const silent = send([record(0, 'a')]);
  expect(await Promise.all([send([record(1, 'b')]), send([record(2, 'c')]), send([record(2, 'd'), record(1, 'e')])])).toEqual([
    'failed',
    undefined,
    'failed',
  ]);
  expect(faults).toEqual([false]);
  expect(await Promise.race([silent, send([record(2, 'f')])])).toBeUndefined();
});

test('sender: a broker that failed gets one request to try, and the others are refused until it takes that one', async () => {
  let answer = Promise.withResolvers<void>();
  const { send, clock, asked, faults } = senderOver(() => answer.promise);
  answer.reject(new Error('away'));
  expect(await send([record(1, 'a')])).toBe('failed');
  expect(await send([record(1, 'b')])).toBe('failed');
  clock.advance(1_000);
  answer = Promise.withResolvers();
  const tried = send([record(1, 'c')]);
  expect(await send([record(1, 'd')])).toBe('failed');
  answer.resolve();
  expect(await tried).toBeUndefined();
  expect(await send([record(1, 'e')])).toBeUndefined();
  expect([asked, faults]).toEqual([[1, 1, 1], [false]]);
});

/** A sender over one broker of three partitions, with its answer about each one. `undefined`: the answer does not mention it. */
function senderApart(answer: (partition: number) => Outcome | undefined | Promise<Outcome>) {
  const [clock, faults, asked] = [manualClock(), [] as boolean[], [] as (readonly number[])[]];
  const answers: boolean[] = [];
  const own = sender({
    producer: {
      metadata: async () => ({ topics: new Map([[topic, { partitionsCount: 3, partitions: [1, 1, 1].map((leader) => ({ leader })) }]]) }),
      async send({ messages }: { readonly messages: readonly Sent[] }) {
        const partitions = [...new Set(messages.map(({ partition }) => partition))];
        asked.push(partitions);
        const outcomes = new Map<number, Outcome>();
        for (const partition of partitions) {
          const outcome = await answer(partition);
          if (outcome !== undefined) outcomes.set(partition, outcome);
        }
        if ([...outcomes.values()].some((outcome) => outcome !== 'taken')) throw refusalOf(outcomes, outcomes);
      },
    } as never,
    topic,
    clock,
    sleep: (_ms, signal) => new Promise((resolve) => signal?.addEventListener('abort', () => resolve())),
    waitingBytesMax: 1_000,
    faults: { failed: (_error, isAll) => faults.push(isAll ?? true), answered: (isAll) => answers.push(isAll ?? true) },
  });
  return { ...own, clock, faults, answers, asked };
}

test('sender: a partition that its broker refuses fails the requests with a record for it, and no others', async () => {
  const bad = new Set([1]);
  const { send, clock, asked, faults } = senderApart((partition) => (bad.has(partition) ? 'too_few_brokers' : 'taken'));
  const together = [[record(0, 'a')], [record(0, 'b'), record(1, 'c')], [record(1, 'd')], [record(2, 'e')]];
  expect(await Promise.all(together.map((records) => send(records)))).toEqual([undefined, 'failed', 'failed', undefined]);
  expect(await Promise.all([send([record(1, 'f')]), send([record(0, 'g')])])).toEqual(['failed', undefined]);
  clock.advance(1_000);
  // The try for it goes by itself.
  expect(await Promise.all([send([record(1, 'h')]), send([record(2, 'i')])])).toEqual(['failed', undefined]);
  bad.clear();
  clock.advance(1_000);
  expect(await send([record(1, 'j')])).toBeUndefined();
  expect(await send([record(0, 'k'), record(1, 'l')])).toBeUndefined();
  expect([asked, faults]).toEqual([[[0], [0, 1, 2], [0], [1], [2], [1], [0, 1]], [false]]);
});

test('sender: a partition that an answer with a refusal does not mention counts as refused', async () => {
  const outcomes: readonly (Outcome | undefined)[] = ['too_few_brokers', undefined, 'taken'];
  const { send } = senderApart((partition) => outcomes[partition]);
  // The first request is under way by itself, and the others go together.
  const requests = [[record(2, 'a')], [record(0, 'b')], [record(1, 'c')], [record(2, 'd')]];
  expect(await Promise.all(requests.map((records) => send(records)))).toEqual([undefined, 'failed', 'failed', undefined]);
});

test('sender: while no partition takes a record each refusal is a fault of all, until one takes some', async () => {
  const bad = new Set([0, 1, 2]);
  const { send, clock, faults, answers } = senderApart((partition) => (bad.has(partition) ? 'too_few_brokers' : 'taken'));
  for (const partition of bad) expect(await send([record(partition, 'a')])).toBe('failed');
  expect(faults).toEqual([false, false, true]);
  clock.advance(1_000);
  expect(await send([record(1, 'b')])).toBe('failed');
  expect([faults.at(-1), faults.length, answers]).toEqual([true, 4, []]);
  bad.delete(1);
  clock.advance(1_000);
  expect([await send([record(1, 'c')]), await send([record(2, 'd')])]).toEqual([undefined, 'failed']);
  expect([faults.length, answers]).toEqual([4, [false]]);
  bad.clear();
  clock.advance(1_000);
  for (const partition of [0, 2]) expect(await send([record(partition, 'e')])).toBeUndefined();
  expect(answers).toEqual([false, false, true]);
});

test('sender: a refused partition whose broker is silent about it delays no other', async () => {
  let outcome: Outcome | Promise<Outcome> = 'too_few_brokers';
  const { send, clock } = senderApart((partition) => (partition === 1 ? outcome : 'taken'));
  expect(await send([record(1, 'a')])).toBe('failed');
  clock.advance(1_000);
  outcome = new Promise(() => undefined);
  const tried = send([record(1, 'b')]);
  expect(await Promise.race([tried, send([record(0, 'c')])])).toBeUndefined();
  expect(await send([record(1, 'd')])).toBe('failed');
});

test('sender: records go to the new leader once the old one fails, and none goes to a partition without a leader', async () => {
  const { send, asked, lead, clock } = senderOver((node) => (node < 0 ? Promise.reject(new Error('no leader')) : Promise.resolve()));
  expect(await send([record(0, 'a')])).toBeUndefined();
  lead([0, -1, 2]);
  expect(await send([record(1, 'b')])).toBe('failed');
  await settled();
  expect(await send([record(1, 'c')])).toBe('failed');
  await settled();
  clock.advance(1_000);
  lead([0, 2, 2]);
  expect(await send([record(1, 'd')])).toBe('failed');
  await settled();
  expect(await send([record(1, 'e')])).toBeUndefined();
  expect(asked).toEqual([0, -1, 2]);
});

test('sender: without a broker that knows the topic requests are refused, and the fault is reported once', async () => {
  const faults: unknown[] = [];
  const clock = manualClock();
  let looks = 0;
  const { send } = sender({
    producer: { metadata: () => Promise.reject(new Error(`look ${++looks}`)), send: async () => undefined } as never,
    topic,
    clock,
    sleep: manualSleep().sleep,
    waitingBytesMax: 1_000,
    faults: { failed: (error, isAll) => faults.push([String(error), isAll]), answered: () => undefined },
  });
  expect(await Promise.all([send([record(0, 'a')]), send([record(1, 'b')])])).toEqual(['failed', 'failed']);
  expect(await send([record(0, 'c')])).toBe('failed');
  clock.advance(1_000);
  expect(await send([record(0, 'd')])).toBe('failed');
  expect([looks, faults]).toEqual([2, [['Error: look 1', true]]]);
});
