/** Imports from servers that answer as the documented APIs of the backends, into a server that takes OTLP as the service does. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isJsonObject, member, parseJson, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { textAttribute, type Span } from '../../../src/model/span.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { command } from '../../builders/command.ts';

const ids = { trace: '0af7651916cd43dd8448eb211c80319c', agent: '00f067aa0ba902b7', tool: 'b9c7c989f97918e1' };
const other = '1af7651916cd43dd8448eb211c80319c';
const began = '2026-11-20T10:00:00.000000+00:00';
const beganUs = 1_795_168_800_000_000;
const period = ['--since', '2026-11-20T09:30:00Z', '--until', '2026-11-20T10:30:00Z'];

interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  readonly headers: IncomingMessage['headers'];
}

type Answer = JsonValue | { readonly status: number };

async function served(answer: (asked: Asked) => Answer): Promise<{ readonly url: string; readonly asked: readonly Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
      const body = parseJson(Buffer.concat(chunks).toString());
      const one = { path: pathname, query: searchParams, body: isJsonObject(body) ? body : {}, headers: request.headers };
      asked.push(one);
      const given = answer(one);
      const status = isJsonObject(given) ? member(given, 'status') : undefined;
      if (typeof status === 'number') response.writeHead(status).end('no');
      else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(given));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** A service that takes everything, or answers with these statuses first. */
async function service(statuses: readonly number[] = []): Promise<{ readonly url: string; readonly spans: Span[] }> {
  const waiting = [...statuses];
  const spans: Span[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const status = waiting.shift() ?? 200;
      if (status === 200) spans.push(...readTraces(Buffer.concat(chunks), 'json').spans);
      response.writeHead(status, { 'retry-after': '0' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, spans };
}

function stateFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-import-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'state.json');
}

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64');
const attributes = { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'find_order' };
const listed = Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }));

function phoenixTrace(trace: string): JsonObject {
  const first = [phoenixSpan(ids.agent, null, 'agent'), phoenixSpan(ids.tool, ids.agent, 'tool')];
  return { data: trace === other ? [phoenixSpan('b9c7c989f97918e2', null, 'later', other)] : first, next_cursor: null };
}

function phoenixSpan(id: string, parent: string | null, name: string, trace = ids.trace): JsonObject {
  return {
    id,
    name,
    context: { trace_id: trace, span_id: id },
    span_kind: 'TOOL',
    parent_id: parent,
    start_time: began,
    end_time: began,
    status_code: 'ERROR',
    status_message: 'no such order',
    attributes,
    events: [],
  };
}

interface Backend {
  readonly from: string;
  readonly project: readonly string[];
  /** The page of the cursor; spans of an agent and of its tool, one a page where the backend has pages. */
  readonly answer: (asked: Asked) => Answer;
  /** Attribute of the tool's span, as the collectors read it. */
  readonly reads: readonly [string, string];
  readonly scope?: string;
}

