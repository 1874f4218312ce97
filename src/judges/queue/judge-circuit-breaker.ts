/** Leaves a judge alone that does not answer: after failures in a row nothing is asked for a while, then one question, to see whether it is there again. */
import type { Answer } from '../../../evaluators/evaluator.ts';
import type { Clock, Sleep } from '../../model/clock.ts';
import { circuitBreaker } from '../../runtime/circuit-breaker.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';

export interface JudgeCircuitBreakerOptions {
  /** Of the judge. */
  readonly name: string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly random: () => number;
  /** Ends the open state. */
  readonly signal: AbortSignal;
}

export interface JudgeCircuitBreaker {
  /** Asks, or says at once that the judge is down. */
  through(ask: () => Promise<Answer>): Promise<Answer>;
  /** Of so many places, those that are of use now. */
  places(all: number): number;
  /** There is another client: whatever the one before could not reach, this one may. */
  forget(): void;
}

/** Questions, each sent several times. */
const failuresMax = 10;
const states = { closed: 0, half_open: 1, open: 2 } as const;
/** Errors of an endpoint that is not reached, or answers no question at all. */
const down: ReadonlySet<string> = new Set(['judge_unavailable', 'judge_timed_out', 'judge_out_of_quota']);
const circuitOpen = {
  kind: 'failed',
  error: 'judge_down: it did not answer several times in a row and is left alone for a while',
} as const satisfies Answer;

export function isCircuitOpen(answer: Answer): boolean {
  return answer.kind === 'failed' && answer.error === circuitOpen.error;
}

export function judgeCircuitBreaker({ name, telemetry, signal, ...options }: JudgeCircuitBreakerOptions): JudgeCircuitBreaker {
  const state = circuitBreaker({ ...options, failuresMax, onHalfOpen: report });
  signal.addEventListener('abort', state.stop, { once: true });
  let probing = false;

  function report(): void {
    telemetry.set('tracejury.judge.circuit', states[state.circuit()], { 'tracejury.judge': name });
  }

  function recorded(answer: Answer): void {
    if (answer.kind === 'answered') return state.succeeded();
    const word = /^\w+/.exec(answer.error)?.[0] ?? '';
    // It was not asked.
    if (word === 'over_budget' || word === 'judge_overloaded' || word === 'judge_stopped' || word === 'judge_fault') return;
    if (!down.has(word)) return state.succeeded();
    state.failed();
  }

  return {
    async through(ask) {
      const isProbe = state.circuit() === 'half_open';
      if (state.circuit() === 'open' || (isProbe && probing)) return circuitOpen;
      if (isProbe) probing = true;
      try {
        const answer = await ask();
        recorded(answer);
        return answer;
      } finally {
        if (isProbe) probing = false;
        report();
      }
    },
    places: (all) => (state.circuit() === 'closed' ? all : state.circuit() === 'half_open' ? 1 : 0),
    forget() {
      state.succeeded();
      report();
    },
  };
}
