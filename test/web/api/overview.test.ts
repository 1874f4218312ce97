/** The overview of each agent's work, from runs in a store under a clock that a test moves. */
import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import { tenant } from '../../../src/model/ids.ts';
import type { RunStatus } from '../../../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../../src/model/json.ts';
import type { ModelCounts, ScoredRun } from '../../../src/model/scored-run.ts';
import type { Verdict } from '../../../src/model/verdict.ts';
import { callRoutes } from '../../../src/web/api/calls.ts';
import { overviewRoutes } from '../../../src/web/api/overview.ts';
import { type ApiDeps, type Parameters, QueryFault } from '../../../src/web/api/route.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { versionRoutes } from '../../../src/web/api/versions.ts';
import { anyVisit, emptyApi } from '../../builders/console-listener.ts';
import { evaluation, run, scored, skipped } from '../../builders/scored-run.ts';
import { seeded } from '../../builders/seeded.ts';

const hourMs = 3_600_000;
/** 2026-11-26T12:00Z. */
const nowMs = 1_795_694_400_000;
const [pass, fail] = [scored(1), scored(0)];
const models: readonly ModelCounts[] = [
  { model: 'm', calls: 2, errors: 1, inputTokens: 100, outputTokens: 20, costUsd: 0.5, took: [1_000_000, 3_000_000] },
];

let last = 0;
function item(
  agent: string,
  hoursAgo: number,
  /** Null when the run was not judged. */
  verdict: Verdict | null,
  more: {
    readonly tenant?: string;
    readonly probability?: number;
    readonly tookMs?: number;
    readonly status?: RunStatus;
    readonly session?: string;
    readonly raisedBy?: number;
    readonly kind?: 'judge';
  } = {},
): ScoredRun {
  const start = BigInt(Math.round(nowMs - hoursAgo * hourMs)) * 1_000_000n;
  const toolCalls = [
    call({ name: 'find', startUnixNano: start, endUnixNano: start + 2_000_000_000n }),
    call({ name: 'find', startUnixNano: start, endUnixNano: start + 4_000_000_000n, error: { message: 'no', sign: 'span_status' } }),
  ];
  const own = run({
    spanId: spanId(++last),
    ...(more.tenant === undefined ? {} : { tenant: tenant(more.tenant) }),
    trace: agentTrace({
      agent,
      toolCalls,
      status: more.status ?? 'ok',
      ...(more.session === undefined ? {} : { sessionId: more.session }),
    }),
    startUnixNano: start,
    endUnixNano: start + BigInt(more.tookMs ?? 10_000) * 1_000_000n,
  });
  const figures = { inputTokens: 100, outputTokens: 20, costUsd: 0.5, models };
  return {
    run: own,
    evaluations:
      verdict === null
        ? []
        : [
            evaluation('quality', verdict, own, {
              sampleProbability: more.probability ?? 1,
              ...(more.raisedBy === undefined ? {} : { raisedBy: more.raisedBy }),
              ...(more.kind === undefined ? {} : { evaluatorKind: more.kind }),
            }),
          ],
    decisions: [],
    figures,
  };
}

async function deps(items: readonly ScoredRun[]): Promise<ApiDeps> {
  const api = await emptyApi();
  const { store } = api;
  await store.write(items);
  return {
    ...api,
    clock: manualClock(nowMs),
    async refreshVersions() {
      const now = nowMs * 1_000;
      while (await store.versions.refresh({ now, keepFrom: 0 })) {}
      return true;
    },
  };
}

async function asked(path: string, from: ApiDeps, query: Parameters = {}): Promise<JsonObject> {
  const route = [...overviewRoutes, ...callRoutes, ...versionRoutes].find((one) => one.path === path);
  return (await route?.handle(from, query, null as JsonValue, anyVisit)) as JsonObject;
}

function repeated(times: number, make: (at: number) => ScoredRun): readonly ScoredRun[] {
  return Array.from({ length: times }, (_, at) => make(at));
}

