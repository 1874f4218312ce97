import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { agentTrace, toolCall, type AgentTrace } from '../../src/library/agent-trace.ts';
import { taskCompletion, toolCallValidity, toolEfficiency, toolError, toolTrajectory } from '../../src/library/evaluators.ts';
import { type Example, experiment, type Progress, switchable, type Timers } from '../../src/library/experiment.ts';
import { noTenant } from '../../src/model/ids.ts';
import { openExperimentStore } from '../../src/stores/library.ts';
import type { Subject } from '../../evaluators/evaluator.ts';

/** Time passes only on command. */
function manualTimers(): Timers & { readonly expire: () => void; readonly waiting: () => number } {
  const callbacks = new Set<() => void>();
  return {
    after(_ms, callback) {
      callbacks.add(callback);
      return () => callbacks.delete(callback);
    },
    expire: () => [...callbacks].forEach((callback) => callback()),
    waiting: () => callbacks.size,
  };
}

const booked = (error?: string): AgentTrace =>
  agentTrace({ toolCalls: [toolCall('book', {}, error === undefined ? { result: 'ok' } : { error })] });
const dataset: readonly Example[] = [
  { id: 'good', input: 'book', expect: { toolCalls: [{ name: 'book' }] } },
  { id: 'bad', input: 'fail', expect: { toolCalls: [{ name: 'book' }] } },
  { input: 'nothing' },
];
const agent = (input: string): AgentTrace => (input === 'nothing' ? agentTrace({}) : booked(input === 'fail' ? 'no room' : undefined));

test('experiment: the report counts examples, and evaluators over all of them', async () => {
  const report = await experiment({
    dataset,
    task: agent,
    evaluators: [toolError(), toolTrajectory(), toolEfficiency({}, { threshold: null })],
  }).run();
  expect(report).toMatchObject({ total: 3, passed: 1, failed: 1, errors: 0, skipped: 1 });
  expect(report.examples.map(({ id, status, input }) => [id, status, input])).toEqual([
    ['good', 'passed', 'book'],
    ['bad', 'failed', 'fail'],
    ['3', 'skipped', 'nothing'],
  ]);
  expect(
    report.examples[1]?.verdicts.map(({ name, verdict }) => [name, verdict.kind === 'scored' ? verdict.passed : verdict.kind]),
  ).toEqual([
    ['tool_error', false],
    ['tool_trajectory', true],
    ['tool_efficiency', null],
  ]);
  expect(
    report.evaluators.map(({ name, passed, failed, raw, skipped, scores }) => ({ name, passed, failed, raw, skipped, scores })),
  ).toEqual([
    {
      name: 'tool_error',
      passed: 1,
      failed: 1,
      raw: 0,
      skipped: 1,
      scores: [
        { id: 'good', score: 1 },
        { id: 'bad', score: 0 },
      ],
    },
    {
      name: 'tool_trajectory',
      passed: 2,
      failed: 0,
      raw: 0,
      skipped: 1,
      scores: [
        { id: 'good', score: 1 },
        { id: 'bad', score: 1 },
      ],
    },
    {
      name: 'tool_efficiency',
      passed: 0,
      failed: 0,
      raw: 2,
      skipped: 1,
      scores: [
        { id: 'good', score: 1 },
        { id: 'bad', score: 1 },
      ],
    },
  ]);
});

test('experiment: an agent that throws, at once or later, has failed with its reason', async () => {
  const task = (input: string): AgentTrace | Promise<AgentTrace> => {
    if (input === 'book') throw new Error('crashed');
    return Promise.reject(new Error('crashed later'));
  };
  const report = await experiment({ dataset: dataset.slice(0, 2), task, evaluators: [toolError()] }).run();
  expect(report.examples.map(({ status, error }) => [status, error])).toEqual([
    ['failed', { kind: 'task_failed', message: 'crashed' }],
    ['failed', { kind: 'task_failed', message: 'crashed later' }],
  ]);
});

