/** Spans that a whole service keeps: they can be scored again, and hold nothing that the configuration forbids. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { gzipSync, zstdDecompressSync } from 'node:zlib';
import { afterAll, afterEach, expect, test } from 'vitest';
import { commands } from '../../src/cli/commands/index.ts';
import { runCommandLine } from '../../src/cli/run.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { isJsonArray, type JsonObject, type JsonValue, jsonText } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { evaluators } from '../../evaluators/index.ts';
import { ruleEntries } from '../hosts/entries.ts';
import { contentsOf, play, recordingsIn, type Recording } from '../recordings/read.ts';
import { eventually, running, type Running } from './running.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-spans-'));
afterAll(() => rmSync(folder, { recursive: true }));
const open: Running[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

const people = 'token-of-people-0';

function tokenOf(at: number): string {
  return `token-of-tenant-${at}`;
}

let folders = 0;
/** A separate store and journal, on disk. */
function places(content: string): { readonly yaml: string; readonly store: string } {
  const own = join(folder, String(++folders));
  return {
    yaml: `store: { url: "sqlite:${own}/runs.db", ${content} }\njournal: { url: "disk:${own}/journal" }\nlimits: { journal_bytes: 256MiB }\n`,
    store: own,
  };
}

async function started(...given: Parameters<typeof running>): Promise<Running> {
  const one = await running(...given);
  open.push(one);
  return one;
}

