import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { noTenant, parseSpanId, parseTraceId } from '../../src/model/ids.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import type { Config } from '../../src/config/config.ts';
import { ConfigError } from '../../src/config/diagnostic.ts';
import { loadConfig, readConfig, type LoadedConfig } from '../../src/config/load.ts';
import type { Environment } from '../../src/config/document.ts';
import { members } from './members.ts';
import { validators } from '../builders/validators.ts';

function load(text: string, env: Environment = {}): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env, evaluators: members });
}

const judge = 'judges: { main: { model: m } }\n';
const loopback = { host: '127.0.0.1' };

test('config: with no file there are the default rules, no judge, the metrics page and the console', async () => {
  const { config } = await readConfig({ validators, file: undefined, env: {}, evaluators: members });
  expect(config).toMatchObject({
    listen: {
      otlpHttp: { ...loopback, port: 4318 },
      otlpGrpc: { ...loopback, port: 4317 },
      console: { ...loopback, port: 4380 },
      insecure: false,
      tokens: [],
    },
    limits: { bodyBytes: 16 * 1024 ** 2, inflatedBytes: 64 * 1024 ** 2, memoryBytes: 512 * 1024 ** 2, spansPerTrace: 50_000 },
    closing: { settleMs: 500, batchedSettleMs: 50, quietMs: 5000, abandonMs: 600_000, lateMs: 3_600_000 },
    judges: [],
    exporters: [{ to: 'metrics' }],
  });
  expect(config.evaluators.map(({ configured }) => configured.name)).toEqual(
    members.filter(({ onByDefault }) => onByDefault).map(({ id }) => id),
  );
});

for (const text of ['', '# nothing\n', '---\n', '{}', 'null\n', '\uFEFF']) {
  test(`config: ${JSON.stringify(text)} is the defaults`, () => expect(load(text).printed).toEqual(load('limits: {}').printed));
}

