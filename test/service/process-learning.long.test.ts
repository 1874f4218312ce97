/** Learning the normal process of agents: the runs that it learns from, the end of learning, and the part that lasts. */
import { expect, onTestFinished, test } from 'vitest';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { AgentTrace, Run } from '../../src/model/agent-trace.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant, type Tenant } from '../../src/model/ids.ts';
import type { ProcessStore } from '../../src/model/store/process-store.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { evaluateRun } from '../../src/pipeline/evaluation/evaluate.ts';
import { processLearning } from '../../src/service/process-learning.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { call, spanId } from '../builders/agent-trace.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { memoryStore } from '../builders/memory-store.ts';
import { runOf } from '../builders/process-runs.ts';
import { run } from '../builders/scored-run.ts';
import { validators } from '../builders/validators.ts';

const options = '{ runs_min: 60, runs_max: 100 }';
const conformance = `evaluators:\n  - tool_error\n  - { use: process_conformance, options: ${options} }\n`;

interface Given {
  readonly text?: string;
  readonly store?: ProcessStore;
  readonly isShared?: boolean;
  readonly processesMax?: number;
  readonly mayKeep?: (name: string) => boolean;
}

/** One thread of a service: scores runs and learns from them. */
async function learning({ text = conformance, store, isShared = false, processesMax, mayKeep = () => true }: Given = {}) {
  const { config } = loadConfig({ validators, file: 'tracejury.yaml', text, env: {}, evaluators });
  const [telemetry, clock, sleeping] = [metricRegistry(), manualClock(1_700_000_000_000), manualSleep()];
  const faults: unknown[] = [];
  const learns = processLearning({
    plan: () => config.evaluators,
    mayKeep,
    telemetry,
    clock,
    sleep: sleeping.sleep,
    onFault: (error) => faults.push(error),
    isShared,
    ...(processesMax === undefined ? {} : { processesMax }),
  });
  const opened = store ?? (await memoryStore()).processes;
  await learns.open(opened);
  onTestFinished(() => learns.stop());
  const context = evaluationContext({ processOf: learns.of });
  let number = 0;
  const closed = (trace: AgentTrace, members: Partial<Run> = {}): ReadonlyMap<string, Verdict> => {
    const whole = run({ spanId: spanId(++number), trace, serviceVersion: '1', ...members });
    const { evaluations } = evaluateRun(whole, config.evaluators, { context, clock, telemetry });
    learns.closed(whole, evaluations);
    clock.advance(1);
    return new Map(evaluations.map(({ key, verdict }) => [key.name, verdict]));
  };
  return {
    learns,
    clock,
    sleeping,
    faults,
    store: opened,
    closed,
    verdict: (trace: AgentTrace, members?: Partial<Run>) => closed(trace, members).get('process_conformance'),
    many(runs: number, trace = normal, members?: Partial<Run>) {
      for (let at = 0; at < runs; at++) closed(trace, members);
    },
    counted: (outcome: string) =>
      telemetry
        .snapshot()
        .find(({ name }) => name === 'tracejury.process.runs')
        ?.points.filter(({ labels }) => labels['tracejury.outcome'] === outcome)
        .reduce((sum, point) => sum + ('value' in point ? point.value : 0), 0) ?? 0,
  };
}

const normal = runOf(['verify', 'lookup', 'refund']);
const swapped = runOf(['verify', 'refund', 'lookup']);
const failing: AgentTrace = {
  ...normal,
  toolCalls: normal.toolCalls.map((one, at) => (at === 1 ? { ...one, error: { message: 'no', sign: 'span_status' } } : one)),
};
const key = { tenant: noTenant, agent: 'support', version: '1' };

test('scores from runs_min on, and reports before that how many runs it has learnt from', async () => {
  const { many, verdict } = await learning();
  many(37);
  expect(verdict(normal)).toMatchObject({
    kind: 'skipped',
    reason: 'learning',
    explanation: 'The process of this version is not known yet; learning: 37 of 60.',
  });
  many(30);
  expect(verdict(swapped)).toMatchObject({ kind: 'scored', passed: false });
  expect(verdict(normal)).toMatchObject({ kind: 'scored', score: 1 });
});

const leftOut: readonly {
  readonly name: string;
  readonly trace?: AgentTrace;
  readonly members?: Partial<Run>;
  readonly outcome: string;
}[] = [
  { name: 'a run that another rule fails', trace: failing, outcome: 'not_passing' },
  { name: 'a run that ends in an error', trace: { ...normal, status: 'error' }, outcome: 'not_passing' },
  { name: 'an incomplete run', members: { completeness: 'partial' }, outcome: 'not_complete' },
  { name: 'a run whose spans were cut', trace: { ...normal, truncated: ['spans'] }, outcome: 'not_complete' },
  { name: 'a later revision', members: { revision: 2 }, outcome: 'later_revision' },
  { name: 'a dialect without tool calls', trace: { ...normal, toolCalls: [], toolCallsCarried: false }, outcome: 'tool_calls_not_carried' },
  {
    name: 'a run with more tools than a model holds',
    trace: runOf(Array.from({ length: 101 }, (_, at) => `t${at}`)),
    outcome: 'too_large',
  },
];

