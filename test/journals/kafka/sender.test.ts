/** How records reach the brokers. */
import { expect, test } from 'vitest';
import type { KeyedRecord } from '../../../src/journals/kafka/requests.ts';
import { sender } from '../../../src/journals/kafka/sender.ts';
import { manualClock } from '../../../src/model/clock.ts';
import { manualSleep } from '../../builders/manual-sleep.ts';

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

/** A sender over one broker that takes so many bytes of a partition at once. Gzip halves them. */
function senderOf(bytesMax: number) {
  const taken: string[] = [];
  const faults: unknown[] = [];
  const own = sender({
    producer: {
      metadata: async () => ({ topics: new Map([[topic, { partitionsCount: 2 }]]) }),
      async send({ messages, compression }: { readonly messages: readonly Sent[]; readonly compression: string }) {
        const bytes = messages.reduce((sum, { value }) => sum + value.length, 0) / (compression === 'gzip' ? 2 : 1);
        if (bytes > bytesMax) throw Object.assign(new Error('too large'), { apiId: 'MESSAGE_TOO_LARGE' });
        taken.push(...messages.map(({ value }) => value.toString()));
      },
    } as never,
    topic,
    clock: manualClock(),
    sleep: manualSleep().sleep,
    waitingBytesMax: 1_000,
    onFault: (error) => faults.push(error),
  });
  return { ...own, taken, faults };
}

test('sender: records that are too large together go one by one, and the ones that are too large by themselves refuse their requests alone', async () => {
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
