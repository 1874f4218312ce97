/** Sums over time, in every kind of store: they say what the runs themselves say. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Run, ToolCall } from '../../src/model/agent-trace.ts';
import { tenant } from '../../src/model/ids.ts';
import type { ModelCounts, RunFigures, ScoredRun } from '../../src/model/scored-run.ts';
import { fineRollupMicros, type RollupKind, type RollupQuery, type RollupRow, rollupSteps } from '../../src/model/store/rollup-store.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { quantileOf } from '../../src/statistics/quantile-sketch.ts';
import { addValue, sketchOfSum, sketchSum } from '../../src/statistics/sketch-sum.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { retention } from '../builders/retention.ts';
import { evaluation, run, scored, skipped } from '../builders/scored-run.ts';
import { closedLater, folder, members, open } from './members.ts';

const [fine, hour, day] = rollupSteps;
/** 2026-11-26T00:00Z, in microseconds: the start of a day. */
const start = 1_795_651_200_000_000;

let last = 0;
interface Given {
  readonly at?: number;
  readonly agent?: string;
  readonly tenant?: string;
  readonly verdicts?: { readonly [name: string]: Verdict };
  readonly probability?: number;
  readonly figures?: RunFigures;
  readonly tookMicros?: number;
  readonly toolCalls?: readonly ToolCall[];
  readonly members?: Partial<Run>;
}

function item(given: Given): ScoredRun {
  const {
    at = start,
    agent = 'a',
    tenant: of,
    verdicts = {},
    probability = 1,
    figures,
    tookMicros = 1_000_000,
    toolCalls = [],
    members: more,
  } = given;
  const own = run({
    spanId: spanId(++last),
    ...(of === undefined ? {} : { tenant: tenant(of) }),
    trace: agentTrace({ agent, toolCalls }),
    startUnixNano: BigInt(at) * 1_000n,
    endUnixNano: BigInt(at + tookMicros) * 1_000n,
    ...more,
  });
  return {
    run: own,
    evaluations: Object.entries(verdicts).map(([name, verdict]) => evaluation(name, verdict, own, { sampleProbability: probability })),
    decisions: [],
    ...(figures === undefined ? {} : { figures }),
  };
}

function timed(name: string, micros: number, more: Partial<ToolCall> = {}): ToolCall {
  return call({ name, startUnixNano: 1_000n, endUnixNano: 1_000n + BigInt(micros) * 1_000n, ...more });
}

async function refreshed(store: Store, now: number, keepFrom = now - 30 * day): Promise<void> {
  while (await store.versions.refresh({ now, keepFrom })) {}
  // Work that is due without a change.
  while (await store.versions.refresh({ now, keepFrom })) {}
}

const whole: Pick<RollupQuery, 'from' | 'to'> = { from: start - 5 * day, to: start + 5 * day };

async function rows<Kind extends RollupKind>(
  store: Store,
  kind: Kind,
  query: Partial<RollupQuery> = {},
): Promise<readonly RollupRow<Kind>[]> {
  return (await store.rollups(kind, { ...whole, now: start, byAgent: true, byName: true, ...query })).rows;
}

