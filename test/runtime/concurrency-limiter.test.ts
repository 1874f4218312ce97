import { expect, test } from 'vitest';
import { concurrencyLimiter, type Lend } from '../../src/runtime/concurrency-limiter.ts';
import { settled } from '../builders/manual-sleep.ts';

function bench({ slots = 1, waitingMax = 1 }: { readonly slots?: number; readonly waitingMax?: number } = {}) {
  const options = { slots };
  const limiter = concurrencyLimiter({ concurrency: () => options.slots, waitingMax });
  const inside: (() => void)[] = [];
  const ends: string[] = [];
  const run = (name: string, work: (lend: Lend) => Promise<string> = () => new Promise((resolve) => inside.push(() => resolve('in')))) => {
    void limiter.run(work).then((end) => ends.push(`${name}:${end ?? 'rejected'}`));
    return settled();
  };
  /** Lends its slot until the test lets it go on. */
  const lender = (name: string) => {
    const wait = Promise.withResolvers<void>();
    const begun = run(name, async (lend) => {
      await lend(() => wait.promise);
      return await new Promise((resolve) => inside.push(() => resolve('in')));
    });
    return {
      begun,
      goOn: () => {
        wait.resolve();
        return settled();
      },
    };
  };
  const finish = () => {
    inside.shift()?.();
    return settled();
  };
  return { limiter, options, inside, ends, run, lender, finish };
}

test('concurrency limiter: one runs, one waits, the next is rejected', async () => {
  const { inside, ends, run, finish } = bench();
  for (const name of ['a', 'b', 'c']) await run(name);
  expect([inside.length, ends]).toEqual([1, ['c:rejected']]);
  for (let at = 0; at < 2; at++) await finish();
  expect(ends).toEqual(['c:rejected', 'a:in', 'b:in']);
  await run('d');
  expect(inside).toHaveLength(1);
});

test('concurrency limiter: work that throws gives its slot back', async () => {
  const { limiter, inside, run } = bench();
  await expect(limiter.run(() => Promise.reject(new RangeError('x')))).rejects.toThrow('x');
  await run('a');
  expect(inside).toHaveLength(1);
});

test('concurrency limiter: a wait that throws while the slot is lent takes the slot again', async () => {
  const { limiter, inside, run } = bench();
  await expect(limiter.run((lend) => lend(() => Promise.reject(new RangeError('x'))))).rejects.toThrow('x');
  await run('a');
  await run('b');
  expect(inside).toHaveLength(1);
});

test('concurrency limiter: closing rejects what waits and what comes, and lets what has begun end', async () => {
  const { limiter, ends, run, lender, finish } = bench();
  const lent = lender('lent');
  await lent.begun;
  await run('a');
  await run('b');
  await lent.goOn();
  limiter.close();
  await run('c');
  expect(ends.toSorted()).toEqual(['b:rejected', 'c:rejected']);
  for (let at = 0; at < 2; at++) await finish();
  expect(ends.slice(2).toSorted()).toEqual(['a:in', 'lent:in']);
});

test('concurrency limiter: a lent slot goes to what waits, and its owner is the next to have one', async () => {
  const { inside, ends, run, lender, finish } = bench({ waitingMax: 9 });
  const lent = lender('lent');
  await lent.begun;
  for (const name of ['a', 'b']) await run(name);
  expect(inside).toHaveLength(1);
  await lent.goOn();
  expect(inside).toHaveLength(1);
  for (let at = 0; at < 3; at++) await finish();
  expect(ends).toEqual(['a:in', 'lent:in', 'b:in']);
});

test('concurrency limiter: another number of slots holds from the next admission on', async () => {
  const { options, inside, run, finish } = bench({ waitingMax: 9 });
  for (const name of ['a', 'b', 'c']) await run(name);
  options.slots = 3;
  await run('d');
  expect(inside).toHaveLength(3);
  options.slots = 1;
  await finish();
  await finish();
  expect(inside).toHaveLength(1);
});
