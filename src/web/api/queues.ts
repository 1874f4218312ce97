/** The routes of annotation queues. */
import { isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { Tenant } from '../../model/ids.ts';
import { queueAddOutcomes, queueItemStates, type QueueRefusal, queueRunsAtOnceMax } from '../../model/store/queue-store.ts';
import { datasetNamePattern } from '../../model/store/dataset-store.ts';
import type { GivenResponse, ResponseResult } from '../../queues/annotation-queues.ts';
import { questionsMax, responseCharsMax } from '../../queues/question.ts';
import { runKeys, runReference } from './dataset-changes.ts';
import * as api from '../../model/resource.ts';
import { figuresJson, itemJson, itemWithRunJson, nextJson, question, queue, queueJson } from './queue-json.ts';
import {
  type ApiDeps,
  type Caller,
  list,
  nextOf,
  pageOf,
  pages,
  type Parameters,
  Refusal,
  type Route,
  type RouteOver,
  tenantOf,
  textParameter,
} from './route.ts';
import { present } from '../../model/present.ts';

/** A text answer to each question, and a comment, of the longest characters. */
const bodyBytesMax = 256 * 1024;
const nameCharsMax = 200;
const noteCharsMax = 1_000;

const name = { type: 'string', pattern: datasetNamePattern, description: 'Name of the queue.' } as const;
const item = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: 'Id of the item.' } as const;
const lease = { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, description: '`lease.id` of the item.' } as const;
const tenant = { ...textParameter, description: 'Tenant of the runs; all when left out.' } as const;
const person = {
  type: 'string',
  minLength: 1,
  maxLength: nameCharsMax,
  description: 'The person, where the service has no tokens. With tokens it is the name of the token.',
} as const;
const missing = { message: 'There is no such queue or item.', todo: 'GET /api/v1/queues lists the queues.' };
const refusals = {
  409: 'Another person holds the item, or it is closed: ask for the next one.',
  422: 'The answers do not fit the questions, or the person is not named.',
} as const;

/** `documented`: fuller schemas for the document, where the route itself reads the value. */
const bodyOf = (properties: JsonObject, required: readonly string[], documented: JsonObject = {}): NonNullable<Route['body']> => {
  const schema = { type: 'object', additionalProperties: false, required } as const;
  return { bytesMax: bodyBytesMax, taken: { ...schema, properties }, schema: { ...schema, properties: { ...properties, ...documented } } };
};

/** The route checks `value`, which depends on the question. */
const answersSchema = (value: JsonObject): JsonObject => ({
  type: 'array',
  maxItems: questionsMax,
  description: 'One of each question; those of a text may be left out.',
  items: {
    type: 'object',
    required: ['name', 'value'],
    additionalProperties: false,
    properties: { name: { type: 'string', maxLength: nameCharsMax, description: 'Name of the question.' }, value },
  },
});

/** Parts of the service that the routes of queues need. */
export type QueueApiDeps = Pick<ApiDeps, 'queues' | 'store'> & {
  /** Evaluators with a judge. */
  readonly judges: () => readonly { readonly name: string }[];
};

