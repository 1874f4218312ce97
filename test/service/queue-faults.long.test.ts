/** Queues of a whole process that is killed while rules fill them and people answer. */
import { afterEach, expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { agentSpan, toolSpan } from '../builders/gen-ai-spans.ts';
import { seeded } from '../builders/seeded.ts';
import { traceId } from '../builders/spans.ts';
import { chatServer, says } from '../judges/chat-server.ts';
import { serviceFolder, type ServiceFolder, type ServiceProcess } from './process.ts';
import { eventually } from './running.ts';

/** Kills in the test under load; more by hand. */
const kills = Number(process.env['TRACEJURY_KILL_TRIALS'] ?? '3');

const folders: ServiceFolder[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await folder.remove();
});

function configured(yaml: string): ServiceFolder {
  const folder = serviceFolder();
  folders.push(folder);
  folder.configure(yaml);
  return folder;
}

const queue = (more = ''): string =>
  `evaluators: [ tool_error ]\nqueues: [ { name: errors, when: "tool_error < 1", ask: [ { evaluator: tool_error } ], people: 2, blind: false${more} } ]`;

/** A run whose only tool fails. */
const offer = (service: ServiceProcess, trace: number): Promise<number | undefined> =>
  service.send([
    agentSpan({ id: 1, trace, start: 0, end: 7, agent: `agent ${trace % 5}`, input: `order ${trace}`, output: 'there' }),
    toolSpan({ id: 2, parent: 1, trace, start: 1, end: 2, tool: 'find', status: 'error' }),
  ]);

/** Starts in quick succession fill a small journal, which refuses requests until old ones are moved up. */
const send = (service: ServiceProcess, trace: number): Promise<true> =>
  eventually(async () => ((await offer(service, trace)) === 200 ? true : undefined), 'a request is taken', { everyMs: 50, looksMax: 600 });

interface Item {
  readonly id: number;
  readonly trace_id: string;
  readonly span_id: string;
  readonly state: string;
  readonly lease: { readonly id: number; readonly person: string } | null;
  readonly responses: readonly { readonly person: string; readonly kind: string }[];
}

