/** Rules that keep runs as examples, on a real store. */
import { expect, test } from 'vitest';
import type { DatasetRule } from '../../src/config/entries/dataset-rule.ts';
import { exampleKeeper } from '../../src/service/example-keeper.ts';
import type { RuleMatcher } from '../../src/service/rule-matcher.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { noTenant, tenant } from '../../src/model/ids.ts';
import type { ScoredRun } from '../../src/model/scored-run.ts';
import type { Store } from '../../src/model/store/store.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { type ItemId, noItems, upTo, type Watermark } from '../../src/model/watermark.ts';
import { parseRunExpression } from '../../src/pipeline/evaluation/run-expression.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { run, scored, scoredRun, skipped } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';
import { open } from '../stores/members.ts';

function rule(when: string, given: Partial<DatasetRule> = {}): DatasetRule {
  const parsed = parseRunExpression(when);
  if (parsed.kind === 'faulty') throw new Error(when);
  return { name: 'failures', when: parsed.expression, sample: 1, max: 500, tags: [], ...given };
}

interface Bench {
  readonly store: Store;
  readonly keeper: RuleMatcher;
  rules: readonly DatasetRule[];
  isBehind: boolean;
  mark: Watermark;
  readonly counted: Map<string, number>;
  readonly faults: unknown[];
  /** Writes the item and offers it. */
  deliver(item: ScoredRun): Promise<void>;
  /** Lets a round pass. */
  round(): Promise<void>;
  /** Ends all rests, that of a stop included. */
  hurry(): Promise<void>;
  inputs(name?: string, of?: typeof noTenant): Promise<readonly unknown[]>;
}

async function bench(
  rules: readonly DatasetRule[],
  { runsMax, broken }: { readonly runsMax?: number; readonly broken?: Partial<Store> } = {},
): Promise<Bench> {
  const store = await open('sqlite in memory');
  const { sleep, wakeOf, wakeAll } = manualSleep();
  const counted = new Map<string, number>();
  const faults: unknown[] = [];
  let id = 0;
  const made: Bench = {
    store,
    rules,
    isBehind: false,
    mark: noItems,
    counted,
    faults,
    keeper: exampleKeeper({
      store: { ...store, ...broken },
      takesLeft: () => true,
      rules: () => made.rules,
      mayBeRedacted: () => false,
      settled: () => made.mark,
      isBehind: () => made.isBehind,
      telemetry: {
        ...noTelemetry,
        add(name, value, labels = {}) {
          const outcome = String(labels['tracejury.outcome']);
          if (name === 'tracejury.datasets.runs') counted.set(outcome, (counted.get(outcome) ?? 0) + value);
        },
      },
      clock: { nowMs: () => 1_000 },
      sleep,
      onFault: (error) => faults.push(error),
      ...(runsMax === undefined ? {} : { runsMax }),
    }),
    async deliver(item) {
      await store.write([item]);
      made.keeper.offer(item, ++id as ItemId);
      made.mark = upTo(id as ItemId);
    },
    round: () => wakeOf(1_000),
    hurry: wakeAll,
    async inputs(name = 'failures', of = noTenant) {
      const page = await store.datasets.examples({ tenant: of, name }, undefined, { limit: 100 });
      return page?.examples.map(({ example }) => example.input) ?? [];
    },
  };
  return made;
}

function nth(at: number, input = `question of ${String.fromCharCode(97 + at)}`, given: Partial<Run> = {}): Run {
  return run({ traceId: traceId(at + 1), trace: agentTrace({ agent: 'support', input, finalResponse: 'done' }), ...given });
}

const item = (at: number, verdicts: { readonly [name: string]: Verdict }, given: Partial<Run> = {}, input?: string): ScoredRun =>
  scoredRun(verdicts, nth(at, input, given));
const judged = (at: number, name: string, score: number): ScoredRun => ({ ...item(at, { [name]: scored(score) }), answered: true });