export const queueRoutes: readonly RouteOver<QueueApiDeps>[] = [
  {
    method: 'get',
    path: '/queues',
    summary: 'Annotation queues in the order of the configuration, then those that it has no more.',
    path_parameters: {},
    query_parameters: { tenant },
    answer: list('queues', queue),
    handle: async ({ queues }, query) => ({ queues: (await queues.list(tenantOf(query).tenant)).map(queueJson), next: null }),
  },
  {
    method: 'get',
    path: '/queues/{name}',
    summary: 'One queue with its progress, and the agreement of people by question.',
    path_parameters: { name },
    query_parameters: { tenant },
    answer: api.reference('QueueFigures'),
    missing,
    async handle({ queues }, query) {
      const figures = await queues.figures(nameOf(query), tenantOf(query).tenant);
      return figures === undefined ? undefined : figuresJson(figures);
    },
  },
  {
    method: 'get',
    path: '/queues/{name}/items',
    summary: 'Items of a queue without their runs, in the order of their ids.',
    path_parameters: { name },
    query_parameters: { tenant, state: { enum: queueItemStates, description: 'Items in this state.' }, person, ...pages },
    answer: list('items', { schema: api.reference('QueueItem') }),
    missing,
    async handle({ queues }, query, _body, caller) {
      const state = queueItemStates.find((one) => one === query['state']);
      const page = await queues.items(nameOf(query), present({ ...tenantOf(query), state, ...pageOf(query) }));
      if (page === undefined) return undefined;
      const view = { settings: queues.settings(nameOf(query)), person: readerOf(queues, query['person'], caller) };
      return { items: page.items.map((one) => itemJson(one, view)), next: nextOf(page.next) };
    },
  },
  {
    method: 'get',
    path: '/queues/{name}/items/{item}',
    summary: 'One item with its run, as the person may see it now.',
    path_parameters: { name, item },
    query_parameters: { tenant, person },
    answer: api.reference('QueueItem'),
    missing,
    async handle(deps, query, _body, caller) {
      const { queues } = deps;
      const found = await queues.item(nameOf(query), Number(query['item']));
      const of = tenantOf(query).tenant;
      if (found === undefined || (of !== undefined && found.item.tenant !== of)) return undefined;
      const view = { settings: found.settings, person: readerOf(queues, query['person'], caller) };
      return itemWithRunJson(found, { ...view, hidden: hiddenOf(deps, nameOf(query)) });
    },
  },
  {
    method: 'post',
    path: '/queues/{name}/items',
    summary: 'Puts stored runs into a queue. A run whose item is skipped or expired is opened again; the same run again changes nothing.',
    may: 'annotate',
    path_parameters: { name },
    query_parameters: { tenant: { ...textParameter, description: 'Tenant of the runs; empty when left out.' } },
    body: bodyOf(
      {
        runs: { type: 'array', minItems: 1, maxItems: queueRunsAtOnceMax, items: runReference },
        note: { type: 'string', maxLength: noteCharsMax, description: 'Why the runs are put there.' },
        person,
      },
      ['runs'],
    ),
    refusals,
    answer: api.object({
      added: { ...api.count, description: 'Runs that entered, those that were opened again included.' },
      items: api.many(
        api.object({ trace_id: api.text, span_id: api.text, outcome: { enum: queueAddOutcomes } }),
        'In the order of the request.',
      ),
    }),
    missing,
    async handle({ queues, store }, query, body, caller) {
      const given = bodyGiven(body);
      if (queues.settings(nameOf(query)) === undefined) return undefined;
      const by = queues.person(caller.name ?? given.text('person') ?? byDefault);
      const runs = await runKeys({ store }, { tenant: (query['tenant'] ?? '') as Tenant }, given.list('runs'));
      return addedJson(runs, (await queues.add(nameOf(query), { runs, by, why: given.text('note') ?? '' })) ?? []);
    },
  },
  {
    method: 'post',
    path: '/queues/{name}/next',
    summary: 'Leases the next item to a person, or gives again the one that the person holds. `item` is null when none is free.',
    may: 'annotate',
    path_parameters: { name },
    query_parameters: { tenant },
    body: bodyOf({ person }, []),
    refusals: { 422: refusals[422] },
    answer: api.object({
      item: api.optional(api.reference('QueueItem')),
      ask: api.many(question.schema),
      open: api.count,
      leased: api.count,
      done: api.count,
    }),
    missing,
    async handle(deps, query, body, caller) {
      const who = personOf(deps.queues, bodyGiven(body).text('person'), caller);
      const next = await deps.queues.next(nameOf(query), { person: who, ...tenantOf(query) });
      return next === undefined ? undefined : nextJson(next, { person: who, hidden: hiddenOf(deps, nameOf(query)) });
    },
  },
  {
    method: 'post',
    path: '/queues/{name}/answers',
    summary: 'Answers an item under its lease. Each answer becomes an annotation of the person. The same request again changes nothing.',
    may: 'annotate',
    path_parameters: { name },
    query_parameters: {},
    body: bodyOf(
      {
        item,
        lease,
        person,
        answers: answersSchema({}),
        comment: { type: 'string', maxLength: responseCharsMax, description: 'Explains the answers.' },
      },
      ['item', 'lease', 'answers'],
      { answers: answersSchema({ type: ['string', 'number'], description: 'One of its values, a number in its range, or a text.' }) },
    ),
    refusals,
    answer: api.reference('QueueItem'),
    missing,
    async handle(deps, query, body, caller) {
      const given = bodyGiven(body);
      const response = responseGiven(deps, given, caller);
      const answers = member(given.body, 'answers') ?? [];
      const result = await deps.queues.answer(nameOf(query), { ...response, answers, comment: given.text('comment') ?? '' });
      return resultJson(deps, { name: nameOf(query), person: response.person, result });
    },
  },
  {
    method: 'post',
    path: '/queues/{name}/skip',
    summary: 'Skips an item under its lease, with a reason. The person does not get it again; other people do.',
    may: 'annotate',
    path_parameters: { name },
    query_parameters: {},
    body: bodyOf(
      {
        item,
        lease,
        person,
        reason: { type: 'string', minLength: 1, maxLength: responseCharsMax, description: 'Why the question cannot be answered.' },
      },
      ['item', 'lease', 'reason'],
    ),
    refusals,
    answer: api.reference('QueueItem'),
    missing,
    async handle(deps, query, body, caller) {
      const given = bodyGiven(body);
      const response = responseGiven(deps, given, caller);
      const result = await deps.queues.skip(nameOf(query), { ...response, reason: given.text('reason') ?? '' });
      return resultJson(deps, { name: nameOf(query), person: response.person, result });
    },
  },
  {
    method: 'delete',
    path: '/queues/{name}/leases/{item}',
    summary: 'Gives an item back without an answer. The person may get it again.',
    may: 'annotate',
    path_parameters: { name, item },
    query_parameters: { lease, person },
    refusals: { 422: refusals[422] },
    answer: api.object({ released: { ...api.flag, description: 'False when the person does not hold it under this number.' } }),
    missing,
    async handle({ queues }, query, _body, caller) {
      const who = personOf(queues, query['person'], caller);
      const isReleased = await queues.release(nameOf(query), {
        item: Number(query['item']),
        lease: Number(query['lease'] ?? 0),
        person: who,
      });
      return isReleased === undefined ? undefined : { released: isReleased };
    },
  },
];