const backends: readonly Backend[] = [
  {
    from: 'phoenix',
    project: ['--project', 'shop'],
    answer: ({ path, query }) =>
      path !== '/v1/projects/shop/spans'
        ? { status: 404 }
        : query.get('trace_id') !== null
          ? phoenixTrace(query.get('trace_id') ?? '')
          : query.get('cursor') === 'second'
            ? { data: [phoenixSpan(ids.tool, ids.agent, 'tool'), phoenixSpan('b9c7c989f97918e2', null, 'later', other)], next_cursor: null }
            : { data: [phoenixSpan(ids.agent, null, 'agent')], next_cursor: 'second' },
    reads: ['gen_ai.tool.name', 'find_order'],
  },
  {
    from: 'mlflow',
    project: ['--project', '7'],
    answer({ path, query, body }) {
      if (path === '/api/3.0/mlflow/traces/search')
        return body['page_token'] === 'second'
          ? { traces: [{ trace_id: 'tr-2' }] }
          : { traces: [{ trace_id: 'tr-1' }], next_page_token: 'second' };
      const isTool = query.get('request_id') === 'tr-2';
      const span = {
        trace_id: base64(ids.trace),
        span_id: base64(isTool ? ids.tool : ids.agent),
        parent_span_id: isTool ? base64(ids.agent) : null,
        name: isTool ? 'tool' : 'agent',
        start_time_unix_nano: beganUs * 1_000,
        end_time_unix_nano: beganUs * 1_000,
        status: { code: 'STATUS_CODE_ERROR', message: 'no such order' },
        attributes: { 'mlflow.spanType': '"TOOL"' },
        events: [],
      };
      return path === '/ajax-api/3.0/mlflow/get-trace-artifact' ? { spans: [span] } : { status: 404 };
    },
    reads: ['mlflow.spanType', '"TOOL"'],
  },
  {
    from: 'langfuse',
    project: [],
    answer({ path, query }) {
      const page = Number(query.get('page'));
      if (path === '/api/public/traces') return { data: [{ id: page === 1 ? ids.trace : other }], meta: { page, totalPages: 2 } };
      if (path === `/api/public/traces/${other}`) return { observations: [] };
      const observation = (id: string, type: string, parent: string | null): JsonObject => ({
        id,
        traceId: ids.trace,
        type,
        name: type.toLowerCase(),
        startTime: '2026-11-20T10:00:00.000Z',
        endTime: '2026-11-20T10:00:00.000Z',
        parentObservationId: parent,
        input: { order: 1 },
        output: 'gone',
        level: 'ERROR',
        statusMessage: 'no such order',
        metadata: {},
      });
      return path === `/api/public/traces/${ids.trace}`
        ? { sessionId: 's1', observations: [observation(ids.agent, 'AGENT', null), observation(ids.tool, 'TOOL', ids.agent)] }
        : { status: 404 };
    },
    reads: ['langfuse.observation.input', '{"order":1}'],
  },
  {
    from: 'jaeger',
    project: ['--project', 'shop'],
    answer({ path, query }) {
      const isMeant = Number(query.get('start')) <= beganUs && beganUs <= Number(query.get('end'));
      const span = (id: string, name: string, references: readonly JsonObject[]): JsonObject => ({
        traceID: ids.trace,
        spanID: id,
        operationName: name,
        references,
        startTime: beganUs,
        duration: 0,
        tags: [...Object.entries(attributes), ['otel.status_code', 'ERROR'], ['otel.status_description', 'no such order']].map(
          ([key, value]) => ({ key: key ?? '', type: 'string', value: value ?? '' }),
        ),
        logs: [],
        processID: 'p1',
      });
      const parent = [{ refType: 'CHILD_OF', traceID: ids.trace, spanID: ids.agent }];
      const spans = [span(ids.agent, 'agent', []), span(ids.tool, 'tool', parent)];
      const data = isMeant ? [{ traceID: ids.trace, spans, processes: { p1: { serviceName: 'shop', tags: [] } } }] : [];
      return path === '/api/traces' && query.get('service') === 'shop' ? { data } : { status: 404 };
    },
    reads: ['gen_ai.tool.name', 'find_order'],
  },
  {
    from: 'tempo',
    project: ['--project', 'shop'],
    answer({ path, query }) {
      if (path === '/api/search') {
        const isMeant = Number(query.get('start')) * 1e6 <= beganUs && beganUs <= Number(query.get('end')) * 1e6;
        return query.get('q') === '{ resource.service.name = "shop" }'
          ? { traces: isMeant ? [{ traceID: ids.trace }] : [] }
          : { status: 400 };
      }
      const span = (id: string, parent: string, name: string): JsonObject => ({
        traceId: base64(ids.trace),
        spanId: base64(id),
        ...(parent === '' ? {} : { parentSpanId: base64(parent) }),
        name,
        startTimeUnixNano: String(beganUs * 1_000),
        endTimeUnixNano: String(beganUs * 1_000),
        attributes: listed,
        status: { code: 'STATUS_CODE_ERROR', message: 'no such order' },
      });
      const spans = [span(ids.agent, '', 'agent'), span(ids.tool, ids.agent, 'tool')];
      return path === `/api/traces/${ids.trace}` ? { batches: [{ resource: {}, scopeSpans: [{ scope: {}, spans }] }] } : { status: 404 };
    },
    reads: ['gen_ai.tool.name', 'find_order'],
  },
];

for (const { from, project, answer, reads } of backends) {
  test(`import: spans of ${from} keep their ids, times, parents, failures and attributes`, async () => {
    const [backend, target] = [await served(answer), await service()];
    const words = ['import', '--from', from, '--url', backend.url, '--endpoint', target.url, '--state', stateFile(), ...project, ...period];
    const { code, out, err } = await command(words);
    expect([code, err, out]).toEqual([0, '', expect.stringContaining('spans from')]);
    expect(target.spans.slice(0, 2).map(({ traceId, spanId, parentSpanId, name }) => [traceId, spanId, parentSpanId, name])).toEqual([
      [ids.trace, ids.agent, undefined, 'agent'],
      [ids.trace, ids.tool, ids.agent, 'tool'],
    ]);
    const [, tool] = target.spans;
    if (tool === undefined) throw new Error('no span');
    expect(tool.startUnixNano).toBe(BigInt(beganUs) * 1_000n);
    expect([tool.status.code, tool.status.message, textAttribute(tool, reads[0])]).toEqual(['error', 'no such order', reads[1]]);
  });
}