test.each(leftOut)('learns nothing from $name', async ({ trace = normal, members, outcome }) => {
  const { many, counted, learns } = await learning();
  many(3, trace, members);
  expect(counted(outcome)).toBe(3);
  expect(counted('learnt')).toBe(0);
  expect(learns.of(run({ trace: normal, serviceVersion: '1' }))).toEqual({ runs: 0 });
});

test('a run that only the process itself fails is learnt: a model must not confirm itself', async () => {
  const { many, verdict, counted } = await learning();
  many(60);
  expect(verdict(swapped)).toMatchObject({ passed: false });
  expect(counted('learnt')).toBe(61);
});

test('learn_when chooses the runs that are examples', async () => {
  const text = conformance.replace('runs_max: 100', 'runs_max: 100, learn_when: tool_error < 1');
  const { many, counted } = await learning({ text });
  many(2, normal);
  many(3, failing);
  expect([counted('learnt'), counted('not_passing')]).toEqual([3, 2]);
});

test('an entry for other runs learns from none of these', async () => {
  const text = conformance.replace('process_conformance,', 'process_conformance, when: { agent: travel },');
  const { many, learns, counted } = await learning({ text });
  many(5);
  expect(counted('learnt') + counted('not_passing')).toBe(0);
  await learns.flush();
});

test('without an entry that learns nothing is known, learnt or written', async () => {
  for (const text of ['evaluators: [ tool_error ]', 'evaluators: [ { use: novelty, options: { model: { runs: 1 } } } ]']) {
    const { many, learns, store } = await learning({ text });
    many(5);
    expect(learns.of(run({ trace: normal }))).toBeUndefined();
    await learns.flush();
    expect(await store.list({ limit: 10 })).toEqual([]);
  }
});

test('a model is frozen at runs_max, and later runs change nothing', async () => {
  const { many, learns, store, counted, verdict } = await learning();
  many(100);
  many(50, swapped);
  await learns.flush();
  expect(await store.read(key)).toMatchObject({ runs: 100, isFrozen: true, model: { runs: 100 } });
  expect([counted('learnt'), counted('frozen')]).toEqual([100, 50]);
  expect(verdict(swapped)).toMatchObject({ passed: false, details: { learnt_runs: 100 } });
});

test('freeze: false learns what becomes normal', async () => {
  const text = conformance.replace('runs_max: 100', 'runs_max: 100, freeze: false');
  const { many, learns, verdict, store } = await learning({ text });
  many(100);
  await learns.flush();
  expect(await store.read(key)).toMatchObject({ runs: 50, isFrozen: false });
  expect(verdict(swapped)).toMatchObject({ passed: false });
  for (let at = 0; at < 4; at++) {
    many(50, swapped);
    await learns.flush();
  }
  expect(verdict(swapped)).toMatchObject({ score: 1 });
});

test('what was learnt outlives the process', async () => {
  const store = (await memoryStore()).processes;
  const first = await learning({ store });
  first.many(70);
  await first.learns.stop();
  const second = await learning({ store });
  expect(second.verdict(swapped)).toMatchObject({ kind: 'scored', details: { learnt_runs: 70 } });
  second.many(40);
  await second.learns.flush();
  expect(await store.read(key)).toMatchObject({ runs: 100, isFrozen: true });
});

test('verdicts depend on the order of runs, not on when the store is written', async () => {
  const verdicts = await Promise.all(
    [1, 7, 1_000].map(async (every) => {
      const { closed, learns } = await learning();
      const found: string[] = [];
      for (let at = 0; at < 130; at++) {
        const trace = at % 9 === 8 ? runOf(['verify', 'lookup', `tool_${at % 4}`, 'refund']) : normal;
        const verdict = closed(trace).get('process_conformance');
        found.push(`${verdict?.explanation}`);
        if (at % every === 0) await learns.flush();
      }
      return found;
    }),
  );
  expect(verdicts[1]).toEqual(verdicts[0]);
  expect(verdicts[2]).toEqual(verdicts[0]);
});

test('threads that learn the same process add up, and end with the same frozen model', async () => {
  const store = (await memoryStore()).processes;
  const replicas = [await learning({ store, isShared: true }), await learning({ store, isShared: true })];
  for (let round = 0; round < 4; round++)
    for (const { many, learns } of replicas) {
      many(15);
      await learns.flush();
    }
  for (const { learns } of replicas) await learns.flush();
  const stored = await store.read(key);
  expect(stored).toMatchObject({ isFrozen: true, runs: 105 });
  for (const { verdict } of replicas) expect(verdict(swapped)).toMatchObject({ kind: 'scored', details: { learnt_runs: 105 } });
});

