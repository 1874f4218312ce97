/** Settings of a queue in the configuration: its questions, people and order. */
import type { QueueQuestion } from './question.ts';

/** oldest: the item that entered first. informative: the one whose answer teaches most, by `priorityOf`. */
export const queueOrders = ['oldest', 'informative'] as const;
export type QueueOrder = (typeof queueOrders)[number];

export interface QueueSettings {
  readonly name: string;
  /** The condition of the rule; `undefined` when only people add runs. */
  readonly whenText: string | undefined;
  /** A share 0..1 of the traces that the rule tests. */
  readonly sample: number;
  /** Limit of open items. */
  readonly max: number;
  /** At least one question, each with a unique name. */
  readonly ask: readonly QueueQuestion[];
  /** People that answer each item. */
  readonly people: number;
  /** Time from the entry of an item to its expiry; `undefined` when it stays. */
  readonly dueMs: number | undefined;
  readonly order: QueueOrder;
  /** Share 0..1 of the turns that gives a run drawn at random from the judged ones, where the queue asks about an evaluator with a judge. */
  readonly random: number;
  /** Length of a lease. */
  readonly leaseMs: number;
  /** True when a person sees verdicts of judges and answers of others only after their own answer. */
  readonly blind: boolean;
}

/** Room of a queue for drawn items of one tenant that are open. */
export function drawnMax({ max, random }: Pick<QueueSettings, 'max' | 'random'>): number {
  return Math.max(drawnRoomMin, Math.ceil(max * random));
}

/** Thinning a smaller number leaves almost nothing. */
const drawnRoomMin = 8;
