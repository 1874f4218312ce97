/** Verdicts over time come out of sums where there are right ones. They equal those that are counted from the runs. */
import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import fc from 'fast-check';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { tenant } from '../../../src/model/ids.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { rollupSteps } from '../../../src/model/store/rollup-store.ts';
import type { Store, SummaryQuery, SummaryRow } from '../../../src/model/store/store.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { postgresStore } from '../../../src/stores/postgres/postgres-store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace, spanId } from '../../builders/agent-trace.ts';
import { emptyPostgres } from '../../builders/postgres.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { retention } from '../../builders/retention.ts';
import { evaluation, run, scored, scoredRun, skipped } from '../../builders/scored-run.ts';
import { closedLater, folder } from '../members.ts';

const [fine, hour, day] = rollupSteps;
/** 2026-11-26T00:00Z, in microseconds: the start of a day. */
const start = 1_795_651_200_000_000;
/** The sums have steps of five minutes, so these are counted from runs. */
const minute = 60_000_000;

/** A store, and its database for statements of a test. */
interface Opened {
  readonly store: Store;
  readonly all: (sql: string) => Promise<readonly { readonly [column: string]: unknown }[]>;
}

const engines = {
  async sqlite(): Promise<Opened> {
    const file = join(folder(), 'runs.db');
    const store = closedLater(await sqliteStore(file, { inThread: false }));
    const beside = new DatabaseSync(file, { timeout: 5_000 });
    onTestFinished(() => beside.close());
    return { store, all: async (sql) => beside.prepare(sql).all() };
  },
  async postgres(): Promise<Opened> {
    const url = await emptyPostgres({ leasesBy: 'caller' });
    const store = closedLater(await postgresStore(url, { inThread: false }));
    const beside = new pg.Client({ connectionString: url });
    await beside.connect();
    onTestFinished(() => beside.end());
    await beside.query('set search_path = tracejury');
    return { store, all: async (sql) => (await beside.query<{ readonly [column: string]: unknown }>(sql)).rows };
  },
} as const;

async function refreshed(store: Store, now: number, keepFrom = now - 30 * day): Promise<void> {
  for (let idle = 0; idle < 2;) idle = (await store.versions.refresh({ now, keepFrom })) ? 0 : idle + 1;
}

/** As the release before kept them, without the scores by verdict. */
async function asBefore({ all }: Opened, width: number): Promise<void> {
  const rows = await all(`select at_us, tenant, agent, name, body from rollups where kind = 'evaluator' and width_us = ${width}`);
  for (const { at_us: at, tenant: of, agent, name, body } of rows) {
    const [counts, ...more] = JSON.parse(String(body)) as [number[], ...unknown[]];
    const older = JSON.stringify([counts.slice(0, 15), ...more]);
    await all(
      `update rollups set body = '${older}' where kind = 'evaluator' and width_us = ${width} and at_us = ${String(at)} and tenant = '${String(of)}' and agent = '${String(agent)}' and name = '${String(name)}'`,
    );
  }
}

interface Counted {
  count: number;
  sum: number;
}

/** By start, evaluator and verdict. */
function counted(rows: readonly SummaryRow[], width: number): ReadonlyMap<string, Counted> {
  const all = new Map<string, Counted>();
  for (const { at, name, verdict, count, score = 0 } of rows) {
    const key = JSON.stringify([at - (at % width), name, verdict]);
    const before = all.get(key) ?? { count: 0, sum: 0 };
    all.set(key, { count: before.count + count, sum: before.sum + count * score });
  }
  return all;
}

async function expectEqual(store: Store, query: SummaryQuery): Promise<void> {
  const { bucketMicros } = query;
  const [found, wanted] = [
    counted(await store.summary(query), bucketMicros),
    counted(await store.summary({ ...query, bucketMicros: minute }), bucketMicros),
  ];
  expect([...found.keys()].toSorted()).toEqual([...wanted.keys()].toSorted());
  for (const [key, { count, sum }] of wanted) {
    expect(found.get(key)?.count).toBe(count);
    expect(found.get(key)?.sum).toBeCloseTo(sum, 9);
  }
}

