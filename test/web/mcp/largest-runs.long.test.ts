/** Answers about the recorded runs, and about runs that are larger than any recording: each has fewer than 8,000 tokens. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { answerBytesMax } from '../../../src/web/mcp/tool-answer.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { largeRun } from '../../builders/large-run.ts';
import { eventually, running, type Running } from '../../service/running.ts';
import { overHttp, rows } from './client.ts';

const folders = ['../../recordings/data', '../../fixtures/recordings'].map((folder) => join(import.meta.dirname, folder));
const largestMax = 60;
let service: Running;

const largest = folders
  .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((file) => join(folder, file)))
  .filter((file) => file.endsWith('.binpb'))
  .toSorted((one, other) => statSync(other).size - statSync(one).size)
  .slice(0, largestMax);

beforeAll(async () => {
  service = await running('store: { url: "memory:", content: all }\n');
  const start = Date.now() - 60_000;
  const huge = '漢字 "quotes" \u0001 '.repeat(20_000);
  const many = Array.from({ length: 500 }, (_, at) =>
    toolSpan({
      id: 10_001 + at,
      trace: 77,
      parent: 10_000,
      tool: `tool ${at}`,
      arguments: jsonText({ at, text: huge.slice(0, 2_000) }),
      start: start + at,
      end: start + at + 1,
      ...(at > 300 ? { status: 'error' as const, message: huge.slice(0, 5_000) } : { result: huge.slice(0, 2_000) }),
    }),
  );
  const bodies = [
    ...largest.map((file) => new Uint8Array(readFileSync(file))),
    new Uint8Array(writeTraces(largeRun(40), 'protobuf')),
    new Uint8Array(
      writeTraces([agentSpan({ id: 10_000, trace: 77, input: huge, output: huge, start, end: start + 900 }), ...many], 'protobuf'),
    ),
  ];
  for (const body of bodies) {
    const response = await fetch(`${service.otlp}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body,
    });
    if (response.status !== 200) throw new Error(`refused with ${response.status}`);
  }
  let before = -1;
  await eventually(
    async () => {
      const count = (await runs()).length;
      const isSettled = count === before && count >= largestMax / 2;
      before = count;
      return isSettled || undefined;
    },
    'all runs',
    { everyMs: 1_000, looksMax: 60 },
  );
});
afterAll(() => service.stop());

async function runs(): Promise<readonly JsonObject[]> {
  const all: JsonObject[] = [];
  let cursor: JsonValue = null;
  do {
    const response = await fetch(`${service.console}/api/v1/runs?limit=200${cursor === null ? '' : `&cursor=${String(cursor)}`}`);
    const page = (await response.json()) as { readonly runs: readonly JsonObject[]; readonly next: JsonValue };
    all.push(...page.runs);
    cursor = page.next;
  } while (cursor !== null);
  return all;
}

test('mcp: each part of each of the largest runs fits an answer, with the failures first', async () => {
  const { call } = await overHttp(service.console);
  const wrong: string[] = [];
  let failing = 0;
  for (const { trace_id: traceId = '', span_id: spanId = '', verdicts } of await runs()) {
    const key = { trace_id: traceId, span_id: spanId };
    const hasFailed = rows(verdicts).some(({ passed }) => passed === false);
    for (const part of ['overview', 'tool_calls', 'conversation', 'input', 'final_response', 'system_prompt']) {
      const { text, data, isError } = await call('get_run', { ...key, part });
      if (isError || Buffer.byteLength(text) > answerBytesMax) wrong.push(`${String(traceId)} ${part}`);
      if (part === 'overview' && hasFailed) {
        failing++;
        expect(Object.keys(data).slice(0, 2)).toEqual(['run', 'failed']);
        expect(rows(data['failed'])[0]).toHaveProperty('name');
      }
    }
  }
  expect(wrong).toEqual([]);
  expect(failing).toBeGreaterThan(0);
});

test('mcp: calls that failed late in a run are in its answer, and a long text is read part by part', async () => {
  const { call } = await overHttp(service.console);
  const run = (await runs()).find(({ trace_id: id }) => String(id).endsWith('4d')) ?? {};
  const key = { trace_id: run['trace_id'] ?? '', span_id: run['span_id'] ?? '' };
  const overview = await call('get_run', key);
  expect(rows(overview.data['failing_calls'])[0]).toMatchObject({ index: 301, name: 'tool 301' });
  expect(overview.notes).toContain('more calls');
  let [read, offset] = ['', 0];
  for (;;) {
    const { data, notes } = await call('get_run', { ...key, part: 'input', offset });
    read += String(data['text']);
    const more = /offset=(\d+)/.exec(notes)?.[1];
    if (more === undefined) break;
    offset = Number(more);
  }
  expect(read.length).toBeGreaterThan(100_000);
  expect(read.startsWith('漢字 "quotes"')).toBe(true);
});

test('mcp: lists of these runs fit an answer', async () => {
  const { call } = await overHttp(service.console);
  const lists = ['list_runs', 'list_issues', 'list_versions', 'list_evaluators'];
  const answers = await Promise.all(lists.map((tool) => call(tool)));
  expect(answers.filter(({ text, isError }) => isError || Buffer.byteLength(text) > answerBytesMax)).toEqual([]);
});
