/** `tracejury replay` as a person runs it, over separate SQLite stores and files. */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Span } from '../../../src/model/span.ts';
import type { ReplayableStore } from '../../../src/model/store/replay-store.ts';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { chatServer, says, type ChatServer } from '../../judges/chat-server.ts';
import { configFrom, storeTraces, type StoredTrace } from '../../builders/stored-runs.ts';

let own: string | undefined;
const servers: ChatServer[] = [];

/** Holds the files of the tests until `ended`. */
export function folder(): string {
  own ??= mkdtempSync(join(tmpdir(), 'tracejury-replay-'));
  return own;
}

/** Every file of tests calls it at its end: the files of a process share this module. */
export async function ended(): Promise<void> {
  await Promise.all(servers.splice(0).map((server) => server.close()));
  if (own !== undefined) rmSync(own, { recursive: true });
  own = undefined;
}

export function file(content: string | Uint8Array, ending = 'yaml'): string {
  const path = join(folder(), `${randomUUID()}.${ending}`);
  writeFileSync(path, content);
  return path;
}

interface Told {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export async function replay(...words: readonly string[]): Promise<Told> {
  const [out, err]: [string[], string[]] = [[], []];
  const code = await runCommandLine({
    words: ['replay', ...words],
    commands,
    version: '',
    env: {},
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

interface EvaluatorReport {
  readonly name: string;
  readonly result: string;
  readonly before: { readonly point: number; readonly runs: number } | null;
  readonly after: { readonly point: number; readonly runs: number } | null;
  readonly difference: { readonly point: number; readonly p: number; readonly runs: number } | null;
  readonly verdicts: { readonly [word: string]: number };
  readonly no_longer_scored: object;
  readonly not_asked: object;
  readonly unchanged_evaluator: number;
  readonly examples: { readonly [word: string]: readonly { readonly trace_id: string; readonly before: object; readonly after: object }[] };
}

export interface Report {
  readonly code: number;
  readonly runs: number;
  readonly left_out: {
    readonly runs: number;
    readonly reasons: { readonly [reason: string]: { readonly runs: number; readonly examples: readonly string[] } };
  };
  readonly worse: boolean;
  readonly evaluators: readonly EvaluatorReport[];
  readonly spent_usd: number;
  readonly forecast: { readonly evaluators: readonly object[] } | null;
  readonly written: object | null;
  readonly notes: readonly string[];
}

export async function reported(...words: readonly string[]): Promise<Report> {
  const { code, out, err } = await replay(...words, '--format', 'json');
  expect(err).toBe('');
  return { code, ...(JSON.parse(out) as Omit<Report, 'code'>) };
}

export function of({ evaluators }: Report, name: string): EvaluatorReport {
  const found = evaluators.find((one) => one.name === name);
  if (found === undefined) throw new Error(`no result of ${name}`);
  return found;
}

/** Two tool calls. One fails on every third run, and one has no answer on every fourth. */
export function agentRun(nth: number, more: { readonly agent?: string; readonly session?: string } = {}): readonly Span[] {
  return [
    agentSpan({
      id: 1,
      trace: nth,
      start: nth * 10,
      end: nth * 10 + 9,
      agent: more.agent ?? 'support',
      input: `question ${nth}`,
      ...(nth % 4 === 0 ? {} : { output: `answer ${nth}` }),
      attributes: more.session === undefined ? {} : { 'gen_ai.conversation.id': more.session },
    }),
    toolSpan({ id: 2, trace: nth, parent: 1, start: nth * 10 + 1, tool: 'search', call: 'c1', arguments: '{"q":"a"}', result: 'found' }),
    toolSpan({
      id: 3,
      trace: nth,
      parent: 1,
      start: nth * 10 + 3,
      tool: 'fetch',
      call: 'c2',
      arguments: '{"id":1}',
      ...(nth % 3 === 0 ? { status: 'error' as const, message: 'timed out' } : { result: 'page' }),
    }),
  ];
}

export const lenient = '{ use: tool_error, threshold: 0.5 }';
export const strict = '{ use: tool_error, threshold: 1 }';

export const traces = (count: number): readonly StoredTrace[] => Array.from({ length: count }, (_, at) => ({ spans: agentRun(at + 1) }));

/** A store with runs that were scored under `evaluators`; gives its path. */
export async function stored(
  evaluators: string,
  given: readonly StoredTrace[],
  and?: (store: ReplayableStore) => Promise<void>,
): Promise<string> {
  const path = join(folder(), `${randomUUID()}.db`);
  const store = await sqliteStore(path, { inThread: false });
  await storeTraces(store, configFrom(`evaluators: [ ${evaluators} ]`), given);
  await and?.(store);
  await store.stop();
  return path;
}

export function config(path: string, evaluators: string, more = ''): string {
  return file(`evaluators: [ ${evaluators} ]\nstore: { url: "sqlite:${path}" }\n${more}`);
}

export async function opened<Result>(path: string, work: (store: ReplayableStore) => Promise<Result>): Promise<Result> {
  const store = await sqliteStore(path, { inThread: false });
  try {
    return await work(store);
  } finally {
    await store.stop();
  }
}

export const allVerdicts = (path: string, limit = 200) =>
  opened(path, async (store) => (await store.replays.page({ filter: {}, limit })).runs);

/** Judges that complete the task unless the question holds one of these words. */
export async function judging(...failing: readonly string[]): Promise<ChatServer> {
  const server = await chatServer((response, request) => {
    const told = request.body.messages.map(({ content }) => content).join(' ');
    const completed = !failing.some((word) => told.includes(word));
    says(JSON.stringify({ tasks: [{ number: 1, explanation: 'So.', completed }] }))(response, request);
  });
  servers.push(server);
  return server;
}

/** Kills a real process once its checkpoint has this many runs. */
export async function interrupted(path: string, named: string, runs: number, ...words: readonly string[]): Promise<void> {
  const main = join(import.meta.dirname, '../../../src/cli/main.ts');
  const child = spawn(process.execPath, [main, 'replay', '-c', named, '--write', '--rate', '150', ...words], { stdio: 'ignore' });
  const exited = once(child, 'exit');
  for (let at = 0; at < 600 && (checkpointsIn(path)[0]?.written ?? 0) < runs; at++) await sleep(50);
  child.kill('SIGKILL');
  await exited;
}

function checkpointsIn(path: string): readonly { readonly written: number }[] {
  const database = new DatabaseSync(path, { readOnly: true, timeout: 5_000 });
  try {
    return database.prepare('select written from replays').all() as unknown as readonly { readonly written: number }[];
  } finally {
    database.close();
  }
}
