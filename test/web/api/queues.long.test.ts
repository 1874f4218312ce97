/** Annotation queues over HTTP: the story of one queue, from runs that a real SDK sends to the agreement of a judge with people. */
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { jsonText, type JsonObject, type JsonValue } from '../../../src/model/json.ts';
import { chatServer, says, type ChatServer } from '../../judges/chat-server.ts';
import { eventually, running, type Running, sample, sendAgentRun } from '../../service/running.ts';

let service: Running;
let judge: ChatServer;
beforeAll(async () => {
  judge = await chatServer((response, request) => {
    const isRude = request.body.messages.some(({ content }) => content.includes('a rude one'));
    says(jsonText({ explanation: 'So it is.', label: isRude ? 'no' : 'yes' }))(response, request);
  });
  service = await running(
    `judges: { main: { base_url: "${judge.baseUrl}", model: small } }
evaluators:
  - tool_error
  - { use: custom_judge, name: polite, judge: main, sample: { rate: 1 }, options: { template: "Is {{input}} polite?", labels: { yes: 1, no: 0 } }, threshold: 1 }
queues:
  - name: tone
    when: "polite < 1 or polite = 1"
    people: 2
    ask: [ { evaluator: polite }, { label: tone, values: [ good, bad ] }, { score: helpful, min: 1, max: 5 }, { text: why } ]
  - { name: by-hand, ask: [ { text: note } ] }
`,
  );
  for (const input of ['a rude one', 'a kind one', 'another kind one']) await sendAgentRun(service.otlp, { agent: input, input });
  await eventually(async () => ((await asked('/queues/tone')).body['open'] === 3 ? true : undefined), 'three items');
});
afterAll(async () => {
  await service.stop();
  await judge.close();
});

interface Answer {
  readonly status: number;
  readonly body: JsonObject;
}

interface Asking {
  readonly method?: string;
  readonly body?: JsonValue;
  readonly token?: string;
  readonly at?: Running;
}

