/** Single verdicts for figures over many runs, in every store. */
import { describe, expect, test } from 'vitest';
import { parseTraceId, tenant, type Tenant, type TraceId } from '../../src/model/ids.ts';
import type { RowPlace, VerdictRow } from '../../src/model/store/verdict-rows.ts';
import type { Store, StoreItem } from '../../src/model/store/store.ts';
import type { Decision, EvaluatorKind, Verdict } from '../../src/model/verdict.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { evaluation, failed, run, scored, skipped } from '../builders/scored-run.ts';
import { members, open } from './members.ts';

const second = 1_000_000;
const base = 1_700_000_000 * second;

function traceId(number: number): TraceId {
  const id = parseTraceId(number.toString(16).padStart(32, '0'));
  if (id === undefined) throw new Error('no trace id');
  return id;
}

/** The run of that number, which starts that many seconds after the base. */
function item(
  number: number,
  verdicts: { readonly [name: string]: readonly [EvaluatorKind, Verdict, number] },
  decisions: { readonly [name: string]: Decision } = {},
): StoreItem {
  const start = BigInt(base + number * second) * 1_000n;
  const own = run({
    traceId: traceId(number + 1),
    trace: agentTrace({ agent: `agent ${number % 2}`, ...(number === 2 ? {} : { sessionId: `s${number % 3}` }) }),
    startUnixNano: start,
    endUnixNano: start,
  });
  return {
    run: own,
    evaluations: Object.entries(verdicts).map(([name, [kind, verdict, probability]]) =>
      evaluation(name, verdict, own, { evaluatorKind: kind, sampleProbability: probability }),
    ),
    decisions: Object.entries(decisions).map(([name, decision]) => ({ name, evaluator: name, evaluatorKind: 'judge', decision })),
  };
}

const always = { from: 0, to: base * 2 } as const;

async function pages(
  store: Store,
  query: { readonly name: string; readonly limit: number; readonly agent?: string },
): Promise<readonly (readonly VerdictRow[])[]> {
  const found: (readonly VerdictRow[])[] = [];
  for (let after: RowPlace | undefined; found.length < 20;) {
    const page = await store.verdicts.page({ ...always, ...query, ...(after === undefined ? {} : { after }) });
    found.push(page.rows);
    if (page.next === undefined) break;
    after = page.next;
  }
  return found;
}

const numbers = (rows: readonly VerdictRow[]): readonly number[] => rows.map((row) => Number.parseInt(row.traceId, 16) - 1);

