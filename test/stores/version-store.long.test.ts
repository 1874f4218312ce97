/** Figures by version, in every kind of store. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run } from '../../src/model/agent-trace.ts';
import type { RunFigures } from '../../src/model/scored-run.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { VersionFigure, VersionQuery } from '../../src/model/store/version-store.ts';
import { tenant } from '../../src/model/ids.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { agentTrace, spanId } from '../builders/agent-trace.ts';
import { evaluation, run, scored, skipped } from '../builders/scored-run.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { retention } from '../builders/retention.ts';
import { closedLater, folder, members, open } from './members.ts';
import { durationQuantile } from '../../src/analytics/version-comparison.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';

const minute = 60_000_000;
const hour = 60 * minute;
const day = 24 * hour;
/** 2026-11-26T00:00Z, in microseconds: the start of an hour. */
const start = 1_795_651_200_000_000;

let last = 0;
interface Given {
  readonly at?: number;
  readonly version?: string;
  readonly agent?: string;
  readonly tenant?: string;
  readonly verdicts?: { readonly [name: string]: Verdict };
  readonly probability?: number;
  readonly figures?: RunFigures;
  readonly tookMs?: number;
  readonly model?: string;
  readonly members?: Partial<Run>;
}

function item({
  at = start,
  version,
  agent = 'a',
  tenant: of,
  verdicts = {},
  probability = 1,
  figures,
  tookMs = 1_000,
  model,
  members: more,
}: Given) {
  const own = run({
    spanId: spanId(++last),
    ...(of === undefined ? {} : { tenant: tenant(of) }),
    trace: agentTrace({ agent, ...(model === undefined ? {} : { model }) }),
    ...(version === undefined ? {} : { serviceVersion: version }),
    startUnixNano: BigInt(at) * 1_000n,
    endUnixNano: BigInt(at) * 1_000n + BigInt(tookMs) * 1_000_000n,
    ...more,
  });
  return {
    run: own,
    evaluations: Object.entries(verdicts).map(([name, verdict]) => evaluation(name, verdict, own, { sampleProbability: probability })),
    decisions: [],
    ...(figures === undefined ? {} : { figures }),
  };
}

async function refreshed(store: Store, now = start, keepFrom = now - 30 * day): Promise<void> {
  while (await store.versions.refresh({ now, keepFrom })) {}
  // Work that is due without a change.
  await store.versions.refresh({ now, keepFrom });
}

const short = ({ version, kind, name, task, runs, weight, value }: VersionFigure) =>
  [version, kind, name, task, runs, weight, value] as const;
async function told(store: Store, query: VersionQuery) {
  return (await store.versions.figures(query)).map(short);
}

