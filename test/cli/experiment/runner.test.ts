/** The order of runs, what is skipped, and that an interruption leaves nothing half done. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { AgentStarter, StartedAgent } from '../../../src/cli/experiment/agent.ts';
import type { RunnableExample } from '../../../src/cli/experiment/dataset.ts';
import { exampleRuns, runExamples } from '../../../src/cli/experiment/runner.ts';
import { spanCollector } from '../../../src/cli/experiment/span-collector.ts';
import type { ExperimentResult } from '../../../src/model/experiment.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { traceId } from '../../stores/numbered.ts';

const examples: readonly RunnableExample[] = ['one', 'two', 'three'].map((id) => ({
  id,
  input: id,
  inputValue: id,
  expect: undefined,
  tools: undefined,
  tags: [],
  plan: undefined,
  isDraft: false,
  given: { id, input: id },
  placeOf: () => ({ file: '', key: '', line: 0, column: 0, source: '' }),
}));

const names = (runs: ReturnType<typeof exampleRuns>): readonly string[] => runs.map(({ example, repeat }) => `${example.id} ${repeat}`);

test('runner: every example once before the second time, without those that have a result', () => {
  expect(names(exampleRuns(examples, 2, []))).toEqual(['one 1', 'two 1', 'three 1', 'one 2', 'two 2', 'three 2']);
  expect(
    names(
      exampleRuns(examples, 2, [
        { exampleId: 'one', repeat: 2 },
        { exampleId: 'two', repeat: 1 },
      ]),
    ),
  ).toEqual(['one 1', 'three 1', 'two 2', 'three 2']);
});

interface Scripted {
  readonly start: (id: string) => StartedAgent['end'];
  /** True when the agent of an example leaves a process behind. */
  readonly leaves?: (id: string) => boolean;
  readonly score?: (id: string) => Promise<void>;
  /** Default: `examples`. */
  readonly of?: readonly RunnableExample[];
  readonly waits?: AgentStarter['waits'];
  readonly signal?: AbortSignal;
  readonly add?: (result: ExperimentResult) => Promise<'added'>;
}

const noWaits: AgentStarter['waits'] = { firstMs: 0, nextMs: 0, settleMs: 0 };

async function run(
  {
    start,
    leaves = () => false,
    score = async () => undefined,
    waits = noWaits,
    signal = new AbortController().signal,
    add,
    of = examples,
  }: Scripted,
  concurrency = 2,
) {
  const results: ExperimentResult[] = [];
  const order: string[] = [];
  let [running, most, ids] = [0, 0, 0];
  const starter: AgentStarter = {
    waits,
    whatToCheck: '',
    start(_slot, { id }) {
      most = Math.max(most, ++running);
      order.push(`start ${id}`);
      return {
        end: start(id).finally(() => running--),
        isRunning: () => leaves(id),
        cleanUp: () => void order.push(`clean up ${id}`),
      };
    },
  };
  const outcome = await runExamples(exampleRuns(of, 1, []), {
    experiment: { id: 'e', tenant: noTenant },
    store: { add: async (_key, result) => (add === undefined ? 'added' : await add(result)) },
    starter,
    collector: spanCollector({ spansMax: 10 }),
    scoring: {
      runsOf: () => [],
      async result({ id }) {
        order.push(`score ${id}`);
        await score(id);
        return { status: 'failed', agent: {}, verdicts: [] };
      },
    },
    concurrency,
    timeoutMs: 1_000,
    clock: { nowMs: () => 1 },
    sleep: async (_ms, signal) =>
      await new Promise((resolve) => (waits === noWaits ? resolve() : signal?.addEventListener('abort', () => resolve()))),
    newIds: () => ({ traceId: traceId(++ids), spanId: spanId(ids) }),
    signal,
    onResult: (result) => results.push(result),
  });
  return { outcome, most, order, ids: results.map(({ exampleId }) => exampleId) };
}

