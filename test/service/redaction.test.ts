/** Texts that must not leave, in every place of a run, through a whole service and all of its exits. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, afterEach, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { attributes, otlpSink, readCarrier } from '../exporters/otlp-sink.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { eventually, running, sample } from './running.ts';

const open: { stop?(): Promise<void>; close?(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await (one.stop?.() ?? one.close?.());
});
const folder = mkdtempSync(join(tmpdir(), 'tracejury-redaction-'));
afterAll(() => rmSync(folder, { recursive: true }));

const mail = 'anna.lee@example.com';
const card = '4929715488230163';
const account = 'acct-778812';
const hidden = `${mail} ${card} ${account}`;
/** The originals, and beginnings of them that a text cut short might leave; digits only where they begin a number, as times and identifiers hold any others. */
const originals = /anna|lee@|(?<![0-9a-f])(?:492971|778812)/;

const redact =
  'redact: [ { match: email }, { match: credit_card, replace: "[card]" }, { pattern: "acct-[0-9]+", replace: "[account]" } ]\n';

/** Valid against its tool's schema when unchanged; redacted it would not be. */
const schema = {
  type: 'object',
  properties: { to: { type: 'string', pattern: '@' }, card: { type: 'integer' }, [hidden]: { const: hidden } },
  required: ['to', 'card'],
};

function runSpans(trace: number): readonly Span[] {
  const id = trace * 100;
  const definitions = JSON.stringify([{ type: 'function', name: 'pay', description: hidden, parameters: schema }]);
  const resource = { 'service.name': `shop of ${mail}`, 'service.version': account, owner: hidden };
  return [
    agentSpan({
      id,
      trace,
      agent: `helper of ${mail}`,
      input: `I am ${hidden}`,
      output: `Paid, ${hidden}`,
      resource,
      attributes: { 'gen_ai.conversation.id': mail, 'gen_ai.tool.definitions': definitions, task: `pay for ${'x'.repeat(66)} ${mail}` },
      start: id,
      end: id + 50,
    }),
    modelSpan({
      id: id + 1,
      trace,
      parent: id,
      user: `I am ${hidden}`,
      asks: [{ id: `c1 ${account}`, name: 'pay', arguments: { to: mail, card: Number(card), [hidden]: hidden } }],
      resource,
      start: id + 1,
      end: id + 2,
    }),
    toolSpan({
      id: id + 2,
      trace,
      parent: id,
      tool: 'pay',
      arguments: { to: mail, card: Number(card), [hidden]: hidden },
      result: { paid: [Number(card), { [mail]: hidden }] },
      resource,
      start: id + 3,
      end: id + 4,
    }),
    toolSpan({
      id: id + 3,
      trace,
      parent: id,
      tool: `mail_${account}`,
      arguments: { text: `${'x'.repeat(50)} ${hidden}` },
      resource,
      status: 'error',
      message: `no mailbox ${hidden}`,
      start: id + 5,
      end: id + 6,
    }),
  ];
}

