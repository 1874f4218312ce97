/** Processes that share a store: one of them looks after a batch, and another one takes it over when that one is dead. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { leaseMs } from '../../../src/model/store/lease.ts';
import { memoryStore } from '../../builders/memory-store.ts';
import { batchHost, batchOf, good } from '../batch-host.ts';
import { answerLine, batchServer, type BatchServer, type ServedBatch } from '../batch-server.ts';
import { says } from '../chat-server.ts';

let server: BatchServer;
beforeEach(async () => {
  server = await batchServer(says(good));
});
afterEach(async () => {
  await server.close();
});

const output = ({ lines }: ServedBatch): { readonly output: string } => ({
  output: lines.map(({ custom_id: id }) => answerLine(id, good)).join('\n'),
});
const looks = (): number => server.seen.filter((one) => one.startsWith('GET /batches/')).length;

async function two() {
  const store = (await memoryStore()).judgeBatches;
  const clock = manualClock(Date.parse('2026-01-01T00:00:00Z'));
  const begun = (owner: string) => batchHost(server, { store, clock, owner });
  return { store, clock, begun, first: await begun('one') };
}

test('batch of replicas: a process does not touch the batch of a living one, and waits for its answers', async () => {
  const { begun, first } = await two();
  const asked = first.ask('a');
  const batch = await batchOf(first, server);
  const second = await begun('other');
  const again = second.ask('a');
  const before = looks();
  // Both live: each renews, and the second one finds nothing to take.
  for (let turns = 0; turns < 40; turns++) {
    const [own, others] = [first.clock.nowMs(), looks()];
    await second.until(() => (second.clock.nowMs() > own ? true : undefined), 'a turn of the second one');
    expect(looks()).toBe(others);
    await first.until(() => (looks() > others ? true : undefined), 'a look of the first one');
  }
  expect(looks()).toBeGreaterThan(before);
  server.finish(batch, output(batch));
  await first.until(() => asked.told(), 'the answer');
  expect(await second.until(() => again.told(), 'the same answer')).toMatchObject({ kind: 'answered', value: { yes: true } });
  expect([server.batches.length, server.direct.length]).toEqual([1, 0]);
  expect(second.counts('tracejury.judge.batch.questions')).toEqual({ known: 1 });
});

test('batch of replicas: the batch of a dead process is taken over after its lease, with who waits for it', async () => {
  const { begun, first, clock } = await two();
  first.ask('a');
  const batch = await batchOf(first, server);
  const second = await begun('other');
  const again = second.ask('a');
  const sinceMs = clock.nowMs();
  server.finish(batch, output(batch));
  expect(await second.until(() => again.told(), 'the answer')).toMatchObject({ kind: 'answered', batched: true, value: { yes: true } });
  expect(clock.nowMs() - sinceMs).toBeGreaterThan(leaseMs / 2);
  expect([server.batches.length, server.direct.length, await second.unfinished()]).toEqual([1, 0, []]);
});

test('batch of replicas: a process that stood still leaves the batch to the one that has taken it', async () => {
  const { begun, first } = await two();
  const asked = first.ask('a');
  const batch = await batchOf(first, server);
  const second = await begun('other');
  const before = looks();
  await second.until(() => (looks() > before ? true : undefined), 'a look of the second one');
  server.finish(batch, output(batch));
  await second.until(() => (server.files.size === 0 ? true : undefined), 'the end of the batch');
  expect(await first.until(() => asked.told(), 'the answer')).toMatchObject({ kind: 'answered', value: { yes: true } });
  expect([server.batches.length, server.direct.length]).toEqual([1, 0]);
  expect(server.seen.filter((one) => one.startsWith('DELETE /files/')).length).toBe(2);
});

test('batch of replicas: a question whose batch ends elsewhere without an answer goes into a batch here', async () => {
  const { store, begun, first } = await two();
  first.ask('a');
  await batchOf(first, server);
  const second = await begun('other');
  const again = second.ask('a');
  for (const { id } of (await first.unfinished()) as readonly { readonly id: string }[]) await store.end(id, [], 0);
  const next = await batchOf(second, server, 2);
  server.finish(next, output(next));
  expect(await second.until(() => again.told(), 'the answer')).toMatchObject({ kind: 'answered', batched: true });
  expect(server.direct).toEqual([]);
});

test('batch of replicas: a process with another model does not touch the batches of living ones', async () => {
  const { store, clock, first } = await two();
  const asked = first.ask('a');
  const batch = await batchOf(first, server);
  await batchHost(server, { store, clock, owner: 'other', judge: { model: 'another' } });
  server.finish(batch, output(batch));
  expect(await first.until(() => asked.told(), 'the answer')).toMatchObject({ kind: 'answered', batched: true });
});

test('batch of replicas: the judge that a reload gives another model leaves the batch of the one before to it', async () => {
  const { store, clock, first } = await two();
  const asked = first.ask('a');
  const batch = await batchOf(first, server);
  await batchHost(server, { store, clock, owner: 'one', judge: { model: 'another' }, isReload: true });
  const before = looks();
  await first.until(() => (looks() >= before + 20 ? true : undefined), 'turns that renew the lease');
  server.finish(batch, output(batch));
  expect(await first.until(() => asked.told(), 'the answer')).toMatchObject({ kind: 'answered', batched: true });
  expect([server.batches.length, server.direct.length]).toEqual([1, 0]);
});