test('experiment: an example whose run ended in an error has failed with its reason, unless such runs may pass', async () => {
  const task = (): AgentTrace =>
    agentTrace({ toolCalls: [toolCall('book', {}, { result: 'ok' })], errorMessage: '503', errorType: 'Outage' });
  const given = { dataset: dataset.slice(0, 1), task, evaluators: [toolError()] };
  const [failed] = (await experiment(given).run()).examples;
  expect(failed).toMatchObject({ status: 'failed', error: { kind: 'run_error', message: 'The run ended in an error: Outage: 503' } });
  const [allowed] = (await experiment({ ...given, allowRunErrors: true }).run()).examples;
  expect([allowed?.status, allowed?.error]).toEqual(['passed', undefined]);
});

test('experiment: an example out of time has failed, its agent gets a signal, and its later result is dropped', async () => {
  const timers = manualTimers();
  let late: ((trace: AgentTrace) => void) | undefined;
  let told: AbortSignal | undefined;
  const task = (input: string, { signal }: { readonly signal: AbortSignal }): AgentTrace | Promise<AgentTrace> => {
    if (input !== 'fail') return agent(input);
    told = signal;
    return new Promise((resolve) => {
      late = resolve;
      queueMicrotask(timers.expire);
    });
  };
  const report = await experiment({
    dataset: dataset.slice(1),
    task,
    evaluators: [toolError()],
    timers,
    timeoutMs: 70,
    concurrency: 1,
  }).run();
  expect(report.examples.map(({ status, error }) => [status, error])).toEqual([
    ['failed', { kind: 'timed_out', message: 'not done within 70 ms' }],
    ['skipped', undefined],
  ]);
  expect(told?.aborted).toBe(true);
  late?.(booked());
  await Promise.resolve();
  expect(report.examples[0]?.verdicts).toEqual([]);
  expect(timers.waiting()).toBe(1);
});

test('experiment: progress is reported after each example, and no more run at once than allowed', async () => {
  const told: Progress[] = [];
  let running = 0;
  let most = 0;
  const task = async (input: string): Promise<AgentTrace> => {
    most = Math.max(most, ++running);
    await Promise.resolve();
    running--;
    return agent(input);
  };
  const many = Array.from({ length: 10 }, (_, at) => ({ id: `e${at}`, input: 'book' }));
  const report = await experiment({
    dataset: many,
    task,
    evaluators: [toolError()],
    concurrency: 3,
    onProgress: (progress) => told.push(progress),
  }).run();
  expect(most).toBe(3);
  expect(told.map(({ done, total }) => [done, total])).toEqual(many.map((_, at) => [at + 1, 10]));
  expect(report.examples.map(({ id }) => id)).toEqual(many.map(({ id }) => id));
});

test('experiment: with failFast nothing is begun after the first failure, and the report has the number of failures', async () => {
  const report = await experiment({
    dataset: [{ input: 'fail' }, ...dataset],
    task: agent,
    evaluators: [toolError()],
    failFast: true,
    concurrency: 1,
  }).run();
  expect([report.total, report.examples.length, report.failed]).toEqual([4, 1, 1]);
});

test('experiment: a judge that gives no answer is an error, neither passed nor failed', async () => {
  const judge = { ask: () => Promise.resolve({ kind: 'failed', error: 'offline' } as const) };
  const report = await experiment({
    dataset: [{ input: 'book' }],
    task: () => ({ ...booked(), input: 'book', finalResponse: 'done' }),
    evaluators: [taskCompletion(), toolError()],
    judge,
  }).run();
  expect(report).toMatchObject({
    passed: 0,
    failed: 0,
    errors: 1,
    skipped: 0,
    examples: [{ status: 'error' }],
    evaluators: [{ errors: 1, scores: [] }, { passed: 1 }],
  });
});

