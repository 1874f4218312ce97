/** What the machine is asked for beside time. */
import { expect, test } from 'vitest';
import { machineMemory } from '../../src/service/node-runtime.ts';
import { eventually } from './running.ts';

const bytes = 200 * 1024 * 1024;

for (const often of [true, false]) {
  test(`machine: what comes from outside of the heap is let go in steps, ${often ? 'where the collector comes by often' : 'where it comes by rarely'}`, async () => {
    const memory = machineMemory();
    memory.collectOften(often);
    const pieces = Array.from({ length: 200 }, () => new ArrayBuffer(bytes / 200));
    // What these have begun is over.
    memory.collect();
    const before = process.memoryUsage().arrayBuffers;
    expect(before).toBeGreaterThanOrEqual(bytes);
    pieces.length = 0;
    memory.collectInSteps();
    await eventually(() => process.memoryUsage().arrayBuffers < before - bytes / 2 || undefined, 'most of it to be collected');
    memory.collectOften(true);
  });
}
