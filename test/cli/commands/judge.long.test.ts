/** `tracejury judge` as a person runs it: labelled sets before real endpoints, and what stored traffic would cost. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { noAmount } from '../../../src/model/budget.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { agentSpan } from '../../builders/gen-ai-spans.ts';
import { evaluation, run, scored, scoredRun } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { chatServer, says, type ChatServer } from '../../judges/chat-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-judge-'));
const servers: ChatServer[] = [];
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await Promise.all(servers.map((server) => server.close()));
});

/** Judges that fail a run whose input has one of these words; `broken` answers nothing usable. */
const configs: { sharp: string; blunt: string; broken: string } = { sharp: '', blunt: '', broken: '' };
beforeAll(async () => {
  configs.sharp = await configOf('sharp', ['wrong']);
  configs.blunt = await configOf('blunt', ['fine']);
  configs.broken = await configOf('broken', undefined);
});

async function configOf(name: string, failing: readonly string[] | undefined): Promise<string> {
  const server = await chatServer((response, request) => {
    const told = request.body.messages.map(({ content }) => content).join(' ');
    return says(
      failing === undefined
        ? 'perhaps'
        : JSON.stringify({
            tasks: [{ number: 1, explanation: 'So.', completed: !failing.some((word) => told.includes(`it is ${word}`)) }],
          }),
    )(response, request);
  });
  servers.push(server);
  return file(
    `${name}.yaml`,
    `evaluators: [ tool_error, { use: task_completion, name: done, judge: main, expect: { tasks: [ "answer" ] } } ]\njudges: { main: { base_url: "${server.baseUrl}", model: ${name}, api_key: secret } }\n`,
  );
}