test('experiment: a share of the examples is run, the same ones each time, at least one, and a larger share holds a smaller one', async () => {
  const many = Array.from({ length: 30 }, (_, at) => ({ id: `e${at}`, input: 'book' }));
  const run = async (samplePercentage: number) =>
    await experiment({ dataset: many, task: agent, evaluators: [toolError()], samplePercentage }).run();
  const ids = async (percent: number): Promise<readonly string[]> => (await run(percent)).examples.map(({ id }) => id);
  const [one, some, same, more, all] = [await ids(0.1), await ids(10), await ids(10), await ids(34), await ids(100)];
  expect([one.length, some.length, more.length, all.length]).toEqual([1, 3, 11, 30]);
  expect(same).toEqual(some);
  expect(more).toEqual(expect.arrayContaining([...some]));
  expect(some).toEqual(expect.arrayContaining([...one]));
  expect(more).toEqual(many.map(({ id }) => id).filter((id) => more.includes(id)));
  expect(await run(10)).toMatchObject({ total: 30, sampledOut: 27, passed: 3 });
  expect(await run(100)).not.toHaveProperty('sampledOut');
});

test('experiment: an example may have its own evaluators, tools and tasks', async () => {
  const told: unknown[] = [];
  const witness = {
    ...toolError().evaluator,
    id: 'witness',
    expectationSchema: { type: 'object' },
    kind: 'rule',
    defaults: {},
    optionsSchema: { type: 'object' },
    evaluate: ({ trace, expected }: Subject) => {
      told.push([trace.toolDefinitions.map(({ name, description }) => [name, description]), expected.tasks, expected.constraints]);
      return { kind: 'scored', score: 1, explanation: '', evidence: [], details: {} } as const;
    },
  } as const;
  const own: readonly Example[] = [
    { id: 'plain', input: 'book' },
    {
      id: 'own',
      input: 'book',
      evaluators: [witness],
      tools: [{ name: 'book', description: 'given' }, { name: 'pay' }],
      tasks: ['book'],
      constraints: 'quickly',
      expect: { tasks: ['other'] },
      tags: ['t'],
      metadata: { by: 'me' },
    },
  ];
  const task = (): AgentTrace => ({ ...booked(), toolDefinitions: [{ name: 'book', description: 'told' }] });
  const report = await experiment({ dataset: own, task, evaluators: [toolError()] }).run();
  expect(report.examples.map(({ id, verdicts }) => [id, verdicts.map(({ name }) => name)])).toEqual([
    ['plain', ['tool_error']],
    ['own', ['witness']],
  ]);
  expect(told).toEqual([
    [
      [
        ['book', 'told'],
        ['pay', undefined],
      ],
      ['book'],
      'quickly',
    ],
  ]);
});

