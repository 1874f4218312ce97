/** Lets runs close when they are due, between the requests that are answered. */
import type { Clock } from '../model/clock.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';

/** Traces that are closed in one go: requests are answered in between. A trace takes well under a millisecond, a huge one tens of them. */
const tracesPerTick = 8;
/** The longest that a timer sleeps: a later deadline is looked at again then. */
const timerMsMax = 60_000;

export interface Ticker {
  /** Looks at the next deadline again. */
  readonly wake: () => void;
  readonly stop: () => void;
}

export interface TickerOptions {
  readonly flow: Pick<Pipeline, 'advance' | 'nextDueMs'>;
  readonly clock: Clock;
  /** Told of a trace that could not be closed. */
  readonly onFault: (error: unknown) => void;
}

/** Advances the flow when something is due: one timer, set to the next deadline. */
export function tickerOf({ flow, clock, onFault }: TickerOptions): Ticker {
  let timer: NodeJS.Timeout | undefined;
  let turn: NodeJS.Immediate | undefined;
  let dueMs = Infinity;

  function tick(): void {
    timer = undefined;
    turn = undefined;
    dueMs = Infinity;
    try {
      flow.advance(tracesPerTick);
    } catch (error) {
      // One trace that cannot be read must not stop the others; the fault is ours, so it is told loudly.
      onFault(error);
    }
    wake();
  }

  function wake(): void {
    const next = flow.nextDueMs();
    if (next === undefined || next >= dueMs) return;
    clearTimeout(timer);
    dueMs = next;
    const waitMs = Math.min(timerMsMax, Math.ceil(next - clock.nowMs()));
    // What is overdue comes after the requests that wait, and before anything else.
    if (waitMs <= 0) turn ??= setImmediate(tick);
    else timer = setTimeout(tick, waitMs);
  }

  function stop(): void {
    clearTimeout(timer);
    clearImmediate(turn);
  }

  return { wake, stop };
}