function file(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function judge(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words: ['judge', ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** Ten good and ten bad runs, labelled correctly. */
const set = Array.from({ length: 20 }, (_, at) => ({
  id: `r${at}`,
  input: `run ${at}: it is ${at < 10 ? 'fine' : 'wrong'}`,
  final_response: 'answer',
  passed: at < 10,
}));
const lines = (rows: readonly object[]): string => rows.map((row) => JSON.stringify(row)).join('\n');

interface Checked {
  readonly runs: number;
  readonly evaluators: readonly {
    readonly name: string;
    readonly labelled: number;
    readonly unanswered: number;
    readonly agreement: { readonly [key: string]: unknown } | null;
    readonly against: object | null;
    readonly comparison: { readonly word: string } | null;
  }[];
}

async function checked(...words: readonly string[]): Promise<Checked & { readonly code: number }> {
  const { code, out, err } = await judge('check', ...words, '--format', 'json');
  expect(err).toBe('');
  return { code, ...(JSON.parse(out) as Checked) };
}

test('judge check: a judge that agrees with the labels, with intervals', async () => {
  const { code, runs, evaluators } = await checked(file('set.jsonl', lines(set)), '-c', configs.sharp);
  expect([code, runs]).toEqual([0, 20]);
  expect(evaluators).toMatchObject([
    {
      name: 'done',
      labelled: 20,
      unanswered: 0,
      agreement: {
        model: 'sharp',
        both_pass: 10,
        both_fail: 10,
        missed: 0,
        false_alarms: 0,
        recall: { point: 1, n: 10 },
        kappa: { point: 1 },
      },
      comparison: null,
    },
  ]);
});

test('judge check: against another configuration it names the better one, and a worse one is exit 1', async () => {
  const path = file('compared.jsonl', lines(set));
  const better = await checked(path, '-c', configs.sharp, '--against', configs.blunt);
  expect([better.code, better.evaluators[0]?.comparison]).toMatchObject([
    0,
    { word: 'better', difference: { point: 1 }, only_this_right: 20, only_other_right: 0 },
  ]);
  const worse = await checked(path, '-c', configs.blunt, '--against', configs.sharp);
  expect([worse.code, worse.evaluators[0]?.comparison]).toMatchObject([1, { word: 'worse' }]);
  const same = await checked(path, '-c', configs.sharp, '--against', configs.sharp);
  expect([same.code, same.evaluators[0]?.comparison]).toMatchObject([0, { word: 'no_difference_shown', p: 1 }]);
  const { out } = await judge('check', path, '-c', configs.sharp, '--against', configs.blunt);
  expect(out).toMatch(/^20 labelled runs\n\ndone \(sharp, version 1\)\n {2}20 labelled, 0 without/);
  expect(out).toMatch(/recall {5}1\.000 \(0\.\d{3} to 1\.000\)/);
  expect(out).toMatch(/ {4}better: 1\.000 \(.*\) in accuracy, p = 0\.000; only this one right 20, only the other 0/);
});

test('judge check: a jury is checked as one judge, under the name of all its models', async () => {
  const [sharp, blunt] = [readFileSync(configs.sharp, 'utf8'), readFileSync(configs.blunt, 'utf8')].map(
    (text) => /base_url: "([^"]+)"/.exec(text)?.[1] ?? '',
  );
  const jury = file(
    'jury.yaml',
    `evaluators: [ { use: task_completion, name: done, judges: [ sharp, blunt ], escalate: { to: last }, expect: { tasks: [ "answer" ] } } ]\njudges: { sharp: { base_url: "${sharp}", model: sharp }, blunt: { base_url: "${blunt}", model: blunt }, last: { base_url: "${sharp}", model: last } }\n`,
  );
  const { code, evaluators } = await checked(file('tried.jsonl', lines(set)), '-c', jury, '--against', configs.blunt);
  expect(code).toBe(0);
  expect(evaluators).toMatchObject([
    {
      labelled: 20,
      unanswered: 0,
      agreement: { model: 'blunt + sharp -> last', both_pass: 10, both_fail: 10 },
      comparison: { word: 'better' },
    },
  ]);
});

test('judge check: labels may be in a separate file, by trace, and name the evaluator', async () => {
  const spans = [1, 2].map((trace) =>
    agentSpan({ id: 1, trace, start: 0, end: 9, agent: 'a', input: `it is ${trace === 1 ? 'fine' : 'wrong'}`, output: 'answer' }),
  );
  const recorded = join(folder, 'recorded.json');
  writeFileSync(recorded, writeTraces(spans, 'json'));
  const labels = file(
    'labels.jsonl',
    lines([
      { trace_id: traceId(1), name: 'done', by: 'ann', label: 'pass' },
      { trace_id: traceId(2), name: 'done', by: 'ann', score: 0.1 },
      { trace_id: traceId(2), name: 'other', by: 'ann', passed: true },
    ]),
  );
  const { evaluators } = await checked(recorded, '--labels', labels, '-c', configs.sharp);
  expect(evaluators).toMatchObject([{ labelled: 2, agreement: { both_pass: 1, both_fail: 1 } }]);
});

test('judge check: a judge without usable answers is reported, and is exit 1', async () => {
  const { code, out, err } = await judge('check', file('broken.jsonl', lines(set.slice(0, 2))), '-c', configs.broken);
  expect([code, err]).toEqual([1, expect.stringContaining('There is nothing to compare')]);
  expect(out).toContain('2 labelled, 2 without a verdict');
});

const faulty: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no action', [], /Name an action: check, forecast or draft/],
  ['another action', ['train'], /neither check, forecast nor draft/],
  ['no configuration', ['check', 'x'], /with -c/],
  ['no file', ['check', '-c', 'sharp.yaml'], /Name files/],
  ['no such configuration', ['check', 'set.jsonl', '-c', 'none.yaml'], /none\.yaml/],
  ['no judge evaluator', ['check', 'set.jsonl', '-c', 'rules.yaml'], /no evaluator with a judge/],
  [
    'an evaluator that does not exist',
    ['check', 'set.jsonl', '-c', 'sharp.yaml', '--evaluator', 'tool_error'],
    /no evaluator "tool_error" with a judge/,
  ],
  ['runs without labels', ['check', 'unlabelled.jsonl', '-c', 'sharp.yaml'], /No run has a label/],
  ['labels of other runs', ['check', 'unlabelled.jsonl', '--labels', 'set.jsonl', '-c', 'sharp.yaml'], /check the ids/],
  ['a label on nothing', ['check', 'nobody.jsonl', '-c', 'sharp.yaml'], /neither id nor trace_id/],
  ['a label that is none', ['check', 'three.jsonl', '-c', 'sharp.yaml'], /labels\.done: a label is true, false/],
  [
    'a file of labels with a line that is not JSON',
    ['check', 'set.jsonl', '--labels', 'broken.jsonl', '-c', 'sharp.yaml'],
    /broken\.jsonl: line 3: it is not JSON, and so is 1 other\. Write one JSON object a line/,
  ],
  [
    'a file of labels with a line that is not an object',
    ['check', 'set.jsonl', '--labels', 'number.jsonl', '-c', 'sharp.yaml'],
    /number\.jsonl: line 2: it is JSON, but not an object\./,
  ],
  [
    'a file of labels with a line without content',
    ['check', 'set.jsonl', '--labels', 'silent.jsonl', '-c', 'sharp.yaml'],
    /silent\.jsonl: line 2: it is not a label: passed, label, score and labels are missing\./,
  ],
  [
    'a file of labels that holds none',
    ['check', 'set.jsonl', '--labels', 'sharp.yaml', '-c', 'sharp.yaml'],
    /sharp\.yaml: it has no labels\./,
  ],
  ['labels of an unknown evaluator', ['check', 'set.jsonl', '-c', 'two.yaml'], /one of done, too/],
  ['an unknown format', ['check', 'set.jsonl', '-c', 'sharp.yaml', '--format', 'xml'], /--format takes/],
  ['files for a forecast', ['forecast', 'set.jsonl', '-c', 'sharp.yaml'], /no files/],
  ['a store that does not exist', ['forecast', '-c', 'elsewhere.yaml'], /There is no store at/],
  ['a store in memory', ['forecast', '-c', 'memory.yaml'], /store\.url is memory/],
];
for (const [name, words, message] of faulty) {
  test(`judge: ${name} is bad usage or input`, async () => {
    file('set.jsonl', lines(set));
    file('unlabelled.jsonl', lines([{ id: 'else', input: 'x', final_response: 'y' }]));
    file('nobody.jsonl', lines([{ input: 'x', final_response: 'y', passed: true }]));
    const good = '{"id": "r1", "passed": true}';
    file('broken.jsonl', `${good}\n\n{"id": "r2", "passed": tru}\n${good}\nr3 true\n`);
    file('number.jsonl', `${good}\n7\n`);
    file('silent.jsonl', `${good}\n{"id": "r2"}\n`);
    file('three.jsonl', lines([{ id: 'r', input: 'x', final_response: 'y', labels: { done: 3 } }]));
    file('rules.yaml', 'evaluators: [ tool_error ]\n');
    const judges = 'judges: { main: { base_url: "http://127.0.0.1:1", model: m } }\n';
    const done = '{ use: task_completion, name: done, judge: main }';
    file('two.yaml', `evaluators: [ ${done}, { use: task_completion, name: too, judge: main } ]\n${judges}`);
    file('elsewhere.yaml', `evaluators: [ ${done} ]\n${judges}store: { url: "sqlite:${folder}/none.db" }\n`);
    file('memory.yaml', `evaluators: [ ${done} ]\n${judges}store: { url: "memory:" }\n`);
    const { code, out, err } = await judge(...words.map((word) => (/\.(yaml|jsonl)$/.test(word) ? join(folder, word) : word)));
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
}

interface Forecast {
  readonly runs: number;
  readonly days: number;
  readonly evaluators: readonly {
    readonly verdicts_per_day: number;
    readonly share: number;
    readonly input_tokens: number;
    readonly model: string;
    readonly basis: string;
    readonly usd_per_day: number;
    readonly usd_per_day_escalated: number | null;
  }[];
}

test('judge forecast: runs × probability × tokens × price, with what rules raise', async () => {
  const path = join(folder, 'traffic.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 2 * 86_400_000) * 1_000_000n;
  await store.write(
    Array.from({ length: 200 }, (_, at) =>
      scoredRun(
        { tool_error: scored(at < 20 ? 0 : 1) },
        run({
          traceId: traceId(at + 1),
          trace: agentTrace({ agent: at < 100 ? 'paid' : 'free', input: 'Where is it?', finalResponse: 'There.' }),
          startUnixNano: start,
          endUnixNano: start + 1n,
        }),
      ),
    ),
  );
  await store.stop();
  const config = (more: string, sample = '{ rate: 0.1 }'): string =>
    file(
      'forecast.yaml',
      `evaluators: [ tool_error, { use: task_completion, judge: main, sample: ${sample}${more} } ]\njudges: { main: { model: small } }\nprices: { small: { input_per_million: 2, output_per_million: 10 } }\nstore: { url: "sqlite:${path}" }\n`,
    );
  const forecast = async (from: string, ...words: readonly string[]): Promise<Forecast> => {
    const { code, out, err } = await judge('forecast', '-c', from, '--format', 'json', ...words);
    expect([code, err]).toEqual([0, '']);
    return JSON.parse(out) as Forecast;
  };
  const given = ['--input-tokens', '1000', '--output-tokens', '100'];
  const plain = await forecast(config(''), ...given);
  expect(plain).toMatchObject({
    runs: 200,
    days: expect.closeTo(2, 2),
    evaluators: [{ share: expect.closeTo(0.1, 10), verdicts_per_day: expect.closeTo(10, 1), basis: 'given' }],
  });
  // 10 verdicts of 1,000 tokens in and 100 out.
  expect(plain.evaluators[0]?.usd_per_day).toBeCloseTo(10 * (0.002 + 0.001), 4);
  expect((await forecast(config(', when: { agent: paid }'), ...given)).evaluators[0]?.share).toBeCloseTo(0.05, 10);
  const own = config('').replace('forecast.yaml', 'priced.yaml');
  writeFileSync(
    own,
    readFileSync(join(folder, 'forecast.yaml'), 'utf8').replace(
      '{ model: small }',
      '{ model: small, price: { input_per_million: 4, output_per_million: 20 } }',
    ),
  );
  expect((await forecast(own, ...given)).evaluators[0]?.usd_per_day).toBeCloseTo(2 * 10 * (0.002 + 0.001), 4);
  const estimated = (await forecast(config(''))).evaluators[0];
  expect(estimated?.basis).toBe('estimated');
  expect(estimated?.input_tokens).toBeGreaterThan(100);
  const { out } = await judge('forecast', '-c', config(''));
  expect(out).toMatch(
    /^100 runs a day, by 200 stored runs of 2\.0 days\n\ntask_completion \(small\)\n {2}10\.0 verdicts a day, 10\.0 % of the runs\n/,
  );
  expect(out).toMatch(/Total: 0\.\d\d USD a day/);
  // One in ten has failed a rule: 0.1 · 1 + 0.9 · 0.1.
  expect(
    (await forecast(config('', '{ rate: 0.1, raise: [ { when: "tool_error < 1", to: 1.0 } ] }'), ...given)).evaluators[0]?.share,
  ).toBeCloseTo(0.19, 10);
});

test('judge forecast: a session counts once, with any number of turns', async () => {
  const path = join(folder, 'sessions.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 86_400_000) * 1_000_000n;
  await store.write(
    Array.from({ length: 40 }, (_, at) =>
      scoredRun(
        {},
        run({
          traceId: traceId(at + 1),
          trace: agentTrace({ input: 'Where is it?', finalResponse: 'There.', ...(at < 30 ? { sessionId: `s${at % 3}` } : {}) }),
          startUnixNano: start,
          endUnixNano: start + 1n,
        }),
      ),
    ),
  );
  await store.stop();
  const config = file(
    'sessions.yaml',
    `evaluators: [ { use: goal_reached, judge: main, sample: { rate: 1 } } ]\njudges: { main: { model: small } }\nstore: { url: "sqlite:${path}" }\n`,
  );
  expect(JSON.parse((await judge('forecast', '-c', config, '--format', 'json')).out)).toMatchObject({
    evaluators: [{ verdicts_per_day: expect.closeTo(3, 1) as number, share: expect.closeTo(3 / 40, 6) as number }],
  });
});

test('judge forecast: votes are multiplied, each by the price of its judge, and the possible cost of an escalation is shown', async () => {
  const path = join(folder, 'voted.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 86_400_000) * 1_000_000n;
  await store.write([
    scoredRun(
      {},
      run({ trace: agentTrace({ input: 'Where is it?', finalResponse: 'There.' }), startUnixNano: start, endUnixNano: start + 1n }),
    ),
  ]);
  await store.stop();
  const config = file(
    'voted.yaml',
    `evaluators: [ { use: answer_relevance, name: voted, judges: [ a, b ], votes: 2, escalate: { to: c, below: 0.7 }, sample: { rate: 1 } }, { use: answer_relevance, name: unpriced, judges: [ a, c ], votes: 1, escalate: { to: d }, sample: { rate: 1 } } ]\njudges: { a: { model: small, price: { input_per_million: 1, output_per_million: 10 } }, b: { model: middle }, c: { model: large }, d: { model: unknown } }\nprices: { middle: { input_per_million: 2, output_per_million: 20 }, large: { input_per_million: 100, output_per_million: 1000 } }\nstore: { url: "sqlite:${path}" }\n`,
  );
  const words = ['forecast', '-c', config, '--input-tokens', '1000000', '--output-tokens', '100000'];
  const { out } = await judge(...words, '--format', 'json');
  const [voted, unpriced] = (JSON.parse(out) as Forecast).evaluators;
  // A vote costs 2 of the small judge, 4 of the middle one, 200 of the large one.
  const each = (one: typeof voted) => [
    (one?.usd_per_day ?? NaN) / (one?.verdicts_per_day ?? NaN),
    (one?.usd_per_day_escalated ?? NaN) / (one?.verdicts_per_day ?? NaN),
  ];
  expect(voted).toMatchObject({ model: 'middle*2 + small*2 -> large', votes: 4, input_tokens: 4_000_000, output_tokens: 400_000 });
  expect(each(voted)).toEqual([expect.closeTo(12, 9), expect.closeTo(212, 9)]);
  expect(unpriced).toMatchObject({ model: 'large + small -> unknown', votes: 2, usd_per_day_escalated: null });
  expect(each(unpriced)[0]).toBeCloseTo(202, 9);
  expect((await judge(...words)).out).toMatch(
    /voted \(middle\*2 \+ small\*2 -> large\)\n {2}1\.0 verdicts a day, 100\.0 % of the runs, 4 votes each\n {2}4000000 input and 400000 output tokens a verdict\n {2}1\d\.\d\d USD a day, 21\d\.\d\d if every verdict escalates\n/,
  );
});

test('judge forecast: tokens are those of stored verdicts where there are some, by how likely such runs would be chosen now; a budget and its book are beside it', async () => {
  const path = join(folder, 'used.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 2 * 86_400_000) * 1_000_000n;
  // All 20 runs with an error were judged, at 3,000 tokens each; of the 180 others one in ten, at 1,000; one more found its answer from before.
  const used = (input: number, more: object = {}) =>
    scored(1, { details: { model: 'small', judge_tokens: { input, output: 50 }, ...more } });
  await store.write(
    Array.from({ length: 200 }, (_, at) => {
      const own = run({
        traceId: traceId(at + 1),
        trace: agentTrace({ input: 'Where is it?', finalResponse: 'There.' }),
        startUnixNano: start,
        endUnixNano: start + 1n,
      });
      const judged = at < 20 ? used(3_000) : at < 38 ? used(1_000) : at === 38 ? used(1, { cached: 1 }) : undefined;
      return {
        run: own,
        decisions: [],
        evaluations: [
          evaluation('tool_error', scored(at < 20 ? 0 : 1), own),
          ...(judged === undefined
            ? []
            : [
                evaluation('done', judged, own, {
                  evaluator: 'task_completion',
                  evaluatorKind: 'judge',
                  evaluatorVersion: 1,
                  sampleProbability: at < 20 ? 1 : 0.1,
                }),
              ]),
        ],
      };
    }),
  );
  const day = (back: number): string => new Date(Date.now() - back * 86_400_000).toISOString().slice(0, 10);
  for (const [back, usd] of [
    [0, 9],
    [1, 2],
    [3, 4],
  ] as const)
    await store.judgeSpend.enter({
      account: 'main',
      day: day(back),
      owner: 'me',
      at: 0,
      spent: { nanoUsd: usd * 1e9, requests: 5, inputTokens: 1, outputTokens: 1 },
      released: noAmount,
      wanted: noAmount,
      limits: {},
    });
  await store.stop();
  const config = (name: string, model: string, sample: string): string =>
    file(
      `${name}.yaml`,
      `evaluators: [ tool_error, { use: task_completion, name: done, judge: main, sample: ${sample} } ]\njudges: { main: { model: ${model}, price: { input_per_million: 2, output_per_million: 10 }, budget: { usd_per_day: 0.02 } } }\nstore: { url: "sqlite:${path}" }\n`,
    );
  const forecast = async (...words: readonly string[]) =>
    JSON.parse((await judge('forecast', '--format', 'json', '-c', ...words)).out) as Forecast & { readonly judges: readonly object[] };
  // All runs alike: 20 · 3,000 and 18 · 10 · 1,000 of 200.
  expect((await forecast(config('even', 'small', '{ rate: 0.1 }'))).evaluators).toMatchObject([
    { basis: 'stored', stored_verdicts: 38, input_tokens: expect.closeTo(1_200, 6), output_tokens: expect.closeTo(50, 6) },
  ]);
  // As they were drawn: 20 · 3,000 and 18 · 1,000 of 38, for 38 runs in two days.
  const raised = config('raised', 'small', '{ rate: 0.1, raise: [ { when: "tool_error < 1", to: 1.0 } ] }');
  const told = await forecast(raised);
  expect(told.evaluators).toMatchObject([
    { basis: 'stored', input_tokens: expect.closeTo(78_000 / 38, 6), verdicts_per_day: expect.closeTo(19, 1) },
  ]);
  const usd = (19 * ((78_000 / 38) * 2 + 50 * 10)) / 1e6;
  expect(told.judges).toMatchObject([
    { name: 'main', usd_per_day: expect.closeTo(usd, 3), budget_usd_per_day: 0.02, spent_usd_per_day: 3, spent_days: 2 },
  ]);
  const { out } = await judge('forecast', '-c', raised);
  expect(out).toContain('2053 input and 50 output tokens a verdict, by 38 stored verdicts');
  expect(out).toMatch(
    /Total: 0\.09 USD a day\nmain: its budget of 0\.02 USD a day is less, so its rates would drop to about 2\d % of themselves\nmain: spent 3\.00 USD a day so far, by its budget's book of the last 2 days with any\n*$/,
  );
  // The needs of another model are unknown.
  expect((await forecast(config('other', 'large', '{ rate: 0.1 }'))).evaluators).toMatchObject([
    { basis: 'estimated', stored_verdicts: 0 },
  ]);
});

test('judge forecast: what an evaluator may spend itself holds its rate down, and counts no further at its judge', async () => {
  const path = join(folder, 'budgets.db');
  const store = await sqliteStore(path);
  const start = BigInt(Date.now() - 86_400_000) * 1_000_000n;
  await store.write(
    Array.from({ length: 100 }, (_, at) =>
      scoredRun(
        {},
        run({
          traceId: traceId(at + 1),
          trace: agentTrace({ input: 'Where is it?', finalResponse: 'There.' }),
          startUnixNano: start,
          endUnixNano: start + 1n,
        }),
      ),
    ),
  );
  await store.stop();
  // A verdict costs 1 USD and 200,000 tokens; a day has 100.
  const config = (own: string, judges: string): string =>
    file(
      'budgets.yaml',
      `evaluators: [ { use: answer_relevance, name: held, judge: main, sample: { rate: 1 }, budget: ${own} }, { use: answer_relevance, name: free, judge: main, sample: { rate: 0.1 } } ]\njudges: { main: { model: small, price: { input_per_million: 5, output_per_million: 5 }, budget: ${judges} } }\nstore: { url: "sqlite:${path}" }\n`,
    );
  const words = ['--input-tokens', '100000', '--output-tokens', '100000'];
  const cases = [
    { own: '{ usd_per_day: 20 }', judges: '{ usd_per_day: 100 }', limit: 'usd_per_day', left: 0.2, usd: 30, judge: null, judgeLeft: 1 },
    {
      own: '{ requests_per_day: 50, usd_per_day: 80 }',
      judges: '{ usd_per_day: 30 }',
      limit: 'requests_per_day',
      left: 0.5,
      usd: 60,
      judge: 'usd_per_day',
      judgeLeft: 0.5,
    },
    {
      own: '{ tokens_per_day: 2000000 }',
      judges: '{ requests_per_day: 10 }',
      limit: 'tokens_per_day',
      left: 0.1,
      usd: 20,
      judge: 'requests_per_day',
      judgeLeft: 0.5,
    },
    {
      own: '{ requests_per_day: 1000 }',
      judges: '{ tokens_per_day: 2200000 }',
      limit: null,
      left: 1,
      usd: 110,
      judge: 'tokens_per_day',
      judgeLeft: 0.1,
    },
  ];
  for (const { own, judges, limit, left, usd, judge: judgeLimit, judgeLeft } of cases) {
    const told = JSON.parse((await judge('forecast', '-c', config(own, judges), '--format', 'json', ...words)).out) as object;
    expect(told).toMatchObject({
      evaluators: [
        { name: 'held', limit, rate_left: expect.closeTo(left, 3) },
        { name: 'free', limit: null, rate_left: 1 },
      ],
      judges: [{ name: 'main', usd_per_day: expect.closeTo(usd, 1), limit: judgeLimit, rate_left: expect.closeTo(judgeLeft, 3) }],
    });
  }
  const { out } = await judge('forecast', '-c', config('{ requests_per_day: 50 }', '{ usd_per_day: 30 }'), ...words);
  expect(out).toMatch(
    /held \(small\)\n(?: {2}.*\n)* {2}its budget of 50 requests a day is less, so its rate would drop to about 50 % of itself\n/,
  );
  expect((await judge('forecast', '-c', config('{ requests_per_day: 1 }', '{ usd_per_day: 1000 }'), ...words)).out).toContain(
    'its budget of 1 request a day is less, so its rate would drop to about 1 % of itself',
  );
  expect(out).toMatch(
    /Total: 60\.\d\d USD a day\nmain: its budget of 30\.00 USD a day is less, so its rates would drop to about 50 % of themselves$/,
  );
});

test('judge forecast: a store without runs of the last days is exit 1', async () => {
  const path = join(folder, 'old.db');
  const store = await sqliteStore(path);
  await store.write([scoredRun({ tool_error: scored(1) }, run())]);
  await store.stop();
  expect(
    await judge(
      'forecast',
      '-c',
      file(
        'old.yaml',
        `evaluators: [ { use: task_completion, judge: main } ]\njudges: { main: { model: small } }\nstore: { url: "sqlite:${path}" }\n`,
      ),
    ),
  ).toMatchObject({ code: 1, out: '', err: expect.stringContaining('no run of the last 7 days') });
});