/** Rounds until the keeper has nothing to do: a round asks the store several times. */
async function settle(made: Bench, isDone: () => Promise<boolean> | boolean): Promise<void> {
  for (let round = 0; round < 200 && !(await isDone()); round++) await made.round();
}

const outcomes = (made: Bench): unknown => Object.fromEntries(made.counted);

test.each<{
  readonly name: string;
  readonly rules: readonly DatasetRule[];
  readonly items: readonly ScoredRun[];
  readonly want: readonly string[];
  readonly counted: { readonly [outcome: string]: number };
}>([
  {
    name: 'runs that match are kept, and no others',
    rules: [rule('tool_error < 1')],
    items: [item(0, { tool_error: scored(0) }), item(1, { tool_error: scored(1) }), item(2, { tool_error: skipped })],
    want: ['question of a'],
    counted: { added: 1 },
  },
  {
    name: 'a rule may name only fields',
    rules: [rule("agent = support and input != 'question of a'")],
    items: [item(0, {}), item(1, {})],
    want: ['question of b'],
    counted: { added: 1 },
  },
  {
    name: 'a run is tested again when a judge has answered, with the verdicts that it has',
    rules: [rule('tool_error < 1 and goal < 0.5')],
    items: [item(0, { tool_error: scored(0) }), item(1, { tool_error: scored(1) }), judged(0, 'goal', 0), judged(1, 'goal', 0)],
    want: ['question of a'],
    counted: { added: 1 },
  },
  {
    name: 'a verdict that no rule names tests nothing again',
    rules: [rule('goal < 0.5')],
    items: [item(0, {}), judged(0, 'tone', 0)],
    want: [],
    counted: {},
  },
  {
    name: 'a share of the traces is none of them',
    rules: [rule('tool_error < 1', { sample: 0 })],
    items: [item(0, { tool_error: scored(0) })],
    want: [],
    counted: {},
  },
  {
    name: 'near-duplicates are left out',
    rules: [rule('tool_error < 1')],
    items: [item(0, { tool_error: scored(0) }, {}, 'Order 12345?'), item(1, { tool_error: scored(0) }, {}, 'order 99999')],
    want: ['Order 12345?'],
    counted: { added: 1, duplicate: 1 },
  },
  {
    name: 'no more than max are kept',
    rules: [rule('tool_error < 1', { max: 2 })],
    items: [0, 1, 2, 3].map((at) => item(at, { tool_error: scored(0) })),
    want: ['question of a', 'question of b'],
    counted: { added: 2, full: 2 },
  },
  {
    name: 'a run without texts makes no example',
    rules: [rule('tool_error < 1')],
    items: [{ ...item(0, { tool_error: scored(0) }), withoutContent: 'switched_off' } as ScoredRun],
    want: [],
    counted: { no_example: 1 },
  },
])('example keeper: $name', async ({ rules, items, want, counted }) => {
  const made = await bench(rules);
  for (const one of items) await made.deliver(one);
  const expected = Object.values(counted).reduce((sum, one) => sum + one, 0);
  await settle(made, () => [...made.counted.values()].reduce((sum, one) => sum + one, 0) >= expected && expected > 0);
  await made.keeper.stop(0);
  expect(await made.inputs()).toEqual(want);
  expect(outcomes(made)).toEqual(counted);
});

