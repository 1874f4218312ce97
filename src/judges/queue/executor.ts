/**
 * The bounded queue between the pipeline and judges or endpoints, in memory. Each queue key has a number of slots, which is the only limit
 * of concurrency. A job holds a slot from its first question to its verdict. It lends the slot while it waits for a batch or for the minute
 * of its evaluator's budget.
 */
import type { Answer, Asking } from '../../../evaluators/evaluator.ts';
import { noTenant, type Tenant } from '../../model/ids.ts';
import { shares } from '../../model/shares.ts';
import type { Tokens } from '../../model/budget.ts';
import type { Sleep } from '../../model/clock.ts';
import { judgeCallsMax, type JudgeCall } from '../../model/judge-call.ts';
import type { Outcome, Verdict } from '../../model/verdict.ts';
import { runJudge, type Ask } from '../../pipeline/jury/judge-driver.ts';
import { concurrencyLimiter, type ConcurrencyLimiter, type Lend } from '../../runtime/concurrency-limiter.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { isDeferred } from '../batch/batch-queue.ts';
import { isCircuitOpen } from '../judge-chain.ts';
import { costOf, usdOf, type TokenPrice, overLimit } from '../budget/budgets.ts';

/** A judge, or the endpoint of an HTTP evaluator. */
export interface QueueKey {
  /** Jobs of one name share its slots. */
  readonly name: string;
  /** Slots: the number of jobs in progress. */
  readonly concurrency: number;
  /** Jobs that do not count as waiting, as most of them have lent their slots to wait for a batch. Default: `concurrency`. */
  readonly room?: number;
  /** Name and model of the judge, as labels of its tokens; and the price of a million tokens. */
  readonly judge?: string;
  readonly model?: string;
  readonly price?: TokenPrice | undefined;
  /** Price of batched questions. Default: `price`. */
  readonly batchPrice?: TokenPrice | undefined;
  readonly answer: Ask;
}

/** One evaluator on one run. */
export interface JudgeJob {
  /** Name of the configured evaluator. */
  readonly name: string;
  /** Name of the run's agent. */
  readonly agent?: string | undefined;
  /** Tenants share the room of waiting jobs. */
  readonly tenant?: Tenant;
  readonly key: QueueKey;
  /** Answers the questions of this job. Default: `key.answer`. */
  readonly answer?: (lend: Lend) => Ask;
  readonly threshold: number | null;
  /** Begins the evaluation; called when the job has its slot. */
  readonly questions: () => Asking<Outcome>;
  /** Called exactly once. The caller reports the decision: `overload`, or the one of the verdict. */
  readonly done: (end: JudgeEnd) => void;
}

/** `calls`: requests of the job, the first `judgeCallsMax` of them. */
export type JudgeEnd = (
  | { readonly kind: 'judged'; readonly verdict: Verdict }
  | { readonly kind: 'over_budget'; readonly reason: string }
  | { readonly kind: 'overload'; readonly reason: 'queue_full' | 'stopping' | 'judge_down' }
) & { readonly calls?: readonly JudgeCall[] };

export interface JudgeExecutorOptions {
  readonly telemetry: Telemetry;
  readonly sleep: Sleep;
  /** Limit of jobs beyond the room of their queue keys, shared by the tenants. */
  readonly waitingMax?: number;
  readonly questionsMax?: number;
}

export interface JudgeExecutor {
  /** Never waits, never throws. */
  offer(job: JudgeJob): void;
  /** Refuses new jobs, finishes those in the queue, and ends the rest at the deadline as overload. May be called twice. */
  stop(deadlineMs: number): Promise<void>;
}

interface Held {
  readonly job: JudgeJob;
  /** False once `done` was called. */
  open: boolean;
  /** True while the job waits for a slot. */
  isWaiting: boolean;
}

interface KeyState {
  /** The latest settings of the name. */
  key: QueueKey;
  readonly limiter: ConcurrencyLimiter;
  held: number;
}

/** Jobs that wait for a slot. */
export const jobsWaitingMax = 1_000;

