/** Spans that come after a restart for a run that the process before has scored. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, running, sample, type Running } from './running.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-reopening-'));
afterAll(() => rmSync(folder, { recursive: true }));
const open: Running[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.stop();
});

let folders = 0;
function configured(content: string): string {
  const own = join(folder, String(++folders));
  return `store: { url: "sqlite:${own}/runs.db", content: ${content} }\njournal: { url: "disk:${own}/journal" }\nlimits: { journal_bytes: 256MiB }\n`;
}

/** A stray closes only after `quiet`: long before that the store has been asked. */
async function started(yaml: string): Promise<Running> {
  const service = await running(yaml, { closing: 'settle: 5ms, quiet: 4s' });
  open.push(service);
  return service;
}

async function restarted(service: Running, yaml: string): Promise<Running> {
  await service.stop();
  open.length = 0;
  return await started(yaml);
}

async function post(service: Running, spans: readonly Span[]): Promise<void> {
  const { status } = await fetch(`${service.otlp}/v1/traces`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(writeTraces(spans, 'protobuf')),
  });
  expect(status).toBe(200);
}

const place = `${'1'.padStart(32, '0')}/${'1'.padStart(16, '0')}`;
const spans = [
  agentSpan({ id: 1, agent: 'finder', input: 'q', output: 'a', start: 0, end: 90 }),
  toolSpan({ id: 2, parent: 1, tool: 'find', arguments: {}, result: 'x', start: 1, end: 2 }),
];
const late = toolSpan({ id: 3, parent: 1, tool: 'book', arguments: {}, status: 'error', message: 'no', start: 3, end: 4 });

async function run(service: Running): Promise<JsonObject | undefined> {
  const answer = await fetch(`${service.console}/api/v1/runs/${place}`);
  return answer.status === 200 ? ((await answer.json()) as JsonObject) : undefined;
}

function whenStored(service: Running, is: (run: JsonObject) => boolean, what: string): Promise<JsonObject> {
  return eventually(async () => {
    const found = await run(service);
    return found !== undefined && is(found) ? found : undefined;
  }, what);
}

function toolErrorOf(found: JsonObject | undefined): unknown {
  const { score, revision } = (found?.['verdicts'] as readonly JsonObject[] | undefined)?.find(({ name }) => name === 'tool_error') ?? {};
  return [score, revision];
}

async function lookups(service: Running, outcome: string): Promise<number> {
  return sample(await service.metrics(), 'tracejury_store_lookups_total', { tracejury_outcome: outcome }) ?? 0;
}

test('reopening: late spans after a restart make the next revision; those that were read before make none', async () => {
  const yaml = configured('all');
  const first = await started(yaml);
  await post(first, spans);
  const before = await whenStored(first, (found) => found['spans_kept'] === 2, 'the run and its spans');
  expect([before['revision'], toolErrorOf(before)]).toEqual([1, [1, 1]]);

  // A span that an exporter sends again is a part of it already.
  const second = await restarted(first, yaml);
  await post(second, [spans[1] as Span]);
  await eventually(async () => ((await lookups(second, 'reopened')) === 1 ? true : undefined), 'the run is reopened');
  await post(second, [late]);
  const after = await whenStored(second, (found) => found['revision'] === 2, 'the second revision');
  expect([after['completeness'], (after['tool_calls'] as readonly JsonObject[]).map(({ name }) => name), toolErrorOf(after)]).toEqual([
    'complete',
    ['find', 'book'],
    [0.5, 2],
  ]);
  await whenStored(second, (found) => Number(found['spans_kept']) >= 3, 'the late span');

  // A third process has all three.
  const third = await restarted(second, yaml);
  await post(third, [toolSpan({ id: 4, parent: 1, tool: 'pay', arguments: {}, result: 'z', start: 5, end: 6 })]);
  const last = await whenStored(third, (found) => found['revision'] === 3, 'the third revision');
  expect((last['tool_calls'] as readonly JsonObject[]).map(({ name }) => name)).toEqual(['find', 'book', 'pay']);
});

for (const [name, yaml] of [
  ['whose spans are not kept', configured('none')],
  ['whose spans are redacted', `redact: [ { match: email } ]\n${configured('all')}`],
] as const) {
  test(`reopening: late spans of a run ${name} are counted, and leave it unchanged`, async () => {
    const first = await started(yaml);
    await post(first, spans);
    const before = await whenStored(first, () => true, 'the run');
    const second = await restarted(first, yaml);
    await post(second, [late]);
    await eventually(async () => ((await lookups(second, 'not_kept')) === 1 ? true : undefined), 'the store is asked');
    expect(sample(await second.metrics(), 'tracejury_spans_late_total', { tracejury_reason: 'not_kept' })).toBe(1);
    expect(sample(await second.metrics(), 'tracejury_open_traces')).toBe(0);
    expect([(await run(second))?.['revision'], toolErrorOf(await run(second))]).toEqual([1, toolErrorOf(before)]);
  });
}