test('overview: an agent with its rate, tokens, cost, durations, tools and steps', async () => {
  const answer = await asked(
    '/overview',
    await deps([item('a', 1, pass, { status: 'paused' }), item('a', 2.5, fail, { status: 'error' }), item('a', 3, skipped)]),
  );
  expect(answer).toMatchObject({ whole: true, step_seconds: 3_600, confidence: 0.95, next: null, to: '2026-11-26T12:00:00.000000Z' });
  const [agent] = answer['agents'] as readonly JsonObject[];
  expect(agent).toMatchObject({
    agent: 'a',
    runs: 3,
    failed_runs: 1,
    error_runs: 1,
    paused_runs: 1,
    runs_before: 0,
    evaluators: [{ evaluator: 'quality', passed: 1, failed: 1, rate: 0.5, before: null, change: null }],
    input_tokens: 300,
    output_tokens: 60,
    cost_usd: 1.5,
    costed_runs: 3,
    tool_calls: 6,
    tool_errors: 3,
  });
  const { p50, p95 } = (agent ?? {})['duration_seconds'] as { readonly p50: number; readonly p95: number };
  for (const value of [p50, p95]) expect(Math.abs(value - 10)).toBeLessThan(0.21);
  const steps = agent?.['steps'] as readonly JsonObject[];
  expect(steps).toHaveLength(24);
  expect(steps.filter(({ runs }) => Number(runs) > 0)).toEqual([
    { at: '2026-11-26T09:00:00.000000Z', runs: 2, failed_runs: 1 },
    { at: '2026-11-26T11:00:00.000000Z', runs: 1, failed_runs: 0 },
  ]);
});

const durations: { readonly [of: string]: readonly number[] } = {
  'one run': [2_873],
  'an even number of runs': [2_800, 3_000],
  'runs without a duration': [0, 0, 5],
  'runs over five decades': Array.from({ length: 60 }, (_, at) => Math.round(7 * 1.2 ** at)),
};

for (const [of, took] of Object.entries(durations))
  test(`overview: the agent and its version have the same quantiles of ${of}`, async () => {
    const from = await deps(took.map((tookMs, at) => item('a', 1 + at / 100, pass, { tookMs })));
    const [agent] = (await asked('/overview', from))['agents'] as readonly JsonObject[];
    const [version] = (await asked('/versions', from, { agent: 'a' }))['versions'] as readonly JsonObject[];
    expect(version).toMatchObject({ runs: took.length });
    expect(agent?.['duration_seconds']).toEqual({ p50: version?.['median_seconds'], p95: version?.['p95_seconds'] });
  });

test('overview: a change is shown only where the interval of the difference excludes zero, and the worst comes first', async () => {
  const steady = repeated(40, (at) => item('steady', at < 20 ? 2 : 30, at % 10 === 0 ? fail : pass));
  const fallen = repeated(80, (at) => item('fallen', at < 40 ? 2 : 30, at < 40 && at % 2 === 0 ? fail : pass));
  const bad = repeated(10, (at) => item('bad', 3, at < 8 ? fail : pass));
  const { agents } = await asked('/overview', await deps([...steady, ...bad, ...fallen]));
  const rows = agents as readonly JsonObject[];
  expect(rows.map(({ agent }) => agent)).toEqual(['fallen', 'bad', 'steady']);
  const quality = (row: JsonObject | undefined): JsonObject => ((row ?? {})['evaluators'] as readonly JsonObject[])[0] ?? {};
  expect(quality(rows[0])).toMatchObject({ rate: 0.5, before: { rate: 1 }, change: { difference: -0.5 } });
  const { high } = quality(rows[0])['change'] as { readonly high: number };
  expect(high).toBeLessThan(0);
  expect(quality(rows[1])).toMatchObject({ before: null, change: null });
  expect(quality(rows[2])).toMatchObject({ before: { rate: 0.9 }, change: null });
  expect(rows[2]).toMatchObject({ runs: 20, runs_before: 20 });
});

