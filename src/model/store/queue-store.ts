/**
 * The part of a store that keeps annotation queues. An item is one run in one queue, until as many people as the queue asks have answered.
 * One person at a time holds an item, under a lease. A lease has a number: a response under an older number is refused.
 */
import type { RunKey } from '../agent-trace.ts';
import type { Tenant } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { QueueDraw } from '../queue-draw.ts';
import type { Micros } from '../timestamp.ts';
import type { EvaluatorKind, VerdictWord } from '../verdict.ts';
import type { Annotation } from './annotation-store.ts';

/** Limit of open items per queue and tenant. */
export const queueItemsMax = 100_000;
/** Limit of people that answer one item. */
export const queuePeopleMax = 10;
/** Limit of one request to add runs. */
export const queueRunsAtOnceMax = 200;
/** Limit of one page of items. */
export const queuePageMax = 200;

/** done: enough people have answered. skipped: as many have skipped it. expired: its due time has passed before. */
export const queueItemStates = ['open', 'done', 'skipped', 'expired'] as const;
export type QueueItemState = (typeof queueItemStates)[number];

export interface QueueLease {
  /** The number of the lease; each other person gets a higher one. */
  readonly id: number;
  readonly person: string;
  readonly until: Micros;
}

/** The single response of one person to an item. */
export interface QueueResponse {
  readonly person: string;
  readonly kind: 'answer' | 'skip';
  readonly at: Micros;
  /** Values by the name of the question; empty for a skip. */
  readonly values: JsonObject;
  /** The comment, or why the person skips it. */
  readonly comment: string;
}

export interface QueueItem extends RunKey {
  readonly id: number;
  readonly queue: string;
  /** The condition of the rule, or the note of the person that added it. */
  readonly why: string;
  /** The rule or the person that added it. */
  readonly addedBy: string;
  readonly enteredAt: Micros;
  /** With which the queue drew the run at random from those that have a verdict; a label has that of its place in the order. `undefined`: a person or a rule chose it. */
  readonly probability: number | undefined;
  /** `undefined`: it never expires. */
  readonly dueAt: Micros | undefined;
  readonly state: QueueItemState;
  /** `undefined` while it is open. */
  readonly closedAt: Micros | undefined;
  /** Lease of the last holder, also after its end; `undefined` when no one has held it. */
  readonly lease: QueueLease | undefined;
  /** In the order of time. */
  readonly responses: readonly QueueResponse[];
}

export interface NewQueueItem extends RunKey {
  readonly why: string;
}

export interface AddingItems {
  readonly queue: string;
  readonly items: readonly NewQueueItem[];
  readonly addedBy: string;
  readonly at: Micros;
  readonly dueAt: Micros | undefined;
  /** Limit of open items of the queue, without the drawn ones. */
  readonly itemsMax: number;
  /** When true, a run whose item is skipped or expired is opened again. */
  readonly reopens: boolean;
}

export interface DrawingItems extends Omit<AddingItems, 'items' | 'itemsMax' | 'reopens'> {
  readonly items: readonly (NewQueueItem & { readonly draw: QueueDraw })[];
  /** The evaluator that judged the runs. Only labels with its name get the probability. */
  readonly evaluator: string;
  /** Room for drawn items of one tenant that are open. */
  readonly drawnMax: number;
}

/** drawn: it enters at random. not_drawn: its number is too high. known: the queue has decided on it before, or people have skipped it. */
export type QueueDrawOutcome = 'drawn' | 'not_drawn' | 'known' | 'not_stored';

/** known: the queue has the run. full: the queue has its most open items. not_stored: the store has no such run. */
export const queueAddOutcomes = ['added', 'reopened', 'known', 'full', 'not_stored'] as const;
export type QueueAddOutcome = (typeof queueAddOutcomes)[number];

/** The items that a person may get: those that are free, and that the person has not responded to. */
export interface FreeItems {
  readonly queue: string;
  readonly tenant?: Tenant;
  readonly person: string;
  /** An item with this number of answers is not free. */
  readonly people: number;
  readonly now: Micros;
}

export interface LeaseRequest extends FreeItems {
  /** End of the lease. */
  readonly until: Micros;
  /** Takes the first free one of these ids; by default the oldest one. Applies to chosen items. */
  readonly among?: readonly number[];
  /** Share of the turns that gives a drawn item, the first in the random order, while there is one. Default: 0. */
  readonly random?: number;
}

export interface Leased {
  readonly item: QueueItem;
  /** True when it takes over a lease that has ended and has not been counted. */
  readonly tookOver: boolean;
}

/** An item with what ranks it. */
export interface QueueCandidate {
  readonly id: number;
  readonly enteredAt: Micros;
  readonly verdicts: readonly CandidateVerdict[];
}