describe.each(members)('%s', (member) => {
  test('rollups: runs, verdicts, tools and models of an agent', async () => {
    const store = await open(member);
    const models: readonly ModelCounts[] = [
      { model: 'm', calls: 2, errors: 1, inputTokens: 10, outputTokens: 5, costUsd: 0.25, took: [1_000, 3_000] },
    ];
    const problems = [
      { kind: 'missing_required', parameter: 'order.id', message: 'order.id is missing' },
      { kind: 'constraint', parameter: 'lines.3.count', keyword: 'minimum', message: 'too small' },
    ];
    const checked = scored(0, {
      details: {
        invalid: [
          { index: 0, tool: 'find', problems },
          { index: 1, tool: 'find', problems: [problems[0] ?? {}] },
        ],
      },
    });
    await store.write([
      item({
        verdicts: { e: scored(1), raw: scored(0.25, { passed: null, threshold: null, label: 'raw' }), tool_call_validity: checked },
        figures: { inputTokens: 10, outputTokens: 5, costUsd: 0.5, models },
        toolCalls: [timed('find', 1_000), timed('find', 2_000), call({ name: 'book', executed: false })],
      }),
      item({ verdicts: { e: scored(0) }, probability: 0.25, tookMicros: 3_000_000 }),
      item({ agent: 'b', verdicts: { e: skipped }, members: { trace: agentTrace({ agent: 'b', status: 'error' }) } }),
      item({ agent: 'b', verdicts: { e: skipped }, members: { trace: agentTrace({ agent: 'b', status: 'paused' }) } }),
    ]);
    await refreshed(store, start);
    const found = await rows(store, 'run');
    expect(found.map(({ agent, counts }) => [agent, counts.runs, counts.failed, counts.errors, counts.paused])).toEqual([
      ['a', 2, 2, 0, 0],
      ['b', 2, 0, 1, 1],
    ]);
    expect(found[0]?.counts).toMatchObject({
      timed: 2,
      took: 4_000_000,
      inputTokens: 10,
      outputTokens: 5,
      tokened: 1,
      cost: 0.5,
      costed: 1,
      toolCalls: 3,
    });
    expect(quantileOf(found[0]?.sketches.took ?? sketchOfSum(sketchSum()), 1)).toBeCloseTo(3_000_000, -5);
    expect((await rows(store, 'evaluator', { agent: 'a', name: 'e' }))[0]?.counts).toEqual({
      pairs: 0,
      pass: 1,
      fail: 1,
      raw: 0,
      skipped: 0,
      error: 0,
      weight: 5,
      weightSquares: 17,
      passedWeight: 1,
      passedSquares: 1,
      scored: 2,
      score: 1,
      raised: 0,
      raisedRuns: 0,
      usualRuns: 5,
      passedScore: 1,
      failedScore: 0,
      worded: 2,
    });
    expect((await rows(store, 'evaluator', { name: 'raw' }))[0]).toMatchObject({ counts: { raw: 1, weight: 0 }, keyed: [['3', 1]] });
    const tools = await rows(store, 'tool');
    expect(tools.map(({ name, counts }) => [name, counts.calls, counts.notExecuted, counts.took])).toEqual([
      ['book', 1, 1, 0],
      ['find', 2, 0, 3_000],
    ]);
    expect(tools[1]?.keyed).toEqual([
      ['["order.id","required"]', 2],
      ['["lines.[].count","minimum"]', 1],
    ]);
    expect(tools[1]?.sketches.took.count).toBe(2);
    expect((await rows(store, 'model'))[0]).toMatchObject({
      name: 'm',
      counts: { runs: 1, calls: 2, errors: 1, inputTokens: 10, outputTokens: 5, tokened: 1, cost: 0.25, costed: 1 },
      sketches: { took: { count: 2 } },
    });
  });

  test('rollups: names that become one where they are stored count together', async () => {
    const store = await open(member);
    const names = ['a\0b', 'a\ufffdb', 'a\ud800b'];
    const models = names.map((model) => ({ model, calls: 1, errors: 0, took: [] }));
    await store.write([item({ figures: { models }, toolCalls: names.map((name) => call({ name })) })]);
    await refreshed(store, start);
    for (const kind of ['tool', 'model'] as const)
      expect((await rows(store, kind)).map(({ name, counts }) => [name, counts.calls])).toEqual([['a\ufffdb', 3]]);
  });

  test('rollups: a later verdict, a later revision and a run that became a part count once', async () => {
    const store = await open(member);
    const first = item({ verdicts: { e: scored(1) }, toolCalls: [timed('find', 5)] });
    await store.write([first]);
    await refreshed(store, start);
    await store.write([
      { run: first.run, evaluations: [evaluation('j', scored(0), first.run, { evaluatorKind: 'judge' })], decisions: [], answered: true },
    ]);
    await refreshed(store, start);
    const counts = async () => (await rows(store, 'run')).map(({ counts: { runs, failed, toolCalls } }) => [runs, failed, toolCalls]);
    expect(await counts()).toEqual([[1, 1, 1]]);
    // An earlier span moves its start to another day.
    const again = { ...first.run, revision: 2, startUnixNano: first.run.startUnixNano - 86_400_000_000_000n };
    await store.write([{ run: again, evaluations: [evaluation('j', scored(1), again)], decisions: [] }]);
    await refreshed(store, start);
    expect(await counts()).toEqual([[1, 0, 1]]);
    expect((await rows(store, 'run', { stepMicros: day })).map(({ at }) => at)).toEqual([start - day]);
    await store.write([{ run: { ...again, revision: 3, partOf: { ...again, spanId: spanId(99_999) } }, evaluations: [], decisions: [] }]);
    await refreshed(store, start);
    expect(await counts()).toEqual([]);
  });

  test('rollups: tenants apart, steps of each width, and the edges of a period', async () => {
    const store = await open(member);
    const now = start + 2 * day + 3 * hour;
    await store.write([
      item({ at: start + hour }),
      item({ at: start + hour + fine, tenant: 't' }),
      item({ at: start + day + 5 }),
      item({ at: now - 10 * fine + 1 }),
      item({ at: now - 1 }),
    ]);
    await refreshed(store, now);
    const runs = async (query: Partial<RollupQuery>) =>
      (await rows(store, 'run', { now, ...query })).map(({ at, counts }) => [(at - (at === 0 ? 0 : start)) / fine, counts.runs]);
    expect(await runs({})).toEqual([[0, 5]]);
    expect(await runs({ tenant: tenant('t') })).toEqual([[0, 1]]);
    expect(await runs({ agent: 'nobody' })).toEqual([]);
    expect(await runs({ stepMicros: day })).toEqual([
      [0, 2],
      [288, 1],
      [576, 2],
    ]);
    expect(await runs({ stepMicros: hour, from: start, to: start + 2 * hour })).toEqual([[12, 2]]);
    expect(await runs({ stepMicros: fine, from: now - hour, to: now })).toEqual([
      [602, 1],
      [611, 1],
    ]);
    const part = await store.rollups('run', { from: now - fine - 5, to: now - 5, now });
    expect([part.from, part.to, part.rows[0]?.counts.runs]).toEqual([now - 2 * fine, now, 1]);
    const old = await store.rollups('run', { from: start + hour + 5, to: start + hour + 6, now });
    expect([old.from, old.to, old.rows[0]?.counts.runs]).toEqual([start + hour, start + 2 * hour, 2]);
  });

  test('rollups: what a step has no room for is `other`, and nothing is lost', async () => {
    const store = await open(member);
    const tools = Array.from({ length: 250 }, (_, at) => call({ name: `t${at}` }));
    await store.write([item({ toolCalls: tools }), ...Array.from({ length: 1_100 }, (_, at) => item({ agent: `agent-${at}` }))]);
    await refreshed(store, start);
    const found = await rows(store, 'tool');
    expect(found).toHaveLength(201);
    expect(found.find(({ name }) => name === 'other')?.counts.calls).toBe(50);
    const agents = await rows(store, 'run');
    expect(agents).toHaveLength(1_001);
    expect(agents.reduce((sum, { counts }) => sum + counts.runs, 0)).toBe(1_101);
    expect(agents.find(({ agent }) => agent === 'other')?.counts.runs).toBe(101);
  });

  test('rollups: sums of pruned runs stay, hours until the retention and days for longer', async () => {
    const store = await open(member);
    await store.write([item({ at: start }), item({ at: start + 3 * day })]);
    const now = start + 3 * day + hour;
    await refreshed(store, now);
    await store.prune(retention({ runsBefore: start + day }));
    await refreshed(store, now, start + 2 * day);
    const byDay = async (): Promise<readonly number[]> => (await rows(store, 'run', { now, stepMicros: day })).map(({ at }) => at);
    expect(await byDay()).toEqual([start, start + 3 * day]);
    expect((await rows(store, 'run', { now, stepMicros: hour })).map(({ at }) => at)).toEqual([start + 3 * day]);
    await refreshed(store, start + 402 * day, start + 372 * day);
    expect(await byDay()).toEqual([start + 3 * day]);
  });
});

