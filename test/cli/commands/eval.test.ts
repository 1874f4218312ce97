/** `tracejury eval` as a person runs it: inputs of every form, gates, datasets, reports and exit codes. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { chatServer, says } from '../../judges/chat-server.ts';
import { span } from '../../builders/spans.ts';

const root = join(import.meta.dirname, '../../..');
const recordings = join(root, 'test/fixtures/recordings');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-eval-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function answer(...words: readonly string[]): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words: ['eval', ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

function file(name: string, content: string | Buffer | object): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' || Buffer.isBuffer(content) ? content : JSON.stringify(content));
  return path;
}

interface Report {
  readonly passed: boolean;
  readonly sampled_out: number;
  readonly not_begun: number;
  readonly missing_examples: readonly string[];
  readonly evaluators: readonly {
    readonly name: string;
    readonly passed: number;
    readonly failed: number;
    readonly skipped: number;
    readonly errors: number;
  }[];
  readonly results: readonly {
    readonly label: string;
    readonly example: string | null;
    readonly trace_id: string;
    readonly verdicts: readonly { readonly name: string; readonly status: string; readonly passed?: boolean; readonly reason?: string }[];
  }[];
}

async function report(...words: readonly string[]): Promise<Report & { readonly code: number }> {
  const { code, out, err } = await answer(...words, '--format', 'json');
  expect(err).toBe('');
  return { ...(JSON.parse(out) as Report), code };
}

const good = { id: 'good', input: 'book', tool_calls: [{ name: 'book', arguments: {}, result: 'ok' }] };
const bad = { id: 'bad', input: 'fail', tool_calls: [{ name: 'book', arguments: {}, error: 'no room' }] };
const messages = {
  messages: [
    { role: 'user', content: 'book' },
    { role: 'assistant', content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: 'book', arguments: '{}' } }] },
    { role: 'tool', tool_call_id: 'c', content: 'ok' },
    { role: 'assistant', content: 'done' },
  ],
};
const goodFile = file('good.json', good);
const bothFile = file('both.json', [good, bad]);

const inputs: readonly { readonly name: string; readonly content: string | Buffer | object; readonly labels: readonly string[] }[] = [
  { name: 'one agent trace', content: good, labels: ['good'] },
  { name: 'a list of agent traces', content: [good, bad], labels: ['good', 'bad'] },
  {
    name: 'agent traces as JSON lines, with blank lines',
    content: `${JSON.stringify(good)}\n\n${JSON.stringify(bad)}\n`,
    labels: ['good', 'bad'],
  },
  { name: 'members in camelCase', content: { id: 'camel', input: 'x', toolCalls: good.tool_calls }, labels: ['camel'] },
  { name: 'an object with messages', content: { id: 'chat', ...messages }, labels: ['chat'] },
];

for (const [at, { name, content, labels }] of inputs.entries()) {
  test(`eval: reads ${name}`, async () => {
    const { results } = await report(file(`input-${at}.json`, content));
    expect(results.map(({ label }) => label)).toEqual(labels);
    expect(results[0]?.verdicts.find((one) => one.name === 'tool_error')).toMatchObject({ status: 'scored', passed: true });
  });
}

test('eval: an entry with turns scores a conversation by its worst turn, held against what a dataset expects of each', async () => {
  const turn = (ask: string, name: string) => [
    { role: 'user', content: ask },
    { role: 'assistant', content: null, tool_calls: [{ id: name, function: { name, arguments: '{}' } }] },
    { role: 'tool', tool_call_id: name, content: 'ok' },
    { role: 'assistant', content: 'done' },
  ];
  const talk = file('talk.json', { id: 'talk', messages: [...turn('find', 'search'), ...turn('book', 'pay')] });
  const config = file('turns.yaml', 'evaluators:\n  - { use: tool_correctness, turns: user_turn }\n');
  const expected = file('turns-dataset.json', [
    { id: 'talk', expect: { by_turn: [{ tool_calls: [{ name: 'search' }] }, { tool_calls: [{ name: 'book' }] }] } },
  ]);
  const { results } = await report(talk, '-c', config, '--dataset', expected);
  expect(results[0]?.verdicts).toMatchObject([
    {
      name: 'tool_correctness',
      status: 'scored',
      passed: false,
      details: {
        worst_turn: 2,
        turns: [
          { turn: 1, score: 1 },
          { turn: 2, score: 0 },
        ],
      },
    },
  ]);
});

test('eval: values that were cut short, as inspect writes them, are not judged as if they were whole', async () => {
  const cut = {
    id: 'cut',
    input: 'book',
    tools: [{ name: 'book', parameters: { type: 'object', required: ['city'] } }],
    tool_calls: [
      {
        name: 'book',
        arguments: null,
        result: null,
        result_carried: false,
        truncated: { arguments: '{"city":"Osa', result: '{"rooms":[1' },
      },
    ],
  };
  const lost = {
    id: 'lost',
    input: 'book',
    tools: [{ name: 'book' }],
    tool_calls: [{ name: 'other', arguments: {}, result: 'ok' }],
    truncated: ['spans'],
  };
  const { results } = await report(file('cut.json', [cut, lost]));
  const reasons = (name: string): unknown => results.map(({ verdicts }) => verdicts.find((one) => one.name === name)?.reason);
  expect(reasons('tool_call_validity')).toEqual(['truncated', 'truncated']);
  expect(results[0]?.verdicts.find((one) => one.name === 'tool_error')).toMatchObject({ status: 'skipped', reason: 'truncated' });
});

test('eval: a bare list of messages is one run, a list of such lists several', async () => {
  const one = await report(file('bare.json', messages.messages));
  const two = await report(file('bare-two.json', [messages.messages, messages.messages]));
  expect([one.results.length, two.results.length]).toEqual([1, 2]);
});

test('eval: a folder without recorded requests gives its files by name', async () => {
  const path = mkdtempSync(join(folder, 'runs-'));
  writeFileSync(join(path, 'b.json'), JSON.stringify(bad));
  writeFileSync(join(path, 'a.jsonl'), `${JSON.stringify(good)}\n`);
  writeFileSync(join(path, 'notes.txt'), 'no run');
  expect((await report(path)).results.map(({ label }) => label)).toEqual(['good', 'bad']);
});

test('eval: spans as protobuf, JSON and JSON lines and a folder give the same verdicts', async () => {
  const path = join(recordings, 'openinference-langchain/toolerror');
  const whole = await answer(path, '--format', 'json');
  expect(whole.code).toBe(1);
  const bodies = ['request-01.binpb'].map((name) => readFileSync(join(path, name)));
  const spans = bodies.flatMap((body) => readTraces(body, 'protobuf').spans);
  const json = file('spans.json', writeTraces(spans, 'json'));
  const lines = file('spans.jsonl', spans.map((one) => `${writeTraces([one], 'json').toString()}\n`).join(''));
  expect((await answer(json, '--format', 'json')).out).toBe(whole.out);
  expect((await answer(lines, '--format', 'json')).out).toBe(whole.out);
});

test('eval: exit 0 when every verdict passed, 1 when one failed; skipped ones count as neither', async () => {
  const fine = await report(goodFile);
  expect([fine.code, fine.passed]).toEqual([0, true]);
  expect(fine.evaluators.map(({ name, passed, failed, skipped }) => [name, passed, failed, skipped])).toEqual([
    ['tool_call_validity', 0, 0, 1],
    ['tool_error', 1, 0, 0],
    ['tool_efficiency', 1, 0, 0],
    ['run_error', 1, 0, 0],
  ]);
  expect((await report(bothFile)).code).toBe(1);
});

const gates: readonly { readonly gate: readonly string[]; readonly code: number }[] = [
  { gate: ['tool_error=0.5'], code: 0 },
  { gate: ['tool_error=50%'], code: 0 },
  { gate: ['tool_error=0.51'], code: 1 },
  { gate: ['tool_error=0.5', 'tool_efficiency=1'], code: 0 },
  { gate: ['tool_error=0.6', 'tool_efficiency=1'], code: 1 },
  { gate: ['tool_call_validity=0'], code: 1 },
];

for (const { gate, code } of gates) {
  test(`eval: with one of two runs failing tool_error, --fail-under ${gate.join(' ')} ends with ${code}`, async () => {
    expect((await answer(bothFile, ...gate.flatMap((one) => ['--fail-under', one]))).code).toBe(code);
  });
}

const badDataset = file('no-list.json', '7');
const misuses: readonly { readonly words: readonly string[]; readonly says: string }[] = [
  { words: [], says: 'Name files' },
  { words: ['no/such/file'], says: 'The file cannot be read. no/such/file: there is no such file. Check the path and its permissions.' },
  { words: [goodFile, '--dataset', badDataset], says: 'docs/guides/datasets.md lists the forms of a dataset.' },
  { words: [goodFile, '--format', 'xml'], says: '--format takes one of table, json, markdown, junit' },
  { words: [goodFile, '--fail-under', 'tool_error'], says: 'NAME=SHARE' },
  { words: [goodFile, '--fail-under', 'tool_error=1.1'], says: 'a share from 0 to 1' },
  { words: [goodFile, '--fail-under', 'tool_eror=1'], says: 'Did you mean tool_error?' },
  { words: [goodFile, '--fail-under', 'tool_recovery=1'], says: 'tool_recovery exists but is not on: add it under evaluators.' },
  { words: [goodFile, '--sample', '0'], says: '--sample takes a number above 0' },
  { words: [goodFile, '--timeout', 'soon'], says: '--timeout takes a number above 0' },
  { words: [goodFile, '-c', 'no/such.yaml'], says: 'no/such.yaml' },
  { words: [goodFile, '--output', join(folder, 'no/such/report')], says: 'cannot be written' },
  { words: [file('number.json', '[1]')], says: '[0]: it is neither a list of messages nor an agent trace' },
  { words: [file('broken.jsonl', `${JSON.stringify(good)}\n{broken`)], says: 'line 2: it is not JSON' },
  { words: [file('other.json', { rows: 1 })], says: 'it has neither messages nor tool_calls, but "rows"' },
  { words: [file('nameless.json', { tool_calls: [{ args: {} }] })], says: 'tool_calls[0]: it has no name' },
  { words: [file('web.json', writeTraces([span({ id: 1, name: 'GET /' })], 'json'))], says: 'No agent run was found' },
];

for (const { words, says: told } of misuses) {
  test(`eval: ${words.slice(1).join(' ') || words.join(' ').split('/').at(-1) || 'nothing'} is refused with exit 2`, async () => {
    const { code, out, err } = await answer(...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(told);
  });
}

test('eval: --output takes the report, and standard output stays empty', async () => {
  const path = join(folder, 'report.md');
  const { code, out } = await answer(bothFile, '--format', 'markdown', '--output', path);
  expect([code, out]).toEqual([1, '']);
  expect(readFileSync(path, 'utf8')).toContain('| tool\\_error | 1 | 1 |');
});

test('eval: --fail-fast begins nothing after the first failed verdict', async () => {
  const path = file('three.json', [good, bad, { ...good, id: 'never' }]);
  const { results, not_begun: notBegun, code } = await report(path, '--fail-fast');
  expect([code, results.map(({ label }) => label), notBegun]).toEqual([1, ['good', 'bad'], 1]);
});

test('eval: --sample keeps the same traces each time, a larger share all of a smaller one, and never none', async () => {
  const path = file(
    'many.json',
    Array.from({ length: 200 }, (_, at) => ({ ...good, id: `r${at}`, input: `question ${at}` })),
  );
  const kept = async (percent: string): Promise<readonly string[]> =>
    (await report(path, '--sample', percent)).results.map(({ label }) => label);
  const [ten, again, forty, least] = [await kept('10'), await kept('10'), await kept('40'), await kept('0.000001')];
  expect(again).toEqual(ten);
  expect(ten.length).toBeGreaterThan(5);
  expect(ten.length).toBeLessThan(40);
  expect(forty).toEqual(expect.arrayContaining([...ten]));
  expect(least).toHaveLength(1);
});

test('eval: votes of a judge count offline as in the service', async () => {
  const task = (completed: boolean) => says(JSON.stringify({ tasks: [{ number: 1, explanation: 'So.', completed }] }));
  const judge = await chatServer(task(false), task(true), task(true));
  const config = file(
    'votes.yaml',
    `evaluators: [ { use: task_completion, judge: main, votes: 3, expect: { tasks: [ "book" ] } } ]\njudges: { main: { base_url: "${judge.baseUrl}", model: small } }\n`,
  );
  const { code, evaluators } = await report(file('voted.json', { ...good, final_response: 'done' }), '-c', config);
  expect([code, judge.requests.length, evaluators]).toMatchObject([0, 3, [{ name: 'task_completion', passed: 1, errors: 0 }]]);
  await judge.close();
});

test('eval: a judge of the configuration is asked about every run, and one that gives no answer is neither pass nor fail', async () => {
  const yes = JSON.stringify({ tasks: [{ number: 1, explanation: 'It says so.', completed: true }] });
  for (const { reply, wants } of [
    { reply: yes, wants: { passed: 1, failed: 0, errors: 0 } },
    { reply: 'perhaps', wants: { passed: 0, failed: 0, errors: 1 } },
  ]) {
    const judge = await chatServer(says(reply));
    const config = file(
      'judge.yaml',
      `evaluators: [ tool_error, { use: task_completion, judge: main, expect: { tasks: [ "book" ] } } ]\njudges: { main: { base_url: "${judge.baseUrl}", model: small, api_key: secret } }\n`,
    );
    const { code, evaluators } = await report(file('judged.json', { ...good, final_response: 'done' }), '-c', config, '--timeout', '60');
    expect(evaluators).toMatchObject([
      { name: 'tool_error', passed: 1 },
      { name: 'task_completion', ...wants },
    ]);
    expect(code).toBe(0);
    await judge.close();
  }
});

test('eval: what could not be scored at all is said on standard error', async () => {
  const { code, err } = await answer(file('empty-run.json', { input: 'hello' }));
  expect([code, err]).toEqual([
    1,
    '⚠ 0 of 1 run scored: tool_call_validity, tool_error, tool_efficiency: skipped (no_tool_calls). tracejury inspect FILE shows the missing data. --allow-unscored lets it pass.',
  ]);
});

describe('a run that ended in an error', () => {
  const fine = { id: 'fine', input: 'q', tool_calls: [{ name: 'f', arguments: {}, result: 'r' }], final_response: 'a' };
  const died = { id: 'died', input: 'q', tool_calls: [], error_type: 'RateLimitError', error_message: 'usage limit reached' };
  const runs = file('died.json', [fine, died]);
  const onlyTools = file('only-tools.yaml', 'evaluators: [ tool_error ]\n');
  const gates: readonly (readonly [what: string, words: readonly string[], code: number])[] = [
    ['fails by the evaluator that is on by default', [], 1],
    ['fails where no evaluator looks at it', ['-c', onlyTools], 1],
    ['fails though the gates hold', ['--fail-under', 'tool_error=1'], 1],
    ['passes on demand', ['--allow-run-errors'], 0],
    ['passes on demand with gates', ['--allow-run-errors', '-c', onlyTools, '--fail-under', 'tool_error=1'], 0],
  ];
  test.each(gates)('eval: a run that ended in an error %s', async (_what, words, code) => {
    const { code: found, out } = await answer(runs, ...words, '--format', 'json');
    const { passed, results } = JSON.parse(out) as { readonly passed: boolean; readonly results: readonly { readonly status: string }[] };
    expect([found, passed, results.map(({ status }) => status)]).toEqual([code, code === 0, ['ok', 'error']]);
  });

  test.each(['table', 'markdown', 'junit'])('eval: the report as %s names a run in error that no evaluator looks at', async (format) => {
    const { out, err } = await answer(runs, '-c', onlyTools, '--format', format);
    expect(out).toContain('died');
    expect(out).toContain('RateLimitError: usage limit reached');
    expect(err).toBe('⚠ 1 run ended in an error (died: RateLimitError: usage limit reached). --allow-run-errors lets such runs pass.');
  });

  test('eval: the counts name runs that are paused', async () => {
    const calls = [
      { name: 'f', arguments: {}, result: 'r' },
      { name: 'pay', arguments: {}, outcome: 'waiting' },
    ];
    const { out } = await answer(file('paused.json', [fine, { id: 'held', input: 'q', status: 'paused', tool_calls: calls }]));
    expect(out).toContain('2 of 2 runs scored, 1 paused\n');
  });

  test('eval: a run that only came to its end is not scored', async () => {
    const { code, err } = await answer(file('silent.json', { input: 'hello', final_response: 'a' }));
    expect(code).toBe(1);
    expect(err).toContain('0 of 1 run scored');
  });
});
