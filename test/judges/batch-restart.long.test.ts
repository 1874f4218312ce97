/** Batches across processes: a second room over the same SQLite file, as after a kill at each step. */
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { JudgeBatchStore } from '../../src/model/store/judge-store.ts';
import { manualClock } from '../../src/model/clock.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { closedLater, folder } from '../stores/members.ts';
import { batchHost, batchOf, good, question, type BatchHost, type HostOptions } from './batch-host.ts';
import { answerLine, batchServer, type BatchServer, type ServedBatch } from './batch-server.ts';
import { says } from './chat-server.ts';

let server: BatchServer;
let file: string;
beforeEach(async () => {
  server = await batchServer(says(good));
  file = join(folder(), 'tracejury.db');
});
afterEach(async () => {
  await server.close();
});

const clock = manualClock(Date.parse('2026-01-01T00:00:00Z'));
const all = ({ lines }: ServedBatch): string => lines.map(({ custom_id: id }) => answerLine(id, good)).join('\n');
const opened = async (): Promise<JudgeBatchStore> => closedLater(await sqliteStore(file)).judgeBatches;

/** A process over the file. The one before is not stopped: its work is just ignored. */
async function next(options: HostOptions = {}): Promise<BatchHost> {
  return await batchHost(server, { clock, store: await opened(), ...options });
}

test('batch: in progress at a kill, it is looked after by the next process, and a repeated question waits for it', async () => {
  const first = await next();
  first.ask('a');
  first.ask('b');
  const batch = await batchOf(first, server);
  await first.room.stop();

  const second = await next();
  const asked = second.ask('a');
  server.finish(batch, { output: all(batch) });
  expect(await second.until(() => asked.told(), 'an answer')).toMatchObject({ kind: 'answered', value: { yes: true }, batched: true });
  // A process that comes back later finds the answers of the meantime.
  const late = second.ask('b');
  expect(await late.answer).toEqual({ kind: 'answered', value: { yes: true }, truncated: false, model: 'm' });
  expect([server.batches.length, server.direct, second.counts('tracejury.judge.batch.questions')]).toEqual([
    1,
    [],
    { answered: 1, known: 1 },
  ]);
});

test('batch: answers of a first round are there for the process after the next one, which asks only the second round', async () => {
  const first = await next();
  const round = first.ask('a');
  const batch = await batchOf(first, server);
  server.finish(batch, { output: all(batch) });
  await first.until(() => round.told(), 'the first round');
  await first.room.stop();

  const second = await next();
  expect(await second.ask('a').answer).toMatchObject({ kind: 'answered' });
  second.ask('a', { ...question, id: 'second' });
  const later = await batchOf(second, server, 2);
  expect(later.lines).toHaveLength(1);
});

/** A store in which one step fails as if the process had died there. */
function dyingAt(step: 'submitted' | 'end', store: JudgeBatchStore): JudgeBatchStore {
  return { ...store, [step]: async () => Promise.reject(new Error('it died')) };
}

test('batch: created and never noted, it is found by our id and not made twice', async () => {
  const first = await next({ store: dyingAt('submitted', await opened()) });
  first.ask('a');
  const batch = await batchOf(first, server);
  await first.until(() => first.faults[0], 'the fault');
  await first.room.stop();

  const second = await next();
  const asked = second.ask('a');
  server.finish(batch, { output: all(batch) });
  expect(await second.until(() => asked.told(), 'an answer')).toMatchObject({ kind: 'answered', batched: true });
  expect([server.batches.length, second.counts('tracejury.judge.batches')]).toEqual([1, { adopted: 1, done: 1 }]);
});

test('batch: noted and never created, it is asked for once more, not before a request of the dead process could have arrived', async () => {
  const first = await next({ judge: { timeoutMs: 60_000 } });
  // Never answered: the first process dies in the middle of it.
  server.instead = ({ path }) => path.startsWith('/files');
  first.ask('a');
  await first.until(() => (server.seen.includes('POST /files') ? true : undefined), 'an upload');
  server.instead = undefined;

  const second = await next();
  const since = clock.nowMs();
  const asked = second.ask('a');
  const batch = await batchOf(second, server);
  expect(clock.nowMs() - since).toBeGreaterThan(40_000);
  server.finish(batch, { output: all(batch) });
  expect(await second.until(() => asked.told(), 'an answer')).toMatchObject({ kind: 'answered' });
  expect([server.batches.length, server.direct]).toEqual([1, []]);
});

test('batch: answered and never noted, its answers are fetched again', async () => {
  const first = await next({ store: dyingAt('end', await opened()) });
  first.ask('a');
  const batch = await batchOf(first, server);
  server.finish(batch, { output: all(batch) });
  await first.until(() => first.faults[0], 'the fault');
  await first.room.stop();

  const second = await next();
  const asked = second.ask('a');
  expect(await second.until(() => asked.told(), 'an answer')).toMatchObject({ kind: 'answered' });
  expect([server.batches.length, server.direct]).toEqual([1, []]);
});

test('batch: one of another model or endpoint is let go', async () => {
  const first = await next();
  first.ask('a');
  await batchOf(first, server);
  await first.room.stop();

  const second = await next({ judge: { model: 'another' } });
  expect(await second.unfinished()).toEqual([]);
  second.ask('a');
  expect((await batchOf(second, server, 2)).lines[0]?.body.model).toBe('another');
});

test('batch: an answer that may not be in the store is used and not kept', async () => {
  const first = await next({ mayLie: (text) => !text.includes('secret') });
  const words = { ...question, answerSchema: { type: 'object', required: ['word'], properties: { word: { type: 'string' } } } };
  const asked = [first.ask('a', words), first.ask('b', words), first.ask('c', words)];
  const batch = await batchOf(first, server);
  // The second one is the same word, written otherwise.
  const answers = ['{"word":"secret"}', '{"word":"se\\u0063ret"}', '{"word":"plain"}'];
  server.finish(batch, { output: batch.lines.map(({ custom_id: id }, at) => answerLine(id, answers[at] ?? '')).join('\n') });
  await first.until(() => (asked.every((one) => one.told() !== undefined) ? true : undefined), 'answers');
  expect(asked.map((one) => one.told())).toMatchObject([
    { value: { word: 'secret' } },
    { value: { word: 'secret' } },
    { value: { word: 'plain' } },
  ]);
  const kept = await first.store.find(batch.lines.map(({ custom_id: id }) => id));
  expect([...kept.values()]).toEqual([{ kind: 'answered', text: '{"word":"plain"}' }]);
});