test('overview: runs of one session count together', async () => {
  const runs = (session: (at: number) => string | undefined): readonly ScoredRun[] =>
    repeated(80, (at) => {
      const of = session(at);
      return item('a', at < 40 ? 2 : 30, at < 40 && at % 2 === 0 ? fail : pass, of === undefined ? {} : { session: of });
    });
  const told = async (items: readonly ScoredRun[]): Promise<JsonObject> => {
    const [agent] = (await asked('/overview', await deps(items)))['agents'] as readonly JsonObject[];
    return ((agent ?? {})['evaluators'] as readonly JsonObject[])[0] ?? {};
  };
  const width = ({ low, high }: JsonObject): number => Number(high) - Number(low);
  const [alone, ofTen] = [await told(runs(() => undefined)), await told(runs((at) => `s${Math.floor(at / 10)}`))];
  expect(alone).toMatchObject({ rate: 0.5, change: { difference: -0.5 } });
  expect(ofTen).toMatchObject({ rate: 0.5, change: null });
  expect(width(ofTen)).toBeGreaterThan(2 * width(alone));
  expect(await told(runs((at) => (at < 40 ? 'one' : 'other')))).toMatchObject({ rate: null, change: null });
});

test('overview: where nothing changed, it seldom marks a change on any of many cards', async () => {
  const chance = seeded(2026);
  let marked = 0;
  const pages = 40;
  for (let page = 0; page < pages; page++) {
    const items = Array.from({ length: 30 }, (_, agent) =>
      repeated(60, (at) => item(`a${agent}`, at < 30 ? 2 : 30, chance.share() < 0.8 ? pass : fail)),
    ).flat();
    const { agents } = await asked('/overview', await deps(items));
    const cards = (agents as readonly JsonObject[]).flatMap(({ evaluators }) => evaluators as readonly JsonObject[]);
    expect(cards).toHaveLength(30);
    if (cards.some(({ change }) => change !== null)) marked++;
  }
  // Each card by itself at 95 % would mark three of four such pages.
  expect(marked / pages).toBeLessThanOrEqual(0.1);
});

test('overview: rates are weighted by one over the sample probability', async () => {
  const from = await deps([...repeated(10, () => item('a', 1, pass, { probability: 0.1 })), ...repeated(10, () => item('a', 1, fail))]);
  const { agents } = await asked('/overview', from);
  expect((agents as readonly JsonObject[])[0]).toMatchObject({
    evaluators: [{ passed: 10, failed: 10, rate: expect.closeTo(100 / 110, 9) }],
  });
});

test('overview: a rate of raised runs needs others that represent the rest of the traffic', async () => {
  // A tenth of the runs is raised from 0.02 to 1. One in fifty of the rest is judged.
  const runs = (all: number): readonly ScoredRun[] => [
    ...repeated(all / 10, () => item('a', 1, fail, { raisedBy: 50, kind: 'judge' })),
    ...repeated((0.9 * all) / 50, () => item('a', 1, pass, { probability: 0.02, kind: 'judge' })),
    ...repeated(0.9 * all * 0.98, () => item('a', 1, null)),
  ];
  const told = async (all: number, others = 0): Promise<JsonObject> => {
    const items = [...runs(all), ...repeated(others, () => item('a', 1, null))];
    const [agent] = (await asked('/overview', await deps(items)))['agents'] as readonly JsonObject[];
    return ((agent ?? {})['evaluators'] as readonly JsonObject[])[0] ?? {};
  };
  expect(await told(200)).toMatchObject({
    rate: null,
    failed: 20,
    not_estimable: { reason: 'too_few_usual_runs', explanation: expect.stringContaining('After about ') },
  });
  expect(await told(1_000)).toMatchObject({ rate: expect.closeTo(0.9, 2), not_estimable: null });
  // A condition leaves out most runs of the agent: its 20 raised and 150 other runs do not represent these.
  expect(await told(200, 2_000)).toMatchObject({ rate: null });
});

test('overview: only one tenant, one agent, pages, and periods of other lengths', async () => {
  const from = await deps([item('a', 0.2, pass), item('b', 0.5, pass, { tenant: 't' }), item('c', 60, fail)]);
  const names = async (query: Parameters): Promise<readonly unknown[]> =>
    ((await asked('/overview', from, query))['agents'] as readonly JsonObject[]).map(({ agent }) => agent);
  expect(await names({})).toEqual(['a', 'b']);
  expect(await names({ tenant: 't' })).toEqual(['b']);
  expect(await names({ agent: 'a' })).toEqual(['a']);
  expect(await names({ from: '2026-11-20', to: '2026-11-27' })).toEqual(['c', 'a', 'b']);
  const first = await asked('/overview', from, { limit: 1 });
  expect((first['agents'] as readonly JsonObject[]).length).toBe(1);
  expect(await names({ limit: 1, cursor: String(first['next']) })).toEqual(['b']);
  const hour = await asked('/overview', from, { from: '2026-11-26T11:00:00Z' });
  expect(hour).toMatchObject({ step_seconds: 300, from: '2026-11-26T11:00:00.000000Z' });
  await expect(asked('/overview', from, { from: '2020-01-01' })).rejects.toBeInstanceOf(QueryFault);
});