async function get(service: Running, path: string, token?: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${service.console}/api/v1${path}`, {
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
  });
  return { status: response.status, text: await response.text() };
}

async function found(service: Running, path: string, token?: string): Promise<JsonObject> {
  const { status, text } = await get(service, path, token);
  expect([path, status]).toEqual([path, 200]);
  return JSON.parse(text) as JsonObject;
}

function objects(value: JsonValue | undefined): readonly JsonObject[] {
  if (!isJsonArray(value)) throw new Error('no list');
  return value as readonly JsonObject[];
}

/** Waits until this many spans are kept of a run, and returns it. */
function withSpans(service: Running, place: string, spans: number, token?: string): Promise<JsonObject> {
  return eventually(async () => {
    const answer = await get(service, `/runs/${place}`, token);
    const run = answer.status === 200 ? (JSON.parse(answer.text) as JsonObject) : undefined;
    return run !== undefined && Number(run['spans_kept']) >= spans ? run : undefined;
  }, `${spans} spans of ${place}`);
}

async function post(service: Running, spans: readonly Span[], encoding: 'protobuf' | 'json' = 'protobuf', token?: string): Promise<void> {
  const body = new Uint8Array(gzipSync(writeTraces(spans, encoding)));
  const { status } = await fetch(`${service.otlp}/v1/traces`, {
    method: 'POST',
    headers: {
      'content-type': encoding === 'json' ? 'application/json' : 'application/x-protobuf',
      'content-encoding': 'gzip',
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    body,
  });
  expect(status).toBe(200);
}

/** Verdicts of `tracejury eval` on each run in a file, by place. */
async function evaluated(file: string, config: string): Promise<ReadonlyMap<string, JsonObject>> {
  const said: string[] = [];
  expect(
    await runCommandLine({
      words: ['eval', file, '-c', config, '--format', 'json'],
      commands,
      version: '',
      env: {},
      say: (text) => said.push(text),
      complain: (text) => said.push(text),
    }),
  ).toBeLessThan(2);
  return new Map(
    objects((JSON.parse(said.join('')) as JsonObject)['results']).map((one) => [
      `${String(one['trace_id'])}/${String(one['span_id'])}`,
      one,
    ]),
  );
}

/** The part of a verdict that is alike in stores and reports. */
function verdictText({ name, evaluator, status, explanation, details, parts, reason, score, passed, label, evidence }: JsonObject): string {
  const isScored = status === 'scored';
  const withParts =
    isJsonArray(parts ?? null) && objects(parts).length > 0 ? { ...(details as JsonObject), parts: parts ?? null } : (details ?? null);
  return jsonText(
    {
      name: name ?? null,
      evaluator: evaluator ?? null,
      status: status ?? null,
      explanation: explanation ?? null,
      details: withParts,
      ...(isScored
        ? { score: score ?? null, passed: passed ?? null, label: label ?? null, evidence: evidence ?? null }
        : { reason: reason ?? null }),
    },
    { sortKeys: true },
  );
}

const verdictsOf = (run: JsonObject | undefined): readonly string[] => objects(run?.['verdicts']).map(verdictText).toSorted();

async function send(service: Running, token: string, { folder: path, expected }: Recording): Promise<void> {
  for (const { file, kind, content_type: type } of expected.files) {
    if (kind !== 'traces' && kind !== 'logs') continue;
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': type.includes('json') ? 'application/json' : 'application/x-protobuf',
      ...(file.endsWith('.gz') ? { 'content-encoding': 'gzip' } : {}),
    };
    const { status } = await fetch(`${service.otlp}/v1/${kind}`, {
      method: 'POST',
      headers,
      body: new Uint8Array(readFileSync(join(path, file))),
    });
    expect(status).toBe(200);
  }
}

/** Turns of a session in separate traces share the definitions of tools, and none of them shows that. */
function isOneTrace(runs: readonly Run[]): boolean {
  return new Set(runs.map(({ traceId }) => traceId)).size === 1;
}

/** One of each form that a recording can have: protobuf, JSON, compressed, with log records, sub-agents. */
const recordings = recordingsIn(join(import.meta.dirname, '../fixtures/recordings'))
  .map((recording) => ({ recording, runs: play(recording).runs }))
  .filter(
    ({ runs }) =>
      runs.length > 0 && isOneTrace(runs) && runs.every(({ completeness, revision }) => completeness === 'complete' && revision === 1),
  );
const withLogs = recordings.filter(({ recording }) => recording.expected.files.some(({ kind }) => kind === 'logs'));
const taken = [...new Set([...withLogs.slice(0, 3), ...recordings.filter((_one, at) => at % 9 === 0)])];

/** Knowledge that an evaluator has learnt from other runs is not in the spans of a run. */
const learning = evaluators.filter(({ optionsSchema }) => JSON.stringify(optionsSchema).includes('"learn_when"')).map(({ id }) => id);

test('stored spans: what is downloaded gets the verdicts that were stored, byte for byte', async () => {
  expect(learning).toEqual(['process_conformance', 'novelty']);
  const yaml = `evaluators: ${JSON.stringify(ruleEntries.filter(({ use }) => !learning.includes(use)))}\n`;
  const config = join(folder, 'tracejury.yaml');
  writeFileSync(config, yaml);
  const tokens = JSON.stringify([
    ...taken.map((_one, at) => ({ name: `tenant-${at}`, value: tokenOf(at), may: ['ingest'] })),
    { name: 'people', value: people, may: ['read'] },
  ]);
  const service = await started(`${yaml}${places('content: all').yaml}`, { tokens });
  for (const [at, { recording }] of taken.entries()) await send(service, tokenOf(at), recording);
  let compared = 0;
  for (const [at, { recording, runs }] of taken.entries()) {
    for (const { traceId, spanId } of runs) {
      const place = `${traceId}/${spanId}`;
      const file = join(folder, `run-${compared++}.jsonl`);
      const spans = new Set(
        contentsOf(recording)
          .spans.filter((span) => span.traceId === traceId)
          .map((span) => span.spanId),
      ).size;
      // Spans and records in separate requests may make a second revision, whose spans are stored after the first.
      await eventually(async () => {
        const stored = await withSpans(service, `${place}?tenant=tenant-${at}`, spans, people);
        const { text } = await get(service, `/runs/${place}/otlp?tenant=tenant-${at}`, people);
        writeFileSync(file, text);
        const again = (await evaluated(file, config)).get(place);
        return again?.['completeness'] === stored['completeness'] && verdictsOf(again).join('\n') === verdictsOf(stored).join('\n')
          ? true
          : undefined;
      }, `the same verdicts on ${recording.name} ${place}`);
    }
  }
  expect(withLogs.length).toBeGreaterThan(2);
  expect(compared).toBeGreaterThan(7);
});

const mail = 'anna.lee@example.com';
const account = 'acct-778812';
const hidden = `${mail} ${account}`;
const originals = /anna|lee@|778812/;

/** Hidden texts in every place of a span with room for a text. */
function telling(trace: number): readonly Span[] {
  const id = trace * 100;
  const resource = { 'service.name': `shop of ${mail}`, owner: hidden };
  const bytes = new TextEncoder().encode(hidden);
  return [
    agentSpan({
      id,
      trace,
      name: `run of ${mail}`,
      agent: 'helper',
      input: `I am ${hidden}`,
      output: `Paid, ${hidden}`,
      resource,
      scope: `scope ${account}`,
      attributes: {
        [hidden]: 1,
        nested: { [mail]: [hidden, bytes] },
        raw: bytes,
        number: 778812,
        'app.thing': `not of any dialect: ${hidden}`,
      },
      events: [{ name: account, attributes: { 'exception.message': hidden } }],
      start: id,
      end: id + 50,
    }),
    modelSpan({
      id: id + 1,
      trace,
      parent: id,
      user: `I am ${hidden}`,
      asks: [{ id: 'c1', name: 'pay', arguments: JSON.stringify({ to: mail }) }],
      resource,
      start: id + 1,
      end: id + 2,
    }),
    toolSpan({
      id: id + 2,
      trace,
      parent: id,
      tool: 'pay',
      call: 'c1',
      arguments: { to: mail },
      result: { paid: hidden },
      resource,
      status: 'error',
      message: `no mailbox ${hidden}`,
      start: id + 3,
      end: id + 4,
    }),
  ];
}

/** Every byte of the store's files, and their compressed content, unchanged. */
function storedTexts(at: string): readonly string[] {
  const db = new DatabaseSync(join(at, 'runs.db'));
  const blobs = [...db.prepare('select body as bytes from spans').all(), ...db.prepare('select body as bytes from blocks').all()].map(
    ({ bytes }) => zstdDecompressSync(bytes as Uint8Array).toString(),
  );
  db.close();
  expect(blobs.length).toBeGreaterThan(1);
  return [
    ...blobs,
    ...readdirSync(at)
      .filter((name) => name.startsWith('runs.db'))
      .map((name) => readFileSync(join(at, name), 'latin1')),
  ];
}

for (const encoding of ['protobuf', 'json'] as const) {
  test(`stored spans: nothing that is redacted is in the store's files, of spans that came as ${encoding}`, async () => {
    const { yaml, store } = places('content: all');
    const service = await started(`redact: [ { match: email }, { pattern: "(acct-)?778812", replace: "[account]" } ]\n${yaml}`);
    await post(service, telling(1), encoding);
    const place = `${'1'.padStart(32, '0')}/${(100).toString(16).padStart(16, '0')}`;
    await withSpans(service, place, 3);
    const answers = [await get(service, `/runs/${place}/spans`), await get(service, `/runs/${place}/otlp`)];
    const texts = [...storedTexts(store), ...answers.map(({ text }) => text)];
    expect(texts.filter((text) => originals.test(text))).toEqual([]);
    // They are there, and only what is hidden is gone.
    for (const { text } of answers)
      for (const kept of ['not of any dialect: [redacted] [account]', 'no mailbox [redacted] [account]', 'scope [account]'])
        expect(text).toContain(kept);
  });
}

