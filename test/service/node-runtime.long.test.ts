/** Calls to the machine beside the clock. */
import { readdirSync, readFileSync } from 'node:fs';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { lowerThreadPriorities, machineMemory } from '../../src/service/node-runtime.ts';
import { serviceFolder } from './process.ts';
import { eventually } from './running.ts';

const bytes = 200 * 1024 * 1024;

for (const often of [true, false]) {
  test(`machine: what comes from outside of the heap is let go in steps, ${often ? 'where the collector comes by often' : 'where it comes by rarely'}`, async () => {
    const memory = machineMemory();
    memory.collectOften(often);
    const pieces = Array.from({ length: 200 }, () => new ArrayBuffer(bytes / 200));
    // The work that these began is over.
    memory.collect();
    const before = process.memoryUsage().arrayBuffers;
    expect(before).toBeGreaterThanOrEqual(bytes);
    pieces.length = 0;
    memory.collectInSteps();
    await eventually(() => process.memoryUsage().arrayBuffers < before - bytes / 2 || undefined, 'most of it to be collected');
    memory.collectOften(true);
  });
}

// Priorities of the service's threads.

/** All threads of a process, by name; a thread that ends meanwhile is left out. */
function priorities(pid: number): ReadonlyMap<string, ReadonlySet<number>> {
  const found = new Map<string, Set<number>>();
  for (const id of readdirSync(`/proc/${pid}/task`)) {
    const [, name = '', rest = ''] = /\((.*)\) (.*)/s.exec(readFileSync(`/proc/${pid}/task/${id}/stat`, 'utf8')) ?? [];
    // The nineteenth field; two stand before the rest.
    const nice = Number(rest.split(' ')[16]);
    found.set(name, (found.get(name) ?? new Set()).add(nice));
  }
  return found;
}

test('threads: where the system knows a priority of each, the collector and the compiler give way to all others', async () => {
  if (process.platform !== 'linux') return elsewhere();
  const folder = serviceFolder();
  try {
    const { pid } = await folder.start();
    const isLater = (name: string): boolean => name === 'V8Worker';
    const told = await eventually(() => {
      const now = priorities(pid);
      const [own = 0] = now.get('MainThread') ?? [];
      return [...now].every(([name, all]) => !isLater(name) || [...all].every((nice) => nice === Math.min(19, own + 5))) ? now : undefined;
    }, 'they give way');
    expect([...told.keys()]).toEqual(expect.arrayContaining(['MainThread', 'V8Worker', 'tracejury-store', 'libuv-worker']));
    for (const [name, nices] of told) if (!isLater(name)) expect([name, ...nices]).toEqual([name, ...(told.get('MainThread') ?? [])]);
  } finally {
    await folder.remove();
  }
});

function elsewhere(): void {
  const before = getPriority();
  lowerThreadPriorities();
  expect(getPriority()).toBe(before);
}