describe.each(members)('%s', (member) => {
  test('versions: sums runs, verdicts, tokens, cost and durations by version', async () => {
    const store = await open(member);
    await store.write([
      item({ version: '1', verdicts: { e: scored(1), raw: scored(0.25, { passed: null, threshold: null, label: 'raw' }) }, model: 'm' }),
      item({ version: '1', verdicts: { e: scored(0) }, figures: { inputTokens: 10, outputTokens: 2, costUsd: 0.5, prompt: 'p' } }),
      item({ version: '1', verdicts: { e: skipped }, figures: { inputTokens: 30 } }),
      item({ version: '2', verdicts: { e: scored(1) }, probability: 0.05, tookMs: 2_000 }),
      item({}),
    ]);
    await refreshed(store);
    expect(
      await told(store, { kinds: ['run', 'pass', 'score', 'input_tokens', 'output_tokens', 'cost', 'model', 'prompt', 'took'] }),
    ).toEqual([
      ['1', 'cost', '', '', 1, 1, 0.5],
      ['1', 'input_tokens', '', '', 2, 2, 40],
      ['1', 'model', 'm', '', 1, 1, 1],
      ['1', 'output_tokens', '', '', 1, 1, 2],
      ['1', 'pass', 'e', '', 2, 2, 1],
      ['2', 'pass', 'e', '', 1, 20, 20],
      ['1', 'prompt', 'p', '', 1, 1, 1],
      ['', 'run', '', '', 1, 1, 1],
      ['1', 'run', '', '', 3, 3, 3],
      ['2', 'run', '', '', 1, 1, 1],
      ['1', 'score', 'raw', '', 1, 1, 0.25],
      ['', 'took', '', '', 1, 1, 1_000_000],
      ['1', 'took', '', '', 3, 3, 3_000_000],
      ['2', 'took', '', '', 1, 1, 2_000_000],
    ]);
  });

  test('versions: runs that did not end well are counted by their status', async () => {
    const store = await open(member);
    const ends = ['ok', 'error', 'paused', 'error'] as const;
    await store.write(ends.map((status) => item({ version: '1', members: { trace: agentTrace({ agent: 'a', status }) } })));
    await refreshed(store);
    expect(await told(store, { kinds: ['run', 'status'] })).toEqual([
      ['1', 'run', '', '', 4, 4, 4],
      ['1', 'status', 'error', '', 2, 2, 2],
      ['1', 'status', 'paused', '', 1, 1, 1],
    ]);
  });

  test('versions: a later verdict and a later revision count once', async () => {
    const store = await open(member);
    const first = item({ version: '1', verdicts: { e: scored(1) } });
    await store.write([first]);
    await refreshed(store);
    const judged = evaluation('j', scored(1), first.run, { evaluatorKind: 'judge', sampleProbability: 0.5 });
    await store.write([{ run: first.run, evaluations: [judged], decisions: [], answered: true }]);
    await refreshed(store);
    expect(await told(store, { kinds: ['run', 'pass'] })).toEqual([
      ['1', 'pass', 'e', '', 1, 1, 1],
      ['1', 'pass', 'j', '', 1, 2, 2],
      ['1', 'run', '', '', 1, 1, 1],
    ]);
    // An earlier span moves its start to another time, and it failed.
    const again = { ...first.run, revision: 2, startUnixNano: first.run.startUnixNano - 600_000_000_000n };
    await store.write([{ run: again, evaluations: [evaluation('e', scored(0), again)], decisions: [] }]);
    await refreshed(store);
    expect((await told(store, { kinds: ['run', 'pass'] })).filter(([, , name]) => name !== 'j')).toEqual([
      ['1', 'pass', 'e', '', 1, 1, 0],
      ['1', 'run', '', '', 1, 1, 1],
    ]);
    await store.write([{ run: { ...again, revision: 3, partOf: { ...again, spanId: spanId(9_999) } }, evaluations: [], decisions: [] }]);
    await refreshed(store);
    expect(await told(store, { kinds: ['run', 'pass'] })).toEqual([]);
  });

  test('versions: filters by agent, version, tenant, name and time, and adds up versions and tasks', async () => {
    const store = await open(member);
    await store.write([
      item({ version: '1', verdicts: { e: scored(1), f: scored(1) }, figures: { task: 'book' } }),
      item({ version: '2', verdicts: { e: scored(0) }, figures: { task: 'book' }, at: start + 10 * minute }),
      item({ version: '2', verdicts: { e: scored(1) }, tenant: 'acme', at: start + 11 * minute }),
      item({ version: '2', agent: 'b', verdicts: { e: scored(1) } }),
    ]);
    await refreshed(store);
    const query = { agent: 'a', kinds: ['pass'], name: 'e' } as const;
    expect(await told(store, { ...query, version: '2' })).toEqual([['2', 'pass', 'e', '', 2, 2, 1]]);
    expect(await told(store, { ...query, allVersions: true })).toEqual([['', 'pass', 'e', '', 3, 3, 2]]);
    expect(await told(store, { ...query, tenant: tenant('acme') })).toEqual([['2', 'pass', 'e', '', 1, 1, 1]]);
    expect(await told(store, { ...query, from: start + 5 * minute })).toEqual([['2', 'pass', 'e', '', 2, 2, 1]]);
    expect(await told(store, { ...query, byTask: true })).toEqual([
      ['1', 'pass', 'e', '', 1, 1, 1],
      ['1', 'pass', 'e', 'book', 1, 1, 1],
      ['2', 'pass', 'e', '', 2, 2, 1],
      ['2', 'pass', 'e', 'book', 1, 1, 0],
    ]);
  });

  test('versions: sums become wider with age and say the same, also after their runs are gone', async () => {
    const store = await open(member);
    const given = [0, 7, 61, 130, 1_441, 2_890].map((at) =>
      item({ version: at < 1_000 ? '1' : '2', at: start + at * minute, verdicts: { e: scored(at % 2) }, figures: { task: 'book' } }),
    );
    await store.write(given);
    await refreshed(store, start + 2 * day);
    const query = { kinds: ['run', 'pass'], byTask: true } as const;
    const whole = await store.versions.figures(query);
    expect(whole.map(({ runs }) => runs)).toEqual([4, 4, 2, 2, 4, 2]);
    for (const later of [3, 5, 20]) {
      await refreshed(store, start + later * day);
      expect(await store.versions.figures(query)).toEqual(whole);
    }
    await store.prune({ ...retention(), runsBefore: start + day });
    // A verdict for a time whose runs are partly gone changes nothing of it.
    const late = given[3];
    if (late !== undefined) await store.write([item({ version: '1', at: start + 131 * minute })]);
    await refreshed(store, start + 20 * day);
    expect(await store.versions.figures(query)).toEqual(whole);
    // Beyond the retention they are one sum, until the version has had no run for as long.
    await refreshed(store, start + 31 * day, start + day);
    expect((await store.versions.figures(query)).map(({ version, kind, task, runs }) => [version, kind, task, runs])).toEqual([
      ['2', 'pass', '', 2],
      ['2', 'pass', 'book', 2],
      ['2', 'run', '', 2],
    ]);
  });

  test('versions: the time that has not ended is left out when only ended ones are wanted', async () => {
    const store = await open(member);
    await store.write([item({ version: '1' }), item({ version: '1', at: start + 6 * minute })]);
    const options = { now: start + 7 * minute, keepFrom: 0 };
    expect(await store.versions.refresh({ ...options, endedOnly: true })).toBe(false);
    expect((await told(store, { kinds: ['run'] })).map(([, , , , runs]) => runs)).toEqual([1]);
    await store.versions.refresh(options);
    expect((await told(store, { kinds: ['run'] })).map(([, , , , runs]) => runs)).toEqual([2]);
  });

  test('versions: versions of one time beyond the bound count together', async () => {
    const store = await open(member);
    await store.write(Array.from({ length: 600 }, (_, at) => item({ version: `v${at}` })));
    await refreshed(store);
    const rows = await store.versions.figures({ kinds: ['run'] });
    expect(rows).toHaveLength(501);
    expect(rows.find(({ version }) => version === 'other')?.runs).toBe(100);
  });

  test('versions: states of alerts are kept as given last', async () => {
    const store = await open(member);
    await store.versions.keepAlertStates([
      { alert: 'x', agent: 'a', state: '{"a":1}' },
      { alert: 'x', agent: '', state: '{}' },
    ]);
    await store.versions.keepAlertStates([{ alert: 'x', agent: 'a', state: '{"a":2}' }]);
    expect(await store.versions.alertStates()).toEqual([{ alert: 'x', agent: 'a', state: '{"a":2}' }]);
  });
});