test('stored spans: without rules the bytes are those that came', async () => {
  const { yaml, store } = places('content: all');
  const service = await started(yaml);
  await post(service, telling(1));
  const place = `${'1'.padStart(32, '0')}/${(100).toString(16).padStart(16, '0')}`;
  await withSpans(service, place, 3);
  expect(storedTexts(store).some((text) => text.includes(`not of any dialect: ${hidden}`))).toBe(true);
  const answer = await found(service, `/runs/${place}/spans?limit=2`);
  expect(answer).toMatchObject({
    whole: true,
    spans_gone: null,
    spans: [
      {
        name: `run of ${mail}`,
        parent_span_id: null,
        of_run: true,
        kind: 'internal',
        status: { code: 'unset' },
        scope: `scope ${account}`,
        attributes: { 'app.thing': `not of any dialect: ${hidden}`, number: 778812 },
        events: [{ name: account }],
        cut: [],
      },
      { attributes: { 'gen_ai.operation.name': 'chat' } },
    ],
  });
  const rest = await found(service, `/runs/${place}/spans?limit=2&cursor=${String(answer['next'])}`);
  expect([objects(rest['spans']).map((span) => span['status']), rest['next']]).toEqual([
    [{ code: 'error', message: `no mailbox ${hidden}` }],
    null,
  ]);
  expect((await get(service, `/runs/${place}/spans?cursor=nonsense`)).status).toBe(400);
  const file = join(folder, 'inspected.jsonl');
  writeFileSync(file, (await get(service, `/runs/${place}/otlp`)).text);
  const said: string[] = [];
  expect(
    await runCommandLine({
      words: ['inspect', file],
      commands,
      version: '',
      env: {},
      say: (text) => said.push(text),
      complain: (text) => said.push(text),
    }),
  ).toBe(0);
  expect(said.join('\n')).toContain('no mailbox');
});

