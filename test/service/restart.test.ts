/** A whole process that is killed, or stopped, while a run is open: the next one goes on with it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write.ts';
import { agentSpan, modelSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { eventually, sample } from './running.ts';

interface Started {
  readonly process: ChildProcess;
  readonly otlp: string;
  readonly console: string;
}

const folder = mkdtempSync(join(tmpdir(), 'tracejury-restart-'));
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  rmSync(folder, { recursive: true, force: true });
});

async function started(): Promise<Started> {
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(file, `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nclosing: { settle: 10ms, quiet: 1s }\nstore: { url: "sqlite:${join(folder, 'store.db')}" }\njournal: { url: "disk:${join(folder, 'journal')}" }\nlimits: { journal_bytes: 256MiB }\n`);
  const child = spawn(process.execPath, [join(import.meta.dirname, '../../src/cli/main.ts'), 'serve', '-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await eventually(() => (/^Evaluators/m.test(said) ? true : child.exitCode === null ? undefined : Promise.reject(new Error(said))), 'the service is up');
  const address = (word: string): string => new RegExp(`^${word} +(http://\\S+)`, 'm').exec(said)?.[1] ?? '';
  return { process: child, otlp: address('OTLP'), console: address('Console') };
}

async function send({ otlp }: Started, spans: readonly Span[]): Promise<void> {
  const { status } = await fetch(`${otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' }, body: new Uint8Array(gzipSync(writeTraces(spans, 'protobuf'))) });
  expect(status).toBe(200);
}

async function runsOf({ console: page }: Started): Promise<readonly JsonObject[]> {
  const body = (await (await fetch(`${page}/api/v1/runs`)).json()) as JsonObject;
  return isJsonArray(body['runs'] ?? null) ? (body['runs'] as readonly JsonObject[]) : [];
}

async function ended({ process: child }: Started, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
  child.kill(signal);
  await once(child, 'exit');
}

const call = { id: 'c1', name: 'find', arguments: '{"x":1}' };
const begun = [modelSpan({ id: 2, parent: 1, start: 1, end: 2, user: 'where is it?', asks: [call] }), toolSpan({ id: 3, parent: 1, start: 3, end: 4, call: 'c1', tool: 'find', arguments: '{"x":1}', result: 'there' })];
const rest = [agentSpan({ id: 1, start: 0, end: 7, agent: 'finder', input: 'where is it?', output: 'there' })];

test('restart: a run that was open is scored by the next process, whole, whether the first was killed or stopped', async () => {
  const first = await started();
  await send(first, begun);
  await ended(first, 'SIGKILL');
  const second = await started();
  expect(await runsOf(second)).toEqual([]);
  await ended(second, 'SIGTERM');
  const third = await started();
  await send(third, rest);
  const [run] = await eventually(async () => ((await runsOf(third)).length > 0 ? await runsOf(third) : undefined), 'the run');
  expect(run).toMatchObject({ agent: 'finder', completeness: 'complete', revision: 1 });
  const whole = (await (await fetch(`${third.console}/api/v1/runs/${String(run?.['trace_id'])}/${String(run?.['span_id'])}`)).json()) as JsonObject;
  expect(isJsonArray(whole['tool_calls'] ?? null) && (whole['tool_calls'] as readonly JsonObject[]).map((one) => (isJsonObject(one) ? [one['name'], one['result']] : []))).toEqual([['find', 'there']]);

  // It is stored: nobody reads it again, and what has been told stays told.
  await eventually(async () => (sample(await (await fetch(`${third.console}/metrics`)).text(), 'tracejury_store_queue') === 0 ? true : undefined), 'everything stored');
  await ended(third, 'SIGTERM');
  const fourth = await started();
  expect(await runsOf(fourth)).toEqual([run]);
  expect(sample(await (await fetch(`${fourth.console}/metrics`)).text(), 'tracejury_journal_replayed_total') ?? 0).toBe(0);
}, 60_000);
