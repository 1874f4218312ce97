import { expect, test } from 'vitest';
import { handedOver } from '../../src/journals/hand-over.ts';
import type { FinishedTrace } from '../../src/pipeline/gathering/journal-references.ts';

const trace = { keys: ['a', 'b'], positions: [4, 7] };
const part = (text: string) => ({ signal: 'traces', encoding: 'protobuf', bytes: Buffer.from(text) }) as const;
/** A request at each position, with a part of each trace. */
const requestsOf = async ({ keys, positions }: FinishedTrace) =>
  positions.flatMap((position) => keys.map((key) => ({ key, part: part(`${key}${position}`) })));

/** The offered traces, and their outcomes. */
async function offered(
  answer: (text: string, offers: number) => boolean,
  { isStopped = false, bytesAt = () => 2 }: { readonly isStopped?: boolean; readonly bytesAt?: (position: number) => number } = {},
) {
  const texts: string[] = [];
  const reads: (readonly number[])[] = [];
  const end = handedOver(trace, {
    requestsOf(of) {
      reads.push(of.positions);
      return requestsOf(of);
    },
    async handOver(_, { bytes }) {
      texts.push(bytes.toString());
      return answer(bytes.toString(), texts.length);
    },
    bytesAt: async (position) => bytesAt(position),
    isStopped: () => isStopped,
    sleep: async () => undefined,
  });
  const never = new Promise((resolve) => setImmediate(() => resolve('waits')));
  return { outcome: await Promise.race([end, never]), texts, reads };
}

test('hand over: each request of a trace is read once for all of its keys', async () => {
  const { outcome, texts, reads } = await offered(() => true);
  expect([outcome, texts, reads]).toEqual([true, ['a4', 'b4', 'a7', 'b7'], [[4], [7]]]);
});

test('hand over: after a failure it goes on with what was not sent', async () => {
  const { outcome, texts } = await offered((text, offers) => {
    if (text === 'a7' && offers < 6) throw new Error('away');
    return true;
  });
  expect([outcome, texts]).toEqual([true, ['a4', 'b4', 'a7', 'a7', 'a7', 'a7', 'b7']]);
});

test('hand over: a trace with a part that cannot be taken stays', async () => {
  const { outcome, texts } = await offered((text) => text !== 'b4');
  expect([outcome, texts]).toEqual([false, ['a4', 'b4']]);
});

test('hand over: after a stop the next owner hands the trace over', async () => {
  const refuse = (): boolean => {
    throw new Error('away');
  };
  expect(await offered(refuse, { isStopped: true })).toMatchObject({ outcome: 'waits', texts: ['a4'] });
});

test('hand over: the largest request goes first, so that nothing is sent of a trace that cannot be taken', async () => {
  const { outcome, texts } = await offered((text) => text !== 'a7', { bytesAt: (position) => position });
  expect([outcome, texts]).toEqual([false, ['a7']]);
});
