/** A whole process that is killed while runs wait for a judge: the next ones go on, every pair ends once, and nothing that is answered is asked again. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { chatServer, says, type ChatServer } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
let judge: ChatServer;
afterEach(async () => {
  await folder.remove();
  await judge.close();
});

const runs = 60;
const evaluators = ['first', 'second'] as const;

/** Each with a different input, by which the judge's log tells them apart. */
function spans(trace: number): readonly Span[] {
  return [
    agentSpan({ id: 1, trace, start: 0, end: 7, agent: 'finder', input: `where is number ${trace}?`, output: 'there' }),
    toolSpan({ id: 2, parent: 1, trace, start: 1, end: 2, tool: 'find', arguments: '{}', result: 'there' }),
  ];
}

/** Answers when the test lets it, some at a time; records the pairs that it was asked about. */
async function slowJudge() {
  const asked: string[] = [];
  let held: (() => void)[] = [];
  const answer = says('{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}');
  const server = await chatServer((response, request) => {
    const text = request.body.messages.map(({ content }) => content).join('\n');
    const pair = `${/number (\d+)\?/.exec(text)?.[1] ?? '?'} ${/task of the (\w+)/.exec(text)?.[1] ?? '?'}`;
    asked.push(pair);
    held.push(() => answer(response, request));
  });
  return {
    server,
    asked,
    /** The answers of closed connections are lost. */
    answer(count: number) {
      const some = held.slice(0, count);
      held = held.slice(count);
      for (const one of some) one();
    },
    waiting: () => held.length,
  };
}

async function decided(service: ServiceProcess, traces: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const all = new Map<string, readonly string[]>();
  for (const trace of traces) {
    const page = (await (await fetch(`${service.console}/api/v1/decisions/${trace}`)).json()) as JsonObject;
    const rows = isJsonArray(page['decisions'] ?? null) ? (page['decisions'] as readonly JsonObject[]) : [];
    all.set(
      trace,
      rows.filter(({ name }) => evaluators.some((one) => one === name)).map(({ name, decision }) => `${String(name)} ${String(decision)}`),
    );
  }
  return all;
}

test('judge jobs: a service killed twice while runs wait for a judge goes on with them, and every pair ends in one decision', async () => {
  folder = serviceFolder();
  const slow = await slowJudge();
  judge = slow.server;
  folder.configure(`judges: { main: { base_url: "${slow.server.baseUrl}", model: m, concurrency: 4 } }
evaluators:
  - tool_error
${evaluators.map((name) => `  - { use: task_completion, name: ${name}, judge: main, sample: { rate: 1 }, expect: { tasks: ["task of the ${name}"] } }`).join('\n')}`);
  const traces = Array.from({ length: runs }, (_, at) => (at + 1).toString(16).padStart(32, '0'));
  const pairs = runs * evaluators.length;

  let service = await folder.start();
  for (let trace = 1; trace <= runs; trace++) expect(await service.send(spans(trace))).toBe(200);
  /** Pairs whose verdict the store has. */
  const answered = new Set<string>();
  async function note(): Promise<number> {
    for (const [trace, rows] of await decided(service, traces))
      for (const row of rows) if (row.endsWith(' scored')) answered.add(`${Number.parseInt(trace, 16)} ${row.split(' ')[0]}`);
    return answered.size;
  }

  /** The answers at each kill, and the number of questions until then. */
  const kills: { readonly answered: ReadonlySet<string>; readonly asked: number }[] = [];
  for (const wanted of [20, 60]) {
    await eventually(async () => {
      slow.answer(3);
      return (await note()) >= wanted ? true : undefined;
    }, `${wanted} verdicts`);
    // Under way: the judge works on them when the process dies.
    await eventually(() => (slow.waiting() > 0 ? true : undefined), 'questions under way');
    kills.push({ answered: new Set(answered), asked: slow.asked.length });
    await service.end('SIGKILL');
    service = await folder.start();
    await eventually(() => (slow.asked.length > (kills.at(-1)?.asked ?? 0) ? true : undefined), 'questions of the next process');
  }
  await eventually(async () => {
    slow.answer(8);
    return (await note()) >= pairs ? true : undefined;
  }, 'every verdict');

  const ends = await decided(service, traces);
  expect([...ends.values()].every((rows) => rows.toSorted().join() === 'first scored,second scored')).toBe(true);
  await eventually(
    async () => (sample(await service.metrics(), 'tracejury_judge_jobs_waiting', { tracejury_judge: 'main' }) === 0 ? true : undefined),
    'an empty queue',
  );
  expect(new Set(slow.asked).size).toBe(pairs);
  // Asked again is what was under way when a process died, and nothing whose verdict was stored.
  for (const kill of kills) expect(slow.asked.slice(kill.asked).filter((pair) => kill.answered.has(pair))).toEqual([]);
  expect(slow.asked.length).toBeGreaterThan(pairs);
});

test('judge jobs: what waits for an evaluator that is not configured any more ends as filtered', async () => {
  folder = serviceFolder();
  const slow = await slowJudge();
  judge = slow.server;
  const entry = (name: string, tasks: string): string =>
    `  - { use: task_completion, name: ${name}, judge: main, sample: { rate: 1 }, expect: { tasks: ["${tasks}"] } }\n`;
  const configure = (entries: string): void =>
    folder.configure(
      `judges: { main: { base_url: "${slow.server.baseUrl}", model: m, concurrency: 1 } }\nevaluators:\n  - tool_error\n${entries}`,
    );
  configure(entry('first', 'task of the first') + entry('second', 'task of the second'));
  const first = await folder.start();
  expect(await first.send(spans(1))).toBe(200);
  await eventually(
    async () => (sample(await first.metrics(), 'tracejury_judge_jobs_waiting', { tracejury_judge: 'main' }) === 2 ? true : undefined),
    'both wait',
  );
  await first.end('SIGKILL');
  configure(entry('second', 'another task of the second'));
  const second = await folder.start();
  const trace = (1).toString(16).padStart(32, '0');
  await eventually(async () => ((await decided(second, [trace])).get(trace)?.length === 2 ? true : undefined), 'both decided');
  expect((await decided(second, [trace])).get(trace)?.toSorted()).toEqual(['first filtered', 'second filtered']);
});