async function asked(path: string, { method = 'GET', body, token, at = service }: Asking = {}): Promise<Answer> {
  const response = await fetch(`${at.console}/api/v1${path}`, {
    method,
    headers: {
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    },
    ...(body === undefined ? {} : { body: jsonText(body) }),
  });
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const post = (path: string, body: JsonValue, more: Asking = {}): Promise<Answer> => asked(path, { method: 'POST', body, ...more });
const members = (value: JsonValue | undefined): JsonObject => value as JsonObject;

function answersOf(polite: string, tone: string, helpful: number): JsonValue {
  return [
    { name: 'polite', value: polite },
    { name: 'tone', value: tone },
    { name: 'helpful', value: helpful },
  ];
}

test('queues: the story of one queue', async () => {
  expect((await asked('/queues')).body).toMatchObject({
    queues: [
      { name: 'tone', configured: true, open: 3, people: 2, blind: true, order: 'oldest', lease_seconds: 900, due_seconds: null },
      { name: 'by-hand', when: null, open: 0 },
    ],
    next: null,
  });

  // The first person gets a run without the verdict of the judge.
  const first = members((await post('/queues/tone/next', { person: 'ann' })).body['item']);
  expect(first).toMatchObject({ state: 'open', why: null, revealed: false, responses: [], lease: { id: 1, person: 'ann' }, answered: 0 });
  const run = members(first['run']);
  expect(run['input']).toMatch(/ one$/);
  expect((run['verdicts'] as readonly JsonObject[]).map(({ name }) => name)).toEqual(['tool_error']);
  expect(jsonText((await asked(`/queues/tone/items/${String(first['id'])}?person=bob`)).body)).not.toContain('polite');

  const faulty = { item: first['id'] ?? 0, lease: 1, person: 'ann' };
  expect(await post('/queues/tone/answers', { ...faulty, answers: [{ name: 'polite', value: 'yes' }] })).toMatchObject({
    status: 422,
    body: { error: { code: 'bad_answer', message: 'polite is "yes", which is none of its values.' } },
  });

  // Two people answer all three; they differ on one.
  for (const person of ['ann', 'bob'])
    for (let at = 0; at < 3; at++) {
      const { body } = await post('/queues/tone/next', { person });
      const item = members(body['item']);
      const input = String(members(item['run'])['input']);
      const polite = input === 'a rude one' || (person === 'bob' && input === 'a kind one') ? 'fail' : 'pass';
      const given = { item: item['id'] ?? 0, lease: members(item['lease'])['id'] ?? 0, person };
      const answered = await post('/queues/tone/answers', {
        ...given,
        answers: answersOf(polite, polite === 'pass' ? 'good' : 'bad', polite === 'pass' ? 5 : 2),
        comment: 'By its words.',
      });
      expect(answered).toMatchObject({ status: 200, body: { revealed: true, state: person === 'ann' ? 'open' : 'done' } });
      // Now the judge shows.
      expect((members(answered.body['run'])['verdicts'] as readonly JsonObject[]).map(({ name }) => name)).toContain('polite');
    }
  expect((await post('/queues/tone/next', { person: 'cid' })).body).toMatchObject({ item: null, open: 0, done: 3 });

  const figures = (await asked('/queues/tone')).body;
  expect(figures).toMatchObject({
    open: 0,
    done: 3,
    answers: 6,
    by_person: [
      { person: 'ann', answers: 3, skips: 0 },
      { person: 'bob', answers: 3, skips: 0 },
    ],
    agreement: [
      { name: 'polite', kind: 'evaluator', items: 3, people: 2, fleiss: { n: 3 }, pairs: [{ people: ['ann', 'bob'], items: 3 }] },
      { name: 'tone', share: expect.closeTo(2 / 3, 10) },
      { name: 'helpful', fleiss: null, difference: expect.closeTo(1, 10) },
    ],
  });

  // Verdicts of people are compared with the judge, where they do not tie.
  const { judges, people } = (await asked('/judges?evaluator=polite')).body as { readonly [list: string]: readonly JsonObject[] };
  expect(judges).toMatchObject([{ name: 'polite', kind: 'judge', runs: 2, both_pass: 1, both_fail: 1 }]);
  expect(people).toMatchObject([{ name: 'polite', people: 2, runs: 3, disputed: 1 }]);
  const page = await service.metrics();
  expect(sample(page, 'tracejury_queues_answers_total', { tracejury_queue: 'tone', tracejury_outcome: 'answered' })).toBe(6);
  expect(sample(page, 'tracejury_queues_runs_total', { tracejury_queue: 'tone', tracejury_outcome: 'added' })).toBe(3);
});

test('queues: people add runs, skip them with a reason, and give them back', async () => {
  const { body } = await asked('/runs');
  const keys = (body['runs'] as readonly JsonObject[]).map((row): JsonObject => ({
    trace_id: row['trace_id'] ?? '',
    span_id: row['span_id'] ?? '',
  }));
  const [one = {}, other = {}] = keys;
  const added = await post('/queues/by-hand/items', { runs: [one, { trace_id: other['trace_id'] ?? '' }], note: 'odd', person: 'ann' });
  expect(added).toMatchObject({
    status: 200,
    body: {
      added: 2,
      items: [
        { ...one, outcome: 'added' },
        { ...other, outcome: 'added' },
      ],
    },
  });
  expect((await post('/queues/by-hand/items', { runs: [one] })).body).toMatchObject({ added: 0, items: [{ outcome: 'known' }] });

  const item = members((await post('/queues/by-hand/next', { person: 'ann' })).body['item']);
  const path = `/queues/by-hand/leases/${String(item['id'])}`;
  expect((await asked(`${path}?lease=1&person=bob`, { method: 'DELETE' })).body).toEqual({ released: false });
  expect((await asked(`${path}?lease=1&person=ann`, { method: 'DELETE' })).body).toEqual({ released: true });
  const again = members((await post('/queues/by-hand/next', { person: 'bob' })).body['item']);
  const given = { item: again['id'] ?? 0, lease: members(again['lease'])['id'] ?? 0 };
  expect(again).toMatchObject({ id: item['id'], lease: { id: 2 } });
  expect(await post('/queues/by-hand/skip', { ...given, person: 'ann', reason: 'late' })).toMatchObject({
    status: 409,
    body: { error: { code: 'lost' } },
  });
  expect(await post('/queues/by-hand/skip', { ...given, person: 'bob', reason: 'in Finnish' })).toMatchObject({
    status: 200,
    body: { state: 'skipped', why: 'odd', added_by: 'ann', responses: [{ kind: 'skip', comment: 'in Finnish' }] },
  });
  // The same again changes nothing.
  expect(await post('/queues/by-hand/skip', { ...given, person: 'bob', reason: 'in Finnish' })).toMatchObject({ status: 200 });
  const first = await asked('/queues/by-hand/items?limit=1');
  expect(first.body['items']).toMatchObject([{ state: 'skipped' }]);
  expect((await asked(`/queues/by-hand/items?limit=1&cursor=${String(first.body['next'])}`)).body).toMatchObject({
    items: [{ state: 'open', why: null }],
    next: null,
  });
});

test.each<{ readonly name: string; readonly path: string; readonly asking: Asking; readonly want: object }>([
  { name: 'no such queue', path: '/queues/none', asking: {}, want: { status: 404, body: { error: { code: 'not_found' } } } },
  { name: 'the next of no queue', path: '/queues/none/next', asking: { method: 'POST', body: { person: 'ann' } }, want: { status: 404 } },
  {
    name: 'nobody',
    path: '/queues/tone/next',
    asking: { method: 'POST', body: {} },
    want: { status: 422, body: { error: { code: 'no_person' } } },
  },
  {
    name: 'a run that is not stored',
    path: '/queues/tone/items',
    asking: { method: 'POST', body: { runs: [{ trace_id: 'f'.repeat(32), span_id: 'f'.repeat(16) }] } },
    want: { status: 200, body: { added: 0, items: [{ outcome: 'not_stored' }] } },
  },
  { name: 'an unknown key', path: '/queues/tone/next', asking: { method: 'POST', body: { who: 'ann' } }, want: { status: 400 } },
  {
    name: 'an item that does not exist',
    path: '/queues/by-hand/answers',
    asking: { method: 'POST', body: { item: 999, lease: 1, person: 'ann', answers: [] } },
    want: { status: 404 },
  },
  { name: 'an unknown state', path: '/queues/tone/items?state=new', asking: {}, want: { status: 400 } },
])('queues: $name', async ({ path, asking, want }) => {
  expect(await asked(path, asking)).toMatchObject(want);
});

test('queues: with tokens the person is the name of the token', async () => {
  const guarded = await running('queues: [ { name: q, when: "agent != none", ask: [ { label: tone, values: [ good, bad ] } ] } ]\n', {
    tokens:
      '[ { name: agents, value: in-0123456789abcdef, may: [ ingest, read ] }, { name: ann, value: ann-0123456789abcdef, may: [ read, annotate ] }, { name: bob, value: bob-0123456789abcdef, may: [ read, annotate ] } ]',
  });
  onTestFinished(() => guarded.stop());
  const ann = { token: 'ann-0123456789abcdef', at: guarded };
  expect((await post('/queues/q/next', {}, { at: guarded })).status).toBe(401);
  expect((await post('/queues/q/next', {}, { at: guarded, token: 'in-0123456789abcdef' })).status).toBe(401);
  expect((await post('/queues/q/next', {}, ann)).body).toMatchObject({ item: null });
  expect(await post('/queues/q/next', { person: 'bob' }, ann)).toMatchObject({ status: 422, body: { error: { code: 'other_person' } } });
  expect((await post('/queues/q/next', { person: 'ann' }, ann)).status).toBe(200);
});
