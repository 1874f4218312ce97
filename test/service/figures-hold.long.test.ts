/** Thirty agents of a kind, over the wire, with a scripted judge: their figures hold what is true, or say that there is none. */
import { afterEach, expect, test } from 'vitest';
import { isJsonObject, type JsonObject, member } from '../../src/model/json.ts';
import { parseTraceId } from '../../src/model/ids.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { type Chance, seeded } from '../builders/seeded.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { eventually, running, type Running, sample } from './running.ts';

let service: Running;
const open: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).toReversed()) await close();
});

const agents = 30;
const completed = (isCompleted: boolean): string =>
  `{"tasks":[{"number":1,"explanation":"It says so.","completed":${String(isCompleted)}}]}`;
const [good, bad] = [says(completed(true)), says(completed(false))];

async function started(yaml: string): Promise<void> {
  const judge = await chatServer((response, request) => {
    const isGood = request.body.messages.some(({ content }) => content.includes('the parcel arrived'));
    (isGood ? good : bad)(response, request);
  });
  open.push(judge.close);
  service = await running(`judges: { main: { base_url: "${judge.baseUrl}", model: m, concurrency: 64 } }\n${yaml}`);
  open.push(service.stop);
  sent = 0;
}

interface RunStory {
  readonly agent: string;
  readonly version?: string;
  readonly session?: string;
  readonly task?: string;
  /** The verdict of the judge. */
  readonly isGood: boolean;
  /** A tool call of the run fails. */
  readonly isFlagged: boolean;
}

let sent = 0;
const tracesOfRequest = 500;

