/** Shared parts of trials with replicas: a backend that counts scores, a judge that counts questions, and runs to send. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import type { ServiceProcess } from './process.ts';
import { eventually } from './running.ts';

export const patience = { everyMs: 100, looksMax: 3_000 } as const;
/** Each verdict at its span and at its trace, and that of the tool call at the span of the tool. A process under stress asks no judge about a run. */
export function scoresOf({ runs, judged: questions }: { readonly runs: number; readonly judged: number }): number {
  return 3 * runs + 2 * questions;
}

/** A backend that takes annotations, or nothing while it is down. */
export async function backend() {
  const state = { isDown: false };
  const taken: string[] = [];
  const server = createServer((request, response) => {
    void request.toArray().then((pieces: readonly Buffer[]) => {
      const { data } = JSON.parse(Buffer.concat(pieces).toString() || '{}') as { readonly data?: readonly JsonObject[] };
      if (!state.isDown)
        for (const { span_id: span, trace_id: trace, name } of data ?? []) taken.push(`${String(span ?? trace)} ${String(name)}`);
      response.writeHead(state.isDown ? 503 : 200, { 'content-type': 'application/json' }).end('{"data":[]}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { state, taken, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** A judge that answers at once, or, while it is held, when it is let go. `usage`: as the protocol has it. */
export async function judge({ usage }: { readonly usage?: object } = {}) {
  const held = new Set<() => void>();
  const state = { isHeld: false };
  const [asked, answered]: [string[], string[]] = [[], []];
  const answer = says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}', {}, usage);
  const server = await chatServer((response, request) => {
    const number = /number (\d+)\?/.exec(request.body.messages.map(({ content }) => content).join('\n'))?.[1] ?? '?';
    asked.push(number);
    const reply = (): void => {
      answered.push(number);
      answer(response, request);
    };
    if (!state.isHeld) return reply();
    held.add(reply);
    response.on('close', () => held.delete(reply));
  });
  onTestFinished(() => server.close());
  return {
    state,
    asked,
    answered,
    /** Questions that wait; without those whose asker is gone. */
    held: () => held.size,
    url: server.baseUrl,
    letGo() {
      state.isHeld = false;
      for (const reply of held) reply();
    },
  };
}

export function spans(trace: number): readonly Span[] {
  const id = trace * 2;
  // Retention keeps young runs.
  const start = Math.floor(performance.timeOrigin);
  return [
    agentSpan({ id, trace, start, end: start + 7, agent: 'finder', input: `where is number ${trace}?`, output: 'there' }),
    toolSpan({ id: id + 1, parent: id, trace, start: start + 1, end: start + 2, tool: 'find', arguments: '{}', result: 'there' }),
  ];
}

export async function listed(service: ServiceProcess, path: string): Promise<readonly JsonObject[]> {
  const page = (await (await fetch(`${service.console}/api/v1/${path}`)).json()) as JsonObject;
  const rows = page[path.split('?')[0] ?? ''] ?? null;
  return isJsonArray(rows) ? (rows as readonly JsonObject[]) : [];
}

async function judged(service: ServiceProcess): Promise<number> {
  const runs = await service.runs();
  return runs.filter(({ verdicts }) => isJsonArray(verdicts ?? null) && JSON.stringify(verdicts).includes('"name":"judged"')).length;
}

/** A configuration with both, and one evaluator that asks. */
export function trialYaml(
  target: { readonly url: string },
  main: { readonly url: string },
  judgeKeys = 'concurrency: 4, timeout: 10m',
): string {
  return `judges: { main: { base_url: "${main.url}", model: m, ${judgeKeys} } }
export: [ { to: phoenix, endpoint: "${target.url}" } ]
evaluators:
  - tool_error
  - { use: task_completion, name: judged, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } }`;
}

/** Resolves with the runs that a judge has judged, once all runs are stored and no judge is to be asked any more. */
export async function allJudged(service: ServiceProcess, store: string, runs: number): Promise<number> {
  const client = new pg.Client({ connectionString: store });
  await client.connect();
  try {
    await eventually(
      async () => ((await service.runs()).length === runs && (await openJobs(client)) === 0 ? true : undefined),
      'the end of every question',
      patience,
    );
    return await judged(service);
  } finally {
    await client.end();
  }
}

export async function openJobs(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ readonly jobs: number }>('select count(*)::int as jobs from tracejury.judge_jobs');
  return rows[0]?.jobs ?? 0;
}
