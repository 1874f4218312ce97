/** Reports that work on datasets, experiments, people's labels and a store, in each of their formats and with every part filled. */
import { join } from 'node:path';
import { afterAll, beforeAll, test } from 'vitest';
import { experimentFileJson } from '../../src/analytics/experiment-json.ts';
import { experimentSummary } from '../../src/analytics/experiment-summary.ts';
import type { ExperimentResult } from '../../src/model/experiment.ts';
import { jsonText } from '../../src/model/json.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { experimentOf, resultOf, verdictOf } from '../builders/experiment.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';
import { chatServer, says, status, type ChatServer } from '../judges/chat-server.ts';
import { goldenCommands } from './commands.ts';

const { folder, written, golden } = goldenCommands();
const nasty = 'a|b `c` <img src=x> [l](u) @team ]]> "q" & \u001b[31m\u202e\nnext #1 https://x.y';
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

/** Answers that a run whose input has the word "wrong" is not completed. */
let judge: ChatServer;
let refusing: ChatServer;
beforeAll(async () => {
  refusing = await chatServer(status(401));
  judge = await chatServer((response, request) => {
    const told = request.body.messages.map(({ content }) => content).join(' ');
    const completed = !/it is wrong/.test(told);
    return says(JSON.stringify({ tasks: [{ number: 1, explanation: 'So it is.', completed }] }))(response, request);
  });
});
afterAll(async () => {
  await judge.close();
  await refusing.close();
});

function judgeConfig(name: string, server = judge): string {
  const done = '{ use: task_completion, name: done, judge: main, expect: { tasks: [ "answer" ] } }';
  return written(
    `${name}.yaml`,
    `evaluators: [ tool_error, ${done} ]\njudges: { main: { base_url: "${server.baseUrl}", model: ${name}, api_key: secret, price: { input_per_million: 1, output_per_million: 4 } } }\nstore: { url: "sqlite:${join(folder, 'judged.db')}" }\n`,
  );
}

const search = { name: 'search', arguments: { q: 'x' }, result: 'found' };
const failing = { name: 'search', arguments: {}, error: { message: 'no', type: 'Timeout' } };
const evalRuns = [
  ...Array.from({ length: 53 }, (_, at) => ({
    id: `many-${at}`,
    agent: 'seller',
    input: `Buy ${at}`,
    final_response: 'Bought.',
    session_id: `s${at % 3}`,
    tool_calls: at === 3 ? [search] : [failing, search],
    expect: { tool_calls: [{ name: 'search' }] },
  })),
  ...[1, 2].map((at) => ({ id: 'twice', agent: 'finder', input: 'Find.', tool_calls: Array.from({ length: at }, () => search) })),
  { id: nasty, agent: nasty, input: nasty, final_response: nasty, tool_calls: [{ ...failing, error: { message: nasty } }] },
  { id: 'broken', agent: 'finder', input: 'Go.', status: 'error', error_type: 'KeyError', error_message: nasty, tool_calls: [search] },
  { id: 'paused', agent: 'finder', input: 'Go.', status: 'paused', tool_calls: [search] },
  { id: 'silent', agent: 'finder', input: 'Nothing.', tool_calls_carried: false, expect: { tool_calls: [{ name: 'search' }] } },
];
const evalExamples = [
  { id: 'twice', input: 'Find.', expect: { tool_calls: [{ name: 'search' }] } },
  { id: 'lost', input: 'Where?', tags: ['x'] },
  { id: nasty, input: nasty, expect: { output: nasty } },
  ...Array.from({ length: 49 }, (_, at) => ({ id: `absent-${at}`, input: `Nobody ${at}` })),
];