const given = { dataset: [{ input: '' }], task: agent, evaluators: [] };
const refused: readonly { readonly name: string; readonly run: () => unknown; readonly says: string }[] = [
  {
    name: 'two examples of one id',
    run: () =>
      experiment({
        dataset: [
          { id: 'a', input: '' },
          { id: 'a', input: '' },
        ],
        task: agent,
        evaluators: [],
      }),
    says: 'Two examples have the id a',
  },
  {
    name: 'an option that is misspelt',
    run: () => experiment({ ...given, samplePercent: 5 } as never),
    says: 'experiment has an unknown member "samplePercent"; did you mean samplePercentage?',
  },
  {
    name: 'a required option that is misspelt',
    run: () => experiment({ datset: [], task: agent, evaluators: [] } as never),
    says: 'experiment has an unknown member "datset"; did you mean dataset? dataset must be a list of examples.',
  },
  {
    name: 'a member of an example that is misspelt',
    run: () => experiment({ ...given, dataset: [{ input: '' }, { input: '', expected: {} }] } as never),
    says: 'dataset[1] has an unknown member "expected"; did you mean expect?',
  },
  {
    name: 'a member of an example that means nothing',
    run: () => experiment({ ...given, dataset: [{ input: '', weather: 1 }] } as never),
    says: 'dataset[0] has an unknown member "weather"; known are id, input,',
  },
  {
    name: 'an expectation that is misspelt',
    run: () => experiment({ ...given, dataset: [{ input: '', expect: { tool_calls: [] } }] } as never),
    says: 'dataset[0].expect has an unknown member "tool_calls"; did you mean toolCalls?',
  },
  {
    name: 'a misspelt member inside an expectation',
    run: () => experiment({ ...given, dataset: [{ input: '', expect: { toolCalls: [{ name: 'a', args: {} }] } }] } as never),
    says: 'dataset[0].expect.toolCalls.0.args is not known; known are name, arguments',
  },
  {
    name: 'an expectation of another type',
    run: () => experiment({ ...given, dataset: [{ input: '', expect: { toolCalls: 5 } }] } as never),
    says: 'dataset[0].expect',
  },
  {
    name: 'no share at all',
    run: () => experiment({ ...given, samplePercentage: 0 }),
    says: 'samplePercentage must be a number above 0 and up to 100',
  },
  { name: 'more than all', run: () => experiment({ ...given, samplePercentage: 101 }), says: 'samplePercentage' },
  {
    name: 'no time',
    run: () => experiment({ ...given, dataset: [{ input: '', timeoutMs: 0 }] }),
    says: 'dataset[0].timeoutMs must be a number above 0',
  },
  {
    name: 'a judge evaluator of one example without a judge',
    run: () => experiment({ ...given, dataset: [{ input: '', evaluators: [taskCompletion()] }] }).run(),
    says: 'task_completion asks a judge',
  },
  { name: 'no concurrency', run: () => experiment({ dataset: [], task: agent, evaluators: [], concurrency: 0 }), says: 'concurrency' },
  {
    name: 'a judge evaluator without a judge',
    run: () => experiment({ dataset: [], task: agent, evaluators: [taskCompletion()] }).run(),
    says: 'task_completion asks a judge',
  },
];

for (const { name, run, says } of refused) {
  test(`experiment: ${name} is refused`, async () => {
    await expect((async () => await run())()).rejects.toThrow(says);
  });
}

test('experiment: a dataset without examples gives an empty report', async () => {
  expect(await experiment({ dataset: [], task: agent, evaluators: [toolCallValidity()] }).run()).toEqual({
    total: 0,
    passed: 0,
    failed: 0,
    errors: 0,
    skipped: 0,
    examples: [],
    evaluators: [],
  });
});

const answering = (finalResponse?: string): AgentTrace =>
  agentTrace({
    input: 'x',
    toolCalls: [toolCall('book', { day: 1 }, { result: 'ok' })],
    ...(finalResponse === undefined ? {} : { finalResponse }),
  });

test('experiment: what is expected and no evaluator checks switches one on, for the examples that expect it', async () => {
  const examples: readonly Example[] = [
    { id: 'right', input: '', expect: { output: 'Yes.', toolCalls: [{ name: 'book' }] } },
    { id: 'wrong', input: '', expect: { output: 'No.' } },
    { id: 'free', input: '' },
  ];
  const report = await experiment({ dataset: examples, task: () => answering('Yes.'), evaluators: [toolError()] }).run();
  expect(report.examples.map(({ id, status, verdicts }) => [id, status, verdicts.map(({ name }) => name)])).toEqual([
    ['right', 'passed', ['tool_error', 'tool_trajectory', 'exact_match']],
    ['wrong', 'failed', ['tool_error', 'exact_match']],
    ['free', 'passed', ['tool_error']],
  ]);
});