const agents = ['a', 'b', ''] as const;
const words = [scored(1), scored(0), skipped, scored(0.75, { passed: null, threshold: null, label: 'raw' })] as const;

/** A run, or a new revision of an earlier one. */
const writes = fc.array(
  fc.record({
    of: fc.option(fc.nat(20), { nil: undefined }),
    at: fc.integer({ min: 0, max: Number(3 * day - 1) }),
    agent: fc.constantFrom(...agents),
    took: fc.integer({ min: 0, max: 100_000_000 }),
    verdict: fc.constantFrom(...words),
    tokens: fc.option(fc.nat(5_000), { nil: undefined }),
    tools: fc.array(fc.record({ name: fc.constantFrom('find', 'book'), took: fc.nat(2_000_000), fails: fc.boolean() }), { maxLength: 4 }),
    models: fc.array(fc.record({ name: fc.constantFrom('m', 'n'), took: fc.array(fc.nat(900_000), { maxLength: 3 }) }), { maxLength: 2 }),
    /** Later, of the clock. */
    after: fc.constantFrom(0, 0, fine, 2 * hour, 9 * hour),
    refreshes: fc.boolean(),
  }),
  { maxLength: 25 },
);

test('rollups: equal to figures counted from the runs themselves, in any order of writes and refreshes', async () => {
  await fc.assert(
    fc.asyncProperty(writes, async (steps) => {
      const store = await openedInMemory();
      try {
        const runs: ScoredRun[] = [];
        let now = start + 2 * day;
        for (const step of steps) {
          now += step.after;
          if (step.refreshes) await refreshed(store, now);
          const names = new Map(step.models.map((model) => [model.name, model]));
          const given = item({
            at: start + step.at,
            agent: step.agent,
            tookMicros: step.took,
            verdicts: { e: step.verdict },
            toolCalls: step.tools.map(({ name, took, fails }) =>
              timed(name, took, fails ? { error: { message: 'no', sign: 'span_status' } } : {}),
            ),
            figures: {
              ...(step.tokens === undefined ? {} : { inputTokens: step.tokens }),
              models: [...names.values()].map(({ name, took }) => ({ model: name, calls: took.length, errors: 0, took })),
            },
          });
          const known = step.of === undefined ? undefined : runs[step.of];
          const next =
            known === undefined
              ? given
              : { ...given, run: { ...given.run, spanId: known.run.spanId, traceId: known.run.traceId, revision: known.run.revision + 1 } };
          const item_ = {
            ...next,
            evaluations: next.evaluations.map((one) => ({ ...one, ...evaluation('e', step.verdict, next.run) })),
          };
          if (known === undefined) runs.push(item_);
          else runs[step.of ?? 0] = item_;
          await store.write([item_]);
        }
        await refreshed(store, now);
        for (const width of rollupSteps) expect(await summed(store, now, width)).toEqual(counted(runs, now, width));
      } finally {
        await store.stop();
      }
    }),
    { numRuns: propertyRuns({ short: 30, long: 400 }) },
  );
});