test('stored spans: passed runs keep nothing, failed ones everything, and a missing one gives the reason', async () => {
  const service = await started(places('content: failed_and_sampled, content_sample: 0').yaml);
  const good = [
    agentSpan({ id: 1, trace: 7, agent: 'helper', input: 'q', output: 'a', start: 0, end: 9 }),
    toolSpan({ id: 2, trace: 7, parent: 1, tool: 'find', arguments: {}, result: 'there', start: 1, end: 2 }),
  ];
  await post(service, good);
  await post(service, telling(8));
  const [passed, failed] = [
    `${'7'.padStart(32, '0')}/${'1'.padStart(16, '0')}`,
    `${'8'.padStart(32, '0')}/${(800).toString(16).padStart(16, '0')}`,
  ];
  expect(await withSpans(service, failed, 3)).toMatchObject({ content_kept: true, spans_gone: null });
  expect(await withSpans(service, passed, 0)).toMatchObject({
    content_kept: false,
    content_gone: { reason: 'sampled_out' },
    spans_kept: 0,
    spans_gone: { reason: 'sampled_out' },
  });
  expect(await found(service, `/runs/${passed}/spans`)).toMatchObject({ spans: [], spans_gone: { reason: 'sampled_out' } });
  const { status, text } = await get(service, `/runs/${passed}/otlp`);
  expect([status, text]).toEqual([404, expect.stringContaining('Nothing failed in this run')]);
});

test('stored spans: without a choice in the file, a service with few runs keeps what passes as well', async () => {
  const service = await started(places('keep: { bytes: 20GiB }').yaml);
  await post(service, [
    agentSpan({ id: 1, trace: 7, agent: 'helper', input: 'q', output: 'a', start: 0, end: 9 }),
    toolSpan({ id: 2, trace: 7, parent: 1, tool: 'find', arguments: {}, result: 'there', start: 1, end: 2 }),
  ]);
  expect(await withSpans(service, `${'7'.padStart(32, '0')}/${'1'.padStart(16, '0')}`, 2)).toMatchObject({
    content_kept: true,
    content_gone: null,
    input: 'q',
    spans_gone: null,
  });
});

test('stored spans: those of a run that closed a moment before the service stopped are there after the next start', async () => {
  const { yaml } = places('content: all');
  const first = await running(yaml);
  await post(first, telling(1));
  const place = `${'1'.padStart(32, '0')}/${(100).toString(16).padStart(16, '0')}`;
  await eventually(async () => ((await get(first, `/runs/${place}`)).status === 200 ? true : undefined), 'the run');
  await first.stop();
  const second = await started(yaml);
  expect(await withSpans(second, place, 3)).toMatchObject({ revision: 1, spans_kept: 3 });
});
