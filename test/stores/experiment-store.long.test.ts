/** Experiments and their results, in every store. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Experiment, ExperimentResult } from '../../src/model/experiment.ts';
import { isExperimentId, spanExperimentOpenMicros, statusOfVerdicts } from '../../src/model/experiment.ts';
import { noTenant, tenant } from '../../src/model/ids.ts';
import { referredExperiment, resultBytesMax, spanExperimentsMax, type ExperimentStore } from '../../src/model/store/experiment-store.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { spanId } from '../builders/agent-trace.ts';
import { closedLater, folder, members, open } from './members.ts';
import { traceId } from './numbered.ts';

function experiment(id: string, given: Partial<Experiment> = {}): Experiment {
  return {
    id,
    tenant: noTenant,
    name: 'nightly',
    dataset: { name: 'refunds', version: 3, hash: 'abc', examples: 2 },
    repeats: 2,
    state: 'running',
    beganAt: 1_000_000,
    endedAt: undefined,
    provenance: { commit: '1f', branch: 'main', isDirty: true, environment: { node: '24' } },
    evaluators: [{ name: 'tool_error', evaluator: 'tool_error', version: 1, threshold: 1 }],
    ...given,
  };
}

function result(exampleId: string, repeat: number, given: Partial<ExperimentResult> = {}): ExperimentResult {
  return {
    exampleId,
    repeat,
    status: 'passed',
    run: { traceId: traceId(repeat), spanId: spanId(repeat) },
    beganAt: 2_000_000,
    endedAt: 3_000_000,
    tookMicros: 900_000,
    inputTokens: 10,
    cost: 0.5,
    agent: { agent: 'support', model: 'm', promptHash: 'p' },
    verdicts: [
      { name: 'tool_error', evaluator: 'tool_error', verdict: 'pass', score: 1, label: 'pass', explanation: 'All calls succeeded.' },
    ],
    ...given,
  };
}

const ofSpans = { isFromSpans: true, provenance: {}, evaluators: [] } as const;
const merged = (example: string, at = 9) => ({ ...result(example, 1), run: { traceId: traceId(at), spanId: spanId(at) } });
const key = (id: string) => ({ tenant: noTenant, id });
const rows = async (store: ExperimentStore, id: string) => (await store.results(key(id), { limit: 1_000 })).results;

describe.each(members)('%s', (member) => {
  test('experiments: results are read by status, by example, and in pages of both', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    for (const [at, id] of ['a', 'b', 'c', 'd'].entries())
      await experiments.add(
        key('e1'),
        result(id, 1, { run: { traceId: traceId(at + 1), spanId: spanId(1) }, status: at % 2 === 0 ? 'failed' : 'passed' }),
      );
    await experiments.add(key('e1'), result('a', 2, { run: { traceId: traceId(9), spanId: spanId(1) }, status: 'passed' }));
    const ids = async (query: Omit<Parameters<ExperimentStore['results']>[1], 'limit'>, limit = 10) => {
      const page = await experiments.results(key('e1'), { limit, ...query });
      return [page.results.map(({ exampleId, repeat }) => `${exampleId}${repeat}`), page.next !== undefined];
    };
    expect(await ids({ status: 'failed' })).toEqual([['a1', 'c1'], false]);
    expect(await ids({ exampleId: 'a' })).toEqual([['a1', 'a2'], false]);
    expect(await ids({ exampleId: 'a', status: 'passed' })).toEqual([['a2'], false]);
    expect(await ids({ status: 'error' })).toEqual([[], false]);
    const first = await experiments.results(key('e1'), { limit: 1, status: 'failed' });
    expect(first.next).toBeDefined();
    expect(await ids({ status: 'failed', after: first.next ?? 0 })).toEqual([['c1'], false]);
  });

  test('experiments: an experiment and its results are read as written', async () => {
    const { experiments } = await open(member);
    expect(await experiments.begin(experiment('e1'))).toBe('begun');
    const failed = result('two', 1, {
      status: 'failed',
      error: { kind: 'no_spans', message: 'No span arrived.' },
      verdicts: [],
      agent: {},
    });
    for (const one of [result('one', 1), result('one', 2), failed]) expect(await experiments.add(key('e1'), one)).toBe('added');
    expect(await experiments.experiment(key('e1'))).toEqual({
      ...experiment('e1'),
      results: 3,
      statuses: { passed: 2, failed: 1, error: 0, skipped: 0 },
    });
    expect(await rows(experiments, 'e1')).toEqual([result('one', 1), result('one', 2), failed]);
  });

  test('experiments: a present result stays unchanged, and counts once', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    await experiments.add(key('e1'), result('one', 1));
    expect(await experiments.add(key('e1'), result('one', 1, { status: 'failed' }))).toBe('known');
    expect(await rows(experiments, 'e1')).toEqual([result('one', 1)]);
    expect(await experiments.experiment(key('e1'))).toMatchObject({ results: 1, statuses: { passed: 1, failed: 0 } });
    expect(await experiments.done(key('e1'))).toEqual([{ exampleId: 'one', repeat: 1 }]);
  });

  test('experiments: writers at the same time leave one result for each run of an example', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    const outcomes = await Promise.all(Array.from({ length: 30 }, (_, at) => experiments.add(key('e1'), result(`example ${at % 10}`, 1))));
    expect(outcomes.filter((outcome) => outcome === 'added')).toHaveLength(10);
    expect(await experiments.experiment(key('e1'))).toMatchObject({ results: 10 });
  });

  test('experiments: of an id that is in use none begins, and none has results without an experiment', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    expect(await experiments.begin(experiment('e1', { name: 'other' }))).toBe('known');
    expect(await experiments.begin(experiment('e1', { tenant: tenant('a') }))).toBe('begun');
    expect(await experiments.add(key('e2'), result('one', 1))).toBe('unknown');
    expect(await experiments.update(key('e2'), { state: 'done', endedAt: 1 })).toBe(false);
  });

  test('experiments: its state, end and provenance change', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    expect(await experiments.update(key('e1'), { state: 'stopped', endedAt: 5 })).toBe(true);
    expect(await experiments.experiment(key('e1'))).toMatchObject({ state: 'stopped', endedAt: 5, provenance: { commit: '1f' } });
    await experiments.update(key('e1'), { state: 'running', endedAt: undefined, provenance: { commit: '2f' } });
    expect(await experiments.experiment(key('e1'))).toMatchObject({ state: 'running', endedAt: undefined, provenance: { commit: '2f' } });
  });

  test('experiments: the list has the newest first, by name and dataset, in pages', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    await experiments.begin(experiment('e2', { name: 'other' }));
    const { dataset: _, ...bare } = experiment('e3');
    await experiments.begin(bare);
    const ids = async (query: Parameters<ExperimentStore['list']>[0]) => (await experiments.list(query)).experiments.map(({ id }) => id);
    expect(await ids({ limit: 10 })).toEqual(['e3', 'e2', 'e1']);
    expect(await ids({ limit: 10, name: 'nightly' })).toEqual(['e3', 'e1']);
    expect(await ids({ limit: 10, dataset: 'refunds' })).toEqual(['e2', 'e1']);
    expect(await ids({ limit: 10, tenant: tenant('a') })).toEqual([]);
    const first = await experiments.list({ limit: 2 });
    expect(first.next).toBeDefined();
    expect(await ids({ limit: 2, ...(first.next === undefined ? {} : { after: first.next }) })).toEqual(['e1']);
  });

  test('experiments: results come in pages', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    for (let at = 1; at <= 5; at++) await experiments.add(key('e1'), result('one', at));
    const first = await experiments.results(key('e1'), { limit: 3 });
    const rest = await experiments.results(key('e1'), { limit: 3, ...(first.next === undefined ? {} : { after: first.next }) });
    expect([...first.results, ...rest.results].map(({ repeat }) => repeat)).toEqual([1, 2, 3, 4, 5]);
    expect(rest.next).toBeUndefined();
  });

  test('experiments: verdicts that come one after the other are one result of their run', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1', ofSpans));
    const run = { traceId: traceId(9), spanId: spanId(9) };
    const judged = {
      ...result('one', 1, {
        verdicts: [{ name: 'goal', evaluator: 'goal', verdict: 'fail', score: 0, label: 'fail', explanation: 'No.' }],
      }),
      run,
    };
    expect(await experiments.merge(key('e1'), { ...result('one', 1), run }, 1)).toBe('added');
    expect(await experiments.merge(key('e1'), judged, 1)).toBe('known');
    expect(await experiments.merge(key('e1'), judged, 1)).toBe('known');
    const [only, ...others] = await rows(experiments, 'e1');
    expect(others).toEqual([]);
    expect(only).toMatchObject({ repeat: 1, status: 'failed', verdicts: [{ name: 'tool_error' }, { name: 'goal' }] });
  });

  test('experiments: a run in error has failed until a later revision of it ended well', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1', ofSpans));
    const run = { traceId: traceId(9), spanId: spanId(9) };
    const error = { kind: 'run_error', message: 'The run ended in an error.' } as const;
    await experiments.merge(key('e1'), { ...result('one', 1, { status: 'failed', error }), run }, 1);
    await experiments.merge(key('e1'), { ...result('one', 1, { status: 'failed', error, verdicts: [] }), run }, 1);
    expect(await rows(experiments, 'e1')).toMatchObject([{ status: 'failed', error }]);
    await experiments.merge(key('e1'), { ...result('one', 1), run }, 1);
    const [only] = await rows(experiments, 'e1');
    expect([only?.status, only?.error]).toEqual(['passed', undefined]);
  });

  test('experiments: another run of the same example gets the next number', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1', ofSpans));
    for (const at of [4, 5, 6])
      await experiments.merge(key('e1'), { ...result('one', 1), run: { traceId: traceId(at), spanId: spanId(at) } }, 1);
    expect((await rows(experiments, 'e1')).map(({ repeat }) => repeat)).toEqual([1, 2, 3]);
    expect(await experiments.merge(key('none'), { ...result('one', 1), run: { traceId: traceId(1), spanId: spanId(1) } }, 1)).toBe(
      'unknown',
    );
  });

  test('experiments: a deleted experiment has no results left, and its id is free', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    await experiments.add(key('e1'), result('one', 1));
    expect(await experiments.delete(key('e1'))).toBe(true);
    expect(await experiments.delete(key('e1'))).toBe(false);
    expect(await experiments.begin(experiment('e1'))).toBe('begun');
    expect(await rows(experiments, 'e1')).toEqual([]);
  });

  test('experiments: only the runner of an experiment writes its results, and nothing changes one that is done', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    expect(await experiments.merge(key('e1'), merged('one'), 5)).toBe('closed');
    expect(await experiments.add(key('e1'), result('one', 1))).toBe('added');
    expect(await experiments.update(key('e1'), { state: 'done', endedAt: 7 })).toBe(true);
    const done = await experiments.experiment(key('e1'));
    expect(await experiments.add(key('e1'), result('two', 1))).toBe('closed');
    expect(await experiments.merge(key('e1'), merged('two'), 9)).toBe('closed');
    expect(await experiments.update(key('e1'), { state: 'running', endedAt: undefined })).toBe(false);
    expect([await experiments.experiment(key('e1')), await rows(experiments, 'e1')]).toEqual([done, [result('one', 1)]]);
    await experiments.begin(experiment('e2', ofSpans));
    expect(await experiments.add(key('e2'), result('one', 1))).toBe('closed');
  });

  test('experiments: a name and an id mean an experiment with a runner, under any names that senders of spans use', async () => {
    const { experiments } = await open(member);
    const named = async (reference: string): Promise<string | undefined> =>
      (await referredExperiment(experiments, noTenant, reference))?.id;
    await experiments.begin(experiment('nightly', { ...ofSpans, name: 'nightly' }));
    expect(await named('nightly')).toBe('nightly');
    await experiments.begin(experiment('e1'));
    expect(await named('nightly')).toBe('e1');
    expect(await experiments.begin(experiment('nightly'))).toBe('begun');
    expect(await named('nightly')).toBe('nightly');
    expect((await experiments.experiment(key('nightly')))?.isFromSpans).toBeUndefined();
    expect((await experiments.list({ isFromSpans: true, limit: 9 })).experiments.map(({ id }) => id)).toEqual([
      expect.stringMatching(/^nightly\.spans-\d+$/),
    ]);
  });

  test('experiments: one of only spans is done when no result has come for a week, and takes no more', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1', ofSpans));
    await experiments.merge(key('e1'), merged('one'), 10);
    const prune = async (now: number) => await experiments.prune({ now, before: 0, limit: 10 });
    await prune(10 + spanExperimentOpenMicros);
    expect((await experiments.experiment(key('e1')))?.state).toBe('running');
    await prune(11 + spanExperimentOpenMicros);
    expect(await experiments.experiment(key('e1'))).toMatchObject({ state: 'done', endedAt: 10 });
    expect(await experiments.merge(key('e1'), merged('one'), 12)).toBe('closed');
  });

  test('experiments: each tenant has separate room, those of only spans another one, and old ones go', async () => {
    const { experiments } = await open(member);
    const other = tenant('other');
    const begin = async (id: string, given: Partial<Experiment> = {}) => await experiments.begin(experiment(id, given));
    for (let at = 0; at < spanExperimentsMax; at++) expect(await begin(`s${at}`, { ...ofSpans, name: 'flood' })).toBe('begun');
    expect(await begin('more', ofSpans)).toBe('full');
    expect([await begin('mine'), await begin('theirs', { ...ofSpans, tenant: other })]).toEqual(['begun', 'begun']);
    expect(await experiments.deleteSome({ tenant: other, name: 'flood' })).toBe(0);
    expect(await experiments.deleteSome({ tenant: noTenant, name: 'flood' })).toBe(spanExperimentsMax);
    expect(await begin('more', ofSpans)).toBe('begun');
    await experiments.merge(key('more'), merged('one'), 5_000_000);
    await experiments.add(key('mine'), result('one', 1, { endedAt: 3_000_000 }));
    expect(await experiments.prune({ now: 5_000_000, before: 4_000_000, limit: 10 })).toBe(2);
    const left = (await experiments.list({ limit: 10 })).experiments.map(({ id }) => id);
    expect(left).toEqual(['more']);
  });

  test('experiments: a result that is too large keeps its verdicts with shorter explanations', async () => {
    const { experiments } = await open(member);
    await experiments.begin(experiment('e1'));
    const [verdict] = result('one', 1).verdicts;
    if (verdict === undefined) throw new Error('there is a verdict');
    await experiments.add(key('e1'), result('one', 1, { verdicts: [{ ...verdict, explanation: 'x'.repeat(resultBytesMax) }] }));
    const [read] = await rows(experiments, 'e1');
    expect(read?.verdicts).toEqual([{ ...verdict, explanation: 'x'.repeat(500) }]);
  });
});

test('experiments: results are there after a restart', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await sqliteStore(file);
  await first.experiments.begin(experiment('e1'));
  await first.experiments.add(key('e1'), result('one', 1));
  await first.stop();
  const { experiments } = closedLater(await sqliteStore(file));
  expect(await rows(experiments, 'e1')).toEqual([result('one', 1)]);
});

const statuses = [
  { words: ['pass', 'fail', 'error'], status: 'failed' },
  { words: ['pass', 'error'], status: 'error' },
  { words: ['raw', 'skipped'], status: 'passed' },
  { words: ['skipped'], status: 'skipped' },
  { words: [], status: 'skipped' },
] as const;

for (const { words, status } of statuses) {
  test(`experiments: verdicts ${words.join(', ') || 'of no one'} make a result ${status}`, () => {
    expect(statusOfVerdicts(words.map((verdict) => ({ evaluator: 'tool_error', verdict })))).toBe(status);
  });
}

test('experiments: a run that only came to its end makes a result skipped, and one in error failed', () => {
  expect(statusOfVerdicts([{ evaluator: 'run_error', verdict: 'pass' }])).toBe('skipped');
  expect(statusOfVerdicts([{ evaluator: 'run_error', verdict: 'fail' }])).toBe('failed');
});

test('experiments: an id is never a path and not too long', () => {
  expect(['nightly-3', 'a.b_C', '0'].every(isExperimentId)).toBe(true);
  expect(['', '.', '..', 'compare', 'a/b', 'a b', 'é', 'x'.repeat(101)].some(isExperimentId)).toBe(false);
});