test('runner: runs no more agents at the same time than it may', async () => {
  const found = await run({
    start: async () => {
      await Promise.resolve();
      return { kind: 'ended' };
    },
  });
  expect(found).toMatchObject({ outcome: 'done', most: 2 });
  expect(found.ids.toSorted()).toEqual(['one', 'three', 'two']);
});

test('runner: an interrupted run has no result, and no other one begins', async () => {
  const controller = new AbortController();
  const found = await run(
    {
      signal: controller.signal,
      start: async (id) => {
        if (id !== 'two') return { kind: 'ended' };
        controller.abort();
        return { kind: 'interrupted' };
      },
    },
    1,
  );
  expect(found).toMatchObject({ outcome: 'stopped', ids: ['one'] });
});

test('runner: a store that cannot write ends the experiment', async () => {
  await expect(run({ start: async () => ({ kind: 'ended' }), add: async () => Promise.reject(new Error('disk full')) }, 1)).rejects.toThrow(
    'disk full',
  );
});

test('runner: an agent that cannot be followed ends the experiment, not the program', async () => {
  await expect(run({ start: async () => Promise.reject(new Error('no pipe')) }, 1)).rejects.toThrow('no pipe');
});

test('runner: the next agent starts before the last run is scored', async () => {
  const { order } = await run({ start: async () => ({ kind: 'ended' }) }, 1);
  expect(order).toEqual(['start one', 'start two', 'start three', 'score one', 'score two', 'score three']);
});

test('runner: an agent that leaves a process keeps its place until that is killed', async () => {
  const { order } = await run({ start: async () => ({ kind: 'ended' }), leaves: (id) => id === 'one' }, 1);
  expect(order.filter((text) => !text.startsWith('score'))).toEqual(['start one', 'clean up one', 'start two', 'start three']);
});

test('runner: interrupted while it waits for spans, a run has no result', async () => {
  const controller = new AbortController();
  const found = await run(
    {
      signal: controller.signal,
      waits: { firstMs: 1_000, nextMs: 1_000, settleMs: 0 },
      start: async (id) => {
        if (id === 'three') controller.abort();
        return id === 'three' ? { kind: 'interrupted' } : { kind: 'ended' };
      },
    },
    1,
  );
  expect(found).toMatchObject({ outcome: 'stopped', ids: [] });
});

test('runner: scores that take long do not hold up the others, and all are written', async () => {
  const first = Promise.withResolvers<void>();
  const found = await run(
    {
      start: async () => ({ kind: 'ended' }),
      score: async (id) => {
        if (id === 'one') return await first.promise;
        if (id === 'three') first.resolve();
      },
    },
    1,
  );
  expect(found).toMatchObject({ outcome: 'done', ids: ['two', expect.any(String), expect.any(String)] });
  expect(found.ids.toSorted()).toEqual(['one', 'three', 'two']);
});

const many = (count: number): readonly RunnableExample[] =>
  Array.from({ length: count }, (_, at) => ({ ...(examples[0] as RunnableExample), id: `example ${at}` }));

test('runner: runs as many agents at the same time as it may', async () => {
  const all = Promise.withResolvers<void>();
  let started = 0;
  const found = await run(
    {
      of: many(100),
      start: async () => {
        if (++started === 100) all.resolve();
        await all.promise;
        return { kind: 'ended' };
      },
    },
    100,
  );
  expect(found).toMatchObject({ outcome: 'done', most: 100 });
});

test('runner: agents wait while the judges have not answered for many runs', async () => {
  const answered = Promise.withResolvers<void>();
  let started = 0;
  const running = run({ of: many(100), start: async () => (started++, { kind: 'ended' }), score: () => answered.promise }, 4);
  for (let turn = 0; turn < 1_000; turn++) await nextTurn();
  const before = started;
  answered.resolve();
  expect(await running).toMatchObject({ outcome: 'done' });
  expect(before).toBeGreaterThanOrEqual(64);
  expect(before).toBeLessThanOrEqual(68);
  expect(started).toBe(100);
});
