/** The signs of life of processes on one store, and the tasks that one of them does at a time. */
import { describe, expect, test } from 'vitest';
import type { Replica } from '../../src/model/store/replica-store.ts';
import { members, open } from './members.ts';

const secondMicros = 1_000_000;
const at = (seconds: number): number => 1_795_651_200_000_000 + seconds * secondMicros;
const lease = (owner: string, seconds: number) => ({ owner, now: at(seconds), until: at(seconds + 30) });
const replica = (id: string, seenAt: number): Replica => ({
  id,
  host: `host-${id}`,
  version: '1.0.0',
  configuration: 'abc',
  startedAt: at(0),
  seenAt,
  skew: undefined,
});

describe.each(members)('%s', (member) => {
  test('replica store: a task has one owner, until its lease is over', async () => {
    const { replicas } = await open(member);
    expect(await replicas.hold(['alerts', 'sums'], lease('a', 0))).toEqual(['alerts', 'sums']);
    expect(await replicas.hold(['alerts', 'drift'], lease('b', 1))).toEqual(['drift']);
    expect(await replicas.tasks(at(2))).toEqual([
      { name: 'alerts', owner: 'a' },
      { name: 'drift', owner: 'b' },
      { name: 'sums', owner: 'a' },
    ]);
    expect(await replicas.hold(['alerts'], lease('a', 20))).toEqual(['alerts']);
    expect(await replicas.hold(['alerts', 'sums'], lease('b', 31))).toEqual(['sums']);
    expect(await replicas.hold(['alerts', 'sums'], lease('b', 51))).toEqual(['alerts', 'sums']);
    expect(await replicas.hold(['alerts'], lease('a', 52))).toEqual([]);
    expect(await replicas.hold([], lease('a', 53))).toEqual([]);
  });

  test('replica store: a process that leaves frees its tasks at once', async () => {
    const { replicas } = await open(member);
    await replicas.seen(replica('a', at(0)), at(-60));
    await replicas.hold(['alerts'], lease('a', 0));
    await replicas.left('a');
    expect([await replicas.list(), await replicas.tasks(at(0))]).toEqual([[], []]);
    expect(await replicas.hold(['alerts'], lease('b', 1))).toEqual(['alerts']);
  });

  test('replica store: each process has one row with its last sign of life, and old rows go', async () => {
    const { replicas } = await open(member);
    await replicas.seen(replica('a', at(0)), at(-60));
    await replicas.seen({ ...replica('b', at(1)), startedAt: at(1) }, at(-60));
    const changed = { ...replica('b', at(50)), startedAt: at(1), configuration: 'def', skew: -2_500 };
    await replicas.seen(changed, at(-60));
    expect(await replicas.list()).toEqual([replica('a', at(0)), changed]);
    expect(await replicas.time(at(50))).toBe(at(50));
    await replicas.seen({ ...replica('b', at(70)), startedAt: at(1) }, at(10));
    expect((await replicas.list()).map(({ id }) => id)).toEqual(['b']);
  });
});