/** `undefined` without an answer. */
async function post(service: ServiceProcess, path: string, body: JsonObject): Promise<{ status: number; body: JsonObject } | undefined> {
  try {
    const response = await fetch(`${service.console}/api/v1/queues/errors/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  } catch {
    return undefined;
  }
}

async function next(service: ServiceProcess, person: string): Promise<Item | undefined> {
  return ((await post(service, 'next', { person }))?.body['item'] ?? undefined) as Item | undefined;
}

const answer = (service: ServiceProcess, person: string, { id, lease }: Pick<Item, 'id' | 'lease'>) =>
  post(service, 'answers', { person, item: id, lease: lease?.id ?? 0, answers: [{ name: 'tool_error', value: 'fail' }] });

async function items(service: ServiceProcess): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (let cursor = ''; ;) {
    const page = (await (await fetch(`${service.console}/api/v1/queues/errors/items?limit=200&person=ann${cursor}`)).json()) as {
      readonly items: readonly Item[];
      readonly next: string | null;
    };
    found.push(...page.items);
    if (page.next === null) return found;
    cursor = `&cursor=${page.next}`;
  }
}

/** Items may be of other traces too: a request whose answer was lost may have been accepted. */
const all = (service: ServiceProcess, traces: readonly string[]): Promise<readonly Item[]> =>
  eventually(async () => {
    const found = await items(service);
    const entered = new Set(found.map((item) => item.trace_id));
    return traces.every((trace) => entered.has(trace)) ? found : undefined;
  }, `the items of ${traces.length} traces`);

test('queues: a run that is stored enters its queue, however early after that the process is killed', async () => {
  const folder = configured(`${queue()}`);
  let service = await folder.start();
  const traces: string[] = [];
  for (let kill = 0; kill <= kills; kill++) {
    const own = [1, 2, 3].map((one) => kill * 3 + one);
    for (const trace of own) await send(service, trace);
    traces.push(...own.map(traceId));
    await eventually(async () => ((await service.runs()).length === traces.length ? true : undefined), 'the runs', {
      everyMs: 20,
      looksMax: 1_500,
    });
    await service.end('SIGKILL');
    service = await folder.start();
  }
  expect((await all(service, traces)).map((item) => item.trace_id).toSorted()).toEqual(traces.toSorted());
});

test(
  'queues: killed at any moment, no run and no answer is lost, and no person answers more than asked',
  async () => {
    const folder = configured(`${queue()}`);
    const chance = seeded(1);
    let service = await folder.start();
    let sent = 0;
    const traces: string[] = [];
    /** Answers that were acknowledged: person and item. */
    const taken: string[] = [];
    /** The answer that each person was about to send when the process died. */
    const held = new Map<string, Item>();
    for (let kill = 0; kill < kills; kill++) {
      const isOver = new AbortController();
      const sender = async (): Promise<void> => {
        for (let run = 0; run < 40 && !isOver.signal.aborted; run++) {
          const trace = ++sent;
          if ((await offer(service, trace)) === 200) traces.push(traceId(trace));
        }
      };
      const reviewer = async (person: string): Promise<void> => {
        while (!isOver.signal.aborted) {
          const before = held.get(person);
          const item = before ?? (await next(service, person));
          if (item === undefined) continue;
          held.set(person, item);
          const given = await answer(service, person, item);
          if (given === undefined) continue;
          // The lease of a request that was cut off holds in the next process.
          expect(given.status).toBe(200);
          taken.push(`${person} ${item.id}`);
          held.delete(person);
        }
      };
      const working = Promise.all([sender(), sender(), ...['ann', 'bob', 'cid', 'dee'].map(reviewer)]);
      const before = taken.length;
      await eventually(() => (taken.length > before + 3 ? true : undefined), 'some answers', { everyMs: 20, looksMax: 1_500 });
      await new Promise((resolve) => setTimeout(resolve, chance.below(500)));
      await service.end('SIGKILL');
      isOver.abort();
      await working;
      service = await folder.start();
    }
    const found = await all(service, traces);
    const entered = found.map((item) => item.trace_id);
    expect(new Set(entered).size).toBe(entered.length);
    expect(entered.filter((trace) => traces.includes(trace)).toSorted()).toEqual(traces.toSorted());
    const answers = found.flatMap(({ id, responses }) => responses.map(({ person }) => `${person} ${id}`));
    expect(new Set(answers).size).toBe(answers.length);
    expect(taken.filter((one) => !answers.includes(one))).toEqual([]);
    expect(taken.length).toBeGreaterThan(kills);
    for (const { state, responses } of found)
      expect([state, responses.length <= 2]).toEqual([responses.length === 2 ? 'done' : 'open', true]);
    for (const { trace_id: trace, span_id: span, responses } of found.filter((item) => item.responses.length > 0).slice(0, 40)) {
      const run = (await (await fetch(`${service.console}/api/v1/runs/${trace}/${span}`)).json()) as {
        readonly annotations: readonly JsonObject[];
      };
      expect(run.annotations.map((one) => String(one['by'])).toSorted()).toEqual(responses.map(({ person }) => person).toSorted());
    }
  },
  60_000 + kills * 30_000,
);

test('queues: a lease and its number outlive the process', async () => {
  const folder = configured(`${queue(', lease: 10s')}`);
  let service = await folder.start();
  const restart = async (): Promise<void> => {
    await service.end('SIGKILL');
    service = await folder.start();
  };
  for (const trace of [1, 2]) await send(service, trace);
  await all(service, [1, 2].map(traceId));
  const first = await next(service, 'ann');
  await restart();
  const [again, other] = [await next(service, 'ann'), await next(service, 'bob')];
  expect(again).toMatchObject({ id: first?.id, lease: { id: 1, person: 'ann' } });
  expect(other?.id).not.toBe(first?.id);
  expect((await answer(service, 'bob', other as Item))?.status).toBe(200);
  // The lease ends, and another person has the item.
  const over = await eventually(async () => {
    const item = await next(service, 'cid');
    if (item?.id === first?.id) return item;
    if (item !== undefined) await answer(service, 'cid', item);
    return undefined;
  }, 'the end of the lease');
  expect(over.lease).toMatchObject({ id: 2, person: 'cid' });
  await restart();
  expect((await answer(service, 'ann', again as Item))?.status).toBe(409);
  expect((await answer(service, 'cid', over))?.status).toBe(200);
  await restart();
  expect((await answer(service, 'cid', over))?.status).toBe(200);
  expect((await items(service)).find(({ id }) => id === over.id)?.responses).toHaveLength(1);
});

test('queues: a run that the verdict of a judge puts there enters, however early after the verdict the process is killed', async () => {
  const judge = await chatServer(says('{"explanation":"No.","label":"no"}'));
  const folder = configured(`judges: { main: { base_url: "${judge.baseUrl}", model: small } }
evaluators:
  - { use: custom_judge, name: polite, judge: main, sample: { rate: 1 }, options: { template: "Is {{final_response}} polite?", labels: { yes: 1, no: 0 } }, threshold: 1 }
queues: [ { name: errors, when: "polite < 1", ask: [ { evaluator: polite } ] } ]`);
  let service = await folder.start();
  const traces: string[] = [];
  try {
    for (let kill = 0; kill <= kills; kill++) {
      traces.push(traceId(kill + 1));
      await send(service, kill + 1);
      await eventually(
        async () =>
          (await service.runs()).filter((run) => (run['verdicts'] as readonly JsonObject[]).length === 1).length === traces.length
            ? true
            : undefined,
        'the verdicts',
        { everyMs: 20, looksMax: 1_500 },
      );
      await service.end('SIGKILL');
      service = await folder.start();
    }
    expect((await all(service, traces)).map((item) => item.trace_id).toSorted()).toEqual(traces.toSorted());
  } finally {
    await judge.close();
  }
});
