/** The heap against a list that is searched from end to end. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { deadlines, type Deadlines } from '../../src/runtime/deadline-queue.ts';

interface Step {
  readonly kind: 'set' | 'remove' | 'takeDue';
  readonly key: number;
  readonly atMs: number;
}

const step = fc.record<Step>({ kind: fc.constantFrom('set', 'set', 'set', 'remove', 'takeDue'), key: fc.nat(12), atMs: fc.nat(20) });

describe('deadlines', () => {
  test('deadlines: any sequence of steps gives what a plain list gives', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const heap = deadlines<number>();
        const list = listOfDeadlines();
        for (const one of steps) {
          expect(apply(heap, one)).toBe(apply(list, one));
          expect(heap.nextMs()).toBe(list.nextMs());
        }
      }),
    );
  });

  test('deadlines: everything set comes out once, the earliest first', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { maxLength: 300 }), (times) => {
        const heap = deadlines<number>();
        for (const [key, atMs] of times.entries()) heap.set(key, atMs);
        const out: number[] = [];
        for (let key = heap.takeDue(1_000); key !== undefined; key = heap.takeDue(1_000)) out.push(times[key] ?? -1);
        expect(out).toEqual([...times].sort((a, b) => a - b));
        expect(heap.nextMs()).toBeUndefined();
      }),
    );
  });

  test('deadlines: a key that was moved or removed does not come out for an earlier setting', () => {
    const heap = deadlines<string>();
    heap.set('a', 10);
    for (let atMs = 20; atMs < 20_000; atMs++) heap.set('b', atMs);
    heap.remove('b');
    heap.remove('never set');
    expect([heap.takeDue(9), heap.takeDue(30_000), heap.takeDue(30_000)]).toEqual([undefined, 'a', undefined]);
  });
});

function apply(to: Deadlines<number>, { kind, key, atMs }: Step): number | undefined {
  if (kind === 'takeDue') return to.takeDue(atMs);
  if (kind === 'set') to.set(key, atMs);
  else to.remove(key);
  return undefined;
}

function listOfDeadlines(): Deadlines<number> {
  const entries: { readonly key: number; readonly atMs: number }[] = [];
  const remove = (key: number): void => {
    const at = entries.findIndex((entry) => entry.key === key);
    if (at !== -1) entries.splice(at, 1);
  };
  const first = (): { readonly key: number; readonly atMs: number } | undefined => entries.toSorted((a, b) => a.atMs - b.atMs)[0];
  return {
    set(key, atMs) {
      if (entries.find((entry) => entry.key === key)?.atMs === atMs) return;
      remove(key);
      entries.push({ key, atMs });
    },
    remove,
    takeDue(nowMs) {
      const found = first();
      if (found === undefined || found.atMs > nowMs) return undefined;
      remove(found.key);
      return found.key;
    },
    nextMs: () => first()?.atMs,
  };
}