test('tools: sums over time and the runs themselves say the same', async () => {
  const from = await deps([item('a', 1, pass), item('a', 2, fail), item('b', 1, pass)]);
  const summed = await asked('/tools', from);
  const read = await asked('/tools', from, { by: 'version' });
  const plain = (answer: JsonObject): unknown => (answer['tools'] as readonly JsonObject[]).map(({ version: _version, ...row }) => row);
  expect(plain(summed)).toEqual(plain(read));
  expect((summed['tools'] as readonly JsonObject[])[0]).toMatchObject({
    agent: 'a',
    name: 'find',
    calls: 4,
    errors: 2,
    mean_seconds: 3,
    argument_failures: [],
  });
  expect(Math.abs(Number((summed['tools'] as readonly JsonObject[])[0]?.['p95_seconds']) - 4)).toBeLessThan(0.09);
});

test('models: calls, errors, latency, tokens and cost by model, and by agent', async () => {
  const from = await deps([item('a', 1, pass), item('b', 1, pass)]);
  const { models: all } = await asked('/models', from);
  expect(all).toMatchObject([
    { model: 'm', runs: 2, calls: 4, errors: 2, input_tokens: 200, output_tokens: 40, cost_usd: 1, costed_runs: 2 },
  ]);
  expect(Math.abs(Number((all as readonly JsonObject[])[0]?.['p50_seconds']) - 1)).toBeLessThan(0.03);
  expect((await asked('/models', from, { by: 'agent' }))['models']).toMatchObject([
    { agent: 'a', calls: 2 },
    { agent: 'b', calls: 2 },
  ]);
});

test.each([
  { of: 'duration', by: 'agent', unit: 'seconds', name: 'a', count: 2, mean: 10 },
  { of: 'duration', by: 'tool', unit: 'seconds', name: 'find', count: 4, mean: 3 },
  { of: 'duration', by: 'model', unit: 'seconds', name: 'm', count: 4, mean: null },
  { of: 'cost', by: 'agent', unit: 'usd', name: 'a', count: 2, mean: 0.5 },
  { of: 'cost', by: 'model', unit: 'usd', name: 'm', count: 2, mean: 0.5 },
  { of: 'tokens', by: 'agent', unit: 'tokens', name: 'a', count: 2, mean: 120 },
  { of: 'tokens', by: 'model', unit: 'tokens', name: 'm', count: 2, mean: 120 },
  { of: 'score', by: 'evaluator', unit: 'score', name: 'quality', count: 2, mean: 0.5 },
])('distributions: $of by $by', async ({ of, by, unit, name, count, mean }) => {
  const answer = await asked('/distributions', await deps([item('a', 1, pass), item('a', 2, fail)]), { of, by });
  expect(answer).toMatchObject({ of, by, unit, whole: true });
  const [row, ...more] = answer['distributions'] as readonly JsonObject[];
  expect(row).toMatchObject({ name, count, mean });
  expect(more).toEqual([]);
  const bins = row?.['histogram'] as readonly { readonly count: number }[];
  expect(bins.reduce((sum, bin) => sum + bin.count, 0)).toBe(count);
});

test.each([
  { of: 'cost', by: 'tool' },
  { of: 'duration', by: 'evaluator' },
  { of: 'score', by: 'agent' },
])('distributions: $of by $by is refused with what there is', async ({ of, by }) => {
  await expect(asked('/distributions', await deps([]), { of, by })).rejects.toMatchObject({ todo: expect.stringContaining('by=') });
});

test('distributions: scores of one evaluator by agent', async () => {
  const from = await deps([item('a', 1, pass), item('b', 2, fail)]);
  const { distributions } = await asked('/distributions', from, { of: 'score', by: 'agent', evaluator: 'quality' });
  expect(distributions).toMatchObject([
    { name: 'a', count: 1, mean: 1, p50: null },
    { name: 'b', count: 1, mean: 0 },
  ]);
});