test.each([
  ['however late runs come', { oldestHours: 12 * 24, byTask: false }],
  ['also by task, for runs that come within two days', { oldestHours: 46, byTask: true }],
])('versions: the same as the runs say, however far older sums have become days and totals, %s', async (_, { oldestHours, byTask }) => {
  const stepOf = fc.record({
    runs: fc.array(
      fc.record({
        hours: fc.integer({ min: -2, max: oldestHours }),
        version: fc.constantFrom('1', '2'),
        passed: fc.integer({ min: 0, max: 1 }),
      }),
      { maxLength: 6 },
    ),
    laterHours: fc.integer({ min: 0, max: 40 }),
    /** Further steps of the upkeep behind the last change. */
    steps: fc.integer({ min: 0, max: 12 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { minLength: 1, maxLength: 8 }), async (given) => {
      const store = await openedInMemory();
      const written: { readonly version: string; readonly passed: number }[] = [];
      let now = start + 20 * day;
      for (const { runs, laterHours, steps } of given) {
        now += laterHours * hour;
        written.push(...runs);
        await store.write(
          runs.map(({ version, hours, passed }) =>
            item({ version, at: now - hours * hour, verdicts: { e: scored(passed) }, figures: { task: `t${passed}` } }),
          ),
        );
        const options = { now, keepFrom: start - day };
        while ((await store.versions.changedTimes(1)) > 0) await store.versions.refresh(options);
        for (let step = 0; step < steps; step++) await store.versions.refresh(options);
        const expected = ['1', '2'].flatMap((version) =>
          ['', ...(byTask ? ['t0', 't1'] : [])].flatMap((task) => {
            const own = written.filter((one) => one.version === version && (task === '' || task === `t${one.passed}`));
            return own.length === 0 ? [] : [[version, task, own.length, own.filter(({ passed }) => passed === 1).length]];
          }),
        );
        const told = await store.versions.figures({ agent: 'a', kinds: ['pass'], byTask });
        expect(told.map(({ version, task, runs: counted, value }) => [version, task, counted, value])).toEqual(expected);
      }
      await store.stop();
    }),
    { numRuns: 60 },
  );
});

/** Sums had the largest weight in place of shares. */
function asBeforeLeastProbabilities(older: DatabaseSync, tables: readonly string[]): void {
  older.exec(
    "alter table judge_jobs drop column raised_by; alter table judge_jobs drop column upstream; delete from kysely_migration where name = '037_least_probabilities'",
  );
  for (const table of tables) {
    older.exec(`alter table ${table} add column weight_max real not null default 1`);
    for (const column of ['share', 'share_value']) older.exec(`alter table ${table} drop column ${column}`);
  }
}

test('versions: sums of before have the shares that their largest weight allows', async () => {
  const file = join(folder(), 'older.db');
  const before = await sqliteStore(file, { inThread: false });
  await before.write([item({ version: '1', verdicts: { e: scored(1) }, probability: 0.05 })]);
  await refreshed(before, start + hour);
  await before.stop();
  const older = new DatabaseSync(file);
  asBeforeLeastProbabilities(older, ['version_figures', 'version_days', 'version_totals']);
  older.exec("update version_figures set runs = 3, weight = 41, value = 21, weight_max = 20 where kind = 'pass'");
  older.close();
  const store = closedLater(await sqliteStore(file, { inThread: false }));
  const [found] = await store.versions.figures({ kinds: ['pass'], from: start });
  expect(found).toMatchObject({ runs: 3, weight: 41, value: 21, share: 41 / 20, shareValue: 21 / 20 });
});

test('versions: a judge’s verdict of a release that did not note a raise counts in the mean, and for nothing in its interval', async () => {
  const file = join(folder(), 'older.db');
  const before = await sqliteStore(file, { inThread: false });
  const { run } = item({ version: '1' });
  const judged = evaluation('j', scored(1), run, { evaluatorKind: 'judge', sampleProbability: 0.05 });
  await before.write([{ run, evaluations: [judged, evaluation('e', scored(1), run)], decisions: [] }]);
  await before.stop();
  const older = new DatabaseSync(file);
  older.exec(`update verdict_marks set mark = substr(mark, 1, length(mark) - 6) || ']' where mark like '%"judge"%'`);
  older.close();
  const store = closedLater(await sqliteStore(file, { inThread: false }));
  await refreshed(store);
  expect(await store.versions.figures({ kinds: ['pass'] })).toMatchObject([
    { name: 'e', weight: 1, share: 1 },
    { name: 'j', weight: 20, share: 0, shareValue: 0 },
  ]);
});

test('versions: verdicts count by the least probability, runs by their session, and tasks by their runs', async () => {
  const store = closedLater(await sqliteStore(':memory:', { inThread: false }));
  const judged = (at: number, sampleProbability: number, raisedBy?: number) => {
    const { run } = item({ version: '1', at });
    const more = { evaluatorKind: 'judge' as const, sampleProbability, ...(raisedBy === undefined ? {} : { raisedBy }) };
    return { run, evaluations: [evaluation('j', scored(1), run, more)], decisions: [] };
  };
  await store.write([judged(start, 0.02), judged(start + 1, 1, 50), judged(start + 2, 0.5, 50)]);
  await refreshed(store);
  expect(await store.versions.figures({ kinds: ['pass'] })).toMatchObject([
    { runs: 3, weight: 53, share: expect.closeTo(1.04, 9), shareValue: expect.closeTo(1.04, 9) },
  ]);
  const turns = (session: string, count: number, from: number, more: Given = {}) =>
    Array.from({ length: count }, (_, at) => {
      const one = item({ version: '2', verdicts: { e: scored(1) }, at: from + at * minute, ...more });
      return { ...one, run: { ...one.run, trace: { ...one.run.trace, sessionId: session } } };
    });
  await store.write([
    ...turns('a', 8, start),
    ...turns('b', 1, start),
    ...turns('a', 3, start, { verdicts: { f: scored(1) } }),
    item({ version: '2', verdicts: { e: scored(1) }, at: start }),
    // Another version, another agent, another tenant, and a day before.
    ...turns('a', 2, start - hour, { version: '1' }),
    ...turns('a', 2, start - hour, { agent: 'b' }),
    ...turns('a', 2, start - hour, { tenant: 'acme' }),
    ...turns('a', 2, start - 2 * day),
  ]);
  await refreshed(store, start + hour);
  // 8 · 7, over several times of five minutes, and 2 · 1; then 3 · 2.
  const pairs = await store.versions.figures({ agent: 'a', version: '2', kinds: ['session'] });
  expect(pairs.map(({ name, runs, value }) => [name, runs, value])).toEqual([
    // Runs, and verdicts of each evaluator.
    ['', 16, 114],
    ['e', 13, 60],
    ['f', 3, 6],
  ]);
  const rare = Array.from({ length: 40 }, (_, at) => `rare ${at}`);
  const tasks = [...rare, ...rare.slice(0, 5), 'often', 'often', 'often'].map((task, at) =>
    item({ version: '3', at: start + at, verdicts: { e: scored(1) }, figures: { task } }),
  );
  await store.write(tasks);
  await refreshed(store);
  const kept = await store.versions.figures({ version: '3', kinds: ['pass'], byTask: true });
  const runsOfTask = kept.filter(({ task }) => task !== '').map(({ task, runs }) => [task, runs]);
  expect(runsOfTask.length).toBe(20);
  expect(runsOfTask).toEqual(expect.arrayContaining([['often', 3], ...rare.slice(0, 5).map((task) => [task, 2])]));
});

test('versions: what a file held before there were such figures is summed after the next start', async () => {
  const file = join(folder(), 'older.db');
  const before = await sqliteStore(file, { inThread: false });
  await before.write([
    item({ version: '1', verdicts: { e: scored(1) } }),
    item({ version: '1', verdicts: { e: scored(0) }, at: start + hour }),
  ]);
  await before.stop();
  const older = new DatabaseSync(file);
  for (const table of ['version_figures', 'version_changes', 'version_pruned', 'alert_states']) older.exec(`drop table ${table}`);
  older.exec('drop index runs_by_task');
  for (const column of ['prompt', 'task', 'input_tokens', 'output_tokens', 'cost_usd'])
    older.exec(`alter table runs drop column ${column}`);
  asBeforeLeastProbabilities(older, ['version_days', 'version_totals']);
  older.exec("delete from kysely_migration where name = '020_versions'");
  older.close();
  const store = closedLater(await sqliteStore(file, { inThread: false }));
  await refreshed(store, start + 10 * day);
  expect(await told(store, { kinds: ['run', 'pass'] })).toEqual([
    ['1', 'pass', 'e', '', 2, 2, 1],
    ['1', 'run', '', '', 2, 2, 2],
  ]);
});

test('versions: durations of a file of before go into the buckets of today', async () => {
  const file = join(folder(), 'older.db');
  const took = [0, 1, 300, 330, 1_000, 1_095, 1_205, 60_000, 3_600_000];
  const before = await sqliteStore(file, { inThread: false });
  await before.write(took.map((tookMs) => item({ version: '1', tookMs })));
  await refreshed(before, start + hour);
  await before.stop();
  // In the form of the release before: durations of a bucket differ by a tenth.
  const older = new DatabaseSync(file);
  older.exec("delete from kysely_migration where name = '030_duration_buckets'; delete from version_totals where kind = 'duration'");
  const [row] = older.prepare("select * from version_figures where kind = 'duration'").all();
  older.exec("delete from version_figures where kind = 'duration'");
  const bins = Map.groupBy(took, (ms) => (ms === 0 ? 0 : Math.ceil(Math.log(ms * 1_000) / Math.log(1.1))));
  const insert = older.prepare(
    `insert into version_figures (${Object.keys(row ?? {}).join(', ')}) values (${Object.keys(row ?? {})
      .map(() => '?')
      .join(', ')})`,
  );
  for (const [bin, own] of bins)
    insert.run(...Object.values({ ...row, name: String(bin), runs: own.length, weight: own.length, value: own.length }));
  older.close();
  const store = closedLater(await sqliteStore(file, { inThread: false }));
  const figures = await store.versions.figures({ kinds: ['duration'], from: start });
  expect(figures.reduce((sum, { runs }) => sum + runs, 0)).toBe(took.length);
  const wanted = took.map((ms) => ms * 1_000);
  for (const [at, exact] of wanted.entries()) {
    const found = durationQuantile(figures, at / (wanted.length - 1)) ?? Number.NaN;
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(0.075 * exact);
  }
});