const [phoenix] = backends;

test('import: a stop in between goes on behind the last page that was acknowledged', async () => {
  const state = stateFile();
  let isBroken = true;
  const backend = await served((asked) => {
    if (isBroken && asked.query.get('cursor') === 'second') return { status: 403 };
    return phoenix?.answer(asked) ?? { status: 404 };
  });
  const target = await service();
  const words = [
    'import',
    '--from',
    'phoenix',
    '--project',
    'shop',
    '--url',
    backend.url,
    '--endpoint',
    target.url,
    '--state',
    state,
    ...period,
  ];
  const first = await command(words);
  expect([first.code, first.err]).toEqual([2, expect.stringContaining('TRACEJURY_IMPORT_HEADERS')]);
  expect(target.spans.map(({ name }) => name)).toEqual(['agent', 'tool']);
  isBroken = false;
  expect((await command(words)).code).toBe(0);
  // The second process does not know that it has sent the first trace, and the service knows its spans.
  expect(target.spans.map(({ name }) => name)).toEqual(['agent', 'tool', 'agent', 'tool', 'later']);
  expect(parseJson(readFileSync(state, 'utf8'))).toMatchObject({ spans: 5, done: true });
  // The same period once more is asked for from its beginning.
  expect((await command(words)).code).toBe(0);
  expect(target.spans).toHaveLength(8);
});

test('import: the key of the backend goes to the backend and not to the service, and a busy service is asked again', async () => {
  const backend = await served((asked) => phoenix?.answer(asked) ?? { status: 404 });
  const target = await service([503, 429]);
  const words = [
    'import',
    '--from',
    'phoenix',
    '--project',
    'shop',
    '--url',
    `${backend.url}/`,
    '--endpoint',
    target.url,
    '--state',
    stateFile(),
  ];
  const { code } = await command([...words, ...period], { TRACEJURY_IMPORT_HEADERS: 'authorization=Bearer%20secret' });
  expect([code, target.spans.length]).toEqual([0, 3]);
  expect(backend.asked.map(({ headers }) => headers.authorization)).toEqual(backend.asked.map(() => 'Bearer secret'));
});

test('import: a full piece of time is read in halves, so that no trace is left out', async () => {
  const traces = Array.from({ length: 450 }, (_, at) => ({ id: (at + 1).toString(16).padStart(32, '0'), us: beganUs + at * 1_000_000 }));
  const backend = await served(({ query }) => {
    const [start, end, limit] = ['start', 'end', 'limit'].map((name) => Number(query.get(name))) as [number, number, number];
    const found = traces.filter(({ us }) => start <= us && us <= end).slice(0, limit);
    return {
      data: found.map(({ id, us }) => ({
        traceID: id,
        spans: [{ traceID: id, spanID: ids.agent, operationName: 'agent', startTime: us, duration: 1, processID: 'p1' }],
        processes: { p1: { serviceName: 'shop' } },
      })),
    };
  });
  const target = await service();
  const words = ['import', '--from', 'jaeger', '--project', 'shop', '--url', backend.url, '--endpoint', target.url, '--state', stateFile()];
  expect((await command([...words, '--rate', '100000', ...period])).code).toBe(0);
  expect(target.spans.map(({ traceId }) => traceId).toSorted()).toEqual(traces.map(({ id }) => id).toSorted());
});

test('import: more traces in one second than the backend answers are named, and none of that second counts as imported', async () => {
  const backend = await served(({ query }) => {
    const isMeant = Number(query.get('start')) <= beganUs && beganUs <= Number(query.get('end'));
    const trace = { spans: [], processes: {} };
    return { data: isMeant ? Array.from({ length: 200 }, () => trace) : [] };
  });
  const target = await service();
  const words = ['import', '--from', 'jaeger', '--project', 'shop', '--url', backend.url, '--endpoint', target.url, '--state', stateFile()];
  const { code, err } = await command([...words, ...period]);
  expect([code, err]).toEqual([2, expect.stringMatching(/Jaeger has more traces than it answers at once in the second from 2026-11-20T/)]);
});

