/** Rules that put runs into queues, and what keeps the queues up to date, on a real store. */
import { expect, test } from 'vitest';
import type { QueueRule } from '../../src/config/entries/queue-entry.ts';
import { manualClock } from '../../src/model/clock.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { type ItemId, noItems, upTo, type Watermark } from '../../src/model/watermark.ts';
import { parseRunExpression } from '../../src/pipeline/evaluation/run-expression.ts';
import { queueFiller, queueUpkeep, queueUpkeepMs, rulesOfQueues } from '../../src/service/queue-rules.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { run, scored, scoredRun, skipped } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';
import { open } from '../stores/members.ts';

function rule(whenText: string, given: Partial<QueueRule> = {}): QueueRule {
  const parsed = parseRunExpression(whenText);
  if (parsed.kind === 'faulty') throw new Error(whenText);
  return {
    name: 'refunds',
    when: parsed.expression,
    whenText,
    sample: 1,
    max: 500,
    ask: [{ kind: 'evaluator', name: 'goal' }],
    people: 1,
    dueMs: undefined,
    order: 'oldest',
    random: 0,
    leaseMs: 60_000,
    blind: true,
    ...given,
  };
}

const item = (at: number, verdicts: { readonly [name: string]: Verdict }): ScoredRun =>
  scoredRun(verdicts, run({ traceId: traceId(at + 1) }));
const judged = (at: number, name: string, score: number): ScoredRun => ({ ...item(at, { [name]: scored(score) }), answered: true });

interface Filled {
  readonly store: Store;
  readonly counted: { readonly [outcome: string]: number };
}

async function filled(rules: readonly QueueRule[], items: readonly ScoredRun[]): Promise<Filled> {
  const store = await open('sqlite in memory');
  const { sleep, wakeAll } = manualSleep();
  const counted: { [outcome: string]: number } = {};
  let mark: Watermark = noItems;
  const filler = queueFiller({
    store,
    takesLeft: () => true,
    rules: () => rules,
    settled: () => mark,
    isBehind: () => false,
    telemetry: {
      add(_name, value, labels = {}) {
        const outcome = String(labels['tracejury.outcome']);
        counted[outcome] = (counted[outcome] ?? 0) + value;
      },
    },
    clock: manualClock(),
    sleep,
    onFault(error) {
      throw error;
    },
  });
  for (const [at, one] of items.entries()) {
    await store.write([one]);
    filler.offer(one, (at + 1) as ItemId);
    mark = upTo((at + 1) as ItemId);
  }
  const stopped = filler.stop(1_000);
  let isStopped = false;
  void stopped.then(() => (isStopped = true));
  for (let round = 0; round < 500 && !isStopped; round++) await wakeAll();
  await stopped;
  return { store, counted };
}

test.each<{
  readonly name: string;
  readonly rules: readonly QueueRule[];
  readonly items: readonly ScoredRun[];
  readonly want: readonly number[];
  readonly counted: { readonly [outcome: string]: number };
}>([
  {
    name: 'runs that match enter, and no others',
    rules: [rule('tool_error < 1')],
    items: [item(0, { tool_error: scored(0) }), item(1, { tool_error: scored(1) }), item(2, { tool_error: skipped })],
    want: [0],
    counted: { added: 1 },
  },
  {
    name: 'a run is tested again when a judge has answered',
    rules: [rule('tool_error < 1 and goal < 0.5')],
    items: [item(0, { tool_error: scored(0) }), item(1, { tool_error: scored(1) }), judged(0, 'goal', 0), judged(1, 'goal', 0)],
    want: [0],
    counted: { added: 1 },
  },
  {
    name: 'a queue has no more open items than its limit',
    rules: [rule('tool_error < 1', { max: 1 })],
    items: [item(0, { tool_error: scored(0) }), item(1, { tool_error: scored(0) })],
    want: [0],
    counted: { added: 1, full: 1 },
  },
  {
    name: 'a share of the traces is none of them',
    rules: [rule('tool_error < 1', { sample: 0 })],
    items: [item(0, { tool_error: scored(0) })],
    want: [],
    counted: {},
  },
])('rules: $name', async ({ rules, items, want, counted }) => {
  const made = await filled(rules, items);
  const page = await made.store.queues.items({ queue: 'refunds', limit: 10 });
  expect(page.items.map((one) => one.traceId)).toEqual(want.map((at) => traceId(at + 1)));
  expect(made.counted).toEqual(counted);
  for (const one of page.items) expect(one).toMatchObject({ why: rules[0]?.whenText, addedBy: 'rule refunds' });
});