describe.each(members)('%s', (member) => {
  test('verdict rows: verdicts of one evaluator come newest run first, with what a rate needs', async () => {
    const store = await open(member);
    await store.write([
      item(0, { relevance: ['judge', scored(1), 0.05], tool_error: ['rule', scored(0), 1] }),
      item(1, { relevance: ['judge', scored(0.25, { label: 'irrelevant' }), 1] }),
      item(2, { relevance: ['judge', failed(), 0.5] }),
      item(3, { relevance: ['judge', skipped, 0.5] }),
      item(4, { tool_error: ['rule', scored(1), 1] }),
    ]);
    expect((await pages(store, { name: 'relevance', limit: 3 })).map(numbers)).toEqual([[3, 2, 1], [0]]);
    expect((await pages(store, { name: 'relevance', limit: 10 }))[0]?.slice(1, 3)).toMatchObject([
      { tenant: '', agent: 'agent 0', sessionId: undefined, word: 'error', score: undefined, sampleProbability: 0.5 },
      { agent: 'agent 1', sessionId: 's1', word: 'fail', score: 0.25, label: 'irrelevant', sampleProbability: 1 },
    ]);
    expect((await pages(store, { name: 'relevance', agent: 'agent 0', limit: 10 })).map(numbers)).toEqual([[2, 0]]);
    expect((await pages(store, { name: 'other', limit: 10 })).map(numbers)).toEqual([[]]);
  });

  test('verdict rows: of one tenant, and with a bound on what one run weighs', async () => {
    const store = await open(member);
    const of = (number: number, name: string, given: StoreItem): StoreItem => ({
      ...given,
      run: { ...given.run, tenant: tenant(name) },
      evaluations: given.evaluations.map((one) => ({
        ...one,
        key: { ...one.key, tenant: tenant(name) },
        run: { ...one.run, tenant: tenant(name) },
      })),
      decisions: given.decisions.map((one) => (one.decision === 'overload' ? { ...one, probability: number === 5 ? 1e-9 : 0.05 } : one)),
    });
    const verdict = { relevance: ['judge', scored(1), 0.05] } as const;
    await store.write([
      of(0, 'a', item(0, verdict)),
      of(1, 'b', item(1, verdict)),
      of(2, 'a', item(2, verdict)),
      of(3, '', item(3, verdict)),
      of(4, 'a', item(4, {}, { relevance: 'overload' })),
      of(5, 'a', item(5, {}, { relevance: 'overload' })),
    ]);
    const rows = async (name?: string) =>
      numbers(
        (await store.verdicts.page({ ...always, name: 'relevance', limit: 10, ...(name === undefined ? {} : { tenant: tenant(name) }) }))
          .rows,
      );
    expect([await rows(), await rows('a'), await rows('b'), await rows(''), await rows('c')]).toEqual([[3, 2, 1, 0], [2, 0], [1], [3], []]);
    expect([
      await store.verdicts.since({ ...always, runsMax: 1, tenant: tenant('a') }),
      await store.verdicts.since({ ...always, runsMax: 1, tenant: tenant('b') }),
    ]).toEqual([base + 4 * second + 1, 0]);
    const weights = async (more: { readonly tenant?: Tenant; readonly weightMax?: number }) =>
      (await store.verdicts.decided({ ...always, name: 'relevance', ...more }))
        .filter(({ decision }) => decision === 'overload')
        .reduce((sum, { weight }) => sum + weight, 0);
    expect([
      await weights({ weightMax: 100 }),
      await weights({ weightMax: 100, tenant: tenant('a') }),
      await weights({ tenant: tenant('b') }),
    ]).toEqual([120, 120, 0]);
    expect(await weights({})).toBeGreaterThan(1e8);
  });

  test('verdict rows: evaluators are known by name, with the kind of their newest verdict', async () => {
    const store = await open(member);
    expect(await store.verdicts.evaluators()).toEqual([]);
    await store.write([
      item(1, { b: ['judge', scored(1), 1], a: ['rule', scored(1), 1] }),
      item(0, { b: ['rule', scored(1), 1], c: ['http', scored(1), 1] }),
    ]);
    expect(await store.verdicts.evaluators()).toEqual([
      { name: 'a', kind: 'rule' },
      { name: 'b', kind: 'judge' },
      { name: 'c', kind: 'http' },
    ]);
  });

  test('verdict rows: of too many runs the newest count', async () => {
    const store = await open(member);
    await store.write([0, 1, 2, 3].map((number) => item(number, {})));
    const since = async (runsMax: number, more = {}): Promise<number> =>
      (await store.verdicts.since({ ...always, from: base - 1, runsMax, ...more })) - base;
    expect([
      await since(4),
      await since(3),
      await since(1),
      await since(1, { to: base + 2 * second }),
      await since(1, { agent: 'agent 0' }),
    ]).toEqual([-1, 1, 2 * second + 1, 1, 1]);
  });

  test('verdict rows: how runs ended is counted by agent', async () => {
    const store = await open(member);
    await store.write([
      item(0, {}, { b: 'sampled_out' }),
      item(1, {}, { b: 'over_budget', a: 'scored' }),
      item(2, {}, { b: 'sampled_out' }),
      item(4, { b: ['judge', failed(), 0.5] }, { b: 'failed' }),
    ]);
    const none = { chosen: 0, weight: 0, unchosen: 0 };
    expect(await store.verdicts.decided({ ...always, name: 'b' })).toEqual([
      { agent: 'agent 0', decision: 'failed', runs: 1, ...none },
      { agent: 'agent 0', decision: 'sampled_out', runs: 2, ...none, unchosen: 2 },
      { agent: 'agent 1', decision: 'over_budget', runs: 1, ...none, unchosen: 1 },
    ]);
    expect(await store.verdicts.decided({ ...always, from: base + second, name: 'b', agent: 'agent 0' })).toMatchObject([
      { decision: 'failed', runs: 1 },
      { decision: 'sampled_out', runs: 1 },
    ]);
  });

  test('verdict rows: a run that was chosen and not asked about, or waits, has its weight', async () => {
    const store = await open(member);
    const job = (probability: number) => ({
      name: 'b',
      evaluator: 'b',
      evaluatorKind: 'judge' as const,
      queueKey: 'main',
      optionsHash: 'h',
      probability,
      offeredAt: base,
    });
    const waits = (number: number, probability: number): StoreItem => ({ ...item(number, {}), asked: true, jobs: [job(probability)] });
    const refused = (number: number, probability: number): StoreItem => ({
      ...item(number, {}),
      decisions: [{ name: 'b', evaluator: 'b', evaluatorKind: 'judge', decision: 'overload', reason: 'queue_full', probability }],
    });
    await store.write([waits(0, 0.25), waits(2, 0.5), waits(3, 1), refused(4, 0.1), refused(6, 1), item(8, {}, { b: 'overload' })]);
    const counted = async () =>
      (await store.verdicts.decided({ ...always, name: 'b' })).map(({ agent, decision, runs, chosen, weight, unchosen }) => [
        agent,
        decision,
        runs,
        chosen,
        weight,
        unchosen,
      ]);
    expect(await counted()).toEqual([
      ['agent 0', 'overload', 3, 2, 11, 1],
      ['agent 0', 'waiting', 2, 2, 6, 0],
      ['agent 1', 'waiting', 1, 1, 1, 0],
    ]);
    // One is answered; of another a second revision waits while the verdict on the first one stands.
    const again = item(2, {});
    await store.write([
      { ...item(0, { b: ['judge', scored(1), 0.25] }, { b: 'scored' }), answered: true },
      { ...item(2, { b: ['judge', scored(1), 0.5] }, { b: 'scored' }), answered: true },
    ]);
    await store.write([{ ...again, run: { ...again.run, revision: 2 }, asked: true, jobs: [job(0.5)] }]);
    expect(await counted()).toEqual([
      ['agent 0', 'overload', 3, 2, 11, 1],
      ['agent 0', 'scored', 2, 0, 0, 0],
      ['agent 1', 'waiting', 1, 1, 1, 0],
    ]);
  });
});
