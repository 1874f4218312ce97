/** `tracejury eval` claims nothing that it did not see: expectations that nothing checks, and runs that nothing scores. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { span } from '../../builders/spans.ts';
import { chatServer, says, status } from '../../judges/chat-server.ts';
import { junitFaults, xmlElements } from './junit-schema.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-unscored-'));
afterAll(() => rmSync(folder, { recursive: true }));
let files = 0;

function file(content: string | object, ending = 'json'): string {
  const path = join(folder, `${++files}.${ending}`);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function tracejury(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommandLine({
    words,
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

interface Report {
  readonly passed: boolean;
  readonly scored_runs: number;
  readonly nothing_scored: string | null;
  readonly warnings: readonly string[];
  readonly switched_on: readonly { readonly name: string; readonly expectations: readonly string[]; readonly judge: string | null }[];
  readonly results: readonly {
    readonly label: string;
    readonly verdicts: readonly { readonly name: string; readonly status: string; readonly passed?: boolean | null }[];
  }[];
  readonly expectations_without_score: readonly { readonly label: string; readonly expectation: string }[];
}

async function report(...words: readonly string[]): Promise<Report & { readonly code: number; readonly err: string }> {
  const { code, out, err } = await tracejury('eval', ...words, '--format', 'json');
  if (out === '') throw new Error(err);
  return { ...(JSON.parse(out) as Report), code, err };
}

const run = {
  id: 'a',
  input: 'Weather in Rome?',
  tool_calls: [{ name: 'weather', arguments: { city: 'Rome' }, result: 'sunny' }],
  final_response: 'Sunny.',
};
const weather = { name: 'weather', arguments: { city: 'Rome' } };
const messages = [
  { role: 'user', content: 'Weather in Rome?' },
  { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } }] },
  { role: 'tool', tool_call_id: 'c', content: 'sunny' },
  { role: 'assistant', content: 'Sunny.' },
];

describe('an expectation switches on what checks it', () => {
  const parts: readonly { readonly part: string; readonly met: object; readonly broken: object; readonly on: readonly string[] }[] = [
    { part: 'tool_calls', met: { tool_calls: [{ name: 'weather' }] }, broken: { tool_calls: [{ name: 'news' }] }, on: ['tool_trajectory'] },
    { part: 'no tool call at all', met: { tool_calls: [weather] }, broken: { tool_calls: [] }, on: ['tool_trajectory'] },
    {
      part: 'arguments',
      met: { tool_calls: [weather] },
      broken: { tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
      on: ['tool_trajectory'],
    },
    {
      part: 'results of calls',
      met: { tool_calls: [{ ...weather, result: 'sunny' }] },
      broken: { tool_calls: [{ ...weather, result: 'rain' }] },
      on: ['tool_trajectory', 'expected_tools'],
    },
    {
      part: 'tool_outputs',
      met: { tool_outputs: [{ name: 'weather', output: 'sunny' }] },
      broken: { tool_outputs: [{ name: 'weather', output: 'rain' }] },
      on: ['tool_call_output'],
    },
    {
      part: 'tool_calls_count',
      met: { tool_calls_count: { weather: 1 } },
      broken: { tool_calls_count: { weather: 2 } },
      on: ['tool_call_count'],
    },
    {
      part: 'tool_calls_order',
      met: { tool_calls_order: ['weather'] },
      broken: { tool_calls_order: ['news', 'weather'] },
      on: ['tool_call_order'],
    },
    { part: 'messages', met: { messages }, broken: { messages: messages.slice(0, 1) }, on: ['trajectory_match'] },
    { part: 'output', met: { output: 'Sunny.' }, broken: { output: 'Rain.' }, on: ['exact_match'] },
    { part: 'search_text', met: { search_text: 'sunny' }, broken: { search_text: ['sunny', 'rain'] }, on: ['contains'] },
    {
      part: 'several at once',
      met: { tool_calls: [weather], output: 'Sunny.' },
      broken: { tool_calls: [weather], output: 'Rain.' },
      on: ['tool_trajectory', 'exact_match'],
    },
  ];
  const byDefault = ['tool_call_validity', 'tool_error', 'tool_efficiency', 'run_error'];

  test('an expectation that is met passes, one that is not fails, each by its own evaluators', async () => {
    const examples = parts.flatMap(({ part, met, broken, on }) => [
      { id: `${part}, met`, expect: met, on, passed: true },
      { id: `${part}, broken`, expect: broken, on, passed: false },
    ]);
    const runs = file(examples.map(({ id }) => ({ id, messages })));
    const { code, results } = await report(runs, '--dataset', file(examples.map(({ id, expect: expected }) => ({ id, expect: expected }))));
    expect(code).toBe(1);
    expect(
      results.map(({ label, verdicts }) => {
        const own = verdicts.filter(({ name }) => !byDefault.includes(name));
        return [
          label,
          own.map(({ name }) => name),
          own.every(({ passed }) => passed === true),
          own.every(({ status: word }) => word === 'scored'),
        ];
      }),
    ).toEqual(examples.map(({ id, on, passed }) => [id, on, passed, true]));
  });

  test('a part that a configured evaluator checks leaves only the others to be switched on', async () => {
    const config = file('evaluators: [ { use: tool_correctness } ]', 'yaml');
    const {
      switched_on: on,
      warnings,
      code,
    } = await report(
      file(run),
      '-c',
      config,
      '--dataset',
      file([{ id: 'a', expect: { tool_calls: [{ name: 'weather', arguments: { city: 'Oslo' } }], output: 'Sunny.' } }]),
    );
    expect([code, on.map(({ name, expectations }) => [name, expectations])]).toEqual([0, [['exact_match', ['output']]]]);
    expect(warnings).toEqual([
      'No evaluator compares the expected arguments of tool calls of 1 run: the configured ones only compare the calls.',
    ]);
  });

  test('an evaluator whose condition keeps it from the run does not check it', async () => {
    const config = file('evaluators: [ tool_error, { use: tool_trajectory, name: path, when: { agent: other } } ]', 'yaml');
    const { switched_on: on, code } = await report(
      file(run),
      '-c',
      config,
      '--dataset',
      file([{ id: 'a', expect: { tool_calls: [{ name: 'news' }] } }]),
    );
    expect([code, on.map(({ name }) => name)]).toEqual([1, ['tool_trajectory']]);
  });

  test('an example with separate evaluators, and a name that is taken', async () => {
    const { switched_on: on, code } = await report(
      file(run),
      '--dataset',
      file([{ id: 'a', expect: { output: 'Rain.' }, evaluators: [{ use: 'tool_error', name: 'exact_match' }] }]),
    );
    expect([code, on.map(({ name }) => name)]).toEqual([1, ['exact_match_expected']]);
  });

  test('the report names it, and a gate may', async () => {
    const dataset = file([{ id: 'a', expect: { output: 'Rain.' } }]);
    expect((await tracejury('eval', file(run), '--dataset', dataset)).out).toContain(
      'Switched on by expectations\n  exact_match (expect.output)',
    );
    expect((await tracejury('eval', file(run), '--dataset', dataset, '--format', 'markdown')).out).toContain(
      'Switched on by expectations: exact\\_match',
    );
    expect((await tracejury('eval', file(run), '--dataset', dataset, '--fail-under', 'exact_match=0')).code).toBe(0);
    expect((await tracejury('eval', file(run), '--dataset', dataset, '--fail-under', 'exact_mach=1')).err).toContain(
      'Did you mean exact_match?',
    );
  });

  test('what only a raw metric looks at is said to decide nothing', async () => {
    const { code, warnings } = await report(
      file(run),
      '-c',
      file('evaluators: [ exact_match ]', 'yaml'),
      '--dataset',
      file([{ id: 'a', expect: { output: 'Rain.' } }]),
    );
    expect([code, warnings]).toEqual([0, ['expect.output of 1 run is measured and decides nothing: its evaluators have no threshold.']]);
  });

  test('warnings of the configuration are in the report, and not on standard error', async () => {
    const judge = await chatServer(says(JSON.stringify({ tasks: [{ number: 1, explanation: 'So.', completed: true }] })));
    const config = file(
      `evaluators: [ { use: task_completion, judge: main, expect: { tasks: [ x ] } } ]\njudges: { main: { base_url: "${judge.baseUrl}", model: m } }\n`,
      'yaml',
    );
    const { err, warnings } = await report(file(run), '-c', config);
    expect([err, warnings]).toEqual([
      '',
      [expect.stringMatching(/:1:1 evaluators: names no rule, .* Add the entry defaults to keep them\.$/)],
    ]);
    await judge.close();
  });

  test('runs that say themselves what is expected of them, in a file or on their spans', async () => {
    expect((await report(file({ ...run, expect: { output: 'Rain.' } }))).code).toBe(1);
    const attributes = { 'agent.name': 'a', 'output.value': 'Sunny.', 'tracejury.expected': '{"output":"Rain."}' };
    const spans = file(
      writeTraces([span({ id: 1, attributes: { 'openinference.span.kind': 'AGENT', ...attributes } })], 'json').toString(),
    );
    const { code, switched_on: on } = await report(spans);
    expect([code, on.map(({ name }) => name)]).toEqual([1, ['exact_match']]);
  });

  for (const [from, set] of [
    [
      'deepeval',
      [
        {
          name: 'a',
          input: 'Weather?',
          actual_output: 'Sunny.',
          tools_called: [{ name: 'weather', output: 'sunny' }],
          expected_tools: [{ name: 'weather', output: 'rain' }],
        },
      ],
    ],
    ['deepeval', [{ name: 'a', input: 'Weather?', actual_output: 'Sunny.', expected_output: 'Rain.' }]],
    ['agentevals', [{ id: 'a', outputs: messages, reference_outputs: messages.slice(0, 1) }]],
  ] as const) {
    test(`a set of ${from} is checked after its import: ${JSON.stringify(set).slice(0, 70)}`, async () => {
      const [dataset, runs] = [join(folder, `${++files}.yaml`), join(folder, `${files}.jsonl`)];
      expect((await tracejury('dataset', 'import', file(set), '--from', from, '--output', dataset, '--runs', runs)).code).toBe(0);
      expect((await tracejury('eval', runs, '--dataset', dataset)).code).toBe(1);
    });
  }
});

test('docs/guides/ci.md has the table of what switches on what', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/guides/ci.md'), 'utf8');
  const [, told = ''] = /^\| expectation \| switches on \|\n\|---\|---\|\n((?:\|.*\n)+)/m.exec(page) ?? [];
  const rows = evaluators.flatMap(({ id, kind, switchedOnBy = {} }) =>
    Object.entries(switchedOnBy).map(
      ([part, options]) =>
        `| \`${part.replace('.', '[].')}\` | \`${id}\`${Object.keys(options).length === 0 ? '' : ` with \`${JSON.stringify(options)}\``}${kind === 'judge' ? ', which asks a judge' : ''} |`,
    ),
  );
  expect(told.trim().split('\n').sort()).toEqual(rows.sort());
});

describe('what only a judge could check', () => {
  const dataset = file(
    '- id: a\n  tasks: [ tell the weather ]\n  constraints: short\n  expect:\n    context: It is June.\n- id: b\n  expect: { plan: [ look ] }\n',
    'yaml',
  );

  test('without a judge it is refused, each with its place and what to add', async () => {
    const { code, out, err } = await tracejury('eval', file(run), '--dataset', dataset);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/^No evaluator checks 4 expectations:/);
    for (const place of [
      `${dataset}:2:10 examples[0].tasks`,
      `${dataset}:3:16 examples[0].constraints`,
      `${dataset}:5:14 examples[0].expect.context`,
      `${dataset}:7:19 examples[1].expect.plan`,
    ])
      expect(err).toContain(place);
    expect(err).toContain('= Add hallucination to evaluators and a judge to judges');
    const one = await tracejury('eval', file(run), '--dataset', file([{ id: 'a', tasks: ['x'] }]));
    expect(one.err).toMatch(/^No evaluator checks 1 expectation:/);
  });

  test('with a judge the evaluator comes on and asks it', async () => {
    const judge = await chatServer(says(JSON.stringify({ tasks: [{ number: 1, explanation: 'No.', completed: false }] })));
    const config = file(`evaluators: [ tool_error ]\njudges: { main: { base_url: "${judge.baseUrl}", model: m } }\n`, 'yaml');
    const { code, switched_on: on } = await report(file(run), '-c', config, '--dataset', file([{ id: 'a', tasks: ['tell the weather'] }]));
    expect([code, judge.requests.length, on]).toEqual([
      1,
      1,
      [{ name: 'task_completion', evaluator: 'task_completion', expectations: ['tasks'], judge: 'main' }],
    ]);
    await judge.close();
  });
});

describe('an expectation that cannot be read is refused', () => {
  const faulty: readonly { readonly name: string; readonly words: () => readonly string[]; readonly message: readonly string[] }[] = [
    {
      name: 'YAML',
      words: () => [file(run), '--dataset', join(folder, 'faulty.yaml')],
      message: [
        `${join(folder, 'faulty.yaml')}:3:5 examples[0].expect.tool_cals: is not known\n  3 |     tool_cals: []\n    = Did you mean tool_calls?`,
        ':4:20 examples[0].expect.tool_calls[0].nam: is not known',
        '= Did you mean name?',
        ':5:3 examples[0].tols: is not known',
        '3 faults',
      ],
    },
    {
      name: 'JSON',
      words: () => [file(run), '--dataset', join(folder, 'faulty.json')],
      message: ['faulty.json:3:15 examples[1].expect.outptu: is not known', '= Did you mean output?'],
    },
    {
      name: 'JSON lines',
      words: () => [file(run), '--dataset', join(folder, 'faulty.jsonl')],
      message: ['faulty.jsonl:3:13 examples[1].expect.outptu: is not known', 'faulty.jsonl:3:36 examples[1].tasks: must be array'],
    },
    {
      name: 'JSON lines with broken lines',
      words: () => [file(run), '--dataset', join(folder, 'broken.jsonl')],
      message: ['broken.jsonl:2:', 'broken.jsonl:3:', 'is not JSON', '2 faults'],
    },
    {
      name: 'broken YAML',
      words: () => [file(run), '--dataset', join(folder, 'broken.yaml')],
      message: ['broken.yaml:3:1 the indentation does not fit', 'close every [ and {'],
    },
    {
      name: 'a key of the example that belongs under expect',
      words: () => [file(run), '--dataset', file('[{"toolCalls": []}]')],
      message: [':1:3 examples[0].toolCalls: is not known', '= Did you mean tool_calls under expect?'],
    },
    {
      name: 'a misspelt evaluator',
      words: () => [file(run), '--dataset', file('[{"evaluators": ["tool_eror"]}]')],
      message: ['"tool_eror" names no evaluator', '= Did you mean tool_error?'],
    },
    {
      name: 'two examples of one id',
      words: () => [file(run), '--dataset', file('- id: a\n- id: a\n', 'yaml')],
      message: [':2:7 examples[1].id: "a" is the id of examples[0] already'],
    },
    {
      name: 'a run in JSON lines',
      words: () => [join(folder, 'runs.jsonl')],
      message: ['runs.jsonl:2:27 expect.outputs: is not known', '= Did you mean output?'],
    },
    {
      name: 'a span',
      words: () => [
        file(
          writeTraces([span({ id: 1, attributes: { 'agent.name': 'a', 'tracejury.expected': '{"tool_cals":[]}' } })], 'json').toString(),
        ),
      ],
      message: ['tracejury.expected.tool_cals: is not known', '= Did you mean tool_calls?'],
    },
  ];
  writeFileSync(join(folder, 'faulty.yaml'), '- id: a\n  expect:\n    tool_cals: []\n    tool_calls: [{ nam: x, name: y }]\n  tols: []\n');
  writeFileSync(join(folder, 'faulty.json'), '[\n  {"id": "a"},\n  {"expect": {"outptu": 1}}\n]\n');
  writeFileSync(join(folder, 'faulty.jsonl'), '{"id": "a"}\n\n{"expect": {"outptu": 1}, "tasks": "x"}\n');
  writeFileSync(join(folder, 'broken.jsonl'), '{"id": "a"}\n{"id": "b",, }\n{"id": "c"\n');
  writeFileSync(join(folder, 'broken.yaml'), '- id: a\n- { id: b\n- id: c\n');
  writeFileSync(join(folder, 'runs.jsonl'), `${JSON.stringify(run)}\n{"input": "x", "expect": {"outputs": 1}}\n`);
  for (const { name, words, message: messages } of faulty) {
    test(name, async () => {
      const { code, out, err } = await tracejury('eval', ...words());
      expect([code, out]).toEqual([2, '']);
      for (const one of messages) expect(err).toContain(one);
    });
  }
});

describe('nothing scored is not a pass', () => {
  const quiet = { id: 'quiet', input: 'hello' };
  const cases: readonly { readonly name: string; readonly runs: object; readonly config?: string; readonly message: RegExp }[] = [
    {
      name: 'all skipped',
      runs: [quiet, { ...quiet, id: 'b' }],
      message: /^0 of 2 runs scored: tool_call_validity, tool_error, tool_efficiency: skipped \(no_tool_calls\)\.$/,
    },
    {
      name: 'no evaluator is for the runs',
      runs: [run],
      config: 'evaluators: [ { use: tool_error, when: { agent: other } } ]',
      message: /^0 of 1 run scored: no evaluator applies \(`when`\)\.$/,
    },
    { name: 'no evaluator at all', runs: [run], config: 'evaluators: []', message: /^0 of 1 run scored: no evaluator is configured\.$/ },
  ];
  for (const { name, runs, config, message } of cases) {
    const words = (): readonly string[] => [file(runs), ...(config === undefined ? [] : ['-c', file(config, 'yaml')])];
    test(name, async () => {
      const given = words();
      const found = await report(...given);
      expect([found.code, found.passed, found.scored_runs]).toEqual([1, false, 0]);
      expect(found.nothing_scored).toMatch(message);
      expect(found.err).toContain(`⚠ ${found.nothing_scored}`);
      expect((await tracejury('eval', ...given)).out).toMatch(/⚠ 0 of \d runs? scored: [^\n]*\n(?:⚠ [^\n]*\n)*\nFAILED$/);
      expect((await tracejury('eval', ...given, '--format', 'markdown')).out).toContain('❌ Agent runs: failed');
      const { out } = await tracejury('eval', ...given, '--format', 'junit');
      expect(junitFaults(out)).toEqual([]);
      expect(
        xmlElements(out)
          .filter((one) => one.name === 'error')
          .map(({ attributes }) => attributes['message']),
      ).toEqual([found.nothing_scored]);
      expect((await tracejury('eval', ...given, '--allow-unscored')).code).toBe(0);
    });
  }

  test('a judge that does not exist, or refuses the key, is named with its address', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const refusing = await chatServer(status(401), status(401));
    const judged = (url: string, key: string): string =>
      file(
        `evaluators: [ { use: task_completion, judge: main } ]\njudges: { main: { base_url: "${url}", model: m, api_key: "${key}" } }\n`,
        'yaml',
      );
    const gone = await report(file(run), '-c', judged(`http://127.0.0.1:${port}/v1`, 'k'), '--timeout', '1');
    expect([gone.code, gone.nothing_scored]).toEqual([
      1,
      `0 of 1 run scored: judge \`main\` at http://127.0.0.1:${port} refused the connection.`,
    ]);
    const wrongKey = await report(file(run), '-c', judged(refusing.baseUrl, 'k'), '--timeout', '60');
    expect([wrongKey.code, wrongKey.nothing_scored]).toEqual([
      1,
      `0 of 1 run scored: judge \`main\` at ${new URL(refusing.baseUrl).origin} refused the key (status 401).`,
    ]);
    const noKey = await report(file(run), '-c', judged(refusing.baseUrl, ''), '--timeout', '60');
    expect(noKey.nothing_scored).toContain('needs a key (status 401): set api_key');
    // In a jury the judge that cannot be reached is the one to look at.
    const jury = file(
      `evaluators: [ { use: task_completion, judges: [ main, gone ] } ]\njudges: { main: { base_url: "${refusing.baseUrl}", model: m, api_key: k }, gone: { base_url: "http://127.0.0.1:${port}/v1", model: n, api_key: k } }\n`,
      'yaml',
    );
    expect((await report(file(run), '-c', jury, '--timeout', '1')).nothing_scored).toBe(
      `0 of 1 run scored: judge \`gone\` at http://127.0.0.1:${port} refused the connection.`,
    );
    await refusing.close();
  });

  test('an evaluator whose judge cannot be asked does not pass beside rules that pass', async () => {
    const refusing = await chatServer(status(401), status(401));
    const words = [
      file(run),
      '-c',
      file(
        `evaluators: [ defaults, { use: task_completion, judge: main } ]\njudges: { main: { base_url: "${refusing.baseUrl}", model: m, api_key: k } }\n`,
        'yaml',
      ),
      '--timeout',
      '60',
    ];
    const found = await report(...words);
    await refusing.close();
    expect([found.code, found.passed, found.scored_runs]).toEqual([1, false, 1]);
    expect(found.warnings).toContain(
      `task_completion scored 0 of 1 run: judge \`main\` at ${new URL(refusing.baseUrl).origin} refused the key (status 401).`,
    );
    expect(found.err).toContain(
      '⚠ No run has a score of task_completion: its judge cannot be asked. --allow-unscored lets such runs pass.',
    );
    expect((await tracejury('eval', ...words, '--allow-unscored')).code).toBe(0);
    // A gate names the evaluators that count.
    expect((await tracejury('eval', ...words, '--fail-under', 'tool_error=1')).code).toBe(0);
  });

  test('an evaluator and a run without a score are named beside others that have one', async () => {
    const { code, warnings, scored_runs: scored } = await report(file([run, quiet]));
    expect([code, scored]).toEqual([0, 1]);
    expect(warnings).toEqual([
      'tool_call_validity scored 0 of 2 runs: 1 skipped (no_tool_definitions); 1 skipped (no_tool_calls).',
      '1 run has no score: quiet (tool_call_validity, tool_error, tool_efficiency: skipped (no_tool_calls)).',
    ]);
    expect((await tracejury('eval', file([run, quiet]))).out).toMatch(/^1 of 2 runs scored\n/);
  });

  test('an expectation whose evaluator was skipped does not pass, in any format', async () => {
    const words = [file({ ...run, final_response: undefined }), '--dataset', file([{ id: 'a', expect: { output: 'Sunny.' } }])];
    const found = await report(...words);
    expect([found.code, found.scored_runs, found.expectations_without_score]).toEqual([
      1,
      1,
      [{ label: 'a', expectation: 'output', evaluators: [{ name: 'exact_match', reason: 'no_final_response' }] }],
    ]);
    expect((await tracejury('eval', ...words)).out).toContain(
      'Expectations without a score\n  a: expect.output has no score: exact_match (no_final_response)',
    );
    expect((await tracejury('eval', ...words, '--format', 'markdown')).out).toContain('Expectations without a score');
    const { out } = await tracejury('eval', ...words, '--format', 'junit');
    expect([junitFaults(out), xmlElements(out).filter(({ name }) => name === 'error').length]).toEqual([[], 1]);
    expect((await tracejury('eval', ...words, '--allow-unscored')).code).toBe(0);
    expect((await tracejury('eval', ...words, '--fail-under', 'exact_match=0')).code).toBe(1);
  });
});

describe('the table by run', () => {
  const bad = { id: 'bad', agent: 'clerk', input: 'x', tool_calls: [{ name: 'book', arguments: {}, error: 'no room' }] };

  test('has one row a failing run, and with --verbose one a run with all its verdicts', async () => {
    const runs = file([run, bad]);
    const rows = async (...words: readonly string[]): Promise<readonly string[]> =>
      (await tracejury('eval', runs, ...words)).out
        .split('\n\n')
        .find((block) => block.startsWith('run '))
        ?.split('\n') ?? [];
    expect(await rows()).toEqual([
      expect.stringMatching(/^run +agent +verdicts$/),
      expect.stringMatching(/^bad +clerk +✗ tool_error 0\.000$/),
    ]);
    expect(await rows('--verbose')).toEqual([
      expect.stringMatching(/^run +agent +verdicts$/),
      expect.stringMatching(
        /^a +– +✓ tool_error 1\.000, ✓ tool_efficiency 1\.000, ✓ run_error 1\.000, – tool_call_validity \(no_tool_definitions\)$/,
      ),
      expect.stringMatching(
        /^bad +clerk +✗ tool_error 0\.000, ✓ tool_efficiency 1\.000, ✓ run_error 1\.000, – tool_call_validity \(no_tool_definitions\)$/,
      ),
    ]);
    expect((await tracejury('eval', runs, '--format', 'markdown')).out).toContain('| bad | clerk | 4 | ✗ tool\\_error 0.000 |');
  });
});

test('junit: a case takes as long as its run by the spans, else as long as its verdict', async () => {
  const spans = writeTraces([span({ id: 1, attributes: { 'agent.name': 'clerk', 'output.value': 'x' } })], 'json');
  const timed = JSON.parse(spans.toString()) as {
    resourceSpans: { scopeSpans: { spans: { startTimeUnixNano: string; endTimeUnixNano: string }[] }[] }[];
  };
  const [own] = timed.resourceSpans[0]?.scopeSpans[0]?.spans ?? [];
  if (own === undefined) throw new Error('no span');
  [own.startTimeUnixNano, own.endTimeUnixNano] = ['1700000000000000000', '1700000002500000000'];
  const config = file('evaluators: [ final_response_present, { use: latency, options: { budget_seconds: 9 } } ]', 'yaml');
  const { out } = await tracejury('eval', file(timed), file(run), '-c', config, '--format', 'junit');
  expect(junitFaults(out)).toEqual([]);
  const elements = xmlElements(out);
  const times = (name: string, label: RegExp): readonly number[] =>
    elements
      .filter((one) => one.name === name && label.test(one.attributes['name'] ?? ''))
      .map(({ attributes }) => Number(attributes['time']));
  expect(times('testcase', /^clerk /)).toEqual([2.5, 2.5]);
  for (const seconds of times('testcase', /^a$/)) expect(seconds).toBeGreaterThan(0);
  expect(times('testsuite', /^final_response_present$/)[0]).toBeCloseTo(2.5 + (times('testcase', /^a$/)[0] ?? 0), 5);
});