test('rules: what a process has left in the store enters when the next one starts, once, and with the rest of its condition', async () => {
  const store = { ...(await open('sqlite in memory')), isDurable: true };
  const clock = manualClock();
  const { sleep, wakeOf } = manualSleep();
  const begun = (takesLeft: boolean) =>
    queueFiller({
      store,
      takesLeft: () => takesLeft,
      rules: () => [rule('tool_error < 1 and goal < 0.5'), rule('tool_error < 1', { name: 'errors' })],
      settled: () => noItems,
      isBehind: () => false,
      telemetry: { add: () => undefined },
      clock,
      sleep,
      onFault(error) {
        throw error;
      },
    });
  const killed = begun(false);
  for (const [at, one] of [
    item(0, { tool_error: scored(0) }),
    item(1, { tool_error: scored(0) }),
    judged(0, 'goal', 0),
    judged(1, 'goal', 1),
    item(2, { tool_error: scored(1) }),
  ].entries())
    await store.write([{ ...one, matches: killed.offer(one, (at + 1) as ItemId) }]);
  const names = async (queue: string): Promise<unknown> => (await store.queues.items({ queue, limit: 10 })).items.map((one) => one.traceId);
  expect(await names('errors')).toEqual([]);
  clock.advance(1);
  const next = begun(true);
  for (let round = 0; round < 200; round++) await wakeOf(1_000);
  await next.stop(0);
  expect([await names('refunds'), await names('errors')]).toEqual([[traceId(1)], [traceId(1), traceId(2)]]);
  const left = { kind: 'queue', before: clock.nowMs() * 1_000, limit: 10 } as const;
  expect(await store.ruleMatches.left(left)).toEqual([]);
});

test('rules: an item has the due time of its queue', async () => {
  const { store } = await filled([rule('tool_error < 1', { dueMs: 3_600_000 })], [item(0, { tool_error: scored(0) })]);
  const [one] = (await store.queues.items({ queue: 'refunds', limit: 1 })).items;
  expect((one?.dueAt ?? 0) - (one?.enteredAt ?? 0)).toBe(3_600_000_000);
});

test('upkeep: items expire with a warning, leases that end are counted, and the states are published', async () => {
  const store = await open('sqlite in memory');
  const clock = manualClock();
  const { sleep, wakeOf } = manualSleep();
  const telemetry = metricRegistry({ clock });
  const warnings: unknown[] = [];
  await store.write([item(0, {}), item(1, {}), item(2, {})]);
  const now = (): number => clock.nowMs() * 1_000;
  await store.queues.add({
    queue: 'refunds',
    items: [0, 1, 2].map((at) => ({ ...keyOf(at), why: '' })),
    addedBy: 'ann',
    at: now(),
    dueAt: now() + 60_000_000,
    itemsMax: 10,
    reopens: false,
  });
  await store.queues.lease({ queue: 'refunds', person: 'ann', people: 1, now: now(), until: now() + 1_000_000 });
  await store.queues.lease({ queue: 'refunds', person: 'bob', people: 1, now: now(), until: now() + 3_600_000_000 });
  const task = queueUpkeep({
    store,
    config: () => ({ queues: [rule('tool_error < 1')] }),
    telemetry,
    logger: { warn: (fields, message) => warnings.push([fields, message]) },
    clock,
    sleep,
    onFault: (error) => warnings.push(error),
  });
  const states = (): unknown =>
    Object.fromEntries(
      telemetry
        .snapshot()
        .flatMap(({ name, points }) => (name === 'tracejury.queues.items' ? points : []))
        .map((point) => [point.labels['tracejury.state'], 'value' in point ? point.value : undefined]),
    );
  const round = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await wakeOf(0);
  };
  await round();
  expect(states()).toEqual({ open: 1, leased: 2, done: 0, skipped: 0, expired: 0 });
  clock.advance(61_000);
  await wakeOf(queueUpkeepMs);
  await round();
  expect(states()).toEqual({ open: 0, leased: 1, done: 0, skipped: 0, expired: 2 });
  expect(warnings).toEqual([
    [{ queue: 'refunds', items: 2 }, 'items of a queue passed their due time without enough answers, and have expired'],
  ]);
  const lapsed = telemetry.snapshot().find(({ name }) => name === 'tracejury.queues.leases_expired');
  expect(lapsed?.points).toMatchObject([{ value: 1 }]);
  await task.stop();
});