export interface CandidateVerdict {
  readonly name: string;
  readonly kind: EvaluatorKind;
  readonly verdict: VerdictWord;
  /** `undefined` unless it was scored. */
  readonly score: number | undefined;
  readonly details: JsonObject;
}

export interface NewQueueResponse extends QueueResponse {
  readonly queue: string;
  readonly item: number;
  /** The number of the lease. */
  readonly lease: number;
  /** Answers, or skips, that close the item. */
  readonly people: number;
  /** Annotations that the store keeps with the answer, in the same transaction. */
  readonly annotations: readonly Annotation[];
}

/**
 * unknown: the queue has no such item. responded: the person has responded to it under another lease. closed: it is not open any more. lost:
 * another person holds it, or has held it since. full: the trace has its most annotations.
 */
export const queueRefusals = ['unknown', 'responded', 'closed', 'lost', 'full'] as const;
export type QueueRefusal = (typeof queueRefusals)[number];

export type ResponseOutcome =
  /** `isRepeated`: the store had it already, and changes nothing. */
  | { readonly kind: 'taken'; readonly item: QueueItem; readonly isRepeated: boolean }
  | { readonly kind: 'refused'; readonly reason: QueueRefusal };

export interface QueueItemQuery {
  readonly queue: string;
  readonly tenant?: Tenant;
  readonly state?: QueueItemState;
  /** At most `queuePageMax`. */
  readonly limit: number;
  /** Id of the last item of the page before. */
  readonly after?: number;
}

export interface QueueItemPage {
  /** In the order in which they entered. */
  readonly items: readonly QueueItem[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

export interface QueueCounts {
  readonly queue: string;
  /** Open items, those under a lease included. */
  readonly open: number;
  readonly leased: number;
  readonly done: number;
  readonly skipped: number;
  readonly expired: number;
  readonly answers: number;
  /** When the oldest open item entered; `undefined` without one. */
  readonly oldestAt: Micros | undefined;
}

export interface PersonsCount {
  readonly person: string;
  readonly answers: number;
  readonly skips: number;
}

/** The answers of one item. */
export interface AnsweredItem {
  readonly item: number;
  readonly answers: readonly Pick<QueueResponse, 'person' | 'values'>[];
}

export interface QueueUpkeep {
  readonly at: Micros;
  /** The number of answers that closes an item, for the queues in force. */
  readonly people: ReadonlyMap<string, number>;
  /** Limit of rows of each kind in one call. */
  readonly limit: number;
}

/** Numbers by queue. */
export interface UpkeepCounts {
  /** Items whose due time has passed. */
  readonly expired: ReadonlyMap<string, number>;
  /** Leases that have ended without a response. */
  readonly lapsed: ReadonlyMap<string, number>;
}

/** Items are deleted with their run. */
export interface QueueStore {
  /** Resolves with the outcome of each item, in order. All or nothing. */
  add(items: AddingItems): Promise<readonly QueueAddOutcome[]>;
  /**
   * Draws runs at random, of one tenant. The first call decides on a run: a second chance would change its probability. Beyond its room the queue
   * lowers its rate, and keeps those below it. All or nothing.
   */
  draw(items: DrawingItems): Promise<readonly QueueDrawOutcome[]>;
  /** The free chosen items that entered first. */
  candidates(query: FreeItems & { readonly limit: number }): Promise<readonly QueueCandidate[]>;
  /** Gives a free item to a person; the one that the person holds already comes first. `undefined`: none is free. */
  lease(request: LeaseRequest): Promise<Leased | undefined>;
  /** Takes an answer or a skip and its annotations, all or nothing. An ended lease does not suffice to refuse it. */
  respond(response: NewQueueResponse): Promise<ResponseOutcome>;
  /** Ends a lease. False when the person does not hold it under this number. */
  release(lease: { readonly queue: string; readonly item: number; readonly lease: number; readonly person: string }): Promise<boolean>;
  item(queue: string, id: number): Promise<QueueItem | undefined>;
  items(query: QueueItemQuery): Promise<QueueItemPage>;
  /** Counts sorted by the name of the queue. */
  counts(query: { readonly tenant?: Tenant; readonly now: Micros }): Promise<readonly QueueCounts[]>;
  /** By name of the person, at most `limit`. */
  people(query: { readonly queue: string; readonly tenant?: Tenant; readonly limit: number }): Promise<readonly PersonsCount[]>;
  /** The newest items with two answers or more, at most `limit`. */
  answered(query: { readonly queue: string; readonly tenant?: Tenant; readonly limit: number }): Promise<readonly AnsweredItem[]>;
  /** Closes items whose time has passed or that have enough answers, and counts leases that have ended. */
  upkeep(upkeep: QueueUpkeep): Promise<UpkeepCounts>;
}