export function judgeExecutor(options: JudgeExecutorOptions): JudgeExecutor {
  const { telemetry, waitingMax = jobsWaitingMax, questionsMax = 50 } = options;
  /** State of the queue keys that have jobs. */
  const keys = new Map<string, KeyState>();
  const held = new Set<Held>();
  const places = shares(waitingMax);
  let waiting = 0;
  let stopped: Promise<void> | undefined;
  let drained: (() => void) | undefined;

  function end(entry: Held, result: JudgeEnd): void {
    if (!entry.open) return;
    entry.open = false;
    if (held.delete(entry)) places.giveBack(tenantOf(entry));
    entry.job.done(result);
    if (held.size === 0) drained?.();
  }

  function setWaiting(entry: Held, isWaiting: boolean): void {
    if (entry.isWaiting === isWaiting) return;
    entry.isWaiting = isWaiting;
    waiting += isWaiting ? 1 : -1;
    telemetry.set('tracejury.judge.queue', waiting);
  }

  async function work(entry: Held, state: KeyState): Promise<void> {
    await state.limiter.run(async (lend) => {
      setWaiting(entry, false);
      if (entry.open) end(entry, await endOf(entry.job, lend));
    });
    state.held--;
    if (state.held === 0) keys.delete(state.key.name);
  }

  /** Jobs beyond the room of their queue keys. */
  function beyond(): number {
    return [...keys.values()].reduce((sum, { key, held: jobs }) => sum + Math.max(0, jobs - roomOf(key)), 0);
  }

  function stateOf(key: QueueKey): KeyState {
    const found = keys.get(key.name);
    if (found !== undefined) {
      found.key = key;
      return found;
    }
    const state: KeyState = {
      key,
      held: 0,
      limiter: concurrencyLimiter({ concurrency: () => state.key.concurrency, waitingMax: Infinity }),
    };
    keys.set(key.name, state);
    return state;
  }

  async function endOf(job: JudgeJob, lend: Lend): Promise<JudgeEnd> {
    /** The answer of a question that was not sent. Further questions are not asked, and the evaluator's result does not count. */
    let unsent: Answer | undefined;
    let cached = 0;
    const made: JudgeCall[] = [];
    const failures = new Set<string>();
    let tokens: Tokens | undefined;
    /** Nanodollars; `undefined`: the price of some tokens is unknown. */
    let nano: number | undefined = 0;
    const answerer = job.answer?.(lend) ?? job.key.answer;
    const ask: Ask = async (request) => {
      if (unsent !== undefined) return unsent;
      const answer = await answerer(request, (call) => void made.push(call));
      const price = priceOf(job, answer);
      countTokens(telemetry, job, answer, price);
      if (answer.tokens !== undefined) {
        nano = nano === undefined || price === undefined ? undefined : nano + costOf(answer.tokens, price);
        tokens = { input: (tokens?.input ?? 0) + answer.tokens.input, output: (tokens?.output ?? 0) + answer.tokens.output };
      }
      if (overLimit(answer) !== undefined || isCircuitOpen(answer) || isDeferred(answer)) unsent = answer;
      if (answer.kind === 'answered' && answer.cached === true) cached++;
      if (answer.kind === 'failed') failures.add(answer.error);
      return answer;
    };
    const verdict = await runJudge(begun(job), ask, { questionsMax, threshold: job.threshold });
    const calls = made.length === 0 ? {} : { calls: made.slice(0, judgeCallsMax) };
    const limit = unsent === undefined ? undefined : overLimit(unsent);
    if (limit !== undefined) return { kind: 'over_budget', reason: limit, ...calls };
    if (unsent !== undefined) return { kind: 'overload', reason: isDeferred(unsent) ? 'stopping' : 'judge_down', ...calls };
    const used = {
      ...(cached === 0 ? {} : { cached }),
      ...(tokens === undefined ? {} : { judge_tokens: { ...tokens } }),
      ...(tokens === undefined || nano === undefined ? {} : { judge_cost_usd: usdOf(nano) }),
      ...(made.length === 0 ? {} : { judge_requests: made.length }),
    };
    return { kind: 'judged', verdict: { ...namedIn(verdict, failures, job.key), details: { ...verdict.details, ...used } }, ...calls };
  }

  async function drain(deadlineMs: number): Promise<void> {
    const deadline = new AbortController();
    const empty = new Promise<void>((resolve) => {
      drained = resolve;
      if (held.size === 0) resolve();
    });
    await Promise.race([empty, options.sleep(deadlineMs, deadline.signal)]);
    deadline.abort();
    for (const { limiter } of keys.values()) limiter.close();
    for (const entry of held) setWaiting(entry, false);
    for (const entry of held) end(entry, { kind: 'overload', reason: 'stopping' });
  }

  return {
    offer(job) {
      const entry: Held = { job, open: true, isWaiting: false };
      if (stopped !== undefined) return end(entry, { kind: 'overload', reason: 'stopping' });
      const { key } = job;
      const jobs = keys.get(key.name)?.held ?? 0;
      if (jobs >= roomOf(key) && beyond() >= waitingMax && !places.mayTake(tenantOf(entry)))
        return end(entry, { kind: 'overload', reason: 'queue_full' });
      const state = stateOf(key);
      state.held++;
      held.add(entry);
      places.take(tenantOf(entry));
      setWaiting(entry, true);
      void work(entry, state);
    },
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}

function tenantOf({ job: { tenant = noTenant } }: Held): Tenant {
  return tenant;
}

function roomOf({ room, concurrency }: QueueKey): number {
  return room ?? concurrency;
}

/** Names the judge in the explanation when the evaluation failed with an error of the judge. */
function namedIn(verdict: Verdict, failures: ReadonlySet<string>, { judge }: QueueKey): Verdict {
  return judge !== undefined && verdict.kind === 'failed' && failures.has(verdict.error)
    ? { ...verdict, explanation: `Judge ${judge}: ${verdict.explanation}` }
    : verdict;
}

/** Starts inside the generator, so an exception becomes a failed verdict. */
function* begun(job: JudgeJob): Asking<Outcome> {
  return yield* job.questions();
}

function priceOf({ key: { price, batchPrice } }: JudgeJob, answer: Answer): TokenPrice | undefined {
  return answer.kind === 'answered' && answer.batched === true ? (batchPrice ?? price) : price;
}

function countTokens(
  telemetry: Telemetry,
  { name, agent = '', key: { judge = '', model = '' } }: JudgeJob,
  { tokens }: Answer,
  price: TokenPrice | undefined,
): void {
  if (tokens === undefined) return;
  const labels = { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge, 'gen_ai.agent.name': agent, 'gen_ai.request.model': model };
  telemetry.add('tracejury.evaluation.tokens', tokens.input, { ...labels, 'gen_ai.token.type': 'input' });
  telemetry.add('tracejury.evaluation.tokens', tokens.output, { ...labels, 'gen_ai.token.type': 'output' });
  if (price !== undefined) telemetry.add('tracejury.evaluation.cost', usdOf(costOf(tokens, price)), labels);
}