test('import: Phoenix gets members of JSON texts back as one text, and a key of any depth stays a key', async () => {
  const deep = `metadata.${'a.'.repeat(1_000)}b`;
  const attributes = { 'tool.parameters.order.id': 7, 'tool.parameters.reasons.0': 'late', 'metadata.__proto__.x': 'y', [deep]: 'z' };
  const spanOf = { ...phoenixSpan(ids.agent, null, 'agent'), attributes };
  const backend = await served(() => ({ data: [spanOf], next_cursor: null }));
  const target = await service();
  const words = ['import', '--from', 'phoenix', '--url', backend.url, '--endpoint', target.url, '--state', stateFile(), ...period];
  expect((await command(words)).code).toBe(0);
  const [span] = target.spans;
  if (span === undefined) throw new Error('no span');
  expect([textAttribute(span, 'tool.parameters'), textAttribute(span, 'metadata'), textAttribute(span, deep)]).toEqual([
    '{"order":{"id":7},"reasons":["late"]}',
    '{"__proto__":{"x":"y"}}',
    'z',
  ]);
});

const wrong: readonly { readonly words: readonly string[]; readonly fault: RegExp }[] = [
  { words: [], fault: /--from takes the name of a backend: phoenix, mlflow/ },
  { words: ['--from', 'constructor'], fault: /--from takes the name of a backend/ },
  { words: ['--from', 'phoenix'], fault: /--url takes an address/ },
  { words: ['--from', 'jaeger', '--url', 'http://127.0.0.1:1'], fault: /--project takes the service of Jaeger/ },
  { words: ['--from', 'phoenix', '--url', 'http://127.0.0.1:1', '--rate', '0'], fault: /--rate takes a number/ },
  { words: ['--from', 'phoenix', '--url', 'http://127.0.0.1:1', '--since', '1h', '--until', '2h'], fault: /--since has to be before/ },
];

test.each(wrong)('import: wrong options are named ($fault)', async ({ words, fault }) => {
  const { code, err } = await command(['import', '--state', stateFile(), ...words]);
  expect([code, err]).toEqual([2, expect.stringMatching(fault)]);
});

test('import: attributes that MLflow derived and quoted from another SDK are undone, and those of its SDK remain', async () => {
  // Answers of MLflow 3.17: it writes values as JSON, and adds what it derives from other conventions.
  const foreign = {
    'gen_ai.operation.name': '"chat"',
    'gen_ai.usage.input_tokens': '260',
    'gen_ai.response.finish_reasons': '["stop"]',
    'gen_ai.tool.definitions': '[{"type": "function", "name": "find_order"}]',
    'gen_ai.input.messages': '[{"role": "user", "parts": []}]',
    'gen_ai.conversation.id': '"42"',
    'shop.note': 'null',
    'mlflow.spanType': '"CHAT_MODEL"',
    'mlflow.chat.tokenUsage': '{"input_tokens": 260}',
    'mlflow.traceRequestId': '"tr-1"',
  };
  const own = { 'mlflow.spanType': '"TOOL"', 'mlflow.spanInputs': '{"id": 7}', model: '"m1"' };
  const spanOf = (id: string, attributesOfSpan: JsonObject): JsonObject => ({
    trace_id: base64(ids.trace),
    span_id: base64(id),
    name: 'span',
    start_time_unix_nano: beganUs * 1_000,
    end_time_unix_nano: beganUs * 1_000,
    attributes: attributesOfSpan,
  });
  const backend = await served(({ path }) =>
    path.endsWith('search') ? { traces: [{ trace_id: 'tr-1' }] } : { spans: [spanOf(ids.agent, foreign), spanOf(ids.tool, own)] },
  );
  const target = await service();
  const words = ['import', '--from', 'mlflow', '--project', '7', '--url', backend.url, '--endpoint', target.url, '--state', stateFile()];
  expect((await command([...words, ...period])).code).toBe(0);
  const read = target.spans.map((span) => Object.fromEntries(span.attributeKeys().map((key) => [key, span.attribute(key)])));
  expect(read).toEqual([
    {
      'gen_ai.operation.name': 'chat',
      'gen_ai.usage.input_tokens': 260,
      'gen_ai.response.finish_reasons': ['stop'],
      'gen_ai.tool.definitions': foreign['gen_ai.tool.definitions'],
      'gen_ai.input.messages': foreign['gen_ai.input.messages'],
      'gen_ai.conversation.id': '42',
    },
    own,
  ]);
});