type Told = readonly (readonly unknown[])[];

async function summed(store: Store, now: number, width: (typeof rollupSteps)[number]): Promise<Told> {
  const query = { from: start, to: start + 5 * day, now, stepMicros: width, byAgent: true, byName: true };
  const run_ = (await store.rollups('run', query)).rows.map(({ agent, at, counts, sketches }) => [
    'run',
    agent,
    '',
    at,
    counts.runs,
    counts.failed,
    counts.took,
    counts.inputTokens,
    counts.toolCalls,
    counts.toolErrors,
    sketches.took,
  ]);
  const evaluators = (await store.rollups('evaluator', query)).rows.map(({ agent, name, at, counts }) => [
    'evaluator',
    agent,
    name,
    at,
    counts.pass,
    counts.fail,
    counts.raw,
    counts.skipped,
    counts.score,
  ]);
  const tools = (await store.rollups('tool', query)).rows.map(({ agent, name, at, counts, sketches }) => [
    'tool',
    agent,
    name,
    at,
    counts.calls,
    counts.errors,
    counts.took,
    sketches.took,
  ]);
  const models = (await store.rollups('model', query)).rows.map(({ agent, name, at, counts, sketches }) => [
    'model',
    agent,
    name,
    at,
    counts.calls,
    sketches.took,
  ]);
  return ordered([...run_, ...evaluators, ...tools, ...models]);
}

