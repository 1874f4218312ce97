/** Evaluators of whole sessions: a replay gives the verdicts of the service that has judged them, or the reason why it cannot join a session. */
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { isJsonArray, isJsonObject, type JsonObject } from '../../../src/model/json.ts';
import type { Span } from '../../../src/model/span.ts';
import { writeTracesJson } from '../../../src/otlp/write/write.ts';
import { agentSpan, toolSpan } from '../../builders/gen-ai-spans.ts';
import { chatServer, says, type ChatServer } from '../../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually } from '../../service/running.ts';
import { allVerdicts, file, of, opened, reported, type Report, ended } from './harness.ts';

afterAll(ended);

let folder: ServiceFolder;
let judge: ChatServer;
afterEach(async () => {
  await folder.remove();
  await judge.close();
});

/** Two hours ago: the sessions are quiet, and the retention takes no turn. */
const base = Date.now() - 7_200_000;

/** A turn with a tool call, and what a sub-agent did for it in the same session. */
function turn(trace: number, session: string, texts: { readonly input: string; readonly output: string; readonly start?: number }) {
  const start = base + (texts.start ?? trace * 100);
  const { input, output } = texts;
  const attributes = { 'gen_ai.conversation.id': session };
  return [
    agentSpan({ id: 1, trace, start, end: start + 70, agent: 'desk', input, output, attributes }),
    toolSpan({ id: 2, parent: 1, trace, start: start + 10, end: start + 20, tool: 'find', arguments: '{}', result: `of ${trace}` }),
    agentSpan({
      id: 3,
      parent: 1,
      trace,
      start: start + 30,
      end: start + 40,
      agent: 'helper',
      input: 'help',
      output: 'helped',
      attributes,
    }),
  ] as readonly Span[];
}

/** A session is reached when the judge reads of a booking. */
async function booking(): Promise<ChatServer> {
  return await chatServer((response, request) => {
    const isBooked = request.body.messages.some(({ content }) => content.includes('It is booked.'));
    says(
      JSON.stringify({
        explanation: isBooked ? 'Booked.' : 'Lost.',
        unmet: isBooked ? [] : ['a room'],
        label: isBooked ? 'reached' : 'missed',
      }),
    )(response, request);
  });
}

const evaluators = (more = ''): string =>
  `evaluators: [ tool_error, { use: goal_reached, name: goal, judge: main, sample: { rate: 1 }${more} } ]`;
const judges = (): string =>
  `judges: { main: { base_url: "${judge.baseUrl}", model: m, cache: 0s, price: { input_per_million: 1, output_per_million: 1 } } }`;
const configOf = (path: string, plan: string, more = ''): string =>
  file(`${judges()}\n${plan}\nsessions: { quiet: 1s }\n${more}\nstore: { url: "sqlite:${path}" }`);

async function goals(service: ServiceProcess): Promise<readonly JsonObject[]> {
  return (await service.runs()).flatMap(({ verdicts = null }) =>
    isJsonArray(verdicts) ? verdicts.filter(isJsonObject).filter(({ name }) => name === 'goal') : [],
  );
}

/** A service that has judged two sessions of three turns and one; gives the path of its store. */
async function judged(): Promise<string> {
  folder = serviceFolder();
  judge = await booking();
  folder.configure(`${judges()}\nsessions: { quiet: 1s }\n${evaluators()}`);
  const service = await folder.start();
  const spans = [
    ...turn(1, 'alpha', { input: 'Book a room.', output: 'Where?' }),
    ...turn(2, 'beta', { input: 'A table.', output: 'None.' }),
    ...turn(3, 'alpha', { input: 'In Rome.', output: 'When?' }),
    ...turn(4, 'alpha', { input: 'Today.', output: 'It is booked.' }),
  ];
  expect(await service.send(spans)).toBe(200);
  await eventually(async () => ((await goals(service)).length === 2 ? true : undefined), 'two verdicts');
  await service.end('SIGTERM');
  return join(folder.path, 'store.db');
}

const changed = ({ verdicts }: Report['evaluators'][number]): object =>
  Object.fromEntries(Object.entries(verdicts).filter(([, count]) => count > 0));

const labels = ({ examples }: Report['evaluators'][number]): readonly string[] =>
  (examples['newly_scored'] ?? []).map(({ after }) => String((after as { readonly label?: unknown }).label)).toSorted();

