/** Whole processes on one PostgreSQL, of which one is killed: the other one does its tasks and what it had to do, and nothing comes twice. */
import { createServer } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { sharedTasks } from '../../src/service/replicas.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { emptyPostgres } from '../builders/postgres.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceProcess } from './process.ts';
import { eventually } from './running.ts';

const patience = { everyMs: 100, looksMax: 900 } as const;
const runsOfEach = 20;
/** Each verdict at its span and at its trace, and that of the tool call at the span of the tool. */
const scoresOfRun = 5;

/** A backend that takes annotations, or nothing while it is down. */
async function backend() {
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

/** A judge that answers at once, or not at all. */
async function judge() {
  const state = { isHeld: false };
  const answered: string[] = [];
  const answer = says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}');
  const server = await chatServer((response, request) => {
    if (state.isHeld) return;
    answered.push(/number (\d+)\?/.exec(request.body.messages.map(({ content }) => content).join('\n'))?.[1] ?? '?');
    answer(response, request);
  });
  onTestFinished(() => server.close());
  return { state, answered, url: server.baseUrl };
}

function spans(trace: number): readonly Span[] {
  const id = trace * 2;
  // Retention leaves young runs alone.
  const start = Math.floor(performance.timeOrigin);
  return [
    agentSpan({ id, trace, start, end: start + 7, agent: 'finder', input: `where is number ${trace}?`, output: 'there' }),
    toolSpan({ id: id + 1, parent: id, trace, start: start + 1, end: start + 2, tool: 'find', arguments: '{}', result: 'there' }),
  ];
}

async function listed(service: ServiceProcess, path: string): Promise<readonly JsonObject[]> {
  const page = (await (await fetch(`${service.console}/api/v1/${path}`)).json()) as JsonObject;
  const rows = page[path.split('?')[0] ?? ''] ?? null;
  return isJsonArray(rows) ? (rows as readonly JsonObject[]) : [];
}

async function judged(service: ServiceProcess): Promise<number> {
  const runs = await service.runs();
  return runs.filter(({ verdicts }) => isJsonArray(verdicts ?? null) && JSON.stringify(verdicts).includes('"name":"judged"')).length;
}

test('replicas: a killed process loses nothing, and the other one goes on with all that it had to do', { timeout: 400_000 }, async () => {
  const [store, target, main] = [await emptyPostgres(), await backend(), await judge()];
  const yaml = `judges: { main: { base_url: "${main.url}", model: m, concurrency: 4 } }
export: [ { to: phoenix, endpoint: "${target.url}" } ]
evaluators:
  - tool_error
  - { use: task_completion, name: judged, judge: main, sample: { rate: 1 }, expect: { tasks: ["find it"] } }`;
  const start = async (): Promise<ServiceProcess> => {
    const folder = serviceFolder({ store });
    onTestFinished(() => folder.remove());
    folder.configure(yaml);
    return await folder.start();
  };
  const [first, second] = [await start(), await start()];
  let last = 0;
  const sendToBoth = async (): Promise<void> => {
    for (let count = 0; count < runsOfEach; count++)
      for (const service of [first, second]) expect(await service.send(spans(++last))).toBe(200);
  };
  const taken = (): number => new Set(target.taken).size;

  await sendToBoth();
  await eventually(() => (taken() === scoresOfRun * last ? true : undefined), 'all scores of both at the backend', patience);
  expect([target.taken.length, new Set(main.answered).size, main.answered.length]).toEqual([scoresOfRun * last, last, last]);
  for (const service of [first, second]) expect((await service.runs()).length).toBe(last);
  expect((await listed(second, 'replicas')).map(({ own, tasks }) => [own, isJsonArray(tasks ?? null) && (tasks as []).length])).toEqual([
    [false, sharedTasks.length],
    [true, 0],
  ]);

  target.state.isDown = true;
  main.state.isHeld = true;
  await sendToBoth();
  // A run that is stored goes on without the process that scored it.
  await eventually(async () => ((await second.runs()).length === last ? true : undefined), 'all runs in the store', patience);
  await first.end('SIGKILL');
  target.state.isDown = false;
  main.state.isHeld = false;
  await eventually(() => (taken() === scoresOfRun * last ? true : undefined), 'the scores of the killed process as well', patience);
  expect(target.taken.length).toBe(scoresOfRun * last);
  await eventually(async () => ((await judged(second)) === last ? true : undefined), 'every verdict in the store', patience);
  expect(main.answered.length).toBe(last);
  expect(
    await eventually(
      async () => {
        const tasks = (await listed(second, 'replicas')).find((one) => one['own'] === true)?.['tasks'] ?? null;
        return isJsonArray(tasks) && tasks.length > 0 ? tasks : undefined;
      },
      'the tasks of the killed process',
      patience,
    ),
  ).toEqual([...sharedTasks]);
  expect((await listed(second, 'notices')).map(({ code }) => code)).toContain('replica_silent');
});
