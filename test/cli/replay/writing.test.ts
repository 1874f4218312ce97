import { expect, test } from 'vitest';
import { replayPace } from '../../../src/cli/replay/pace.ts';
import { rescoring } from '../../../src/cli/replay/rescoring.ts';
import { ReplayStopped, replayWriter } from '../../../src/cli/replay/writing.ts';
import { manualClock } from '../../../src/model/clock.ts';
import type { ReplayStore } from '../../../src/model/store/replay-store.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { memoryStore } from '../../builders/memory-store.ts';
import { configFrom, storeTraces } from '../../builders/stored-runs.ts';

const exporters = 'export: [ { to: span_events, name: backend, endpoint: "http://127.0.0.1:1" } ]\n';
const before = configFrom('evaluators: [ { use: tool_error, threshold: 0.5 } ]');
const after = configFrom(`evaluators: [ { use: tool_error, threshold: 1 } ]\n${exporters}`);

/** Two runs that need a revision each; `rows` of them wait for the backend. */
async function writing(rows: number, sends: boolean) {
  const store = await memoryStore();
  const traces = [1, 2].map((trace) => ({
    spans: [
      agentSpan({ id: 1, trace, start: trace * 10, end: trace * 10 + 5, agent: 'a' }),
      toolSpan({ id: 2, trace, parent: 1, start: trace * 10 + 1, tool: 't', call: 'c', status: 'error' }),
    ],
  }));
  const runs = await storeTraces(store, before, traces);
  const clock = manualClock(0);
  let [waits, waiting, failures] = [0, rows, 0];
  const revise: ReplayStore['revise'] = async (...page) => {
    if (failures-- > 0) throw new Error('database is locked');
    return await store.replays.revise(...page);
  };
  const sleep = async (ms: number): Promise<void> => {
    clock.advance(ms);
    if (sends) waiting = Math.max(0, waiting - 3_000);
  };
  const counts = async () => [{ exporter: 'backend', waiting, dead: 0, oldestAt: undefined }];
  const writer = replayWriter({
    check: () => undefined,
    store: { replays: { ...store.replays, revise }, exports: { ...store.exports, counts } },
    config: after,
    id: 'r',
    exports: true,
    pace: replayPace({ rate: undefined, clock, sleep }),
    clock,
    sleep,
    onWait: () => void waits++,
  });
  const scoring = rescoring({ config: after, judges: { ask: async () => ({ kind: 'over_budget', reason: '' }) }, isAnew: false });
  const page = (await store.replays.page({ filter: {}, limit: 10 })).runs;
  for (const row of page) {
    const run = runs.find(({ traceId }) => traceId === row.traceId);
    if (run === undefined) throw new Error('no run');
    expect(writer.add(row, await scoring.score({ ...run, revision: 2 }, row.verdicts))).toBe(true);
  }
  const flush = () => writer.flush({ some: 'state' }, { to: 5, after: { startedAt: 1, id: 1 } });
  return { store, clock, flush, waits: () => waits, breakFor: (times: number) => void (failures = times) };
}

test('replay writer: writes a page with its exports and its checkpoint at once', async () => {
  const { store, flush, waits } = await writing(0, false);
  expect([await flush(), waits()]).toEqual([['written', 'written'], 0]);
  expect(await store.replays.checkpoint('r')).toMatchObject({
    state: { some: 'state' },
    to: 5,
    fates: { written: 2, changed: 0, gone: 0 },
  });
  expect((await store.exports.counts()).map(({ exporter, waiting }) => [exporter, waiting])).toEqual([['backend', 2]]);
  // A page without revisions moves the checkpoint.
  expect(await flush()).toEqual([]);
});

test('replay writer: runs that still fail stay in their issue, and count once', async () => {
  const { store, flush } = await writing(0, false);
  await flush();
  const issues = await store.issues.list({ limit: 10 });
  expect(issues.map(({ name, tool, runs }) => ({ name, tool, runs }))).toEqual([{ name: 'tool_error', tool: 't', runs: 2 }]);
});

test('replay writer: waits while too much waits for a backend', async () => {
  const { clock, flush, waits } = await writing(17_000, true);
  expect(await flush()).toEqual(['written', 'written']);
  expect([waits(), clock.nowMs()]).toEqual([3, 3_000]);
});

test('replay writer: gives up when no one sends for three minutes, and has written nothing', async () => {
  const { store, clock, flush } = await writing(17_000, false);
  await expect(flush()).rejects.toThrow(ReplayStopped);
  expect([clock.nowMs() > 180_000, clock.nowMs() < 183_000]).toEqual([true, true]);
  expect(await store.replays.checkpoint('r')).toBeUndefined();
  expect((await store.replays.page({ filter: {}, limit: 10 })).runs.map(({ revision }) => revision)).toEqual([1, 1]);
});

test('replay writer: tries a page again while another process holds the file, and gives up in the end', async () => {
  const held = await writing(0, false);
  held.breakFor(4);
  expect(await held.flush()).toEqual(['written', 'written']);
  const broken = await writing(0, false);
  broken.breakFor(5);
  await expect(broken.flush()).rejects.toThrow('The store could not be written: database is locked.');
  expect(await broken.store.replays.checkpoint('r')).toBeUndefined();
});