test('replay of sessions: the same questions, and the verdicts of the service byte for byte', async () => {
  const path = await judged();
  const again = await reported('-c', configOf(path, evaluators()), '--anew', '--judges', 'ask', '--budget', '1');
  // The code of a block differs by request.
  const asked = judge.requests.map(({ body }) => JSON.stringify(body.messages).replaceAll(/[0-9a-f]{24}/g, 'code'));
  expect(asked.slice(2).toSorted()).toEqual(asked.slice(0, 2).toSorted());
  // `same`: the same text of the whole verdict.
  expect(changed(of(again, 'goal'))).toEqual({ same: 2 });
  const kept = await reported('-c', configOf(path, evaluators()), '--judges', 'skip');
  expect(changed(of(kept, 'goal'))).toEqual({ same: 2 });
  expect(of(kept, 'goal').unchanged_evaluator).toBe(2);
});

test('replay of sessions: a new evaluator judges each session once, at its last turn, by the condition on its first', async () => {
  const path = await judged();
  const plan = `evaluators: [ tool_error, { use: goal_reached, name: fresh, judge: main, sample: { rate: 1 } },
  { use: goal_reached, name: none, judge: main, sample: { rate: 1 }, when: { agent: other } } ]`;
  const report = await reported('-c', configOf(path, plan), '--judges', 'ask', '--budget', '1', '--anew');
  expect(changed(of(report, 'fresh'))).toEqual({ newly_scored: 2 });
  expect(labels(of(report, 'fresh'))).toEqual(['missed', 'reached']);
  expect(changed(of(report, 'none'))).toEqual({ unscored: 2 });
  expect(changed(of(report, 'goal'))).toEqual({ no_longer_scored: 2 });
  const written = await reported('-c', configOf(path, plan), '--judges', 'skip', '--anew', '--write');
  expect(written.notes).toContain('Not written, because they are verdicts on whole sessions: fresh, none.');
  expect((await allVerdicts(path)).flatMap(({ verdicts }) => verdicts.map(({ name }) => name))).not.toContain('fresh');
});

test('replay of sessions: a session with turns that cannot be read, or are deleted, is not asked about', async () => {
  const path = await judged();
  const prunes = async (limits: { readonly runsBefore?: number; readonly contentBefore?: number }): Promise<void> =>
    await opened(path, async (store) => {
      const nothing = { runsBefore: 0, contentBefore: 0, exportsBefore: 0, exportsMax: 1_000, bytesMax: Number.MAX_SAFE_INTEGER };
      await store.prune({ ...nothing, jobsBefore: 0, turnsBefore: Number.MAX_SAFE_INTEGER, stepRuns: 100, ...limits });
    });
  const starts = (await allVerdicts(path)).map(({ startedAt }) => startedAt);
  const afterFirst = Math.min(...starts) + 50_000;
  await prunes({ contentBefore: afterFirst });
  const expired = await reported('-c', configOf(path, evaluators()), '--anew', '--judges', 'skip');
  expect(of(expired, 'goal').not_asked).toEqual({ judges_skipped: 1, turn_expired: 1 });
  expect(expired.notes).toContain('turn_expired: of a turn of the session, the retention deleted its spans.');
  await prunes({ runsBefore: afterFirst });
  const deleted = await reported('-c', configOf(path, evaluators()), '--anew', '--judges', 'skip');
  expect(of(deleted, 'goal').not_asked).toEqual({ judges_skipped: 1, turns_deleted: 1 });
  expect(deleted.notes).toContain('turns_deleted: the store has deleted some of its turns.');
});

test('replay of sessions: files of spans hold sessions too', async () => {
  folder = serviceFolder();
  judge = await booking();
  const spans = [
    ...turn(1, 'alpha', { input: 'Book a room.', output: 'Where?' }),
    ...turn(2, 'alpha', { input: 'In Rome.', output: 'It is booked.' }),
    // A pause of more than sessions.keep begins another session.
    ...turn(3, 'alpha', { input: 'Another room.', output: 'No.', start: -10 * 86_400_000 }),
  ];
  const runs = file(writeTracesJson(spans), 'jsonl');
  const plan = file(`${judges()}\n${evaluators()}`);
  const report = await reported(runs, '-c', plan, '--judges', 'ask', '--budget', '1');
  expect(changed(of(report, 'goal'))).toEqual({ newly_scored: 2 });
  expect(labels(of(report, 'goal'))).toEqual(['missed', 'reached']);
  expect(judge.requests).toHaveLength(2);
});