const score = fc.constantFrom(0, 1, 0.1, 0.7, 1 / 3);
const verdict: fc.Arbitrary<Verdict> = fc.oneof(
  fc.constantFrom(scored(1), scored(0), skipped),
  score.map((one) => scored(one)),
  score.map((one) => scored(one, { passed: null, threshold: null, label: 'raw' })),
);
const agents = ['a', 'b', 'other'] as const;
const at = fc.integer({ min: 0, max: 4 * day - 1 }).map((one) => start + one);
const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('write' as const),
        at,
        of: fc.option(fc.nat(20), { nil: undefined }),
        agent: fc.constantFrom(...agents),
        tenant: fc.constantFrom('', 't'),
        verdicts: fc.dictionary(fc.constantFrom('e', 'f', 'other'), verdict, { maxKeys: 3, noNullPrototype: true }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('refresh' as const),
        after: fc.constantFrom(0, fine, 9 * hour, day),
        keep: fc.constantFrom(30 * day, 30 * day, 2 * day),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('prune' as const), at }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('older' as const), width: fc.constantFrom(...rollupSteps) }) },
  ),
  { maxLength: 30 },
);
const queries = fc.array(
  fc.record(
    {
      from: at,
      took: fc.integer({ min: 1, max: 4 * day }),
      bucketMicros: fc.constantFrom(hour, day),
      agent: fc.constantFrom(...agents),
      tenant: fc.constantFrom(tenant(''), tenant('t')),
      evaluator: fc.constantFrom('e', 'other'),
    },
    { requiredKeys: ['from', 'took', 'bucketMicros'] },
  ),
  { minLength: 1, maxLength: 4 },
);

test.each(Object.entries(engines))('summary: %s gives the same out of sums as counted from the runs', async (_, open) => {
  const opened = await open();
  const { store, all } = opened;
  let last = 0;
  await fc.assert(
    fc.asyncProperty(steps, queries, async (made, asked) => {
      const runs: ScoredRun[] = [];
      let now = start + 3 * day;
      for (const step of made) {
        if (step.kind === 'write') {
          const known = step.of === undefined ? undefined : runs[step.of];
          const own = run({
            ...(known === undefined
              ? { spanId: spanId(++last), tenant: tenant(step.tenant) }
              : { spanId: known.run.spanId, tenant: known.run.tenant, revision: known.run.revision + 1 }),
            trace: agentTrace({ agent: step.agent }),
            startUnixNano: BigInt(step.at) * 1_000n,
            endUnixNano: BigInt(step.at) * 1_000n,
          });
          const item = {
            ...scoredRun({}, own),
            evaluations: Object.entries(step.verdicts).map(([name, one]) => evaluation(name, one, own)),
          };
          if (known === undefined) runs.push(item);
          else runs[step.of ?? 0] = item;
          await store.write([item]);
        } else if (step.kind === 'refresh') await refreshed(store, (now += step.after), now - step.keep);
        else if (step.kind === 'prune') await store.prune(retention({ runsBefore: step.at }));
        else await asBefore(opened, step.width);
      }
      for (const { took, ...query } of asked) await expectEqual(store, { ...query, to: query.from + took });
      await expectEqual(store, { from: 0, to: Infinity, bucketMicros: day });
      for (const table of ['runs', 'rollups', 'rollup_changes', 'version_changes', 'version_figures', 'version_totals'])
        await all(`delete from ${table}`);
      for (const table of ['version_pruned', 'rollup_days', 'version_total_until']) await all(`update ${table} set until_us = 0`);
    }),
    { numRuns: propertyRuns({ short: 20, long: 100 }) },
  );
});

test.each(Object.entries(engines))('summary: %s reads sums, and no runs of hours that have them', async (_, open) => {
  const { store, all } = await open();
  const items = Array.from({ length: 48 }, (_one, nth) => {
    const startUnixNano = BigInt(start + nth * hour) * 1_000n;
    return scoredRun({ e: scored(nth % 2) }, run({ spanId: spanId(nth + 1), startUnixNano, endUnixNano: startUnixNano }));
  });
  await store.write(items);
  await refreshed(store, start + 3 * day);
  await all('delete from runs');
  const rows = await store.summary({ from: start, to: start + 2 * day, bucketMicros: day });
  expect(rows.map(({ at: of, name, verdict: word, count, score: mean }) => [of - start, name, word, count, mean])).toEqual([
    [0, 'e', 'fail', 12, 0],
    [0, 'e', 'pass', 12, 1],
    [day, 'e', 'fail', 12, 0],
    [day, 'e', 'pass', 12, 1],
  ]);
});