function keyOf(at: number) {
  const { tenant, traceId: trace, spanId } = run({ traceId: traceId(at + 1) });
  return { tenant, traceId: trace, spanId };
}

test('queue rules: a queue that asks about a judge draws from what it has judged, with the probability of the verdict', async () => {
  const { store, counted } = await filled(drawingRules({ random: 0.3 }), [
    item(0, { tool_error: scored(0) }),
    scoredRun({ goal: scored(1) }, run({ traceId: traceId(2) }), { evaluatorKind: 'judge', sampleProbability: 0.5 }),
    item(2, { tool_error: scored(1) }),
    judged(2, 'goal', 0),
    judged(3, 'goal', 1),
    judged(3, 'other', 1),
    scoredRun({ goal: skipped }, run({ traceId: traceId(5) })),
  ]);
  const { items } = await store.queues.items({ queue: 'refunds', limit: 10 });
  expect(items.map((one) => [one.traceId, one.why, one.addedBy, one.probability])).toEqual([
    [traceId(2), 'drawn at random', 'rule refunds', 1],
    [traceId(3), 'drawn at random', 'rule refunds', 1],
    [traceId(4), 'drawn at random', 'rule refunds', 1],
  ]);
  expect(counted).toEqual({ drawn: 3 });
});

test.each([
  ['its share is 0', { random: 0 }],
  ['it asks about no judge', { random: 0.3, ask: [{ kind: 'evaluator', name: 'tool_error' } as const] }],
])('queue rules: a queue draws nothing when %s', (_when, given) => {
  expect(drawingRules(given)).toEqual([]);
});

test('queue rules: of several judges that it asks about a queue draws by the first', async () => {
  const ask = (['tool_error', 'goal', 'tone'] as const).map((name) => ({ kind: 'evaluator', name }) as const);
  const rules = drawingRules({ random: 0.3, ask });
  const twice = run({ traceId: traceId(1) });
  const { store, counted } = await filled(rules, [
    scoredRun({ tone: scored(1) }, run({ traceId: traceId(2) }), { evaluatorKind: 'judge', sampleProbability: 0.5 }),
    scoredRun({ goal: scored(1) }, twice, { evaluatorKind: 'judge', sampleProbability: 1 }),
    { ...scoredRun({ tone: scored(1) }, twice, { evaluatorKind: 'judge', sampleProbability: 0.1 }), answered: true },
  ]);
  expect(rules.map(({ draws }) => draws)).toEqual(['goal']);
  expect((await store.queues.items({ queue: 'refunds', limit: 10 })).items.map((one) => one.traceId)).toEqual([traceId(1)]);
  expect(counted).toEqual({ drawn: 1 });
});

/** In a queue without a condition. */
function drawingRules(given: Partial<QueueRule>): readonly QueueRule[] {
  const { when: _when, ...queue } = rule('goal < 1', given);
  const configured = (name: string, kind: 'rule' | 'judge') => ({ configured: { name, kind } });
  return rulesOfQueues({
    queues: [{ ...queue, when: undefined }],
    evaluators: [configured('goal', 'judge'), configured('tone', 'judge'), configured('tool_error', 'rule')],
  });
}