test('a thread that has learnt nothing itself takes what the others have', async () => {
  const store = (await memoryStore()).processes;
  const [one, other] = [await learning({ store, isShared: true }), await learning({ store, isShared: true })];
  expect(other.verdict(failing)).toMatchObject({ reason: 'learning' });
  one.many(70);
  await one.learns.flush();
  await other.learns.flush();
  expect(other.verdict(swapped)).toMatchObject({ kind: 'scored' });
});

test('a store that fails loses nothing', async () => {
  const store = (await memoryStore()).processes;
  let failures = 2;
  const flaky: ProcessStore = {
    ...store,
    async add(...given) {
      if (failures-- > 0) throw new Error('disk full');
      return await store.add(...given);
    },
  };
  const { many, learns, sleeping, faults } = await learning({ store: flaky });
  many(20);
  await sleeping.wakeAll();
  many(20);
  await sleeping.wakeAll();
  expect(faults).toHaveLength(2);
  expect(learns.of(run({ trace: normal, serviceVersion: '1' }))).toEqual({ runs: 40 });
  await learns.flush();
  expect(await store.read(key)).toMatchObject({ runs: 40 });
});

test('each version learns anew, and the former one may serve until then', async () => {
  const text = `${conformance}  - { use: process_conformance, name: by_former, options: { runs_min: 60, runs_max: 100, former_version: true } }\n`;
  const { many, closed, learns } = await learning({ text });
  many(80);
  await learns.flush();
  const verdicts = closed(swapped, { serviceVersion: '2' });
  expect(verdicts.get('process_conformance')).toMatchObject({ reason: 'learning', details: { runs: 0, runs_min: 60 } });
  expect(verdicts.get('by_former')).toMatchObject({ kind: 'scored', passed: false, details: { former_version: true } });
  many(70, swapped, { serviceVersion: '2' });
  expect(closed(swapped, { serviceVersion: '2' }).get('by_former')).toMatchObject({ score: 1 });
  expect(closed(swapped, { serviceVersion: '1' }).get('by_former')).toMatchObject({ passed: false });
});

test('tenants and agents are apart', async () => {
  const { many, verdict } = await learning();
  many(60);
  expect(verdict(normal, { tenant: 'acme' as Tenant })).toMatchObject({ reason: 'learning', details: { runs: 0 } });
  expect(verdict({ ...normal, agent: 'travel' })).toMatchObject({ reason: 'learning', details: { runs: 0 } });
});

test('memory holds those that were used last, and reads others from the store again', async () => {
  const { many, learns, verdict, sleeping } = await learning({ processesMax: 2 });
  many(70);
  await learns.flush();
  for (const version of ['2', '3']) many(1, normal, { serviceVersion: version });
  await learns.flush();
  expect(verdict(normal)).toMatchObject({ reason: 'learning', explanation: 'The process of this version is being read from the store.' });
  await sleeping.wakeAll();
  await learns.flush();
  expect(verdict(swapped)).toMatchObject({ kind: 'scored', passed: false });
});

test('a flood of versions keeps within memory, and what was not stored yet is counted', async () => {
  const { many, counted } = await learning({ processesMax: 10 });
  for (let version = 0; version < 50; version++) many(1, normal, { serviceVersion: `build-${version}` });
  expect(counted('forgotten')).toBe(40);
});

test('names that redaction would change are not learnt', async () => {
  const { many, learns, store } = await learning({ mayKeep: (name) => !name.includes('@') });
  many(3, { ...normal, toolCalls: [call({ name: 'lookup', arguments: { 'ann@example.org': 1, city: 'x' } })] });
  await learns.flush();
  const model = (await store.read(key))?.model;
  expect(JSON.stringify(model)).not.toContain('example.org');
  expect(model?.tools).toMatchObject([{ name: 'lookup', beyond: 3, paths: [{ path: 'city' }] }]);
});

test('uses are noted, so that the store deletes what is unused', async () => {
  const store = (await memoryStore()).processes;
  const { many, learns, clock } = await learning({ store });
  many(100);
  many(100, normal, { serviceVersion: '2' });
  await learns.flush();
  expect((await store.list({ limit: 5 })).map(({ version }) => version)).toEqual(['2', '1']);
  clock.advance(700_000);
  await learns.flush();
  clock.advance(700_000);
  many(1);
  await learns.flush();
  expect((await store.list({ limit: 5 })).map(({ version }) => version)).toEqual(['1', '2']);
});

test('a file of the store keeps a model for the next process', async () => {
  const store = await sqliteStore(':memory:', { inThread: false });
  onTestFinished(() => store.stop());
  const { many, learns } = await learning({ store: store.processes });
  many(5);
  await learns.stop();
  expect(await store.processes.list({ agent: 'support', limit: 5 })).toMatchObject([{ runs: 5, isFrozen: false }]);
});
