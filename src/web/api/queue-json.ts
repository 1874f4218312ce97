/** Queues as JSON of the API. */
import type { ItemWithRun, NextItem, QueueFigures, QueueState } from '../../queues/annotation-queues.ts';
import type { QuestionAgreement } from '../../queues/queue-agreement.ts';
import { type QueueQuestion, valuesOf } from '../../queues/question.ts';
import { queueOrders, type QueueSettings } from '../../queues/queue-settings.ts';
import type { JsonObject } from '../../model/json.ts';
import { type QueueItem, queueItemStates, type QueueLease, type QueueResponse } from '../../model/store/queue-store.ts';
import type { StoredRun } from '../../model/store/store.ts';
import { type Micros, timeText } from '../../model/timestamp.ts';
import { estimateJson } from './estimate-json.ts';
import { runJson } from './json.ts';
import { count, object, text, time } from './route.ts';

export function queueJson({ settings, counts }: QueueState): JsonObject {
  const { queue, open, leased, done, skipped, expired, answers, oldestAt } = counts;
  return {
    name: queue,
    configured: settings !== undefined,
    ...settingsJson(settings),
    open,
    leased,
    done,
    skipped,
    expired,
    answers,
    oldest_at: timeOrNull(oldestAt),
  };
}

function settingsJson(settings: QueueSettings | undefined): JsonObject {
  return {
    when: settings?.whenText ?? null,
    sample: settings?.sample ?? null,
    max: settings?.max ?? null,
    people: settings?.people ?? null,
    due_seconds: settings?.dueMs === undefined ? null : settings.dueMs / 1_000,
    order: settings?.order ?? null,
    random: settings?.random ?? null,
    lease_seconds: settings === undefined ? null : settings.leaseMs / 1_000,
    blind: settings?.blind ?? null,
    ask: (settings?.ask ?? []).map(questionJson),
  };
}

function questionJson(question: QueueQuestion): JsonObject {
  const { kind, name } = question;
  return {
    name,
    kind,
    values: valuesOf(question),
    min: kind === 'score' ? question.min : null,
    max: kind === 'score' ? question.max : null,
  };
}

export function figuresJson(figures: QueueFigures): JsonObject {
  return {
    ...queueJson(figures),
    agreement: figures.agreement.map(agreementJson),
    by_person: figures.people.map(({ person, answers, skips }) => ({ person, answers, skips })),
  };
}

function agreementJson({ name, kind, items, answers, people, share, fleiss, cohen, difference }: QuestionAgreement): JsonObject {
  return {
    name,
    kind,
    items,
    answers,
    people,
    share: share ?? null,
    difference: difference ?? null,
    fleiss: fleiss === undefined ? null : estimateJson(fleiss),
    pairs: (cohen?.pairs ?? []).map((pair) => ({ people: [...pair.people], items: pair.items, kappa: estimateJson(pair.kappa) })),
    people_left_out: cohen?.peopleLeftOut ?? 0,
  };
}

/** Whether the item shows what judges and others say. */
export interface ItemView {
  readonly settings: Pick<QueueSettings, 'blind' | 'people'> | undefined;
  /** The person who reads; `undefined` when nobody is named. */
  readonly person: string | undefined;
}

function showsAll({ state, responses }: QueueItem, { settings, person }: ItemView): boolean {
  return settings?.blind === false || state !== 'open' || responses.some((one) => one.person === person);
}

/** Without its run. While a person may still answer it, `why` and the answers are hidden: a rule often names the verdict. */
export function itemJson(item: QueueItem, view: ItemView): JsonObject {
  const isOpen = showsAll(item, view);
  const { id, queue, tenant, traceId, spanId, why, addedBy, probability, enteredAt, dueAt, state, closedAt, lease, responses } = item;
  return {
    id,
    queue,
    tenant,
    trace_id: traceId,
    span_id: spanId,
    state,
    why: isOpen ? why : null,
    probability: isOpen ? (probability ?? null) : null,
    added_by: addedBy,
    entered_at: timeOf(enteredAt),
    due_at: timeOrNull(dueAt),
    closed_at: timeOrNull(closedAt),
    people: view.settings?.people ?? null,
    answered: responses.filter(({ kind }) => kind === 'answer').length,
    skipped: responses.filter(({ kind }) => kind === 'skip').length,
    lease: leaseJson(lease),
    responses: isOpen ? responses.map(responseJson) : [],
    revealed: isOpen,
  };
}

function leaseJson(lease: QueueLease | undefined): JsonObject | null {
  return lease === undefined ? null : { id: lease.id, person: lease.person, until: timeOf(lease.until) };
}

function responseJson({ person, kind, at, values, comment }: QueueResponse): JsonObject {
  return { person, kind, at: timeOf(at), answers: Object.entries(values).map(([name, value]) => ({ name, value })), comment };
}

/** With its run. While it is hidden, the run lacks its annotations and what `hidden` evaluators say. */
export function itemWithRunJson({ item, run }: ItemWithRun, view: ItemView & { readonly hidden: ReadonlySet<string> }): JsonObject {
  const shown = run === undefined || showsAll(item, view) ? run : withoutJudges(run, view.hidden);
  return { ...itemJson(item, view), run: shown === undefined ? null : runJson(shown) };
}

