/** A circuit breaker for one backend. Closed, it sends everything; open, nothing; half open, one item as a probe. */
import type { Clock, Sleep } from '../model/clock.ts';
import { backoffMs, type BackoffOptions } from './retry.ts';

export type Circuit = 'closed' | 'half_open' | 'open';

export interface BreakerState {
  circuit(): Circuit;
  /** The backend accepted something. */
  succeeded(): void;
  /** The backend accepted nothing. Returns the length of the open state in milliseconds when this failure opened the circuit. */
  failed(retryAfterMs?: number): number | undefined;
  /** The open state is over. */
  rested(): void;
}

export interface BreakerOptions extends BackoffOptions {
  readonly random: () => number;
  /** Consecutive failures that open the circuit. */
  readonly failuresMax?: number;
}

/** Bound of the wait that a backend asks for: it may have meant another unit. */
const retryAfterMsMax = 3_600_000;

/** The state machine, without a clock. */
export function breaker({ failuresMax = 5, ...backoff }: BreakerOptions): BreakerState {
  let circuit: Circuit = 'closed';
  let failures = 0;
  /** Openings since the last success. */
  let openings = 0;
  return {
    circuit: () => circuit,
    succeeded() {
      circuit = 'closed';
      failures = 0;
      openings = 0;
    },
    failed(retryAfterMs) {
      failures++;
      // A request that was in progress when the circuit opened brings no news.
      if (circuit === 'open' || (circuit === 'closed' && failures < failuresMax && retryAfterMs === undefined)) return undefined;
      circuit = 'open';
      openings++;
      return Math.max(backoffMs(openings, backoff), Math.min(retryAfterMs ?? 0, retryAfterMsMax));
    },
    rested() {
      if (circuit === 'open') circuit = 'half_open';
    },
  };
}

export interface CircuitBreakerOptions extends BreakerOptions {
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Called when the open state ends, by time or by `wake`. */
  readonly onHalfOpen: () => void;
}

export interface CircuitBreaker extends Pick<BreakerState, 'circuit' | 'succeeded'> {
  /** The backend accepted nothing. True when this failure opened the circuit. */
  failed(retryAfterMs?: number): boolean;
  /** End of the open state; `undefined` when the circuit is not open. */
  retryAtMs(): number | undefined;
  /** Ends the open state now. */
  wake(): void;
  /** Ends the timer; the circuit keeps its state. */
  stop(): void;
}

/** The state machine with the timer of its open state. */
export function circuitBreaker({ clock, sleep, onHalfOpen, ...options }: CircuitBreakerOptions): CircuitBreaker {
  const state = breaker(options);
  let retryAtMs = 0;
  let timer = new AbortController();
  let isStopped = false;

  async function rest(ms: number): Promise<void> {
    const own = new AbortController();
    timer = own;
    retryAtMs = clock.nowMs() + ms;
    await sleep(ms, own.signal);
    if (isStopped || timer !== own || state.circuit() !== 'open') return;
    state.rested();
    onHalfOpen();
  }

  return {
    circuit: state.circuit,
    succeeded: state.succeeded,
    failed(retryAfterMs) {
      const ms = state.failed(retryAfterMs);
      if (ms !== undefined && !isStopped) void rest(ms);
      return ms !== undefined;
    },
    retryAtMs: () => (state.circuit() === 'open' ? retryAtMs : undefined),
    wake: () => timer.abort(),
    stop() {
      isStopped = true;
      timer.abort();
    },
  };
}
