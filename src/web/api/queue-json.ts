/** Queues as resources of the API. */
import type { ItemWithRun, NextItem, QueueFigures, QueueState } from '../../queues/annotation-queues.ts';
import type { QuestionAgreement } from '../../queues/queue-agreement.ts';
import { type QueueQuestion, valuesOf } from '../../queues/question.ts';
import { queueOrders, type QueueSettings } from '../../queues/queue-settings.ts';
import type { JsonObject } from '../../model/json.ts';
import { type QueueItem, queueItemStates, type QueueLease, type QueueResponse } from '../../model/store/queue-store.ts';
import type { StoredRun } from '../../model/store/store.ts';
import type { RaterPair } from '../../statistics/cohen-kappa.ts';
import { estimate } from './estimate-json.ts';
import { run, runJson } from './run-json.ts';
import {
  count,
  described,
  flag,
  inline,
  integer,
  many,
  number,
  numberOrNull,
  object,
  optional,
  orNull,
  part,
  resource,
  resourceOf,
  schemasOf,
  text,
  textOrNull,
  time,
} from '../../model/resource.ts';

const texts = many(text);

export const question = resource<QueueQuestion>()('QueueQuestion', {
  name: text,
  kind: { enum: ['evaluator', 'label', 'score', 'text'] },
  values: [{ ...texts, description: 'Of `evaluator` and `label`.' }, valuesOf],
  min: [numberOrNull('Of `score`.'), (one) => (one.kind === 'score' ? one.min : null)],
  max: [numberOrNull('Of `score`.'), (one) => (one.kind === 'score' ? one.max : null)],
});

const queueMembers = part<QueueState['counts'] & Partial<QueueSettings> & { readonly configured: boolean }>()({
  name: [text, ({ queue: name }) => name],
  configured: { ...flag, description: 'False: the configuration has no such queue any more, and nobody can answer it.' },
  when: [textOrNull('The condition of the rule; null: people add runs.'), ({ whenText }) => whenText],
  sample: numberOrNull(),
  max: orNull(integer, 'Most open items.'),
  people: orNull(integer, 'People who answer each item.'),
  due_seconds: [numberOrNull(), ({ dueMs }) => seconds(dueMs)],
  order: { enum: [...queueOrders, null] },
  random: numberOrNull('Share of the turns that gives a run drawn at random.'),
  lease_seconds: [numberOrNull(), ({ leaseMs }) => seconds(leaseMs)],
  blind: orNull(flag, 'True: judges and others are hidden until the own answer.'),
  ask: [many(question), ({ ask = [] }) => ask],
  open: { ...count, description: 'Open items, the leased ones included.' },
  leased: { ...count, description: 'Open items that a person holds.' },
  done: count,
  skipped: count,
  expired: count,
  answers: count,
  oldest_at: optional(time, 'When the oldest open item entered.'),
});

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

export const queue = resourceOf('Queue', queueMembers);

export function queueJson({ settings, counts }: QueueState): JsonObject {
  return queue.write({ ...settings, ...counts, configured: settings !== undefined });
}

const agreement = resource<QuestionAgreement>()('QueueAgreement', {
  name: text,
  kind: { enum: ['evaluator', 'label', 'score'] },
  items: count,
  answers: count,
  people: count,
  share: optional({
    ...number,
    minimum: 0,
    maximum: 1,
    description: 'Share of pairs of people with the same answer, as a mean over the items.',
  }),
  difference: optional({ ...number, description: 'Of a score: mean difference between two people.' }),
  fleiss: optional(estimate, 'Fleiss’ kappa over all people; null for a score.'),
  pairs: [
    many(inline<RaterPair>()({ people: texts, items: count, kappa: estimate }), 'Cohen’s kappa of each pair of people.'),
    ({ cohen }) => cohen?.pairs ?? [],
  ],
  people_left_out: [
    { ...count, description: 'People with the fewest answers that no pair compares.' },
    ({ cohen }) => cohen?.peopleLeftOut ?? 0,
  ],
});