async function send(stories: readonly RunStory[], chance: Chance): Promise<void> {
  for (let from = 0; from < stories.length; from += tracesOfRequest) {
    const spans = stories.slice(from, from + tracesOfRequest).flatMap((story) => spansOf(story, chance));
    const answer = await fetch(`${service.otlp}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-protobuf' },
      body: writeTraces(spans, 'protobuf'),
    });
    expect(answer.status).toBe(200);
  }
  sent += stories.length;
  await eventually(
    async () => {
      const page = await service.metrics();
      const waiting = sample(page, 'tracejury_judge_jobs_waiting', { tracejury_judge: 'main' }) ?? 0;
      return waiting === 0 && (await runsOf()) === sent ? true : undefined;
    },
    'every run, and every verdict of the judge',
    { everyMs: 100, looksMax: 1_200 },
  );
}

function spansOf({ agent, version, session, task, isGood, isFlagged }: RunStory, chance: Chance): readonly Span[] {
  // The random bits of a trace id decide whether it is drawn.
  const hex = Array.from({ length: 4 }, () =>
    chance
      .below(2 ** 32)
      .toString(16)
      .padStart(8, '0'),
  ).join('');
  const traceId = parseTraceId(hex);
  if (traceId === undefined) throw new Error(`${hex} is not a trace id`);
  const start = Date.now() - 60_000;
  const resource = { 'service.name': 'shop', ...(version === undefined ? {} : { 'service.version': version }) };
  const attributes = {
    ...(session === undefined ? {} : { 'gen_ai.conversation.id': session }),
    ...(task === undefined ? {} : { 'task.name': task }),
  };
  const output = isGood ? 'the parcel arrived' : 'nobody knows';
  return [
    agentSpan({ id: 1, agent, input: 'Where is it?', output, start, end: start + 100, resource, attributes }),
    toolSpan({
      id: 2,
      parent: 1,
      start: start + 1,
      end: start + 2,
      tool: 'track',
      resource,
      ...(isFlagged ? { status: 'error', message: 'down' } : { result: 'ok' }),
    }),
  ].map((span) => ({ ...span, traceId }));
}

async function api(path: string): Promise<JsonObject> {
  return (await (await fetch(`${service.console}/api/v1${path}`)).json()) as JsonObject;
}

async function runsOf(): Promise<number> {
  const { agents: rows } = await api('/overview');
  return listed(rows).reduce((sum, { runs }) => sum + Number(runs), 0);
}

function listed(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

const each = <Item>(count: number, make: (at: number) => Item): readonly Item[] => Array.from({ length: count }, (_, at) => make(at));
const ofAgents = <Item>(make: (agent: string) => readonly Item[]): readonly Item[] => each(agents, (at) => make(`agent-${at}`)).flat();

const judgedSample = `evaluators:
  - tool_error
  - { use: task_completion, name: done, judge: main, expect: { tasks: [ find it ] }, sample: { rate: 0.02, raise: [ { when: "tool_error < 1", to: 1.0 } ] } }
`;

/** A tenth is flagged, half of it good; of the others 90 % are good. */
function sampledRun(chance: Chance, agent: string, more: Partial<RunStory> = {}): RunStory {
  const isFlagged = chance.share() < 0.1;
  return { agent, isFlagged, isGood: chance.share() < (isFlagged ? 0.5 : 0.9), ...more };
}
const truth = 0.1 * 0.5 + 0.9 * 0.9;

test('figures: rates of a small sample whose flagged runs are all judged hold the truth, or there is none', async () => {
  await started(judgedSample);
  const chance = seeded(1);
  await send(
    ofAgents((agent) => each(400, () => sampledRun(chance, agent))),
    chance,
  );
  const told = await Promise.all(
    each(agents, async (at) => {
      const { rates } = await api(`/rates?evaluator=done&agent=agent-${at}`);
      return member(listed(rates)[0] ?? {}, 'rate') as JsonObject;
    }),
  );
  const estimable = told.filter(({ point }) => point !== null);
  const held = estimable.filter(({ low, high }) => Number(low) <= truth && truth <= Number(high));
  expect(estimable.length).toBeGreaterThan(agents / 2);
  // Among 30 at 95 %, two or three may miss it.
  expect(held.length).toBeGreaterThanOrEqual(estimable.length - 4);
}, 300_000);

/** The words of each agent's comparison of its two versions. */
async function wordsOf(evaluator: string): Promise<readonly string[]> {
  return await Promise.all(
    each(agents, async (at) => {
      const { comparison = null } = await api(`/versions?agent=agent-${at}&version=2&against=1`);
      const evaluators = isJsonObject(comparison) ? listed(comparison['evaluators']) : [];
      return String(evaluators.find(({ name }) => name === evaluator)?.['word']);
    }),
  );
}

test('figures: two equal versions of a small sample do not differ, at any of several looks', async () => {
  await started(judgedSample);
  const chance = seeded(2);
  await send(
    ofAgents((agent) => each(150, () => sampledRun(chance, agent, { version: '1' }))),
    chance,
  );
  for (let look = 0; look < 4; look++) {
    await send(
      ofAgents((agent) => each(40, () => sampledRun(chance, agent, { version: '2' }))),
      chance,
    );
    expect(new Set(await wordsOf('done'))).toEqual(new Set(['no_difference_shown']));
  }
}, 300_000);

test('figures: sessions of twenty like runs make no difference of versions, no change, and no alert', async () => {
  await started(`evaluators: [ tool_error ]
alerts: [ { name: low, when: tool_error.rate < 0.8 over 1h } ]
`);
  const chance = seeded(3);
  await send(
    ofAgents((agent) =>
      each(2 * 20, (session) => {
        const isBad = chance.share() < 0.2;
        // Half of the runs do as their session does.
        return each(20, () => ({
          agent,
          version: session % 2 === 0 ? '1' : '2',
          session: `${agent}-${session}`,
          isGood: true,
          isFlagged: chance.share() < 0.5 ? isBad : chance.share() < 0.2,
        }));
      }).flat(),
    ),
    chance,
  );
  expect(new Set(await wordsOf('tool_error'))).toEqual(new Set(['no_difference_shown']));
  const { alerts } = await eventually(
    async () => {
      const answer = await api('/alerts');
      return listed(answer['alerts']).length === agents ? answer : undefined;
    },
    'a look at every agent',
    { everyMs: 500, looksMax: 300 },
  );
  expect(new Set(listed(alerts).map(({ state }) => state))).toEqual(new Set(['ok']));
}, 300_000);

test('figures: a task of only one version is left out, and the one of both is compared', async () => {
  await started('evaluators: [ tool_error ]\ngroups: { task_key: attributes.task.name }\n');
  const chance = seeded(4);
  const runs = (agent: string, version: string, task: string, failed: number): readonly RunStory[] =>
    each(100, () => ({ agent, version, task, isGood: true, isFlagged: chance.share() < failed }));
  await send(
    ofAgents((agent) => [
      ...runs(agent, '1', 'book', 0.1),
      ...runs(agent, '1', 'easy', 0),
      ...runs(agent, '2', 'book', 0.1),
      ...runs(agent, '2', 'hard', 0.6),
    ]),
    chance,
  );
  expect(new Set(await wordsOf('tool_error'))).toEqual(new Set(['no_difference_shown']));
}, 300_000);