const good: readonly {
  readonly name: string;
  readonly text: string;
  readonly env?: Environment;
  readonly want: (config: Config) => unknown;
  readonly is: unknown;
}[] = [
  {
    name: 'durations and sizes',
    text: 'closing: { settle: 0.25s, quiet: 2s }\nlimits: { body_bytes: 1048576 }\n',
    want: ({ closing, limits }) => [closing.settleMs, closing.batchedSettleMs, closing.quietMs, limits.bodyBytes],
    is: [250, 250, 2000, 1_048_576],
  },
  {
    name: 'the default wait for complete runs is no longer than the wait for incomplete ones',
    text: 'closing: { quiet: 40ms }\n',
    want: ({ closing }) => [closing.settleMs, closing.batchedSettleMs],
    is: [40, 40],
  },
  {
    name: 'free ports',
    text: 'listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }',
    want: ({ listen }) => [listen.otlpHttp.port, listen.otlpGrpc.port, listen.console.port],
    is: [0, 0, 0],
  },
  ...[
    ['store: { url: "memory:" }', 20],
    ['store: { content: failed_and_sampled }', 0],
    ['store: { content_sample: 0.1 }', 0],
    ['store: { content_sample: 0.1, content_per_minute: 7 }', 7],
  ].map(([text, is]) => ({
    name: `runs a minute beside the sample in ${text}`,
    text: String(text),
    want: ({ store }: Config) => store.content.perMinute,
    is,
  })),
  { name: 'IPv6', text: 'listen: { otlp_http: "[::1]:4318" }', want: ({ listen }) => listen.otlpHttp, is: { host: '::1', port: 4318 } },
  {
    name: 'beyond loopback explicitly',
    text: 'listen: { console: "0.0.0.0:4380", insecure: true }',
    want: ({ listen }) => listen.console.host,
    is: '0.0.0.0',
  },
  {
    name: 'beyond loopback with tokens',
    text: 'listen:\n  otlp_http: 0.0.0.0:4318\n  tokens: [ { name: agents, value: "${env:T}", may: [ingest] } ]\n',
    env: { T: 'abcdefghijklmnop' },
    want: ({ listen }) => listen.tokens,
    is: [{ name: 'agents', value: 'abcdefghijklmnop', may: ['ingest'] }],
  },
  {
    name: 'a token of digits stays a text',
    text: 'listen: { tokens: [ { name: a, value: "${env:T}", may: [read] } ] }',
    env: { T: '0070070070070070' },
    want: ({ listen }) => listen.tokens[0]?.value,
    is: '0070070070070070',
  },
  {
    name: 'a short token explicitly',
    text: 'listen: { insecure: true, tokens: [ { name: a, value: abc, may: [read] } ] }',
    want: ({ listen }) => listen.tokens[0]?.value,
    is: 'abc',
  },
  {
    name: 'a substituted number is a number, quoted or not',
    text: 'limits: { spans_per_trace: "${env:N}" }\nclosing:\n  settle: ${env:S}\n',
    env: { N: '100', S: '1s' },
    want: ({ limits, closing }) => [limits.spansPerTrace, closing.settleMs],
    is: [100, 1000],
  },
  { name: 'a substituted boolean', text: 'listen: { insecure: "${env:I:-true}" }', want: ({ listen }) => listen.insecure, is: true },
  {
    name: 'an empty variable where a text belongs',
    text: 'judges: { main: { model: m, api_key: "${env:K:-}" } }',
    want: ({ judges }) => judges[0]?.apiKey,
    is: '',
  },
  {
    name: 'aliases',
    text: 'judges: { a: &a { model: m, concurrency: 2 }, b: *a }',
    want: ({ judges }) => judges.map(({ name, concurrency }) => [name, concurrency]),
    is: [
      ['a', 2],
      ['b', 2],
    ],
  },
  {
    name: 'judges named like members of objects',
    text: 'judges: { constructor: { model: m }, toString: { model: n } }',
    want: ({ judges }) => judges.map(({ model }) => model),
    is: ['m', 'n'],
  },
  {
    name: 'a judge',
    text: 'judges: { main: { base_url: "http://127.0.0.1:8000/v1", model: m, api_key: k, concurrency: 3, timeout: 5s, requests_per_minute: 30 } }',
    want: ({ judges }) => judges,
    is: [
      {
        name: 'main',
        baseUrl: 'http://127.0.0.1:8000/v1',
        model: 'm',
        apiKey: 'k',
        concurrency: 3,
        timeoutMs: 5000,
        cacheMs: 86_400_000,
        requestsPerMinute: 30,
      },
    ],
  },
  {
    name: 'a judge that takes its questions together',
    text: 'judges: { main: { model: m, mode: batch }, own: { model: m, mode: batch, batch: { poll: 10s, gather: 5m, within: 6h, requests: 100, bytes: 1MiB, in_flight: 4, price: { input_per_million: 1, output_per_million: 2 } } }, none: { model: m, batch: { poll: 10s } } }',
    want: ({ judges }) => judges.map(({ batch }) => batch),
    is: [
      { pollMs: 30_000, gatherMs: 60_000, withinMs: 86_400_000, requests: 500, bytes: 16 * 1024 ** 2, inFlight: 2 },
      {
        pollMs: 10_000,
        gatherMs: 300_000,
        withinMs: 21_600_000,
        requests: 100,
        bytes: 1024 ** 2,
        inFlight: 4,
        price: { inputPerMillion: 1, outputPerMillion: 2 },
      },
      undefined,
    ],
  },
  {
    name: 'no calls to judges for a backend',
    text: 'export: [ { to: span_events, endpoint: "http://127.0.0.1:6006", judge_calls: false } ]',
    want: ({ exporters }) => exporters,
    is: [expect.objectContaining({ judgeCalls: false })],
  },
  {
    name: 'full evaluation spans',
    text: 'export: [ { to: span_events, endpoint: "http://127.0.0.1:6006", detail: full } ]',
    want: ({ exporters }) => exporters,
    is: [expect.objectContaining({ detail: 'full' })],
  },
  {
    name: 'tool definitions',
    text: 'tools: [ { name: a }, { name: b, description: d, input_schema: { type: object } } ]',
    want: ({ tools }) => tools,
    is: [{ name: 'a' }, { name: 'b', description: 'd', inputSchema: { type: 'object' } }],
  },
  { name: 'no evaluators', text: 'evaluators: []', want: ({ evaluators }) => evaluators, is: [] },
  {
    name: 'the short form',
    text: 'evaluators: [ tool_error ]',
    want: ({ evaluators: [one] }) => [one?.configured.name, one?.configured.threshold, one?.sampleRate],
    is: ['tool_error', 1, 1],
  },
  {
    name: 'the defaults in a list, and more beside them',
    text: `${judge}evaluators: [ defaults, { use: tool_trajectory, expect: { tool_calls: [] } } ]`,
    want: ({ evaluators }) => evaluators.map(({ configured }) => configured.name),
    is: ['tool_error', 'tool_efficiency', 'tool_trajectory'],
  },
  {
    name: 'the defaults, one of them with a separate entry',
    text: 'evaluators: [ { use: tool_error, threshold: 0.5 }, defaults ]',
    want: ({ evaluators }) => evaluators.map(({ configured: { name, threshold } }) => [name, threshold]),
    is: [
      ['tool_error', 0.5],
      ['tool_efficiency', null],
    ],
  },
  {
    name: 'a default under another name, beside the default',
    text: 'evaluators: [ defaults, { use: tool_error, name: again } ]',
    want: ({ evaluators }) => evaluators.map(({ configured }) => configured.name),
    is: ['tool_error', 'tool_efficiency', 'again'],
  },
  {
    name: 'a sample rate in short',
    text: `${judge}evaluators: [ { use: task_completion, judge: main, sample: 0.25 } ]`,
    want: ({ evaluators: [one] }) => [one?.judge, one?.sampleRate, one?.raise],
    is: ['main', 0.25, []],
  },
  {
    name: 'a rule of the defaults in a condition',
    text: `${judge}evaluators: [ defaults, { use: task_completion, judge: main, sample: { rate: 0.25, raise: [ { when: "tool_error < 1", to: 1 } ] } } ]`,
    want: ({ evaluators }) => evaluators.map(({ sampleRate, raise }) => [sampleRate, raise.length]),
    is: [
      [1, 0],
      [1, 0],
      [0.25, 1],
    ],
  },
  {
    name: 'a threshold of null',
    text: 'evaluators: [ { use: tool_error, threshold: null } ]',
    want: ({ evaluators: [one] }) => one?.configured.threshold,
    is: null,
  },
  {
    name: 'one evaluator under two names',
    text: 'evaluators: [ tool_error, { use: tool_error, name: again } ]',
    want: ({ evaluators }) => evaluators.map(({ configured }) => configured.name),
    is: ['tool_error', 'again'],
  },
  {
    name: 'an expectation, big numbers exact',
    text: 'evaluators: [ { use: tool_trajectory, expect: { tool_calls: [ { name: a, arguments: { id: 1234567890123456789 }, tool_id: t } ] } } ]',
    want: ({ evaluators: [one] }) => one?.configured.expect,
    is: { toolCalls: [{ name: 'a', arguments: { id: 1234567890123456789n }, toolId: 't' }] },
  },
  {
    name: 'a judge evaluator',
    text: `${judge}evaluators: [ { use: task_completion, judge: main, sample: { rate: 0.05 } } ]`,
    want: ({ evaluators: [one] }) => [one?.judge, one?.sampleRate],
    is: ['main', 0.05],
  },
  {
    name: 'span events',
    text: 'export: [ { to: span_events, endpoint: "http://127.0.0.1:6006/", headers: { authorization: "Bearer ${env:K}" }, protocol: http/json } ]',
    env: { K: 'k' },
    want: ({ exporters }) => exporters,
    is: [
      {
        to: 'span_events',
        name: 'span_events',
        giveUp: { attempts: 100, ageMs: 604_800_000 },
        tracesEndpoint: 'http://127.0.0.1:6006/v1/traces',
        headers: { authorization: 'Bearer k' },
        protocol: 'http/json',
        judgeCalls: true,
      },
    ],
  },
  {
    name: 'span events by the variables of OpenTelemetry',
    text: 'export: [ { to: span_events } ]',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://backend:4318/base', OTEL_EXPORTER_OTLP_HEADERS: 'api-key=a%20b,x=1=2' },
    want: ({ exporters }) => exporters,
    is: [
      {
        to: 'span_events',
        name: 'span_events',
        giveUp: { attempts: 100, ageMs: 604_800_000 },
        tracesEndpoint: 'https://backend:4318/base/v1/traces',
        headers: { 'api-key': 'a b', x: '1=2' },
        protocol: 'http/protobuf',
        judgeCalls: true,
      },
    ],
  },
  {
    name: 'log events, by the entry and by the variables of OpenTelemetry',
    text: 'export: [ { to: log_events, endpoint: "http://127.0.0.1:3100/otlp", protocol: http/json }, { to: log_events, name: other } ]',
    env: { OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: 'https://logs/in', OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'k=v' },
    want: ({ exporters }) => exporters,
    is: [
      {
        to: 'log_events',
        name: 'log_events',
        giveUp: { attempts: 100, ageMs: 604_800_000 },
        logsEndpoint: 'http://127.0.0.1:3100/otlp/v1/logs',
        headers: { k: 'v' },
        protocol: 'http/json',
      },
      {
        to: 'log_events',
        name: 'other',
        giveUp: { attempts: 100, ageMs: 604_800_000 },
        logsEndpoint: 'https://logs/in',
        headers: { k: 'v' },
        protocol: 'http/protobuf',
      },
    ],
  },
  {
    name: 'a webhook, with the events that it gets and how',
    text: 'export: [ { to: webhook, endpoint: "https://hooks.example/x", secret: "${env:S}", link: "https://a/{trace_id}", per_minute: 5, only: { verdicts: [error], labels: [odd], evaluators: [tool_error], agents: [a] } } ]\nevaluators: [ tool_error ]',
    env: { S: 'a secret of twenty-four bytes or more'.replaceAll(' ', '-'), OTEL_EXPORTER_OTLP_HEADERS: 'x=1' },
    want: ({ exporters }) => exporters,
    is: [
      {
        to: 'webhook',
        name: 'webhook',
        giveUp: { attempts: 100, ageMs: 604_800_000 },
        headers: {},
        webhook: {
          url: 'https://hooks.example/x',
          secret: 'a-secret-of-twenty-four-bytes-or-more',
          body: 'json',
          console: 'http://127.0.0.1:4380',
          link: 'https://a/{trace_id}',
          only: { verdicts: ['error'], labels: ['odd'], evaluators: ['tool_error'], agents: ['a'] },
          perMinute: 5,
          privateAddresses: false,
        },
      },
    ],
  },
  {
    name: 'a channel, with defaults',
    text: 'export: [ { to: webhook, endpoint: "http://127.0.0.1:9/x", body: slack, private_addresses: true } ]',
    want: ({ exporters: [one] }) => one?.to === 'webhook' && one.webhook,
    is: {
      url: 'http://127.0.0.1:9/x',
      body: 'slack',
      console: 'http://127.0.0.1:4380',
      only: { verdicts: ['fail'], labels: [], evaluators: [], agents: [] },
      perMinute: 10,
      privateAddresses: true,
    },
  },
  {
    name: 'exporters of one kind under separate names',
    text: 'export: [ { to: span_events, endpoint: "http://a" }, { to: span_events, name: other, endpoint: "http://b", give_up: { attempts: 3, age: 1h } } ]\nstore: { keep: { exports: 2h, export_rows: 500 } }',
    want: ({ exporters, store }) => [
      exporters.map((one) => [one.name, one.to === 'span_events' && one.giveUp]),
      store.keep.exportsMs,
      store.keep.exports,
    ],
    is: [
      [
        ['span_events', { attempts: 100, ageMs: 604_800_000 }],
        ['other', { attempts: 3, ageMs: 3_600_000 }],
      ],
      7_200_000,
      500,
    ],
  },
  {
    name: 'metrics that are pushed',
    text: 'export: [ { to: metrics, endpoint: "http://127.0.0.1:9090/api/otlp", headers: { x-key: "${env:K}" }, interval: 30s, temporality: delta } ]',
    env: { K: 'k' },
    want: ({ exporters }) => exporters,
    is: [
      {
        to: 'metrics',
        name: 'metrics',
        push: { url: 'http://127.0.0.1:9090/api/otlp/v1/metrics', headers: { 'x-key': 'k' }, intervalMs: 30_000, temporality: 'delta' },
      },
    ],
  },
  {
    name: 'metrics that the variable of their signal has pushed, and that of all signals has not',
    text: 'export: [ { to: metrics } ]',
    env: { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://b/in', OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c' },
    want: ({ exporters }) => exporters,
    is: [{ to: 'metrics', name: 'metrics', push: { url: 'https://b/in', headers: {}, intervalMs: 60_000, temporality: 'cumulative' } }],
  },
  {
    name: 'metrics that are not pushed',
    text: 'export: [ { to: metrics } ]',
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://c' },
    want: ({ exporters }) => exporters,
    is: [{ to: 'metrics', name: 'metrics' }],
  },
  {
    name: 'a backend with a score API takes its usual variables where the entry has no value',
    text: 'export: [ { to: phoenix }, { to: phoenix, name: other, endpoint: "http://b", api_key: mine, project: p } ]',
    env: { PHOENIX_COLLECTOR_ENDPOINT: 'http://a', PHOENIX_API_KEY: 'theirs', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c' },
    want: ({ exporters }) => exporters.map((one) => one.to === 'phoenix' && [one.endpoint, one.keys]),
    is: [
      ['http://a', { api_key: 'theirs' }],
      ['http://b', { api_key: 'mine', project: 'p' }],
    ],
  },
  {
    name: 'backends with score APIs are found only in the variables of their SDKs',
    text: 'export: [ { to: langfuse }, { to: datadog }, { to: braintrust }, { to: opik } ]',
    env: {
      LANGFUSE_HOST: 'http://own',
      LANGFUSE_PUBLIC_KEY: 'pk',
      LANGFUSE_SECRET_KEY: 'sk',
      DD_SITE: 'us5.datadoghq.com',
      DD_API_KEY: 'dk',
      BRAINTRUST_API_KEY: 'bk',
      BRAINTRUST_PARENT: 'project_name:travel agent',
    },
    want: ({ exporters }) => exporters.map((one) => 'keys' in one && [one.to, one.endpoint, one.keys]),
    is: [
      ['langfuse', 'http://own', { public_key: 'pk', api_key: 'sk', scores: 'all' }],
      ['datadog', 'https://api.us5.datadoghq.com', { api_key: 'dk' }],
      ['braintrust', 'https://api.braintrust.dev', { api_key: 'bk', project: 'travel agent' }],
      ['opik', 'https://www.comet.com/opik/api', { project: 'Default Project' }],
    ],
  },
  {
    name: 'the variable of the signal goes unchanged',
    text: 'export: [ { to: span_events } ]',
    env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b/in' },
    want: ({ exporters: [one] }) => one?.to === 'span_events' && one.tracesEndpoint,
    is: 'https://b/in',
  },
];
for (const { name, text, env, want, is } of good) {
  test(`config: ${name}`, () => expect(want(load(text, env).config)).toEqual(is));
}

const accepted: readonly (readonly [name: string, text: string])[] = [
  [
    'keys at their default',
    'listen: { otlp_grpc: "127.0.0.1:4317" }\nredact: []\nstore: { url: "sqlite:./tracejury-data/tracejury.db", keep: { runs: 30d } }\ngroups: { task_key: attributes.task }',
  ],
  ['another gRPC address', 'listen: { otlp_grpc: "127.0.0.1:1" }'],
  ['retention', 'store: { keep: { runs: 1d } }'],
  [
    'a judge with a budget',
    'judges: { a: { model: m, answer_tokens: 300, budget: { usd_per_day: 1 }, price: { input_per_million: 0, output_per_million: 2 } } }',
  ],
  [
    'budgets of requests and tokens without prices',
    'judges: { a: { model: m, budget: { requests_per_day: 100, tokens_per_day: 1000, requests_per_minute: 5, tokens_per_minute: 500 } } }\nevaluators: [ { use: task_completion, judge: a, budget: { requests_per_day: 0 } } ]',
  ],
  ['prices of judges', 'judges: { a: { model: m, price: { input_per_million: 1 } }, b: { model: m, price: { input_per_million: 2 } } }'],
  [
    'raised rates by fields of the run and several rules',
    `${judge}evaluators: [ defaults, { use: task_completion, judge: main, sample: { raise: [ { when: "agent = support and not (tool_error = 1 or tool_efficiency.verdict = 'pass')", to: 1 } ] } } ]`,
  ],
  [
    'raised rates',
    `${judge}evaluators: [ tool_error, { use: task_completion, judge: main, sample: { raise: [ { when: "tool_error < 1", to: 1 } ] } } ]`,
  ],
  ['a journal bound', 'limits: { journal_bytes: 1GiB }\ngroups: { task_key: input }'],
];
for (const [name, text] of accepted) test(`config: accepts ${name}`, () => expect(() => load(text)).not.toThrow());

test('config: an empty entry of a list is a fault, and no crash', () => {
  for (const key of ['redact', 'tools'])
    expect(() => loadConfig({ validators, file: 'a.yaml', text: `${key}:\n  -\n`, env: {}, evaluators: members })).toThrow(ConfigError);
});

test('config: what is printed is a configuration again, with the same effect', () => {
  const text = `${judge}closing: { settle: 1s }\nevaluators: [ tool_error, { use: tool_trajectory, name: p, when: { agent: a }, options: { arguments: { trim_strings: true, overrides: { some_tool: subset } } } } ]`;
  const { printed } = load(text);
  expect(parse(stringify(printed)) as unknown).toMatchObject({
    evaluators: [
      { use: 'tool_error' },
      { options: { called_max: 5, arguments: { mode: 'exact', trim_strings: true, overrides: { some_tool: 'subset' } } } },
    ],
  });
  expect(load(stringify(printed)).printed).toEqual(printed);
});

const asked: readonly (readonly [written: string, want: object])[] = [
  ['judge: a', { judge: 'a' }],
  ['judges: [ a ], votes: 1', { judge: 'a' }],
  ['judge: a, votes: 3', { panel: { judges: ['a'], votes: 3 } }],
  ['judges: [ b, a ]', { panel: { judges: ['b', 'a'], votes: 1 } }],
  [
    'judges: [ a, b ], votes: 2, escalate: { to: c }',
    { panel: { judges: ['a', 'b'], votes: 2, escalate: { to: 'c', onDisagreement: true } } },
  ],
  [
    'judge: a, escalate: { to: c, below: 0.7, on_disagreement: false }',
    { panel: { judges: ['a'], votes: 1, escalate: { to: 'c', below: 0.7, onDisagreement: false } } },
  ],
];
for (const [written, want] of asked) {
  test(`config: who is asked: ${written}`, () => {
    const { config, printed } = load(
      `judges: { a: { model: m }, b: { model: m }, c: { model: n } }\nevaluators: [ { use: task_completion, ${written} } ]`,
    );
    const [{ judge: one, panel } = {}] = config.evaluators;
    expect({ ...(one === undefined ? {} : { judge: one }), ...(panel === undefined ? {} : { panel }) }).toEqual(want);
    expect(load(stringify(printed)).config.evaluators).toMatchObject([want]);
  });
}

test('config: a rule that a condition may look at asks no judge, and no jury either', () => {
  const raised = (who: string) => () =>
    load(
      `${judge}evaluators: [ { use: task_completion, name: asks, ${who} }, { use: task_completion, judge: main, sample: { raise: [ { when: "asks < 1", to: 1 } ] } } ]`,
    );
  for (const who of ['judge: main', 'judges: [ main ], votes: 3']) expect(raised(who)).toThrow(/asks is not a rule evaluator/);
});

const run: Run = {
  tenant: noTenant,
  traceId: parseTraceId('0123456789abcdef0123456789abcdef') ?? fail(),
  spanId: parseSpanId('0123456789abcdef') ?? fail(),
  trace: {
    agent: 'travel',
    input: 'please book a flight',
    finalResponse: 'done',
    status: 'ok',
    toolCalls: [{ name: 'search', executed: true }],
    toolDefinitions: [],
    modelCalls: [],
    documents: [],
    reasoningSteps: [],
    subAgents: [],
    toolCallsCarried: true,
  },
  dialects: [],
  service: 'shop',
  resourceAttributes: { 'deployment.environment': 'prod', replicas: 2 },
  traceState: '',
  startUnixNano: 1n,
  endUnixNano: 2n,
  completeness: 'complete',
  revision: 1,
  contentHash: 'x',
};

const conditions: readonly (readonly [when: string, holds: boolean])[] = [
  ['{ agent: travel }', true],
  ['{ agent: [other, travel] }', true],
  ['{ agent: other }', false],
  ['{ agent: travel, service: other }', false],
  ['{ input: { matches: "book|reserve" } }', true],
  ['{ input: { matches: "^book" } }', false],
  ['{ input: { contains: flight, matches: please } }', true],
  ['{ input: { contains: flight, not: "please book a flight" } }', false],
  ['{ agent: { in: [travel] } }', true],
  ['{ agent: { equals: trave } }', false],
  ['{ version: "1" }', false],
  ['{ version: { not: "1" } }', false],
  ['{ status: ok, completeness: complete, final_response: done, tool: search }', true],
  ['{ tool: { not: search } }', false],
  ['{ tenant: "" }', true],
  ['{ attributes: { deployment.environment: prod, replicas: "2" } }', true],
  ['{ attributes: { constructor: x } }', false],
];
for (const [when, holds] of conditions) {
  test(`config: when ${when} ${holds ? 'holds' : 'does not hold'}`, () =>
    expect(load(`evaluators: [ { use: tool_error, when: ${when} } ]`).config.evaluators[0]?.when?.(run)).toBe(holds));
}

function fail(): never {
  throw new Error('not an id');
}

const warned: readonly { readonly name: string; readonly text: string; readonly warnings: readonly string[] }[] = [
  {
    name: 'only a judge',
    text: `${judge}evaluators:\n  - { use: task_completion, judge: main }\n`,
    warnings: [
      '2:1 evaluators: names no rule, so the rules that are on without a list are off: tool_error, tool_efficiency > Add the entry defaults to keep them.',
    ],
  },
  {
    name: 'an empty list',
    text: 'evaluators: []',
    warnings: ['1:1 evaluators: is empty, so no run is scored > Add defaults, or leave evaluators out.'],
  },
  { name: 'a judge beside the defaults', text: `${judge}evaluators: [ { use: task_completion, judge: main }, defaults ]`, warnings: [] },
  {
    name: 'a judge beside another rule',
    text: `${judge}evaluators: [ { use: task_completion, judge: main }, { use: tool_trajectory, expect: { tool_calls: [] } } ]`,
    warnings: [],
  },
  { name: 'no list', text: judge, warnings: [] },
];

for (const { name, text, warnings } of warned) {
  test(`config: warnings of ${name}`, () => {
    expect(load(text).warnings.map(({ line, column, key, problem, todo }) => `${line}:${column} ${key}: ${problem} > ${todo}`)).toEqual(
      warnings,
    );
  });
}
