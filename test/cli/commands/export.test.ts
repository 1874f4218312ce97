/** `tracejury export` and `config check --try` as a person runs them, against backends on loopback. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { noTenant } from '../../../src/model/ids.ts';
import { bundle } from '../../../src/otlp/cut/bundle.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { evaluation, run, scored } from '../../builders/scored-run.ts';
import { traceId } from '../../builders/spans.ts';
import { chatServer, embeds, says, status } from '../../judges/chat-server.ts';
import { nativeServer, type NativeServer } from '../../exporters/native-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-export-'));
const servers: NativeServer[] = [];
let backend: NativeServer;
beforeEach(async () => {
  backend = await nativeServer({
    hasSpans: true,
    answer: ({ method }) => ({ status: method === 'GET' ? 200 : 207, body: {} }),
    scores: () => [],
  });
  servers.push(backend);
});
afterAll(async () => {
  await Promise.all(servers.map((server) => server.close()));
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function tracejury(...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> {
  const out: string[] = [];
  const err: string[] = [];
  const code = await runCommandLine({
    words,
    commands,
    version: '',
    env: { DD_API_KEY: 'k-of-the-environment' },
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

const langfuse = (url: string, name = 'langfuse'): string =>
  `{ to: langfuse, name: ${name}, endpoint: "${url}", public_key: pk-1, api_key: sk-very-secret, headers: { x-proxy: also-secret } }`;
const config = (entries: readonly string[], more = ''): string =>
  file('tracejury.yaml', `evaluators: [ tool_error, tool_call_validity ]\nexport: [ ${entries.join(', ')} ]\n${more}`);
const spans = [
  agentSpan({
    id: 1,
    trace: 1,
    start: 0,
    end: 9,
    agent: 'a',
    input: 'hi',
    output: 'done',
    attributes: { 'gen_ai.conversation.id': 's-1' },
  }),
  toolSpan({ id: 2, trace: 1, parent: 1, start: 1, end: 2, tool: 'search', call: 'c1', arguments: '{}', result: 'found' }),
];
const recorded = (): string => file('recorded.json', writeTraces(spans, 'json'));

test('export: a dry run shows the requests without keys, and sends none', async () => {
  const { code, out } = await tracejury('export', recorded(), '-c', config([langfuse(backend.url), '{ to: metrics }']), '--dry-run');
  expect(code).toBe(0);
  expect(out).toMatch(/^# langfuse: 1 request\n\nPOST http:\/\/127\.0\.0\.1:\d+\/api\/public\/ingestion\n/);
  expect(out).toContain('authorization: ***');
  expect(out).toContain('x-proxy: ***');
  expect(out).toContain(`"traceId": "${traceId(1)}"`);
  expect(out).toContain(`"observationId": "${spanId(2)}"`);
  expect(out).not.toMatch(/secret|c2stdmVyeS1zZWNyZXQ|pk-1/);
  expect(backend.requests).toEqual([]);
});

test('export: what a dry run shows as JSON is what is sent afterwards', async () => {
  const file = config([langfuse(backend.url), langfuse(backend.url, 'second')]);
  const { out } = await tracejury('export', recorded(), '-c', file, '--to', 'second', '--dry-run', '--format', 'json');
  const { requests } = JSON.parse(out) as {
    readonly requests: readonly { readonly exporter: string; readonly method: string; readonly url: string; readonly body: unknown }[];
  };
  expect(requests.map(({ exporter }) => exporter)).toEqual(['second']);
  expect(await tracejury('export', recorded(), '-c', file, '--to', 'second')).toEqual({ code: 0, out: 'second: 1 of 1 sent', err: '' });
  expect(requests.map(({ method, url, body }) => ({ method, path: url.slice(backend.url.length), body }))).toEqual(
    backend.requests.map(({ method, path, body }) => ({ method, path, body })),
  );
  expect(backend.requests[0]?.headers.authorization).toBe(`Basic ${Buffer.from('pk-1:sk-very-secret').toString('base64')}`);
});

test('export: a score that a backend refuses is listed with the reason, and is exit 1', async () => {
  backend.next = { status: 401 };
  const { code, out, err } = await tracejury('export', recorded(), '-c', config([langfuse(backend.url)]));
  expect([code, out, err]).toEqual([
    1,
    'langfuse: 0 of 1 sent (status 401: public_key or api_key is refused)',
    'langfuse: Look at the keys, and whether they are of this address.',
  ]);
});

test('export: of forward the verdicts go, and that the spans do not is said', async () => {
  const { code, out, err } = await tracejury(
    'export',
    recorded(),
    '-c',
    config([`{ to: forward, endpoint: "${backend.url}" }`]),
    '--dry-run',
    '--format',
    'json',
  );
  const { requests } = JSON.parse(out) as { readonly requests: readonly { readonly body: unknown }[] };
  expect([code, err]).toEqual([0, 'forward: export sends evaluation spans; only a service forwards the agents’ own spans.']);
  expect(
    requests.map(({ body }) => [...JSON.stringify(body).matchAll(/"tracejury\.generated","value":\{"boolValue":true/g)].length),
  ).toEqual([1]);
});

test('export: what goes over OTLP and to webhooks is shown as JSON', async () => {
  const hook =
    '{ to: webhook, endpoint: "https://hooks.example/secret-path", secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", only: { verdicts: [ fail, pass ] } }';
  const otlp = (to: string): string => `{ to: ${to}, endpoint: "${backend.url}", headers: { key: very-secret } }`;
  const { code, out, err } = await tracejury(
    'export',
    recorded(),
    '-c',
    config([otlp('span_events'), otlp('log_events'), hook]),
    '--dry-run',
    '--format',
    'json',
  );
  expect([code, err]).toEqual([0, '']);
  const { requests } = JSON.parse(out) as {
    readonly requests: readonly { readonly exporter: string; readonly url: string; readonly body: object }[];
  };
  expect(requests.map(({ exporter, url, body }) => [exporter, url.replace(backend.url, ''), Object.keys(body)[0]])).toEqual([
    ['span_events', '/v1/traces', 'resourceSpans'],
    ['log_events', '/v1/logs', 'resourceLogs'],
    ['webhook', 'https://hooks.example/***', expect.any(String)],
  ]);
  expect(JSON.stringify(requests[0]?.body)).toContain(traceId(1));
  expect(out).not.toMatch(/secret|whsec/);
  expect(backend.requests).toEqual([]);
});

test('export: a stored run is scored again, with its revision, and verdicts of judges stay unchanged', async () => {
  const database = join(folder, 'stored.db');
  const store = await sqliteStore(database, { inThread: false });
  const body = zstdCompressSync(bundle([{ signal: 'traces', encoding: 'protobuf', bytes: Buffer.from(writeTraces(spans, 'protobuf')) }]));
  await store.writeSpans([
    {
      tenant: noTenant,
      traceId: traceId(1),
      joined: [],
      startedAt: 0,
      storedAt: 0,
      spans: spans.length,
      isWhole: true,
      isRedacted: false,
      digest: 'x',
      body,
    },
  ]);
  const of = run({ traceId: traceId(1), spanId: spanId(1), revision: 3 });
  await store.write([
    {
      run: of,
      evaluations: [
        evaluation('done', scored(0.75, { explanation: 'A judge said so.' }), of, {
          evaluator: 'task_completion',
          evaluatorKind: 'judge',
          sampleProbability: 0.1,
        }),
        evaluation('goal', scored(1, { details: { session: { turns: 2, left_out: 0 } } }), of, {
          evaluator: 'goal_reached',
          evaluatorKind: 'judge',
          revision: 2,
        }),
      ],
      decisions: [],
    },
  ]);
  await store.stop();
  const judged = file(
    'judged.yaml',
    `evaluators: [ tool_error, { use: task_completion, name: done, judge: main, sample: { rate: 1 } }, { use: goal_reached, name: goal, judge: main } ]\njudges: { main: { base_url: "http://127.0.0.1:1", model: m } }\nexport: [ ${langfuse(backend.url)} ]\nstore: { url: "sqlite:${database}" }\n`,
  );
  const { code, out, err } = await tracejury(
    'export',
    '--run',
    `${traceId(1)}/${spanId(1)}`,
    '-c',
    judged,
    '--dry-run',
    '--format',
    'json',
  );
  expect([code, err]).toEqual([0, '']);
  const { requests } = JSON.parse(out) as {
    readonly requests: readonly {
      readonly body: {
        readonly batch: readonly {
          readonly body: {
            readonly name: string;
            readonly dataType: string;
            readonly value: number;
            readonly comment: string;
            readonly sessionId?: string;
            readonly metadata: { readonly [key: string]: unknown };
          };
        }[];
      };
    }[];
  };
  const scores = requests
    .flatMap((request) => request.body.batch.map((event) => event.body))
    .filter(({ dataType }) => dataType === 'NUMERIC');
  expect(
    scores.map(({ name, value, metadata }) => [name, value, metadata['tracejury.revision'], metadata['tracejury.sample.probability']]),
  ).toEqual([
    ['tool_error', 1, 3, 1],
    ['tool_error', 1, 3, 1],
    ['done', 0.75, 3, 0.1],
    ['goal', 1, 2, 1],
  ]);
  expect(scores.slice(-2).map(({ comment, sessionId }) => [comment, sessionId])).toEqual([
    ['A judge said so.', undefined],
    ['It is 1.', 's-1'],
  ]);
  expect(await tracejury('export', '--run', traceId(2), '-c', judged, '--dry-run')).toMatchObject({
    code: 1,
    err: 'The store has no such run, or no spans of it.',
  });
});

test('export: verdicts of judges are left out of recorded runs, and agent traces without spans too', async () => {
  const judged = file(
    'judged.yaml',
    `evaluators: [ tool_error, { use: task_completion, name: done, judge: main, sample: { rate: 1 } } ]\njudges: { main: { base_url: "http://127.0.0.1:1", model: m } }\nexport: [ ${langfuse(backend.url)} ]\n`,
  );
  expect(await tracejury('export', recorded(), '-c', judged)).toEqual({
    code: 0,
    out: 'langfuse: 1 of 1 sent',
    err: 'Omitted verdicts, for export asks no judge: 1.',
  });
  const given = file('given.json', JSON.stringify({ input: 'x', final_response: 'y' }));
  expect(await tracejury('export', given, '-c', judged)).toMatchObject({
    code: 1,
    err: expect.stringMatching(/scores need spans[^]*No agent run was found/) as string,
  });
});

const faulty: readonly (readonly [string, readonly string[], RegExp])[] = [
  ['no configuration', ['recorded.json'], /with -c/],
  ['neither files nor a run', ['-c', 'tracejury.yaml'], /Name files/],
  ['files and a run', ['recorded.json', '--run', traceId(1), '-c', 'tracejury.yaml'], /Name files/],
  ['a run that is none', ['--run', 'abc', '-c', 'tracejury.yaml'], /trace id of 32/],
  ['a span that is none', ['--run', `${traceId(1)}/x`, '-c', 'tracejury.yaml'], /trace id of 32/],
  ['no entry of that name', ['recorded.json', '-c', 'tracejury.yaml', '--to', 'nobody'], /has the name "nobody"/],
  ['nothing that sends scores', ['recorded.json', '-c', 'metrics.yaml'], /no entry of `export` that sends/],
  ['an unknown format', ['recorded.json', '-c', 'tracejury.yaml', '--format', 'xml'], /--format takes/],
  ['a store in memory', ['--run', traceId(1), '-c', 'memory.yaml'], /store\.url is memory/],
  ['a store that does not exist', ['--run', traceId(1), '-c', 'elsewhere.yaml'], /There is no store/],
];
for (const [name, words, message] of faulty) {
  test(`export: ${name} is bad usage`, async () => {
    recorded();
    config([langfuse(backend.url)]);
    file('metrics.yaml', 'export: [ { to: metrics } ]\n');
    file('memory.yaml', `export: [ ${langfuse(backend.url)} ]\nstore: { url: "memory:" }\n`);
    file('elsewhere.yaml', `export: [ ${langfuse(backend.url)} ]\nstore: { url: "sqlite:${folder}/none.db" }\n`);
    const { code, err } = await tracejury('export', ...words.map((word) => (/\.(json|yaml)$/.test(word) ? join(folder, word) : word)));
    expect([code, err]).toEqual([2, expect.stringMatching(message)]);
    expect(backend.requests).toEqual([]);
  });
}

test('config check --try: each backend is asked once, and its answer is put in words', async () => {
  const [right, wrong, other] = [backend, await refusing(401), await refusing(404)];
  const down = await refusing(200);
  await down.close();
  const named = config([
    langfuse(right.url, 'right'),
    langfuse(wrong.url, 'wrong'),
    langfuse(other.url, 'other'),
    langfuse(down.url, 'down'),
    '{ to: metrics }',
  ]);
  const { code, out } = await tracejury('config', 'check', named, '--try');
  expect(code).toBe(1);
  expect(out.split('\n')).toEqual([
    `${named}: no faults`,
    `right: ${right.url} accepts the credentials`,
    `wrong: ${wrong.url} answers status 401: public_key or api_key is refused. Look at the keys, and whether they are of this address.`,
    `other: ${other.url} answers status 404. Look at the endpoint: there is no such interface at it.`,
    `down: ${down.url} does not answer: ECONNREFUSED. Nothing listens at the address: is the backend up, and its port right?`,
    'metrics: nothing to try',
  ]);
  expect(right.requests).toHaveLength(1);
  expect(out).not.toContain('secret');
});

test('config check --try: exit 0 when all take them; metrics that are pushed are tried with an empty push, and keys may be in the environment', async () => {
  const named = config([`{ to: datadog, endpoint: "${backend.url}" }`, `{ to: metrics, endpoint: "${backend.url}" }`]);
  expect(await tracejury('config', 'check', named, '--try')).toMatchObject({ code: 0 });
  expect(backend.requests.map(({ method, path, headers }) => [method, path, headers['dd-api-key']])).toEqual([
    ['GET', '/api/v1/validate', 'k-of-the-environment'],
    ['POST', '/v1/metrics', undefined],
  ]);
});

test('config check --try: OTLP is tried with a request that has nothing in it', async () => {
  const entries = ['span_events', 'log_events'].map((to) => `{ to: ${to}, endpoint: "${backend.url}", protocol: http/json }`);
  const { code, out } = await tracejury('config', 'check', config(entries), '--try');
  expect([code, out.split('\n').slice(1)]).toEqual([
    0,
    [`span_events: ${backend.url}/v1/traces accepts the credentials`, `log_events: ${backend.url}/v1/logs accepts the credentials`],
  ]);
  expect(backend.requests.map(({ body }) => body)).toEqual([{ resourceSpans: [] }, { resourceLogs: [] }]);
  const wrong = await refusing(403);
  expect(await tracejury('config', 'check', config([`{ to: span_events, endpoint: "${wrong.url}" }`]), '--try')).toMatchObject({
    code: 1,
    out: expect.stringContaining('answers status 403: a key in headers is refused. Look at the keys') as string,
  });
});

test('config check --try: each judge is asked one question, and one that does not answer is named with what helps', async () => {
  const yes = await chatServer(says('{"yes":true}'));
  const embedding = await chatServer(
    status(400),
    status(400),
    status(400),
    status(400),
    embeds(() => [1, 0]),
  );
  const wrong = await chatServer(status(401));
  const gone = await chatServer(status(200));
  await gone.close();
  try {
    const judges = { right: yes, embedding, wrong, gone };
    const entries = Object.entries(judges).map(
      ([name, { baseUrl }]) => `${name}: { base_url: "${baseUrl}", model: m, api_key: very-secret }`,
    );
    const named = config([], `judges: { ${entries.join(', ')} }\n`);
    const { code, out } = await tracejury('config', 'check', named, '--try');
    expect([code, ...out.split('\n').filter((line) => line.startsWith('judge '))]).toEqual([
      1,
      `judge right: ${yes.baseUrl} answers`,
      `judge embedding: ${embedding.baseUrl} answers`,
      `judge wrong: ${wrong.baseUrl} does not answer: judge_unavailable: status 401. Check api_key.`,
      `judge gone: ${gone.baseUrl} does not answer: judge_unavailable: no connection. Check base_url, and that the endpoint runs.`,
    ]);
    expect([yes.requests.length, wrong.requests.length]).toEqual([1, 1]);
    expect(out).not.toContain('secret');
    expect(await tracejury('config', 'check', config([], `judges: { ${entries[0] ?? ''} }\n`), '--try')).toMatchObject({ code: 0 });
  } finally {
    for (const server of [yes, embedding, wrong]) await server.close();
  }
});

test('config check: without --try no backend is asked, and --try goes only with check', async () => {
  const named = config([langfuse(backend.url)]);
  expect(await tracejury('config', 'check', named)).toMatchObject({ code: 0, out: `${named}: no faults` });
  expect(backend.requests).toEqual([]);
  expect(await tracejury('config', 'print', named, '--try')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--try goes with check') as string,
  });
});

async function refusing(status: number): Promise<NativeServer> {
  const server = await nativeServer({ hasSpans: true, answer: () => ({ status }), scores: () => [] });
  servers.push(server);
  return server;
}
