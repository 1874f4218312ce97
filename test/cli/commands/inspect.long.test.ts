/** `tracejury inspect` as a person runs it: the whole process, recordings of real SDKs, and what it prints. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, expect, test } from 'vitest';
import { evaluators } from '../../../evaluators/index.ts';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { span } from '../../builders/spans.ts';

const root = join(import.meta.dirname, '../../..');
const recordings = 'test/fixtures/recordings';
const folder = mkdtempSync(join(tmpdir(), 'tracejury-inspect-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function inspect(words: readonly string[], input?: string | Buffer): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['src/cli/main.ts', 'inspect', ...words], {
    cwd: root,
    input: input ?? '',
    env: {},
  });
  return { code: status, out: stdout.toString(), err: stderr.toString() };
}

/** The same in this process. */
async function answer(words: readonly string[]): Promise<Ended> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words: ['inspect', ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

/** The reconstruction, without the evaluators, which grow in number. The files are renewed on purpose only: `vitest run -u`. */
const goldens = [
  { name: 'tool-attributes', recording: 'handmade-card/handoff' },
  { name: 'openinference', recording: 'openinference-langchain/toolerror' },
  { name: 'gen-ai-with-logs', recording: 'otel-openai-v2/trip' },
  { name: 'gen-ai-without-content', recording: 'js-otel-openai-nocontent/sequential' },
  { name: 'vercel-ai', recording: 'js-ai-sdk-v5/toolerror' },
] as const;

for (const { name, recording } of goldens) {
  test(`inspect: shows a recording of ${recording} as in ${name}.txt`, async () => {
    const { code, out, err } = inspect([`${recordings}/${recording}`]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    for (const { id } of evaluators) expect(out).toMatch(new RegExp(`^ .*\\b${id}\\b`, 'm'));
    await expect(out.replaceAll(/^ +Evaluators\n(?:.+\n)+(?:\n +To score more\n(?:.+\n)+)?/gm, '')).toMatchFileSnapshot(
      join(root, `test/fixtures/inspect/${name}.txt`),
    );
  });
}

interface Line {
  readonly recording: string;
  readonly evaluator: string;
  readonly says: string;
  /** The text under the evaluator's name in "To score more". */
  readonly hint?: string;
}

const lines: readonly Line[] = [
  { recording: 'handmade-card/trip', evaluator: 'tool_error', says: 'on pass 1 No sign of an error in 2 results.' },
  {
    recording: 'handmade-card/trip',
    evaluator: 'tool_call_validity',
    says: 'on skipped: no_tool_definitions',
    hint: 'gen_ai.tool.definitions',
  },
  { recording: 'openinference-langchain/toolerror', evaluator: 'tool_call_validity', says: 'on pass 1' },
  { recording: 'openinference-langchain/toolerror', evaluator: 'tool_error', says: 'on fail 0.5' },
  {
    recording: 'js-otel-openai-nocontent/sequential',
    evaluator: 'tool_error',
    says: 'on skipped: results_not_carried',
    hint: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
  },
  {
    recording: 'js-otel-openai-nocontent/sequential',
    evaluator: 'task_completion',
    says: 'off skipped: no_input',
    hint: 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true',
  },
  { recording: 'js-ai-sdk-v5/toolerror', evaluator: 'task_completion', says: 'off could score It needs a judge' },
];

for (const { recording, evaluator, says, hint } of lines) {
  test(`inspect: on ${recording}, ${evaluator} is "${says}"${hint === undefined ? '' : `, and ${hint} would help`}`, async () => {
    const { out } = await answer([join(root, recordings, recording)]);
    const line = out.split('\n').find((one) => one.trim().startsWith(`${evaluator} `)) ?? '';
    expect(line.replaceAll(/ +/g, ' ').trim()).toContain(`${evaluator} ${says}`);
    const [, more = ''] = out.split('To score more');
    const blocks = more
      .split('\n')
      .reduce<string[]>((all, one) => (one.startsWith('      ') ? all.with(-1, `${all.at(-1)}${one}`) : [...all, one]), ['']);
    const named = blocks.filter((block) => new RegExp(`, for [^;]*\\b${evaluator}\\b`).test(block));
    expect(named.map((block) => block.includes(hint ?? '\0'))).toEqual(hint === undefined ? [] : [true]);
  });
}

test('inspect: evaluators that are off and only wait to be configured are named in a line, not one by one', async () => {
  const { out } = await answer([join(root, recordings, 'handmade-card/trip')]);
  const [, waiting = ''] = /expect` or tracejury\.expected\):\n((?: {6,}.+\n)+)/.exec(out) ?? [];
  const [, unconfigured = ''] = /need options.*:\n((?: {6,}.+\n)+)/.exec(out) ?? [];
  expect(waiting).toContain('tool_trajectory');
  expect(unconfigured).toContain('step_count');
  expect(unconfigured).toContain('latency');
});

test('inspect: for several runs it shows by agent and dialect the share that each evaluator could score, and what to switch on', async () => {
  const files = ['google-adk/trip', 'google-adk/trip-content-latest', 'handmade-card/trip'].map((one) => join(root, recordings, one));
  const { out } = await answer(files);
  const [, shares = ''] = /^Runs that each evaluator could score([^]*?)\nRun of/m.exec(out) ?? [];
  const [, adk = '', card = ''] = shares.split(/^ {2}travel_agent \(dialect /m);
  expect([adk.split('\n')[0], card.split('\n')[0]]).toEqual(['google_adk): 2 runs', 'tool_attributes): 1 run']);
  expect(adk).toMatch(/tool_error +on +1 of 2 \(50 %\) +results_not_carried 1\n/);
  expect(adk).toMatch(/tool_recovery +off +0 of 1 \(0 %\) +results_not_carried 1; nothing to check: no_errors 1\n/);
  expect(adk).toMatch(
    /needs OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT.*\n +arguments of tool calls, for tool_call_validity; looked for in gcp\.vertex\.agent\.tool_call_args/,
  );
  expect(card).toMatch(/tool_error +on +1 of 1 \(100 %\)\n/);
  expect(card).toMatch(/tool_recovery +off +– +nothing to check: no_errors 1\n/);
  expect(card).not.toContain('tool_trajectory');
  // Where each agent has one run, the lines of the runs say it all.
  expect((await answer([join(root, recordings, 'handmade-card/handoff')])).out).not.toContain('Runs that each evaluator could score');

  const { evaluability } = JSON.parse((await answer([...files, '--format', 'json'])).out) as {
    readonly evaluability: readonly {
      readonly agent: string;
      readonly dialect: string;
      readonly runs: number;
      readonly evaluators: readonly { readonly name: string }[];
      readonly missing: readonly { readonly need: string; readonly looked_for_in: readonly string[]; readonly todo: string | null }[];
    }[];
  };
  expect(evaluability.map(({ agent, dialect, runs }) => [agent, dialect, runs])).toEqual([
    ['travel_agent', 'google_adk', 2],
    ['travel_agent', 'tool_attributes', 1],
  ]);
  expect(evaluability[0]?.evaluators).toContainEqual({
    name: 'tool_error',
    looked: 2,
    scored: 1,
    failed: 0,
    skipped: [{ reason: 'results_not_carried', need: 'tool_results', runs: 1 }],
  });
  expect(evaluability[0]?.missing.find(({ need }) => need === 'tool_results')).toMatchObject({
    looked_for_in: expect.arrayContaining(['gcp.vertex.agent.tool_response', 'gen_ai.tool.call.result']),
    todo: expect.stringContaining('OTEL_SEMCONV_STABILITY_OPT_IN'),
  });
});

const date = `{ type: string, pattern: '^\\d{4}-' }`;
const search = (more: string): string =>
  `{ name: search_flights, input_schema: { type: object, properties: { date: ${date} }, required: [date${more}] } }`;
const configuredTools: readonly { readonly name: string; readonly recording?: string; readonly tools: string; readonly says: string }[] = [
  { name: 'of every called tool', tools: `${search('')}, { name: book_hotel, input_schema: { type: object } }`, says: 'on pass 1' },
  {
    name: 'that the arguments break',
    tools: `${search(', cabin')}, { name: book_hotel, input_schema: { type: object } }`,
    says: 'on fail 0.5',
  },
  { name: 'without one of the called tools', tools: search(''), says: 'on skipped: no_tool_definitions 1 of 2' },
  {
    name: 'that are on the spans already, otherwise',
    recording: 'openinference-langchain/toolerror',
    tools: '{ name: search_flights, input_schema: { not: {} } }, { name: book_hotel, input_schema: { not: {} } }',
    says: 'on pass 1',
  },
];

for (const { name, recording = 'handmade-card/trip', tools, says } of configuredTools) {
  test(`inspect: with definitions in the configuration ${name}, tool_call_validity is "${says}"`, async () => {
    const file = join(folder, 'tools.yaml');
    writeFileSync(file, `tools: [ ${tools} ]\n`);
    const { out, err } = await answer([join(root, recordings, recording), '-c', file]);
    const line = out.split('\n').find((one) => one.trim().startsWith('tool_call_validity ')) ?? '';
    expect(err).toBe('');
    expect(line.replaceAll(/ +/g, ' ').trim()).toContain(`tool_call_validity ${says}`);
  });
}

const card = readFileSync(join(root, recordings, 'handmade-card/trip/request-01.binpb'));
const { spans } = readTraces(card, 'protobuf');
const asJson = writeTraces(spans, 'json');

const forms: readonly { readonly name: string; readonly input: Buffer | string }[] = [
  { name: 'protobuf', input: card },
  { name: 'protobuf in gzip', input: gzipSync(card) },
  { name: 'one JSON request', input: asJson },
  { name: 'a JSON request over many lines', input: JSON.stringify(JSON.parse(asJson.toString()), undefined, 2) },
  { name: 'JSON lines, one request for each span', input: spans.map((span) => `${writeTraces([span], 'json').toString()}\n`).join('') },
  {
    name: 'JSON lines in gzip, with blank lines and metrics between',
    input: gzipSync(`\uFEFF${asJson.toString()}\n\n{"resourceMetrics":[]}\n  \n`),
  },
];

for (const [index, { name, input }] of forms.entries()) {
  test(`inspect: the same spans give the same answer as ${name}`, async () => {
    const path = join(folder, String(index));
    writeFileSync(path, input);
    const { code, out } = await answer([path]);
    expect(code).toBe(0);
    expect(out).toBe((await answer([join(root, recordings, 'handmade-card/trip')])).out);
  });
}

test('inspect: --format json is one object with the runs, sub-agents naming their parent', async () => {
  const { code, out } = await answer([join(root, recordings, 'handmade-card/handoff'), '--format', 'json']);
  const report = JSON.parse(out) as {
    readonly runs: readonly {
      readonly agent: string;
      readonly parent: { readonly span_id: string; readonly via: string } | null;
      readonly span_id: string;
      readonly tool_calls: readonly { readonly name: string; readonly provenance: object }[];
      readonly verdicts: readonly { readonly name: string; readonly status: string }[];
    }[];
  };
  expect(code).toBe(0);
  expect(report.runs.map(({ agent, parent }) => [agent, parent?.via, parent?.span_id === report.runs[0]?.span_id])).toEqual([
    ['concierge', undefined, false],
    ['hotel_agent', 'child_span', true],
  ]);
  expect(report.runs[1]?.tool_calls.map(({ name, provenance }) => [name, provenance])).toEqual([
    ['book_hotel', { name: 'tool_span', arguments: 'tool_span', result: 'tool_span' }],
  ]);
  const verdicts = report.runs[1]?.verdicts.map(({ name, status }) => `${name} ${status}`);
  expect(verdicts).toEqual(expect.arrayContaining(['tool_call_validity skipped', 'tool_error scored', 'tool_efficiency scored']));
});

test('inspect: a mistyped word is reported with the usage, and the exit code is 2', async () => {
  for (const words of [[], ['a', '--format', 'xml'], ['no/such/file']]) {
    const { code, out, err } = await answer(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('tracejury inspect: ');
  }
});

test('inspect: spans without an agent run are said to be so, with the counts, and the exit code is 1', () => {
  const http = {
    resourceSpans: [
      {
        scopeSpans: [
          {
            scope: { name: 'express' },
            spans: [{ traceId: '1'.repeat(32), spanId: '2'.repeat(16), name: 'GET /', startTimeUnixNano: '1', endTimeUnixNano: '2' }],
          },
        ],
      },
    ],
  };
  const { code, out, err } = inspect(['-'], JSON.stringify(http));
  expect({ code, err }).toEqual({ code: 1, err: 'No agent run was found.\n' });
  expect(out).toContain('0 agent runs in 1 span of 1 trace');
  expect(out).toContain('  express  1 span\n');
  expect(out).toContain('(no_agent_model_or_tool_span)');
});

test('inspect: what a limit cut short is shown as what is left of it, in both forms', async () => {
  const file = join(folder, 'cut.jsonl');
  const sent = JSON.stringify({ text: 'a long text '.repeat(30) }).slice(0, 256);
  const spans = [
    span({ id: 1, start: 0, end: 9, attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'a' }, dropped: 2 }),
    span({
      id: 2,
      parent: 1,
      attributes: {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 't',
        'gen_ai.tool.call.arguments': sent,
        'gen_ai.tool.call.result': 'AF007...[truncated]',
      },
    }),
  ];
  writeFileSync(file, writeTraces(spans, 'json'));
  const text = await answer([file]);
  expect(text.out).toMatch(/arguments {2}\(cut short\) \{"text":"a long text/);
  expect(text.out).toMatch(/result {5}\(cut short\) AF007\.\.\.\[truncated\]/);
  expect(text.out).toMatch(/cut short +spans/);
  const { runs } = JSON.parse((await answer([file, '--format', 'json'])).out) as { readonly runs: readonly object[] };
  expect(runs[0]).toMatchObject({
    truncated: ['spans'],
    tool_calls: [{ arguments: null, result_carried: false, truncated: { arguments: sent, result: 'AF007...[truncated]' } }],
  });
});
