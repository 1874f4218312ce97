import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { collectOnGrowth, garbageCollector } from '../../src/stores/garbage.ts';

interface Row {
  readonly name: string;
  /** Bytes at the start, and then at each call. */
  readonly bytes: readonly [number, ...number[]];
  /** Bytes that a collection leaves. */
  readonly left: number;
  /** Numbers of the calls that collect. */
  readonly collects: readonly number[];
}

const rows: readonly Row[] = [
  { name: 'growth below the bound collects nothing', bytes: [50, 100, 149], left: 50, collects: [] },
  { name: 'growth to the bound collects', bytes: [50, 149, 150, 149], left: 50, collects: [2] },
  { name: 'growth counts from the fewest bytes', bytes: [500, 20, 119, 120], left: 20, collects: [3] },
  { name: 'bytes that survive a collection count for the next one', bytes: [0, 100, 199, 200], left: 100, collects: [1, 3] },
];

describe('collecting on growth', () => {
  test.each(rows)('$name', ({ bytes, left, collects }) => {
    let now = bytes[0];
    const collected: number[] = [];
    let call = 0;
    const tidy = collectOnGrowth({
      bytes: () => now,
      growthMax: 100,
      collect() {
        collected.push(call);
        now = left;
      },
    });
    for (const next of bytes.slice(1)) {
      call++;
      now = next;
      tidy();
    }
    expect(collected).toEqual(collects);
  });

  test('the collector of a thread frees what nothing reads', async () => {
    const garbage = new WeakRef({});
    // A reference keeps its target until the turn ends.
    await turn();
    garbageCollector()();
    expect(garbage.deref()).toBeUndefined();
  });
});
