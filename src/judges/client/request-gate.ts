/**
 * What holds a request up before it goes, in this order: the budget of the evaluator that asks, a place at the endpoint, the pace, the judge's budget. Whoever waits for its
 * own evaluator's budget takes nobody's place.
 */
import type { BudgetReservation, Tokens } from '../../model/budget.ts';
import { believed, withReservation } from '../budget/budget-reservation.ts';
import type { ConcurrencyLimiter } from '../../runtime/concurrency-limiter.ts';

export interface RequestGateOptions {
  readonly gate: Pick<ConcurrencyLimiter, 'through' | 'paced'>;
  /** Of the judge. */
  readonly till: BudgetReservation | undefined;
  /** A reply tells a usage that cannot be. */
  readonly onDisbelief: () => void;
  /** Nothing is sent after it. */
  readonly signal: AbortSignal;
}

interface Unsent {
  readonly kind: 'failed';
  readonly error: string;
  readonly unsent?: true;
}

export interface RequestGate {
  /** `purse`: the budget of the evaluator that asks. `most`: an upper bound of what the request uses. */
  through<Reply extends { readonly kind: string; readonly tokens?: Tokens | undefined; readonly mayCost?: true }>(
    purse: BudgetReservation | undefined,
    most: Tokens,
    send: () => Promise<Reply>,
  ): Promise<Reply | Unsent>;
}

export const turnedAway = { kind: 'failed', error: 'judge_overloaded: too many questions are waiting' } as const;

export function requestGate({ gate, till, onDisbelief, signal }: RequestGateOptions): RequestGate {
  return {
    through: (purse, most, send) =>
      withReservation(
        purse,
        most,
        async () => {
          const reply = await gate.through(async () => {
            await gate.paced();
            if (signal.aborted) return { kind: 'failed', error: 'judge_stopped: the service is stopping', unsent: true } as const;
            return await withReservation(till, most, async () => believed(await send(), most, onDisbelief), signal);
          });
          return reply ?? { ...turnedAway, unsent: true };
        },
        signal,
      ),
  };
}