function withoutJudges(run: StoredRun, hidden: ReadonlySet<string>): StoredRun {
  return {
    ...run,
    verdicts: run.verdicts.filter(({ name }) => !hidden.has(name)),
    decisions: run.decisions.filter(({ name }) => !hidden.has(name)),
    annotations: [],
  };
}

export function nextJson(
  { settings, found, counts }: NextItem,
  view: { readonly person: string; readonly hidden: ReadonlySet<string> },
): JsonObject {
  return {
    item: found === undefined ? null : itemWithRunJson(found, { ...view, settings }),
    ask: settings.ask.map(questionJson),
    open: counts.open,
    leased: counts.leased,
    done: counts.done,
  };
}

function timeOf(micros: Micros): string {
  return timeText(BigInt(micros) * 1_000n);
}

function timeOrNull(micros: Micros | undefined): string | null {
  return micros === undefined ? null : timeOf(micros);
}

const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const number: JsonObject = { type: 'number' };
const estimate: JsonObject = ref('Estimate');

const queueProperties: JsonObject = {
  name: text,
  configured: { type: 'boolean', description: 'False: the configuration has no such queue any more, and nobody can answer it.' },
  when: { type: ['string', 'null'], description: 'The condition of the rule; null: people add runs.' },
  sample: { type: ['number', 'null'] },
  max: { type: ['integer', 'null'], description: 'Most open items.' },
  people: { type: ['integer', 'null'], description: 'People who answer each item.' },
  due_seconds: { type: ['number', 'null'] },
  order: { enum: [...queueOrders, null] },
  random: { type: ['number', 'null'], description: 'Share of the turns that gives a run drawn at random.' },
  lease_seconds: { type: ['number', 'null'] },
  blind: { type: ['boolean', 'null'], description: 'True: judges and others are hidden until the own answer.' },
  ask: { type: 'array', items: ref('QueueQuestion') },
  open: { ...count, description: 'Open items, the leased ones included.' },
  leased: { ...count, description: 'Open items that a person holds.' },
  done: count,
  skipped: count,
  expired: count,
  answers: count,
  oldest_at: { ...orNull(time), description: 'When the oldest open item entered.' },
};

const itemProperties: JsonObject = {
  id: count,
  queue: text,
  tenant: text,
  trace_id: text,
  span_id: text,
  state: { enum: queueItemStates },
  why: { type: ['string', 'null'], description: 'The condition of the rule or the note of a person; null while it is hidden.' },
  probability: {
    type: ['number', 'null'],
    description: 'With which the queue drew the run at random from the judged ones; null: it was chosen, or is hidden.',
  },
  added_by: text,
  entered_at: time,
  due_at: orNull(time),
  closed_at: orNull(time),
  people: { type: ['integer', 'null'] },
  answered: count,
  skipped: count,
  lease: { ...orNull(ref('QueueLease')), description: 'Null: nobody holds it.' },
  responses: { type: 'array', items: ref('QueueResponse'), description: 'Empty while they are hidden.' },
  revealed: { type: 'boolean', description: 'False: verdicts of judges and responses of others are hidden until the own answer.' },
};

const answer = object({ name: { ...text, description: 'Name of the question.' }, value: { type: ['string', 'number'] } });

export const queueSchemas: { readonly [name: string]: JsonObject } = {
  Queue: object(queueProperties),
  QueueFigures: object({
    ...queueProperties,
    agreement: { type: 'array', items: ref('QueueAgreement'), description: 'By question, of items with two answers or more.' },
    by_person: { type: 'array', items: object({ person: text, answers: count, skips: count }) },
  }),
  QueueQuestion: object({
    name: text,
    kind: { enum: ['evaluator', 'label', 'score', 'text'] },
    values: { type: 'array', items: text, description: 'Of `evaluator` and `label`.' },
    min: { type: ['number', 'null'], description: 'Of `score`.' },
    max: { type: ['number', 'null'], description: 'Of `score`.' },
  }),
  QueueAgreement: object({
    name: text,
    kind: { enum: ['evaluator', 'label', 'score'] },
    items: count,
    answers: count,
    people: count,
    share: orNull({
      ...number,
      minimum: 0,
      maximum: 1,
      description: 'Share of pairs of people with the same answer, as a mean over the items.',
    }),
    difference: orNull({ ...number, description: 'Of a score: mean difference between two people.' }),
    fleiss: { ...orNull(estimate), description: 'Fleiss’ kappa over all people; null for a score.' },
    pairs: {
      type: 'array',
      items: object({ people: { type: 'array', items: text }, items: count, kappa: estimate }),
      description: 'Cohen’s kappa of each pair of people.',
    },
    people_left_out: { ...count, description: 'People with the fewest answers that no pair compares.' },
  }),
  QueueLease: object({ id: { ...count, description: 'Number for an answer, a skip or a DELETE request.' }, person: text, until: time }),
  QueueResponse: object({
    person: text,
    kind: { enum: ['answer', 'skip'] },
    at: time,
    answers: { type: 'array', items: answer },
    comment: text,
  }),
  QueueItem: object(itemProperties, { run: { ...orNull(ref('Run')), description: 'Of one item only. Null: the store has lost the run.' } }),
};