async function httpEvaluator(): Promise<{ readonly url: string; readonly bodies: string[]; close(): Promise<void> }> {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      bodies.push(body);
      response.end(JSON.stringify({ status: 'scored', score: 1, explanation: `They are ${hidden}.`, details: { seen: hidden } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    bodies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const evaluators = (endpoint: string): string => `
evaluators:
  - tool_call_validity
  - tool_error
  - { use: token_usage, options: { total_budget: 10 } }
  - { use: tool_call_output, expect: { tool_outputs: [ { name: "mail_${account}", output: "${hidden}" } ] } }
  - { use: json_path, options: { path: "$.x", operator: eq, value: 1 } }
  - { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [ pay ] } }
  - { use: http, name: remote, options: { url: "${endpoint}" } }
`;

async function post(otlp: string, trace: number): Promise<void> {
  const response = await fetch(`${otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: writeTraces(runSpans(trace), 'protobuf'),
  });
  expect(response.status).toBe(200);
}

function compressedTexts(file: string): readonly string[] {
  const db = new DatabaseSync(file);
  const blocks = db.prepare('select body from blocks').all();
  db.close();
  expect(blocks.length).toBeGreaterThan(0);
  return blocks.map(({ body }) => zstdDecompressSync(body as Uint8Array).toString());
}

test('redaction: of what a run holds nothing leaves, whether by exporters, judges, endpoints, the store, the API, metrics or logs, and rules have seen all of it', async () => {
  const [sink, endpoint] = [await otlpSink(), await httpEvaluator()];
  const judge = await chatServer(says(JSON.stringify({ tasks: [{ number: 1, explanation: `Paid by ${hidden}.`, completed: true }] })));
  const lines: string[] = [];
  const stored = join(folder, 'runs.db');
  const config = `${redact}${evaluators(endpoint.url)}judges: { main: { base_url: "${judge.baseUrl}", model: small } }\nexport: [ { to: span_events, endpoint: "${sink.url}", protocol: http/json } ]\nstore: { url: "sqlite:${stored}" }\nprices: { m: { input_per_million: 1, output_per_million: 1 } }\n`;
  const jury = await running(config, { logger: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }) });
  open.push(sink, endpoint, judge, jury);
  for (let trace = 1; trace <= 4; trace++) await post(jury.otlp, trace);
  const carriers = await eventually(
    () => (sink.received.length < 12 ? undefined : sink.received),
    'rules, judge and endpoint of four runs',
  );
  const metrics = await eventually(async () => {
    const page = await jury.metrics();
    return sample(page, 'tracejury_store_items_total', { tracejury_outcome: 'written' }) === 12 ? page : undefined;
  }, 'all of it in the store');

  const paths = [
    '/runs',
    '/summary',
    '/tools',
    '/evaluability',
    ...carriers
      .map((one) => readCarrier(one).span)
      .flatMap(({ traceId, parentSpanId }) => [`/runs/${traceId}/${parentSpanId}`, `/decisions/${traceId}`]),
  ];
  const answers = await Promise.all(paths.map(async (path) => await (await fetch(`${jury.console}/api/v1${path}`)).text()));
  await jury.stop();
  const files = [
    ...readdirSync(folder)
      .filter((name) => name.startsWith('runs.db'))
      .map((name) => readFileSync(join(folder, name), 'latin1')),
    ...compressedTexts(stored),
  ];
  const left = {
    carriers: carriers.map(({ body }) => body.toString()),
    judge: judge.requests.map(({ body }) => JSON.stringify(body)),
    endpoint: endpoint.bodies,
    answers,
    metrics: [metrics],
    lines,
    files,
  };
  const empty = Object.entries(left)
    .filter(([, texts]) => texts.join('').length < 200)
    .map(([door]) => door);
  const leaking = Object.entries(left).flatMap(([door, texts]) => texts.filter((text) => originals.test(text)).map((text) => [door, text]));
  expect([empty, leaking]).toEqual([[], []]);

  // The exported data is about these runs, and is whole.
  expect(judge.requests[0]?.body.messages.at(-1)?.content).toContain('I am [redacted] [card] [account]');
  expect(JSON.parse(endpoint.bodies[0] ?? '')).toMatchObject({
    run: {
      session_id: '[redacted]',
      tool_calls: [
        { name: 'pay', arguments: { to: '[redacted]', card: '[card]', '[redacted] [card] [account]': '[redacted] [card] [account]' } },
        { name: 'mail_[account]' },
      ],
    },
  });
  expect(answers.filter((text) => text.includes('helper of [redacted]')).length).toBeGreaterThan(2);
  expect(lines.some((line) => line.includes('helper of [redacted]'))).toBe(true);
  const scores = carriers.map((one) => attributes(readCarrier(one).span.attributes));
  expect(
    scores.filter((one) => one['tracejury.score.tool_call_validity'] === 0.5 && one['tracejury.score.tool_error'] === 0.5),
  ).toHaveLength(4);
  for (const rule of ['email', 'credit_card', 'redact[2]'])
    expect(sample(metrics, 'tracejury_redactions_total', { tracejury_rule: rule })).toBeGreaterThan(10);
});

for (const format of ['table', 'json', 'markdown', 'junit']) {
  test(`redaction: a report of tracejury eval as ${format} has none of it, and neither have questions to judges`, async () => {
    const [judge, endpoint] = [
      await chatServer(says(JSON.stringify({ tasks: [{ number: 1, explanation: `Not paid by ${hidden}.`, completed: false }] }))),
      await httpEvaluator(),
    ];
    open.push(judge, endpoint);
    const [file, config, dataset] = [join(folder, 'runs.binpb'), join(folder, 'tracejury.yaml'), join(folder, 'examples.json')];
    writeFileSync(file, writeTraces([1, 2].flatMap(runSpans), 'protobuf'));
    writeFileSync(config, `${redact}${evaluators(endpoint.url)}judges: { main: { base_url: "${judge.baseUrl}", model: small } }\n`);
    writeFileSync(dataset, JSON.stringify([{ id: `missing ${hidden}`, input: 'nothing that a run was asked' }]));
    const out: string[] = [];
    await runCommandLine({
      words: ['eval', file, '-c', config, '--dataset', dataset, '--format', format],
      commands,
      version: '',
      env: {},
      say: (text) => out.push(text),
      complain: (text) => out.push(text),
    });
    expect(out.join('\n').length).toBeGreaterThan(500);
    expect(out.filter((text) => originals.test(text))).toEqual([]);
    expect(judge.requests).toHaveLength(2);
    expect(originals.test(JSON.stringify(judge.requests.map(({ body }) => body)))).toBe(false);
    expect(endpoint.bodies.filter((text) => originals.test(text))).toEqual([]);
  });
}

test('redaction: without rules the same report quotes what the runs hold', async () => {
  const file = join(folder, 'unredacted.binpb');
  writeFileSync(file, writeTraces(runSpans(1), 'protobuf'));
  const out: string[] = [];
  await runCommandLine({
    words: ['eval', file, '--format', 'json'],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => out.push(text),
  });
  for (const original of [mail, account]) expect(out.join('\n')).toContain(original);
});
