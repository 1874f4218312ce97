/** The queues in force over a store: what the API, the command line and the console do with them. */
import type { RunKey } from '../model/agent-trace.ts';
import type { Clock } from '../model/clock.ts';
import type { Tenant } from '../model/ids.ts';
import type { JsonValue } from '../model/json.ts';
import type {
  PersonsCount,
  QueueAddOutcome,
  QueueCounts,
  QueueItem,
  QueueItemPage,
  QueueItemState,
  QueueRefusal,
} from '../model/store/queue-store.ts';
import type { Store, StoredRun } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';
import { redactedAnnotation, redactedPerson } from '../redaction/annotation.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { informativeItemsMax, informativeOrder } from './informative-order.ts';
import { annotationsOfAnswers, readAnswers } from './question.ts';
import { agreementItemsMax, queueAgreement, type QuestionAgreement } from './queue-agreement.ts';
import type { QueueSettings } from './queue-settings.ts';

interface AnnotationQueuesOptions {
  readonly store: Pick<Store, 'queues' | 'run'>;
  /** In force. */
  readonly settings: () => readonly QueueSettings[];
  /** Thresholds of the evaluators in force, by name. */
  readonly thresholds: () => ReadonlyMap<string, number>;
  readonly redaction: () => Pick<Redaction, 'text'> | undefined;
  readonly telemetry: Pick<Telemetry, 'add'>;
  readonly clock: Clock;
}

/** `undefined`: the file has no such queue any more, but the store has items of it. */
export interface QueueState {
  readonly settings: QueueSettings | undefined;
  readonly counts: QueueCounts;
}

export interface QueueFigures extends QueueState {
  readonly agreement: readonly QuestionAgreement[];
  readonly people: readonly PersonsCount[];
}

/** An item with its run; `undefined` when the store has lost it. */
export interface ItemWithRun {
  readonly item: QueueItem;
  readonly run: StoredRun | undefined;
}

/** One person's response to an item under a lease. */
export interface GivenResponse {
  readonly person: string;
  readonly item: number;
  /** Number of the lease. */
  readonly lease: number;
}

export type ResponseResult =
  | ({ readonly kind: 'taken'; readonly isRepeated: boolean } & ItemWithRun)
  | { readonly kind: 'refused'; readonly reason: QueueRefusal }
  /** The answers do not fit the questions. */
  | { readonly kind: 'faulty'; readonly message: string; readonly todo: string };

/** Each method resolves with `undefined` when there is no queue of the name. */
export interface AnnotationQueues {
  list(tenant?: Tenant): Promise<readonly QueueState[]>;
  figures(name: string, tenant?: Tenant): Promise<QueueFigures | undefined>;
  items(
    name: string,
    query: { readonly tenant?: Tenant; readonly state?: QueueItemState; readonly limit: number; readonly after?: number },
  ): Promise<QueueItemPage | undefined>;
  item(name: string, id: number): Promise<(ItemWithRun & { readonly settings: QueueSettings }) | undefined>;
  /** Leases an item to a person. `item: undefined`: there is none for this person now. */
  next(name: string, query: { readonly person: string; readonly tenant?: Tenant }): Promise<NextItem | undefined>;
  answer(
    name: string,
    response: GivenResponse & { readonly answers: JsonValue; readonly comment: string },
  ): Promise<ResponseResult | undefined>;
  skip(name: string, response: GivenResponse & { readonly reason: string }): Promise<ResponseResult | undefined>;
  /** Resolves with false when the person does not hold the lease. */
  release(name: string, response: GivenResponse): Promise<boolean | undefined>;
  add(
    name: string,
    adding: { readonly runs: readonly RunKey[]; readonly by: string; readonly why: string },
  ): Promise<readonly QueueAddOutcome[] | undefined>;
  /** The settings in force. */
  settings(name: string): QueueSettings | undefined;
  /** The name under which the store keeps a person. */
  person(name: string): string;
}

export interface NextItem {
  readonly settings: QueueSettings;
  readonly found: ItemWithRun | undefined;
  readonly counts: QueueCounts;
}

/** People of one queue that figures list. */
const peopleMax = 200;

