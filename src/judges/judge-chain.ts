/**
 * The stages of a question on its way to a judge's endpoint, from the outside in:
 *
 *     limiter → cache → batch → breaker → retry → budget → HTTP
 *
 * The limiter is the slot of the executor, which a question holds until its answer. It lends the slot while it waits for its batch or for
 * the minute of its evaluator's budget. Decision 18 gives the reasons for this order.
 */
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { BudgetReservation, Tokens } from '../model/budget.ts';
import type { JudgeCall } from '../model/judge-call.ts';
import { lendNothing } from '../runtime/concurrency-limiter.ts';
import { withRetry, type Busy, type RetryPolicy } from '../runtime/retry.ts';
import type { BatchingJudge } from './batch/batch-client.ts';
import { batchQueue, type BatchAsker as Asker, type BatchQueue, type BatchQueueOptions } from './batch/batch-queue.ts';
import { believed, withReservation } from './budget/budgets.ts';
import type { AnswerCache } from './client/answer-cache.ts';
import type { CallRecord, Reply } from './client/call-record.ts';
import { errorType } from '../model/verdict.ts';
import { unansweredErrors, unaskedErrors } from './judge-outages.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { circuitBreaker } from '../runtime/circuit-breaker.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

interface QuestionChainDeps extends Omit<BatchQueueOptions, 'direct' | 'use'> {
  readonly cache: AnswerCache;
  readonly breaker: JudgeCircuitBreaker;
  /** Runs the work with the judge's current client: retry, budget and HTTP. */
  readonly client: <Result>(work: (judge: BatchingJudge) => Promise<Result>) => Promise<Result>;
  /** Called for each answer of a batch. */
  readonly onBatched: () => void;
}

export interface QuestionChain {
  readonly batches: Pick<BatchQueue, 'open' | 'stop'>;
  ask(question: Question, asker: Asker): Promise<Answer>;
  /** Bypasses the cache and the batches. */
  askAnew(question: Question, asker: Asker): Promise<Answer>;
  embed(request: EmbeddingRequest, asker: Asker): Promise<Answer>;
}

export function questionChain({ cache, breaker, client, onBatched, ...options }: QuestionChainDeps): QuestionChain {
  const askAnew = (question: Question, { note, budget, lend = lendNothing }: Asker): Promise<Answer> =>
    breaker.run(() => client((judge) => judge.ask(question, note, budget?.direct(lend))));
  const batches = batchQueue({ ...options, use: client, direct: askAnew });
  return {
    batches,
    ask: (question, asker) =>
      cache.answer(options.settings(), question, async () => {
        const answer = await batches.ask(question, asker);
        if (answer.kind === 'answered' && answer.batched === true) onBatched();
        return answer;
      }),
    askAnew,
    embed: (request, { note, budget, lend = lendNothing }) =>
      breaker.run(() => client((judge) => judge.embed(request, note, budget?.direct(lend)))),
  };
}

interface RequestChainDeps {
  readonly retry: RetryPolicy;
  /** Budget of the judge. */
  readonly reservation: BudgetReservation | undefined;
  /** Called when a reply reports a usage that is not believable. */
  readonly onDisbelief: () => void;
  /** Called when the last attempt of a request has ended; `error` is `undefined` for an answer. */
  readonly onReply: (error: string | undefined) => void;
}

/** One request of a question. Each sending takes a separate reservation. */
interface ChainedRequest<Sent extends Reply> {
  readonly record: CallRecord;
  readonly what: Pick<JudgeCall, 'operation' | 'question'>;
  /** Budget of the evaluator that asks. */
  readonly budget: BudgetReservation | undefined;
  /** An upper bound of the tokens that it uses. */
  readonly most: Tokens;
  readonly send: () => Promise<Sent | Busy>;
}

interface Unsent {
  readonly kind: 'failed';
  readonly error: string;
  readonly unsent?: true;
}

export type RequestChain = <Sent extends Reply & { readonly mayCost?: true }>(
  request: ChainedRequest<Sent>,
) => Promise<Exclude<Sent, Busy> | { readonly kind: 'failed'; readonly error: string }>;

/** retry → budget of the evaluator → budget of the judge → HTTP. The judge's budget is the last, as its minute counts what is sent. */
export function requestChain({ retry, reservation, onDisbelief, onReply }: RequestChainDeps): RequestChain {
  return async <Sent extends Reply & { readonly mayCost?: true }>({ record, what, budget, most, send }: ChainedRequest<Sent>) => {
    const reply = await record.record(what, retry, (recorded, sent) =>
      withRetry<Sent | Unsent>(
        () =>
          withReservation(
            budget,
            most,
            async () => {
              if (retry.signal.aborted) return { kind: 'failed', error: retry.stopped, unsent: true } as const;
              return await withReservation(
                reservation,
                most,
                async () => {
                  sent();
                  return believed(await send(), most, onDisbelief);
                },
                retry.signal,
              );
            },
            retry.signal,
          ),
        recorded,
      ),
    );
    onReply(reply.error);
    return reply;
  };
}

interface JudgeCircuitBreakerOptions {
  /** Name of the judge. */
  readonly name: string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly random: () => number;
  /** Closes the breaker. */
  readonly signal: AbortSignal;
}

export interface JudgeCircuitBreaker {
  /** Asks, or answers at once that the judge is down. */
  run(ask: () => Promise<Answer>): Promise<Answer>;
  /** The number of `all` slots that are usable in the current state. */
  places(all: number): number;
  /** Closes the breaker after the client has changed. */
  forget(): void;
}

/** Failed questions in a row, each of them sent several times. */
const failuresMax = 10;
const states = { closed: 0, half_open: 1, open: 2 } as const;
const circuitOpen = {
  kind: 'failed',
  error: 'judge_down: it did not answer several times in a row and is not asked for a while',
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
    const word = errorType(answer.error);
    if (unaskedErrors.has(word)) return;
    if (!unansweredErrors.has(word)) return state.succeeded();
    state.failed();
  }

  return {
    async run(ask) {
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
