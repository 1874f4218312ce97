/** Sessions that are judged as a whole, in whole services: across kills, again after a later turn, and in reports. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { chatServer, says, type ChatServer } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, running, sample, sendAgentRun } from './running.ts';

let folder: ServiceFolder;
let judge: ChatServer;
afterEach(async () => {
  await folder.remove();
  await judge.close();
});

/** A turn, and what a sub-agent did for it in the same session. */
function turn(trace: number, session: string, input: string, output: string): readonly Span[] {
  const attributes = { 'gen_ai.conversation.id': session };
  return [
    agentSpan({ id: 1, trace, start: trace * 10, end: trace * 10 + 7, agent: 'desk', input, output, attributes }),
    toolSpan({
      id: 2,
      parent: 1,
      trace,
      start: trace * 10 + 1,
      end: trace * 10 + 2,
      tool: 'find',
      arguments: '{}',
      result: `result of ${trace}`,
    }),
    agentSpan({
      id: 3,
      parent: 1,
      trace,
      start: trace * 10 + 3,
      end: trace * 10 + 4,
      agent: 'helper',
      input: 'help',
      output: 'helped',
      attributes,
    }),
  ];
}

const traceOf = (trace: number): string => trace.toString(16).padStart(32, '0');

async function get(service: ServiceProcess, path: string): Promise<JsonObject> {
  const body = (await (await fetch(`${service.console}/api/v1${path}`)).json()) as JsonValue;
  return isJsonObject(body) ? body : {};
}

function listOf(body: JsonObject, key: string): readonly JsonObject[] {
  const list = member(body, key);
  return isJsonArray(list) ? list.filter(isJsonObject) : [];
}

/** The revision of the session and the score, by the turn that has them. */
async function verdicts(service: ServiceProcess): Promise<readonly string[]> {
  return (await service.runs())
    .flatMap((run) =>
      listOf(run, 'verdicts')
        .filter(({ name }) => name === 'goal')
        .map(({ score, label }) => `${Number.parseInt(String(run['trace_id']), 16)} ${String(score)} ${String(label)}`),
    )
    .toSorted();
}

const shownTo = (nth: number): string => judge.requests[nth]?.body.messages.map(({ content }) => content).join('\n') ?? '';

function configure(quiet: string): void {
  folder.configure(`judges: { main: { base_url: "${judge.baseUrl}", model: m, cache: 0s, price: { input_per_million: 1, output_per_million: 1 }, budget: { usd_per_day: 1000 } } }
sessions: { quiet: ${quiet}, latest: 1d }
evaluators: [ tool_error, { use: goal_reached, name: goal, judge: main, sample: { rate: 1 } } ]`);
}

test('sessions: turns of before and after a kill are judged together, once, when nothing more comes; a later turn has the session judged again', async () => {
  folder = serviceFolder({ content: 'none' });
  judge = await chatServer(
    says('{"explanation":"It was booked.","unmet":[],"label":"reached"}'),
    says('{"explanation":"It was lost.","unmet":["the room"],"label":"missed"}'),
  );
  configure('1h');
  const first = await folder.start();
  expect(await first.send(turn(1, 'alpha', 'Book a room.', 'Where?'))).toBe(200);
  await eventually(
    async () => (sample(await first.metrics(), 'tracejury_judge_sessions_waiting') === 1 ? true : undefined),
    'the first turn',
  );
  await first.end('SIGKILL');

  const second = await folder.start();
  expect(await second.send(turn(2, 'alpha', 'In Rome.', 'It is booked.'))).toBe(200);
  expect(await second.send([agentSpan({ id: 9, trace: 3, start: 1, end: 2, agent: 'alone', input: 'hello', output: 'hi' })])).toBe(200);
  await eventually(async () => ((await second.runs()).length === 5 ? true : undefined), 'the second turn');
  configure('1s');
  second.hangUp();
  expect(await eventually(async () => ((await verdicts(second)).length > 0 ? verdicts(second) : undefined), 'a verdict')).toEqual([
    '2 1 reached',
  ]);
  // Neither what belongs to no session nor what a sub-agent did was put before the judge.
  expect(judge.requests).toHaveLength(1);
  for (const text of [
    'user said: Book a room.',
    'assistant said: Where?',
    'user said: In Rome.',
    'result of 1',
    'result of 2',
    'assistant said: It is booked.',
  ])
    expect(shownTo(0)).toContain(text);
  for (const text of ['hello', 'helped']) expect(shownTo(0)).not.toContain(text);
  const verdict = listOf(await get(second, `/runs/${traceOf(2)}/0000000000000001`), 'verdicts').find(({ name }) => name === 'goal');
  expect(verdict).toMatchObject({
    label: 'reached',
    sample_probability: 1,
    details: { judge_requests: 1, session: { turns: 2, left_out: 0 } },
    judge_trace: { trace_id: expect.any(String) as string },
  });
  await second.end('SIGKILL');

  const third = await folder.start();
  expect(await third.send(turn(4, 'alpha', 'Still there?', 'No.'))).toBe(200);
  expect(
    await eventually(async () => ((await verdicts(third)).includes('4 0 missed') ? verdicts(third) : undefined), 'another verdict'),
  ).toEqual(['4 0 missed']);
  expect(shownTo(1)).toContain('user said: Book a room.');
  expect(judge.requests).toHaveLength(2);
  expect(
    (await Promise.all([1, 2, 4].map((trace) => get(third, `/decisions/${traceOf(trace)}`)))).map((body) =>
      listOf(body, 'decisions')
        .filter(({ name }) => name === 'goal')
        .map(({ decision }) => decision),
    ),
  ).toEqual([[], [], ['scored']]);
  const [rate] = listOf(await get(third, '/rates?evaluator=goal&from=1970-01-01T00:00:00Z'), 'rates').filter(({ agent }) => agent === null);
  expect(rate).toMatchObject({ name: 'goal', uncovered: 0, balance: 1 });
});

