import { expect, test } from 'vitest';
import { runInTurns, runSteps, type Steps } from '../../src/runtime/cooperative.ts';

function* threeSteps(log: string[]): Steps<string> {
  for (const step of ['one', 'two']) {
    log.push(step);
    yield;
  }
  return 'done';
}

test('cooperative: all steps at once', () => {
  const log: string[] = [];
  expect([runSteps(threeSteps(log)), log]).toEqual(['done', ['one', 'two']]);
});

test('cooperative: a turn between two steps, and none after the last', async () => {
  const log: string[] = [];
  const result = await runInTurns(threeSteps(log), async () => void log.push('turn'));
  expect([result, log]).toEqual(['done', ['one', 'turn', 'two', 'turn']]);
});

test('cooperative: a turn that rejects ends the work', async () => {
  const log: string[] = [];
  await expect(runInTurns(threeSteps(log), () => Promise.reject(new RangeError('gone')))).rejects.toThrow('gone');
  expect(log).toEqual(['one']);
});