test('example keeper: a later revision changes the example while it is a draft, and not once a person has looked at it', async () => {
  const made = await bench([rule('tool_error < 1', { tags: ['night'] })]);
  await made.deliver(item(0, { tool_error: scored(0) }));
  await settle(made, () => made.counted.get('added') === 1);
  await made.deliver(item(0, { tool_error: scored(0) }, { revision: 2, contentHash: 'd' }, 'whole question'));
  await settle(made, () => made.counted.get('changed') === 1);
  expect(await made.inputs()).toEqual(['whole question']);
  const key = { tenant: noTenant, name: 'failures' };
  const [stored] = (await made.store.datasets.examples(key, undefined, { limit: 1 }))?.examples ?? [];
  expect(stored?.example).toMatchObject({ tags: ['night'], review: 'draft', origin: { rule: 'failures', at: 1_000_000 } });
  if (stored === undefined) throw new Error('no example');
  await made.store.datasets.change(key, { put: [{ ...stored.example, input: 'mine', review: 'reviewed' }], by: 'ann', at: 1 });
  await made.deliver(item(0, { tool_error: scored(0) }, { revision: 3, contentHash: 'e' }, 'another question'));
  await settle(made, () => made.counted.get('kept') === 1);
  expect(await made.inputs()).toEqual(['mine']);
  await made.keeper.stop(0);
});

test('example keeper: runs wait for the store, and what has no room is dropped and counted', async () => {
  const made = await bench([rule('tool_error < 1')], { runsMax: 2 });
  made.isBehind = true;
  for (let at = 0; at < 3; at++) await made.deliver(item(at, { tool_error: scored(0) }));
  await made.round();
  expect([await made.inputs(), outcomes(made)]).toEqual([[], { dropped: 1 }]);
  made.isBehind = false;
  made.mark = noItems;
  await made.round();
  expect(await made.inputs()).toEqual([]);
  made.mark = upTo(3 as ItemId);
  await settle(made, () => made.counted.get('added') === 2);
  expect(await made.inputs()).toEqual(['question of a', 'question of b']);
  await made.keeper.stop(0);
});

test('example keeper: tenants have separate datasets, and a removed rule keeps nothing', async () => {
  const made = await bench([rule('tool_error < 1'), rule('tool_error < 1', { name: 'gone' })]);
  await made.deliver(item(0, { tool_error: scored(0) }));
  await made.deliver(item(1, { tool_error: scored(0) }, { tenant: tenant('other') }));
  made.rules = made.rules.slice(0, 1);
  await settle(made, () => made.counted.get('added') === 2);
  expect([await made.inputs(), await made.inputs('failures', tenant('other')), await made.inputs('gone')]).toEqual([
    ['question of a'],
    ['question of b'],
    [],
  ]);
  await made.keeper.stop(0);
});

test('example keeper: a store that fails costs only its runs', async () => {
  let fails = true;
  const made = await bench([rule('tool_error < 1')]);
  const { datasets } = made.store;
  const again = await bench([rule('tool_error < 1')], {
    broken: {
      datasets: { ...datasets, change: async (...given) => (fails ? Promise.reject(new Error('full')) : datasets.change(...given)) },
      run: made.store.run,
      runs: made.store.runs,
    },
  });
  await made.keeper.stop(0);
  const first = item(0, { tool_error: scored(0) });
  await made.store.write([first]);
  await again.deliver(first);
  await settle(again, () => again.counted.get('failed') === 1);
  expect(again.faults.map(String)).toEqual(['Error: full']);
  fails = false;
  const second = item(1, { tool_error: scored(0) });
  await made.store.write([second]);
  await again.deliver(second);
  await settle(again, () => again.counted.get('added') === 1);
  expect(outcomes(again)).toEqual({ failed: 1, added: 1 });
  await again.keeper.stop(0);
});

test('example keeper: a stop keeps what the store has, and drops and counts the rest', async () => {
  const made = await bench([rule('tool_error < 1')]);
  await made.deliver(item(0, { tool_error: scored(0) }));
  made.keeper.offer(item(1, { tool_error: scored(0) }), 9 as ItemId);
  const stopping = made.keeper.stop(20);
  for (let step = 0; step < 200 && (made.counted.get('dropped') ?? 0) === 0; step++) await made.hurry();
  await stopping;
  expect(outcomes(made)).toEqual({ added: 1, dropped: 1 });
  expect(await made.inputs()).toEqual(['question of a']);
  made.keeper.offer(item(2, { tool_error: scored(0) }), 10 as ItemId);
  expect(made.counted.get('dropped')).toBe(2);
});