const byDefault = 'api';

function nameOf(query: Parameters): string {
  return String(query['name']);
}

interface GivenBody {
  readonly body: JsonObject;
  readonly text: (key: string) => string | undefined;
  readonly list: (key: string) => readonly JsonValue[];
}

/** Fastify has checked the form of the body. */
function bodyGiven(given: JsonValue): GivenBody {
  const body = isJsonObject(given) ? given : {};
  const textAt = (key: string): string | undefined => {
    const value = member(body, key);
    return typeof value === 'string' ? value : undefined;
  };
  return { body, text: textAt, list: (key) => (member(body, key) ?? []) as readonly JsonValue[] };
}

/** Throws a Refusal when no person is named, or a different one from the token's. */
function personOf(queues: QueueApiDeps['queues'], named: string | number | undefined, { name: own }: Pick<Caller, 'name'>): string {
  if (own !== undefined && named !== undefined && named !== own)
    throw new Refusal(422, {
      code: 'other_person',
      message: `The token is named ${JSON.stringify(own)}, and the request names another person.`,
      todo: 'Leave person out: with tokens it is the name of the token.',
    });
  const who = own ?? named;
  if (typeof who !== 'string')
    throw new Refusal(422, {
      code: 'no_person',
      message: 'The request names no person.',
      todo: 'Give person, or send a token of listen.tokens that may annotate.',
    });
  return queues.person(who);
}

/** A token reads only as the person of its name. */
function readerOf(
  queues: QueueApiDeps['queues'],
  named: string | number | undefined,
  { name: own }: Pick<Caller, 'name'>,
): string | undefined {
  const who = own ?? named;
  return typeof who === 'string' ? queues.person(who) : undefined;
}

function responseGiven({ queues }: QueueApiDeps, { body, text: textAt }: GivenBody, caller: Pick<Caller, 'name'>): GivenResponse {
  return {
    person: personOf(queues, textAt('person'), caller),
    item: Number(member(body, 'item')),
    lease: Number(member(body, 'lease')),
  };
}

/** Evaluators whose verdicts wait for the answer: those with a judge, and those that the queue asks about. */
function hiddenOf({ queues, judges }: QueueApiDeps, queue: string): ReadonlySet<string> {
  const asked = queues.settings(queue)?.ask.filter(({ kind }) => kind === 'evaluator') ?? [];
  return new Set([...judges(), ...asked].map((one) => one.name));
}

function addedJson(runs: readonly RunKey[], outcomes: readonly string[]): JsonObject {
  return {
    added: outcomes.filter((outcome) => outcome === 'added' || outcome === 'reopened').length,
    items: runs.map(({ traceId, spanId }, at) => ({ trace_id: traceId, span_id: spanId, outcome: outcomes[at] ?? 'full' })),
  };
}

const refused: { readonly [reason in Exclude<QueueRefusal, 'unknown'>]: { readonly message: string; readonly todo: string } } = {
  responded: { message: 'The person has answered or skipped this item before.', todo: 'Ask for the next item.' },
  closed: { message: 'The item is closed: enough people have answered it, or its time has passed.', todo: 'Ask for the next item.' },
  lost: { message: 'The lease is over, and another person has got the item.', todo: 'Ask for the next item.' },
  full: { message: 'The trace has its maximum of annotations.', todo: 'Skip the item with a reason.' },
};

/** Throws a Refusal unless the response is taken. */
function resultJson(
  deps: QueueApiDeps,
  { name: queue, person: who, result }: { readonly name: string; readonly person: string; readonly result: ResponseResult | undefined },
): JsonValue | undefined {
  if (result === undefined) return undefined;
  if (result.kind === 'faulty') throw new Refusal(422, { code: 'bad_answer', message: result.message, todo: result.todo });
  if (result.kind === 'refused') {
    if (result.reason === 'unknown') return undefined;
    throw new Refusal(409, { code: result.reason, ...refused[result.reason] });
  }
  return itemWithRunJson(result, { settings: deps.queues.settings(queue), person: who, hidden: hiddenOf(deps, queue) });
}