test('experiment: what only a judge could check is refused without one, and asked with one', async () => {
  const examples: readonly Example[] = [
    { id: 'a', input: '', expect: { tasks: ['book'], context: ['It is June.'] } },
    { input: '', expect: { plan: ['look'] } },
  ];
  const run = (): Promise<unknown> => experiment({ dataset: examples, task: agent, evaluators: [toolError()] }).run();
  await expect(run()).rejects.toThrow(
    '3 expectations are checked by no evaluator: tasks of example a (add task_completion, and a judge as { judge }); context of example a (add hallucination',
  );
  const judge = { ask: () => Promise.resolve({ kind: 'failed', error: 'offline' } as const) };
  const report = await experiment({ dataset: examples.slice(0, 1), task: () => answering('Yes.'), evaluators: [toolError()], judge }).run();
  expect(
    report.examples.map(({ status, expectationsWithoutScore, verdicts }) => [
      status,
      expectationsWithoutScore,
      verdicts.map(({ name }) => name),
    ]),
  ).toEqual([['error', ['tasks', 'context'], ['tool_error', 'task_completion', 'hallucination']]]);
});

test('experiment: an expectation whose evaluator was skipped does not pass', async () => {
  const report = await experiment({
    dataset: [{ input: '', expect: { output: 'Yes.' } }],
    task: () => answering(),
    evaluators: [toolError()],
  }).run();
  expect(report).toMatchObject({ passed: 0, skipped: 1, examples: [{ status: 'skipped', expectationsWithoutScore: ['output'] }] });
});

test('experiment: the evaluators that may be switched on are those of the table', () => {
  expect(switchable.map(({ id }) => id).sort()).toEqual(
    evaluators
      .filter(({ switchedOnBy }) => switchedOnBy !== undefined)
      .map(({ id }) => id)
      .sort(),
  );
});

test('experiment: with a name and a store every example has its result there', async () => {
  const store = await openExperimentStore('memory:');
  const task = (input: string): AgentTrace => {
    if (input === 'nothing') throw new Error('no such thing');
    return agent(input);
  };
  const { experimentId = '' } = await experiment({ name: 'in code', store, dataset, task, evaluators: [toolError()] }).run();
  const key = { tenant: noTenant, id: experimentId };
  expect(await store.experiments.experiment(key)).toMatchObject({
    name: 'in code',
    state: 'done',
    dataset: { examples: 3 },
    evaluators: [{ name: 'tool_error', threshold: 1 }],
    statuses: { passed: 1, failed: 2, error: 0, skipped: 0 },
  });
  const { results } = await store.experiments.results(key, { limit: 10 });
  expect(new Map(results.map(({ exampleId, ...rest }) => [exampleId, rest]))).toEqual(
    new Map([
      ['good', expect.objectContaining({ status: 'passed', repeat: 1 })],
      [
        'bad',
        expect.objectContaining({
          status: 'failed',
          verdicts: expect.arrayContaining([expect.objectContaining({ verdict: 'fail' })]) as unknown,
        }),
      ],
      ['3', expect.objectContaining({ error: { kind: 'task_failed', message: 'no such thing' } })],
    ]),
  );
  await store.stop();
});

test('experiment: a store without a name is refused, and so is a store that is none', async () => {
  const store = { experiments: { begin: async () => 'full' as const, update: async () => true, add: async () => 'added' as const } };
  expect(() => experiment({ store, dataset, task: agent, evaluators: [toolError()] })).toThrow('store needs a name of the experiment');
  await expect(experiment({ name: 'n', store, dataset, task: agent, evaluators: [toolError()] }).run()).rejects.toThrow('no room');
  await expect(openExperimentStore('postgres://x')).rejects.toThrow('names no store');
});

test('experiment: a result that the store does not take is an error, as a report without it would be wrong', async () => {
  const store = { experiments: { begin: async () => 'begun' as const, update: async () => true, add: async () => 'known' as const } };
  await expect(experiment({ name: 'n', store, dataset, task: agent, evaluators: [toolError()] }).run()).rejects.toMatchObject({
    code: 'RESULT_REFUSED',
    message: expect.stringMatching(/example "\w+" has a result already/),
  });
});
