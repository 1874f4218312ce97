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
import * as api from '../../model/resource.ts';

const texts = api.many(api.text);

export const question = api.resource<QueueQuestion>()('QueueQuestion', {
  name: api.text,
  kind: { enum: ['evaluator', 'label', 'score', 'text'] },
  values: [{ ...texts, description: 'Of `evaluator` and `label`.' }, valuesOf],
  min: [api.numberOrNull('Of `score`.'), (one) => (one.kind === 'score' ? one.min : null)],
  max: [api.numberOrNull('Of `score`.'), (one) => (one.kind === 'score' ? one.max : null)],
});

const queueMembers = api.part<QueueState['counts'] & Partial<QueueSettings> & { readonly configured: boolean }>()({
  name: [api.text, ({ queue: name }) => name],
  configured: { ...api.flag, description: 'False when the configuration no longer has the queue, so it cannot be answered.' },
  when: [api.textOrNull('The condition of the rule; null: people add runs.'), ({ whenText }) => whenText],
  sample: api.numberOrNull(),
  max: api.orNull(api.integer, 'Most open items.'),
  people: api.orNull(api.integer, 'People who answer each item.'),
  due_seconds: [api.numberOrNull(), ({ dueMs }) => seconds(dueMs)],
  order: { enum: [...queueOrders, null] },
  random: api.numberOrNull('Share of the turns that gives a run drawn at random.'),
  lease_seconds: [api.numberOrNull(), ({ leaseMs }) => seconds(leaseMs)],
  blind: api.orNull(api.flag, 'True when judges and others are hidden until the reader has answered.'),
  ask: [api.many(question), ({ ask = [] }) => ask],
  open: { ...api.count, description: 'Open items, the leased ones included.' },
  leased: { ...api.count, description: 'Open items that a person holds.' },
  done: api.count,
  skipped: api.count,
  expired: api.count,
  answers: api.count,
  oldest_at: api.optional(api.time, 'When the oldest open item entered.'),
});

function seconds(ms: number | undefined): number | undefined {
  return ms === undefined ? undefined : ms / 1_000;
}

export const queue = api.resourceOf('Queue', queueMembers);

export function queueJson({ settings, counts }: QueueState): JsonObject {
  return queue.write({ ...settings, ...counts, configured: settings !== undefined });
}

const agreement = api.resource<QuestionAgreement>()('QueueAgreement', {
  name: api.text,
  kind: { enum: ['evaluator', 'label', 'score'] },
  items: api.count,
  answers: api.count,
  people: api.count,
  share: api.optional({
    ...api.number,
    minimum: 0,
    maximum: 1,
    description: 'Share of pairs of people with the same answer, as a mean over the items.',
  }),
  difference: api.optional({ ...api.number, description: 'Mean difference between two people, for scores.' }),
  fleiss: api.optional(estimate, 'Fleiss’ kappa over all people; null for a score.'),
  pairs: [
    api.many(api.inline<RaterPair>()({ people: texts, items: api.count, kappa: estimate }), 'Cohen’s kappa of each pair of people.'),
    ({ cohen }) => cohen?.pairs ?? [],
  ],
  people_left_out: [
    { ...api.count, description: 'People with the fewest answers that no pair compares.' },
    ({ cohen }) => cohen?.peopleLeftOut ?? 0,
  ],
});

const figures = api.part<QueueFigures>()({
  agreement: api.many(agreement, 'By question, of items with two answers or more.'),
  by_person: [
    api.many(api.inline<QueueFigures['people'][number]>()({ person: api.text, answers: api.count, skips: api.count })),
    ({ people }) => people,
  ],
});

export function figuresJson(of: QueueFigures): JsonObject {
  return { ...queueJson(of), ...figures.write(of) };
}

/** True when the item shows verdicts of judges and responses of others. */
export interface ItemView {
  readonly settings: Pick<QueueSettings, 'blind' | 'people'> | undefined;
  /** The person who reads; `undefined` when none is named. */
  readonly person: string | undefined;
}

function showsAll({ state, responses }: QueueItem, { settings, person }: ItemView): boolean {
  return settings?.blind === false || state !== 'open' || responses.some((one) => one.person === person);
}

const lease = api.resource<QueueLease>()('QueueLease', {
  id: { ...api.count, description: 'Number for an answer, a skip or a DELETE request.' },
  person: api.text,
  until: api.time,
});

const response = api.resource<QueueResponse>()('QueueResponse', {
  person: api.text,
  kind: { enum: ['answer', 'skip'] },
  at: api.time,
  answers: [
    api.many(api.object({ name: { ...api.text, description: 'Name of the question.' }, value: { type: ['string', 'number'] } })),
    ({ values }) => Object.entries(values).map(([name, value]) => ({ name, value })),
  ],
  comment: api.text,
});

const countOf = ({ responses }: QueueItem, wanted: QueueResponse['kind']): number => responses.filter(({ kind }) => kind === wanted).length;

const itemMembers = api.part<QueueItem & { readonly people: number | undefined; readonly revealed: boolean }>()({
  id: api.count,
  queue: api.text,
  tenant: api.text,
  trace_id: api.text,
  span_id: api.text,
  state: { enum: queueItemStates },
  why: [
    api.textOrNull('The condition of the rule or the note of a person; null while it is hidden.'),
    ({ revealed, why }) => (revealed ? why : null),
  ],
  probability: [
    api.numberOrNull('With which the queue drew the run at random from the judged ones; null: it was chosen, or is hidden.'),
    ({ revealed, probability }) => (revealed ? probability : null),
  ],
  added_by: api.text,
  entered_at: api.time,
  due_at: api.optional(api.time),
  closed_at: api.optional(api.time),
  people: api.orNull(api.integer),
  answered: [api.count, (item) => countOf(item, 'answer')],
  skipped: [api.count, (item) => countOf(item, 'skip')],
  lease: api.optional(lease, 'Null when no one holds it.'),
  responses: [api.described(api.many(response), 'Empty while they are hidden.'), ({ revealed, responses }) => (revealed ? responses : [])],
  revealed: {
    ...api.flag,
    description: 'False while verdicts of judges and responses of others are hidden, until the reader has answered.',
  },
});

/** Without its run. While a person may still answer it, `why` and the answers are hidden: a rule often names the verdict. */
export function itemJson(item: QueueItem, view: ItemView): JsonObject {
  return itemMembers.write({ ...item, people: view.settings?.people, revealed: showsAll(item, view) });
}

/** An item with its run. While it is hidden, the run lacks its annotations and the verdicts of `hidden` evaluators. */
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
  ...api.schemasOf(queue),
  QueueFigures: api.object({ ...queueMembers.properties, ...figures.properties }),
  ...api.schemasOf(question, agreement, lease, response),
  QueueItem: api.object(itemMembers.properties, {
    run: api.optional(run.schema, 'Only when one item is requested. Null when the store has lost the run.'),
  }),
};
