/** The live list, asked over HTTP of a whole service. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { liveRoutes } from '../../../src/web/api/live.ts';
import type { ApiDeps } from '../../../src/web/api/route.ts';
import { memoryStore } from '../../builders/memory-store.ts';
import { scoredRun } from '../../builders/scored-run.ts';
import { nth } from '../../stores/numbered.ts';
import { live } from '../../service/live-stream.ts';
import { eventually, running, sendAgentRun, type Running } from '../../service/running.ts';

const auth = (letter: string): { readonly authorization: string } => ({ authorization: `Bearer ${letter.repeat(24)}` });
/** Has two tokens, and the first sees one tenant. */
let guarded: Running;
let service: Running;
beforeAll(async () => {
  service = await running('');
  guarded = await running('', {
    tokens:
      '[ { name: a, value: aaaaaaaaaaaaaaaaaaaaaaaa, may: [ingest, read], sees: own }, { name: b, value: bbbbbbbbbbbbbbbbbbbbbbbb, may: [ingest, read] } ]',
  });
});
afterAll(() => Promise.all([service.stop(), guarded.stop()]));

test('live: runs come once they are stored, as rows of the list, by the filter', async () => {
  const [all, failing] = [await live(service), await live(service, '?verdict=fail&agent=shipping')];
  await sendAgentRun(service.otlp, { agent: 'billing', fails: true });
  await sendAgentRun(service.otlp, { agent: 'shipping', fails: false });
  const sent = await sendAgentRun(service.otlp, { agent: 'shipping', fails: true });
  const row = await failing.next('run');
  expect(row).toMatchObject({ trace_id: sent.traceId, agent: 'shipping', labels: [] });
  const { runs } = (await (await fetch(`${service.console}/api/v1/runs?trace=${sent.traceId}`)).json()) as {
    readonly runs: readonly unknown[];
  };
  expect([row]).toEqual(runs);
  const agents = [await all.next('run'), await all.next('run'), await all.next('run')].map(({ agent }) => String(agent));
  expect(agents.toSorted()).toEqual(['billing', 'shipping', 'shipping']);
  expect(failing.seen().match(/event: run/g)).toHaveLength(1);
});

test('live: a client that comes again goes on behind its last event', async () => {
  const first = await live(service);
  await sendAgentRun(service.otlp, { agent: 'billing' });
  await first.next('run');
  const [, id = ''] = /id: (\d+)/.exec(first.seen()) ?? [];
  await sendAgentRun(service.otlp, { agent: 'shipping' });
  await first.next('run');
  const again = await live(service, '', { 'last-event-id': id });
  expect(await again.next('run')).toMatchObject({ agent: 'shipping' });
});

test('live: of more runs than come at once the last ones come, behind the number of the others', async () => {
  const store = await memoryStore();
  const source = liveRoutes[0]?.events?.({ store } as unknown as ApiDeps, {}, undefined);
  await source?.next();
  await store.write(Array.from({ length: 105 }, (_, at) => scoredRun({}, nth(at))));
  const events = (await source?.next()) ?? [];
  expect(events[0]).toEqual({ event: 'lag', data: { left_out: 5 } });
  expect(events.slice(1).map(({ event }) => event)).toEqual(Array.from({ length: 100 }, () => 'run'));
  expect(events.map(({ id }) => id !== undefined)).toEqual(events.map((_, at) => at === events.length - 1));
  expect(await source?.next()).toEqual([]);
  await store.stop();
});

test('live: a token that sees its own tenant gets the runs of that tenant', async () => {
  const [own, all] = [await live(guarded, '', auth('a')), await live(guarded, '', auth('b'))];
  await sendAgentRun(guarded.otlp, { agent: 'of b', headers: auth('b') });
  await sendAgentRun(guarded.otlp, { agent: 'of a', headers: auth('a') });
  expect(await own.next('run')).toMatchObject({ tenant: 'a', agent: 'of a' });
  expect([await all.next('run'), await all.next('run')].map(({ tenant }) => String(tenant)).toSorted()).toEqual(['a', 'b']);
  expect(own.seen()).not.toContain('of b');
  expect((await fetch(`${guarded.console}/api/v1/runs/live`)).status).toBe(401);
  expect((await fetch(`${guarded.console}/api/v1/runs/live?tenant=b`, { headers: auth('a') })).status).toBe(403);
});

test('live: streams take no room from other answers, have separate bounds, and end with the service', async () => {
  const metrics = async (): Promise<string> => (await fetch(`${guarded.console}/metrics`, { headers: auth('b') })).text();
  await eventually(async () => /^tracejury_console_streams 0$/m.test(await metrics()) || undefined, 'the end of other streams');
  const refused = async (letter: string): Promise<unknown> => {
    const answer = await fetch(`${guarded.console}/api/v1/runs/live`, { headers: auth(letter) });
    return [answer.status, ((await answer.json()) as { readonly error: { readonly code: string } }).error.code];
  };
  const streams = await Promise.all(Array.from({ length: 12 }, () => live(guarded, '', auth('a'))));
  // A caller has three quarters of them.
  expect(await refused('a')).toEqual([503, 'busy']);
  streams.push(...(await Promise.all(Array.from({ length: 4 }, () => live(guarded, '', auth('b'))))));
  expect(await refused('b')).toEqual([503, 'busy']);
  expect((await fetch(`${guarded.console}/api/v1/runs`, { headers: auth('a') })).status).toBe(200);
  expect(await metrics()).toMatch(/^tracejury_console_streams 16$/m);
  await guarded.stop();
  for (const { ended } of streams) await ended;
});
