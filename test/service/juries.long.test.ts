/** A whole process whose evaluators have several judges: their verdicts in the API, and pairs that wait until enough judges are there. */
import { afterEach, expect, test } from 'vitest';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { agentSpan } from '../builders/gen-ai-spans.ts';
import { spanId } from '../builders/agent-trace.ts';
import { traceId } from '../builders/spans.ts';
import { chatServer, says, status, type ChatServer, type Play } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually, sample } from './running.ts';

let folder: ServiceFolder;
const servers: ChatServer[] = [];
afterEach(async () => {
  await folder.remove();
  for (const server of servers.splice(0)) await server.close();
});

async function judgeAt(...plays: readonly Play[]): Promise<ChatServer> {
  const server = await chatServer(...plays);
  servers.push(server);
  return server;
}

function word(label: string): Play {
  return says(JSON.stringify({ explanation: `I say ${label}.`, label }));
}

function spans(trace: number): readonly Span[] {
  return [agentSpan({ id: 1, trace, start: 0, end: 7, agent: 'finder', input: `where is number ${trace}?`, output: `there ${trace}` })];
}

function configured(judges: { readonly [name: string]: ChatServer }, entry: string): string {
  const lines = Object.entries(judges).map(
    ([name, { baseUrl }]) => `  ${name}: { base_url: "${baseUrl}", model: model-${name}, concurrency: 2, cache: 0s }`,
  );
  return `judges:\n${lines.join('\n')}\nevaluators:\n  - { use: custom_judge, name: tone, sample: { rate: 1 }, options: { template: "{{final_response}}", labels: { good: 1, bad: 0 } }, ${entry} }\n`;
}

async function json(service: ServiceProcess, path: string): Promise<JsonObject> {
  return (await (await fetch(`${service.console}/api/v1/${path}`)).json()) as JsonObject;
}

async function decisions(service: ServiceProcess, traces: number): Promise<readonly string[]> {
  const all: string[] = [];
  for (let trace = 1; trace <= traces; trace++) {
    const { decisions: rows = null } = await json(service, `decisions/${traceId(trace)}`);
    if (isJsonArray(rows)) all.push(...(rows as readonly JsonObject[]).map(({ decision }) => String(decision)));
  }
  return all;
}

test('juries: the API has each vote with its judge, and how far people agree with the jury under its name', async () => {
  folder = serviceFolder();
  folder.configure(
    configured(
      { a: await judgeAt(word('good')), b: await judgeAt(word('bad')), c: await judgeAt(word('bad')), last: await judgeAt(word('good')) },
      'judges: [ a, b, c ], escalate: { to: last }',
    ),
  );
  const service = await folder.start();
  expect(await service.send(spans(1))).toBe(200);
  await eventually(async () => ((await decisions(service, 1)).length === 1 ? true : undefined), 'a decision');
  const { verdicts } = await json(service, `runs/${traceId(1)}/${spanId(1)}`);
  expect(verdicts).toMatchObject([
    {
      name: 'tone',
      label: 'good',
      passed: true,
      explanation: 'I say good. (last decided, since 2 of 3 votes agreed.)',
      details: {
        model: 'model-a + model-b + model-c -> model-last',
        jury: {
          decided_by: 'escalation',
          agreeing: 2,
          ballots: [
            { judge: 'a', label: 'good' },
            { judge: 'b', label: 'bad' },
            { judge: 'c', label: 'bad' },
          ],
        },
      },
    },
  ]);
  const said = await fetch(`${service.console}/api/v1/annotations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ annotations: [{ trace_id: traceId(1), name: 'tone', by: 'ann', passed: false }] }),
  });
  expect(said.status).toBe(200);
  expect(await json(service, 'judges?from=1970-01-01T00:00:00Z')).toMatchObject({
    judges: [{ name: 'tone', evaluator: 'custom_judge', model: 'model-a + model-b + model-c -> model-last', missed: 1 }],
  });
  const page = await service.metrics();
  expect([
    sample(page, 'tracejury_jury_verdicts_total', { tracejury_outcome: 'escalated' }),
    sample(page, 'tracejury_jury_votes_total', { tracejury_judge: 'b', tracejury_outcome: 'differed' }),
  ]).toEqual([1, 1]);
});

test('juries: while too few judges answer, pairs wait in the store and no judge is asked about them; then they are scored', async () => {
  folder = serviceFolder();
  let isThere = false;
  const flaky: Play = (response, request) => (isThere ? word('good') : status(401))(response, request);
  const [up, ...down] = [await judgeAt(word('good')), await judgeAt(flaky), await judgeAt(flaky)];
  folder.configure(configured({ up, one: down[0] ?? up, two: down[1] ?? up }, 'judges: [ up, one, two ]'));
  const service = await folder.start();
  // Each of the two rests after ten failures in a row.
  const runs = 20;
  for (let trace = 1; trace <= runs; trace++) expect(await service.send(spans(trace))).toBe(200);
  await eventually(() => (down.every(({ requests }) => requests.length >= 10) ? true : undefined), 'both judges have failed ten times');
  await eventually(
    async () =>
      (sample(await service.metrics(), 'tracejury_judge_jobs_waiting', { tracejury_judge: 'jury:tone' }) ?? 0) > 0 ? true : undefined,
    'pairs wait',
  );
  isThere = true;
  const ends = await eventually(async () => {
    const now = await decisions(service, runs);
    return now.length === runs ? now : undefined;
  }, 'every decision');
  expect(new Set(ends)).toEqual(new Set(['failed', 'scored']));
  // A waiting pair is tried again when a judge is tried again, and not at every look.
  expect(up.requests.length).toBeLessThan(runs + 20);
});