export function annotationQueues(options: AnnotationQueuesOptions): AnnotationQueues {
  const { store, settings, clock } = options;
  const { queues } = store;
  const named = (name: string): QueueSettings | undefined => settings().find((one) => one.name === name);
  const now = (): Micros => Math.floor(clock.nowMs() * 1_000);
  const withRun = async (item: QueueItem): Promise<ItemWithRun> => ({ item, run: await store.run(item) });

  async function list(tenant: Tenant | undefined): Promise<readonly QueueState[]> {
    const counted = new Map(
      (await queues.counts({ now: now(), ...(tenant === undefined ? {} : { tenant }) })).map((counts) => [counts.queue, counts]),
    );
    const inForce = settings();
    const gone = [...counted.values()].filter(({ queue }) => !inForce.some(({ name }) => name === queue));
    return [
      ...inForce.map((one) => ({ settings: one, counts: counted.get(one.name) ?? noCounts(one.name) })),
      ...gone.map((counts) => ({ settings: undefined, counts })),
    ];
  }

  async function stateOf(name: string, tenant: Tenant | undefined): Promise<QueueState | undefined> {
    return (await list(tenant)).find(({ counts }) => counts.queue === name);
  }

  return {
    list,
    settings: named,
    person: (name) => redactedPerson(name, options.redaction()),
    async figures(name, tenant) {
      const state = await stateOf(name, tenant);
      if (state === undefined) return undefined;
      const of = { queue: name, ...(tenant === undefined ? {} : { tenant }) };
      const answered = await queues.answered({ ...of, limit: agreementItemsMax });
      return {
        ...state,
        agreement: queueAgreement(state.settings?.ask ?? [], answered),
        people: await queues.people({ ...of, limit: peopleMax }),
      };
    },
    async items(name, query) {
      return (await stateOf(name, query.tenant)) === undefined ? undefined : await queues.items({ queue: name, ...query });
    },
    async item(name, id) {
      const own = named(name);
      const item = own === undefined ? undefined : await queues.item(name, id);
      return own === undefined || item === undefined ? undefined : { settings: own, ...(await withRun(item)) };
    },
    async next(name, { person, tenant }) {
      const own = named(name);
      if (own === undefined) return undefined;
      const leased = await leaseOf(options, own, { person, ...(tenant === undefined ? {} : { tenant }) });
      return {
        settings: own,
        found: leased === undefined ? undefined : await withRun(leased),
        counts: (await stateOf(name, tenant))?.counts ?? noCounts(name),
      };
    },
    async answer(name, { answers, comment, ...given }) {
      const own = named(name);
      if (own === undefined) return undefined;
      const read = readAnswers(own.ask, answers);
      return 'fault' in read ? { kind: 'faulty', ...read.fault } : await respond(options, own, { ...given, ...read, comment });
    },
    async skip(name, { reason, ...given }) {
      const own = named(name);
      return own === undefined ? undefined : await respond(options, own, { ...given, values: undefined, comment: reason });
    },
    async release(name, { item, lease, person }) {
      return named(name) === undefined ? undefined : await queues.release({ queue: name, item, lease, person });
    },
    async add(name, { runs, by, why }) {
      const own = named(name);
      if (own === undefined) return undefined;
      const at = now();
      const text = options.redaction()?.text(why) ?? why;
      return await queues.add({ ...enteringOf(own, at), items: runs.map((run) => ({ ...run, why: text })), addedBy: by, reopens: true });
    },
  };
}

/** Current settings for adding items to a queue. */
export function enteringOf({ name, dueMs, max }: Pick<QueueSettings, 'name' | 'dueMs' | 'max'>, at: Micros) {
  return { queue: name, at, dueAt: dueMs === undefined ? undefined : at + dueMs * 1_000, itemsMax: max } as const;
}

function noCounts(queue: string): QueueCounts {
  return { queue, open: 0, leased: 0, done: 0, skipped: 0, expired: 0, answers: 0, oldestAt: undefined };
}

async function leaseOf(
  { store: { queues }, thresholds, telemetry, clock }: AnnotationQueuesOptions,
  { name, people, order, random, leaseMs }: QueueSettings,
  query: { readonly person: string; readonly tenant?: Tenant },
): Promise<QueueItem | undefined> {
  const at = Math.floor(clock.nowMs() * 1_000);
  const free = { queue: name, people, now: at, ...query };
  const among =
    order === 'oldest' ? {} : { among: informativeOrder(await queues.candidates({ ...free, limit: informativeItemsMax }), thresholds()) };
  const leased = await queues.lease({ ...free, ...among, random, until: at + leaseMs * 1_000 });
  if (leased?.tookOver === true) telemetry.add('tracejury.queues.leases_expired', 1, { 'tracejury.queue': name });
  return leased?.item;
}

/** `values`: `undefined` for a skip. */
async function respond(
  { store, redaction, telemetry, clock }: AnnotationQueuesOptions,
  { name, ask, people }: QueueSettings,
  given: GivenResponse & { readonly values: Readonly<Record<string, JsonValue>> | undefined; readonly comment: string },
): Promise<ResponseResult> {
  const count = (outcome: string): void =>
    telemetry.add('tracejury.queues.answers', 1, { 'tracejury.queue': name, 'tracejury.outcome': outcome });
  const item = await store.queues.item(name, given.item);
  if (item === undefined) {
    count('refused');
    return { kind: 'refused', reason: 'unknown' };
  }
  const rules = redaction();
  const at = Math.floor(clock.nowMs() * 1_000);
  const comment = rules?.text(given.comment) ?? given.comment;
  const texts = new Set(ask.flatMap((question) => (question.kind === 'text' ? [question.name] : [])));
  const values = Object.fromEntries(
    Object.entries(given.values ?? {}).map(([key, value]) => [key, texts.has(key) ? (rules?.text(String(value)) ?? value) : value]),
  );
  const annotations = annotationsOfAnswers(ask, values, { run: item, person: given.person, comment, at });
  const outcome = await store.queues.respond({
    queue: name,
    ...given,
    kind: given.values === undefined ? 'skip' : 'answer',
    values,
    comment,
    at,
    people,
    annotations: annotations.map((annotation) => redactedAnnotation(annotation, rules)),
  });
  if (outcome.kind === 'refused') {
    count('refused');
    return outcome;
  }
  if (!outcome.isRepeated) {
    count(given.values === undefined ? 'skipped' : 'answered');
    if (annotations.length > 0)
      telemetry.add('tracejury.annotations', annotations.length, {
        'tracejury.annotator.kind': 'human',
        'tracejury.outcome': 'attached',
      });
  }
  return { ...outcome, run: await store.run(item) };
}