const figures = part<QueueFigures>()({
  agreement: many(agreement, 'By question, of items with two answers or more.'),
  by_person: [many(inline<QueueFigures['people'][number]>()({ person: text, answers: count, skips: count })), ({ people }) => people],
});

export function figuresJson(of: QueueFigures): JsonObject {
  return { ...queueJson(of), ...figures.write(of) };
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

const lease = resource<QueueLease>()('QueueLease', {
  id: { ...count, description: 'Number for an answer, a skip or a DELETE request.' },
  person: text,
  until: time,
});

const response = resource<QueueResponse>()('QueueResponse', {
  person: text,
  kind: { enum: ['answer', 'skip'] },
  at: time,
  answers: [
    many(object({ name: { ...text, description: 'Name of the question.' }, value: { type: ['string', 'number'] } })),
    ({ values }) => Object.entries(values).map(([name, value]) => ({ name, value })),
  ],
  comment: text,
});

const countOf = ({ responses }: QueueItem, wanted: QueueResponse['kind']): number => responses.filter(({ kind }) => kind === wanted).length;

const itemMembers = part<QueueItem & { readonly people: number | undefined; readonly revealed: boolean }>()({
  id: count,
  queue: text,
  tenant: text,
  trace_id: text,
  span_id: text,
  state: { enum: queueItemStates },
  why: [
    textOrNull('The condition of the rule or the note of a person; null while it is hidden.'),
    ({ revealed, why }) => (revealed ? why : null),
  ],
  probability: [
    numberOrNull('With which the queue drew the run at random from the judged ones; null: it was chosen, or is hidden.'),
    ({ revealed, probability }) => (revealed ? probability : null),
  ],
  added_by: text,
  entered_at: time,
  due_at: optional(time),
  closed_at: optional(time),
  people: orNull(integer),
  answered: [count, (item) => countOf(item, 'answer')],
  skipped: [count, (item) => countOf(item, 'skip')],
  lease: optional(lease, 'Null: nobody holds it.'),
  responses: [described(many(response), 'Empty while they are hidden.'), ({ revealed, responses }) => (revealed ? responses : [])],
  revealed: {
    ...flag,
    description: 'False: verdicts of judges and responses of others are hidden until the own answer.',
  },
});

/** Without its run. While a person may still answer it, `why` and the answers are hidden: a rule often names the verdict. */
export function itemJson(item: QueueItem, view: ItemView): JsonObject {
  return itemMembers.write({ ...item, people: view.settings?.people, revealed: showsAll(item, view) });
}

/** With its run. While it is hidden, the run lacks its annotations and what `hidden` evaluators say. */
export function itemWithRunJson({ item, run: found }: ItemWithRun, view: ItemView & { readonly hidden: ReadonlySet<string> }): JsonObject {
  const shown = found === undefined || showsAll(item, view) ? found : withoutJudges(found, view.hidden);
  return { ...itemJson(item, view), run: shown === undefined ? null : runJson(shown) };
}

function withoutJudges(given: StoredRun, hidden: ReadonlySet<string>): StoredRun {
  return {
    ...given,
    verdicts: given.verdicts.filter(({ name }) => !hidden.has(name)),
    decisions: given.decisions.filter(({ name }) => !hidden.has(name)),
    annotations: [],
  };
}

export function nextJson(
  { settings, found, counts }: NextItem,
  view: { readonly person: string; readonly hidden: ReadonlySet<string> },
): JsonObject {
  return {
    item: found === undefined ? null : itemWithRunJson(found, { ...view, settings }),
    ask: settings.ask.map(question.write),
    open: counts.open,
    leased: counts.leased,
    done: counts.done,
  };
}

export const queueSchemas: { readonly [name: string]: JsonObject } = {
  ...schemasOf(queue),
  QueueFigures: object({ ...queueMembers.properties, ...figures.properties }),
  ...schemasOf(question, agreement, lease, response),
  QueueItem: object(itemMembers.properties, {
    run: optional(run.schema, 'Of one item only. Null: the store has lost the run.'),
  }),
};