/** Steps of five minutes are kept for a while; before, an hour is the narrowest one. */
function counted(runs: readonly ScoredRun[], now: number, width: number): Told {
  const fineFrom = now - fineRollupMicros - ((now - fineRollupMicros) % hour);
  const startOf = (at: number): number => at - (at % Math.max(width, at >= fineFrom ? fine : hour));
  const groups = Map.groupBy(runs, ({ run: own }) => JSON.stringify([own.trace.agent ?? '', startOf(Number(own.startUnixNano / 1_000n))]));
  return ordered(
    [...groups].flatMap(([key, own]) => {
      const [agent, at] = JSON.parse(key) as [string, number];
      const micros = (one: { readonly startUnixNano?: bigint; readonly endUnixNano?: bigint }): number =>
        Number(((one.endUnixNano ?? 0n) - (one.startUnixNano ?? 0n)) / 1_000n);
      const took = own.map(({ run: one }) => micros(one));
      const verdicts = own.flatMap(({ evaluations }) => evaluations.map(({ verdict }) => verdict));
      const passes = verdicts.filter((one) => one.kind === 'scored' && one.passed === true).length;
      const fails = verdicts.filter((one) => one.kind === 'scored' && one.passed === false).length;
      const raws = verdicts.filter((one) => one.kind === 'scored' && one.passed === null);
      const calls = own.flatMap(({ run: one }) => one.trace.toolCalls);
      const models = own.flatMap(({ figures }) => figures?.models ?? []);
      return [
        [
          'run',
          agent,
          '',
          at,
          own.length,
          fails,
          sumOf(took),
          sumOf(own.map(({ figures }) => figures?.inputTokens ?? 0)),
          calls.length,
          calls.filter(({ error }) => error !== undefined).length,
          sketched(took),
        ],
        [
          'evaluator',
          agent,
          'e',
          at,
          passes,
          fails,
          raws.length,
          verdicts.length - passes - fails - raws.length,
          sumOf(verdicts.map((one) => (one.kind === 'scored' ? one.score : 0))),
        ],
        ...[...Map.groupBy(calls, ({ name }) => name)].map(([name, of]) => [
          'tool',
          agent,
          name,
          at,
          of.length,
          of.filter(({ error }) => error !== undefined).length,
          sumOf(of.map(micros)),
          sketched(of.map(micros)),
        ]),
        ...[...Map.groupBy(models, ({ model }) => model)].map(([name, of]) => [
          'model',
          agent,
          name,
          at,
          sumOf(of.map(({ calls: own_ }) => own_)),
          sketched(of.flatMap((one) => one.took)),
        ]),
      ];
    }),
  );
}

function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

function sketched(values: readonly number[]): unknown {
  const sum = sketchSum();
  for (const value of values) addValue(sum, value);
  return sketchOfSum(sum);
}

function ordered(told: Told): Told {
  const key = (one: readonly unknown[]): string => JSON.stringify(one.slice(0, 4));
  return told.toSorted((one, other) => (key(one) < key(other) ? -1 : 1));
}

test('rollups: what a file held before there were such sums is summed after the next start', async () => {
  const file = join(folder(), 'older.db');
  const before = await sqliteStore(file, { inThread: false });
  await before.write([item({ verdicts: { e: scored(1) }, toolCalls: [timed('find', 7)] }), item({ at: start + hour })]);
  await before.stop();
  const older = new DatabaseSync(file);
  for (const table of ['rollups', 'rollup_changes', 'rollup_days']) older.exec(`drop table ${table}`);
  for (const column of ['models', 'failures']) older.exec(`alter table runs drop column ${column}`);
  older.exec("delete from kysely_migration where name = '024_rollups'");
  older.exec('delete from version_changes');
  older.close();
  const store = closedLater(await sqliteStore(file, { inThread: false }));
  await refreshed(store, start + 3 * day);
  expect((await rows(store, 'run', { now: start + 3 * day })).map(({ counts }) => counts.runs)).toEqual([2]);
  expect((await rows(store, 'tool', { now: start + 3 * day })).map(({ name, counts }) => [name, counts.took])).toEqual([['find', 7]]);
});