test('goldens: eval with a dataset, sessions, tasks, errors and more findings than a report lists', async () => {
  const runs = written('runs.jsonl', lines(evalRuns));
  const dataset = written('dataset.jsonl', lines(evalExamples));
  const few = written('few.jsonl', lines(evalRuns.slice(2, 4)));
  const done = '{ use: task_completion, name: done, judge: main, expect: { tasks: [ "buy" ] } }';
  const judged = written(
    'judged.yaml',
    `evaluators: [ tool_error, ${done} ]\njudges: { main: { base_url: "${refusing.baseUrl}", model: m, api_key: secret } }\n`,
  );
  const config = written('eval.yaml', 'evaluators: [ tool_error, { use: latency, name: quick, when: { agent: nobody } } ]\n');
  const formats = ['table', 'json', 'markdown', 'junit', 'html'];
  const gates = ['--fail-under', 'tool_error=0.9', '--fail-under', 'tool_trajectory=0%'];
  await golden(
    'eval-dataset',
    [
      ...formats
        .filter((format) => format !== 'json')
        .map((format) => ['eval', runs, '--dataset', dataset, '-c', config, ...gates, '--format', format]),
      ...formats.map((format) => ['eval', few, '-c', judged, '--format', format]),
      ['eval', few, '--dataset', dataset, '-c', config, '--verbose'],
      ['eval', few, '-c', config, '--fail-fast', '--sample', '50'],
      ['eval', few, '-c', config, '--fail-under', 'tool_eror=1'],
    ],
    (text) => text.replaceAll(/ time="[\d.]+"/g, ' time="<time>"').replaceAll(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>'),
  );
});

const ids = Array.from({ length: 26 }, (_, at) => (at === 0 ? nasty : `example ${at}`));
const both = (at: number, isBetter: boolean): ExperimentResult[] =>
  [1, 2].map((repeat) => {
    const word = isBetter || at === 4 || repeat === 1 ? 'pass' : 'fail';
    const error = { kind: at % 2 === 0 ? ('run_error' as const) : ('timed_out' as const), message: nasty };
    return resultOf(
      ids[at] ?? '',
      [
        verdictOf(word, { explanation: at === 0 ? nasty : 'Said.' }),
        verdictOf(word, { name: 'other', explanation: 'So.' }),
        verdictOf(at % 7 === 0 && !isBetter ? 'error' : at % 3 === 0 ? 'skipped' : 'raw', {
          name: 'speed',
          score: at / 100,
          reason: 'no_times',
        }),
      ],
      {
        repeat,
        input: at === 0 ? nasty : `Input ${at}`,
        status: word === 'pass' ? 'passed' : 'failed',
        inputTokens: 1_000 + at,
        outputTokens: 100,
        ...(at % 3 === 0 ? {} : { cost: 0.001 * at }),
        ...(at % 20 === 1 && !isBetter ? { error, status: 'failed' as const } : {}),
        agent: { agent: 'support', model: isBetter ? 'm2' : `m${at % 5}`, version: '1', promptHash: 'p', toolsHash: 't' },
      },
    );
  });

test('goldens: experiments in each format, and two of them compared', async () => {
  const experiments = [
    {
      at: experimentOf({ id: 'before', name: 'nightly', repeats: 2, dataset: { name: 'refunds', version: 3, hash: 'a', examples: 27 } }),
      isBetter: true,
    },
    {
      at: experimentOf({
        id: 'after',
        name: nasty,
        repeats: 2,
        provenance: { commit: '0123456789abcdef', isDirty: true, environment: {} },
      }),
      isBetter: false,
    },
    { at: experimentOf({ id: 'empty', name: 'empty' }), isBetter: undefined },
  ].map(({ at, isBetter }) => ({
    experiment: at,
    results: isBetter === undefined ? [] : ids.flatMap((_, nth) => (isBetter && nth === 25 ? [] : both(nth, isBetter))),
  }));
  const store = await sqliteStore(join(folder, 'experiments.db'));
  for (const { experiment, results } of experiments) {
    await store.experiments.begin({ ...experiment, state: 'running', endedAt: undefined });
    for (const result of results) await store.experiments.add(experiment, result);
    await store.experiments.update(experiment, { state: 'done', endedAt: experiment.endedAt });
  }
  await store.stop();
  const [a = '', b = ''] = experiments.map(({ experiment, results }) =>
    written(`${experiment.id}.json`, jsonText(experimentFileJson({ experiment, results }, experimentSummary(experiment, results)))),
  );
  const config = ['-c', written('experiments.yaml', `store: { url: "sqlite:${join(folder, 'experiments.db')}" }\n`)];
  await golden('experiments', [
    ['experiment', 'list', ...config],
    ['experiment', 'list', ...config, '--format', 'json', '--limit', '1'],
    ...['before', 'after', 'empty'].flatMap((id) =>
      ['table', 'markdown'].map((format) => ['experiment', 'show', id, ...config, '--format', format]),
    ),
    ['experiment', 'show', 'empty', ...config, '--format', 'json'],
    ['experiment', 'show', 'nightli', ...config],
    ...['table', 'markdown', 'junit', 'html'].map((format) => ['experiment', 'compare', a, b, '--format', format]),
    ['experiment', 'compare', a, a, '--fail-on-regression'],
    ['experiment', 'compare', a, 'empty', ...config],
    ['experiment', 'delete', 'empty', ...config],
    ['experiment', 'delete', '--name', 'nightly', ...config],
  ]);
});

test('goldens: datasets of a store', async () => {
  const first = [
    { id: 'one', input: 'Where is it?', expect: { tool_calls: [{ name: 'find' }], output: 'There.' }, tags: ['x'], split: 'train' },
    { id: nasty, input: nasty },
    ...Array.from({ length: 21 }, (_, at) => ({ id: `example-${at}`, input: { at }, review: 'draft' })),
  ];
  const second = [{ ...first[0], input: 'Where is it now?', tags: ['x', 'y'] }, ...first.slice(2, 4), { id: 'new', input: 'New?' }];
  const [one, two] = [written('one.jsonl', lines(first)), written('two.jsonl', lines(second))];
  const config = ['-c', written('datasets.yaml', `store: { url: "sqlite:${join(folder, 'datasets.db')}" }\n`)];
  const of = (...words: readonly string[]): readonly string[] => ['dataset', ...words, ...config];
  await golden('datasets', [
    of('import', one, '--from', 'tracejury', '--to', 'refunds', '--note', 'first'),
    of('import', two, '--from', 'tracejury', '--to', 'refunds'),
    of('remove', 'refunds', '--example', 'example-20', '--note', nasty),
    of('review', 'refunds', 'example-3', 'lost'),
    of('split', 'refunds', '--parts', 'train=0.5,test=0.5'),
    of('list'),
    of('list', '--format', 'json'),
    of('show', 'refunds'),
    of('show', 'refunds', '--limit', '2', '--format', 'json'),
    of('show', 'refunds@1', '--split', 'train'),
    of('show', 'refunds', '--example', 'one'),
    of('show', 'refunds', '--example', 'one', '--format', 'json'),
    of('show', 'refnds'),
    of('diff', 'refunds@1', 'refunds@3'),
    of('diff', 'refunds@1', 'refunds@3', '--format', 'json'),
    of('remove', 'refunds', '--all'),
    of('list'),
  ]);
});

test('goldens: runs and queues of a store', async () => {
  const store = await sqliteStore(join(folder, 'queued.db'));
  await store.write(
    [0, 1, 2, 3].map((at) => {
      const calls = Array.from({ length: at === 0 ? 60 : 1 }, () =>
        call({ name: 'find', arguments: { order: nasty }, result: { state: 'sent' } }),
      );
      const trace = agentTrace({ agent: at === 3 ? nasty : 'support', input: nasty, finalResponse: 'On its way.', toolCalls: calls });
      const startUnixNano = 1_700_000_000_000_000_000n + BigInt(at);
      const failed = scored(at % 2, { explanation: nasty });
      return scoredRun({ tool_error: failed }, run({ traceId: traceId(at + 1), trace, startUnixNano, endUnixNano: startUnixNano + 5n }));
    }),
  );
  await store.stop();
  const config = [
    '-c',
    written(
      'queues.yaml',
      `store: { url: "sqlite:${join(folder, 'queued.db')}", keep: { runs: 3650d, content: 3650d } }\nqueues: [ { name: refunds, when: "tool_error < 1", ask: [ { evaluator: tool_error }, { score: helpful, min: 1, max: 5 }, { text: why }, { label: tone, values: [ good, bad ] } ], people: 2, random: 0.25 } ]\n`,
    ),
  ];
  const of = (...words: readonly string[]): readonly string[] => ['queue', ...words, ...config];
  const answers = ['--answer', 'tool_error=fail', '--answer', 'helpful=2', '--answer', 'tone=good'];
  await golden('queues', [
    of('list'),
    of('next', 'refunds'),
    of('add', 'refunds', '--where', 'evaluator=tool_error verdict=fail', '--note', nasty),
    of('add', 'refunds', '--run', traceId(1), '--run', traceId(9)),
    of('next', 'refunds'),
    of('next', 'refunds', '--format', 'json', '--person', 'bob'),
    of('answer', 'refunds', '--item', '1', '--lease', '1', ...answers),
    of('answer', 'refunds', '--item', '1', '--lease', '2', ...answers, '--person', 'bob'),
    of('answer', 'refunds', '--item', '2', '--lease', '9', ...answers),
    of('answer', 'refunds', '--item', '2', '--lease', '1', '--answer', 'tone=odd'),
    of('show', 'refunds'),
    of('show', 'refunds', '--state', 'done', '--format', 'json'),
    of('show', 'none'),
    ['runs', ...config, '--format', 'json'],
    ['runs', ...config, '--agent', 'nobody'],
    ['dataset', 'add', 'failures', '--where', 'evaluator=tool_error verdict=fail', '--tag', 'late', ...config],
    ['dataset', 'add', 'failures', '--run', traceId(9), ...config],
    ['dataset', 'add', 'failures', '--where', 'evaluator=tool_error', '--distinct', ...config],
  ]);
});

test('goldens: labelled runs before two judges, and what a judge would cost', async () => {
  const sharp = judgeConfig('sharp');
  const blunt = judgeConfig('blunt', refusing);
  const set = Array.from({ length: 12 }, (_, at) => ({
    id: `r${at}`,
    input: `run ${at}: it is ${at < 6 ? 'fine' : 'wrong'}`,
    final_response: 'answer',
    passed: at < 7,
  }));
  const labelled = written('labelled.jsonl', lines(set));
  const unlabelled = written('unlabelled.jsonl', lines(set.map(({ passed: _passed, ...one }) => one)));
  const labels = written(
    'labels.jsonl',
    lines([
      { id: 'r1', name: 'done', passed: true },
      { id: 'r11', labels: { done: false } },
    ]),
  );
  const store = await sqliteStore(join(folder, 'judged.db'));
  const startUnixNano = BigInt(Date.now() - 60_000) * 1_000_000n;
  const trace = agentTrace({ agent: 'support', input: 'Where?', finalResponse: 'There.' });
  await store.write(
    [1, 2, 3].map((at) =>
      scoredRun({ tool_error: scored(1) }, run({ traceId: traceId(at), trace, startUnixNano, endUnixNano: startUnixNano })),
    ),
  );
  await store.stop();
  await golden('judges', [
    ...['text', 'json'].map((format) => ['judge', 'check', labelled, '-c', sharp, '--format', format]),
    ['judge', 'check', labelled, '-c', sharp, '--against', sharp],
    ['judge', 'check', labelled, '-c', sharp, '--against', blunt],
    ['judge', 'check', labelled, '-c', blunt],
    ['judge', 'check', unlabelled, '-c', sharp, '--labels', labels],
    ['judge', 'check', unlabelled, '-c', sharp],
    ['judge', 'check', unlabelled, '-c', sharp, '--labels', sharp],
    ...['text', 'json'].map((format) => ['judge', 'forecast', '-c', sharp, '--format', format]),
    ['judge', 'forecast', '-c', blunt, '--input-tokens', '900', '--output-tokens', '50'],
  ]);
});
