import { expect, test } from 'vitest';
import { journals } from '../../src/journals/index.ts';
import { memoryRecords } from '../../src/journals/memory.ts';
import { journalContract } from './contract.ts';
import { recordOf, testParts } from './parts.ts';

journalContract('memory', async () => {
  const memory = memoryRecords();
  return { open: (settings, parts) => journals.memory(settings, parts, memory) };
});

test('a journal in memory holds no more than its part of the memory, however much the disk might take', async () => {
  const journal = await journals.memory({ folder: '', bytesMax: 2 ** 32, memoryBytesMax: 64 * 1024 }, testParts());
  const kinds = new Set<string>();
  for (let id = 0; id < 100; id++) kinds.add((await journal.append(recordOf(id, 1024))).kind);
  expect([...kinds]).toEqual(['appended', 'refused']);
  expect(journal.bytesUsed()).toBeLessThanOrEqual(64 * 1024);
  expect(journal.bytesMax).toBe(64 * 1024);
});

test('a journal in memory frees requests that are no longer needed, also behind one that is', async () => {
  const journal = await journals.memory({ folder: '', bytesMax: 2 ** 20 }, testParts());
  const released: number[] = [];
  const positions = [];
  for (let id = 0; id < 4; id++) {
    const bodyMemory = { retain: () => undefined, release: () => void released.push(id), keep: () => undefined };
    const appended = await journal.append({ ...recordOf(id, 1024), bodyMemory });
    if (appended.kind === 'appended') positions.push(appended.position);
  }
  const before = journal.bytesUsed();
  const [first, , third] = positions;
  journal.commit(journal.oldest(), (position) => position === first || position === third);
  expect(released).toEqual([1, 3]);
  expect(journal.bytesUsed()).toBe(before / 2);
  const left = [];
  for await (const { position } of journal.read(journal.oldest())) left.push(position);
  expect(left).toEqual([first, third]);
});
