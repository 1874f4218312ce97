import { expect, test } from 'vitest';
import { contained } from '../../src/runtime/contained.ts';

const fault = new Error('mine');

for (const [name, work, want] of [
  [
    'a throw',
    () => {
      throw fault;
    },
    [fault],
  ],
  [
    'a rejected promise',
    async () => {
      throw fault;
    },
    [fault],
  ],
  ['a thenable that rejects', () => ({ then: (_: unknown, reject: (error: unknown) => void) => reject(fault) }), [fault]],
  [
    'an object whose then throws',
    () => ({
      get then() {
        throw fault;
      },
    }),
    [fault],
  ],
  ['a value', () => 1, []],
  ['a promise that resolves', async () => 1, []],
] satisfies [string, () => unknown, readonly Error[]][])
  test(`contained: ${name} reaches the fault handler ${want.length} times, and never the caller`, async () => {
    const faults: unknown[] = [];
    contained(work, (error) => faults.push(error));
    await new Promise((resolve) => setImmediate(resolve));
    expect(faults).toEqual(want);
  });