test('sessions: those that are not chosen are passed over once, through all their turns', async () => {
  folder = serviceFolder();
  judge = await chatServer(says('{"explanation":"It was booked.","unmet":[],"label":"reached"}'));
  folder.configure(`judges: { main: { base_url: "${judge.baseUrl}", model: m } }
sessions: { quiet: 1s }
evaluators:
  - { use: goal_reached, name: never, judge: main, sample: { rate: 0 } }
  - { use: goal_reached, name: goal, judge: main, when: { agent: desk }, sample: { rate: 1 } }`);
  const service = await folder.start();
  expect(await service.send([...turn(1, 'alpha', 'Book.', 'Where?'), ...turn(2, 'alpha', 'Rome.', 'Booked.')])).toBe(200);
  await eventually(async () => ((await verdicts(service)).join() === '2 1 reached' ? true : undefined), 'a verdict');
  const decisions = (await Promise.all([1, 2].map((trace) => get(service, `/decisions/${traceOf(trace)}`)))).flatMap((body) =>
    listOf(body, 'decisions').map(({ name, decision }) => `${String(name)} ${String(decision)}`),
  );
  expect(decisions.toSorted()).toEqual(['goal scored', 'never sampled_out']);
});

test('sessions: a store in memory gathers turns as well, and judges what belongs to no session at once', async () => {
  folder = serviceFolder();
  judge = await chatServer((response, request) => {
    const isSession = request.body.messages.some(({ content }) => content.includes('have talked with one another'));
    return says(
      isSession
        ? '{"explanation":"It was booked.","unmet":[],"label":"reached"}'
        : '{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}',
    )(response, request);
  });
  const service = await running(`judges: { main: { base_url: "${judge.baseUrl}", model: m } }
sessions: { quiet: 1s }
evaluators: [ { use: goal_reached, name: goal, judge: main, sample: { rate: 1 } }, { use: task_completion, name: done, judge: main, sample: { rate: 1 } } ]
`);
  try {
    for (const input of ['Book.', 'Rome.']) await sendAgentRun(service.otlp, { input });
    await eventually(
      async () =>
        sample(await service.metrics(), 'tracejury_evaluation_results_total', {
          gen_ai_evaluation_name: 'goal',
          gen_ai_evaluation_score_label: 'reached',
        }) === 1
          ? true
          : undefined,
      'a verdict on the session',
    );
    expect(sample(await service.metrics(), 'tracejury_evaluation_results_total', { gen_ai_evaluation_name: 'done' })).toBe(2);
    expect(sample(await service.metrics(), 'tracejury_judge_sessions_total', { tracejury_outcome: 'judged' })).toBe(1);
  } finally {
    await service.stop();
  }
});
