/**
 * The bounded queue between the pipeline and judges or endpoints, in memory. Each of them has a number of slots, which is the one limit
 * of concurrency. A job holds a slot from its first question to its verdict. It lends the slot while it waits for a batch or for the
 * minute of its evaluator's budget.
 */
import type { Answer, Asking } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import type { Sleep } from '../../model/clock.ts';
import { judgeCallsMax, type JudgeCall } from '../../model/judge-call.ts';
import type { Outcome, Verdict } from '../../model/verdict.ts';
import { runJudge, type Ask } from '../../pipeline/jury/judge-driver.ts';
import { concurrencyLimiter, type ConcurrencyLimiter, type Lend } from '../../runtime/concurrency-limiter.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { isPutOff } from '../batch/batch-queue.ts';
import { isCircuitOpen } from '../judge-chain.ts';
import { costOf, usdOf, type TokenPrice, overLimit } from '../budget/budgets.ts';

/** Who is asked: a judge, or the endpoint of an evaluator over HTTP. */
export interface QueueKey {
  /** Jobs with the same name share its slots. */
  readonly name: string;
  /** Slots: jobs that ask at the same time. */
  readonly concurrency: number;
  /** Jobs that do not count as waiting, because most of them have lent their slots to wait for a batch; absent: `concurrency`. */
  readonly room?: number;
  /** The labels of its tokens: the name of the judge and its model; and what a million of them cost. */
  readonly judge?: string;
  readonly model?: string;
  readonly price?: TokenPrice | undefined;
  /** Of what came in a batch; absent: the same. */
  readonly batchPrice?: TokenPrice | undefined;
  readonly answer: Ask;
}

/** One evaluator on one run. */
export interface JudgeJob {
  /** Name of the configured evaluator. */
  readonly name: string;
  /** Whose run it is. */
  readonly agent?: string | undefined;
  readonly key: QueueKey;
  /** Answers this job; absent: its queue key does. */
  readonly answer?: (lend: Lend) => Ask;
  readonly threshold: number | null;
  /** Begins the evaluation; called when its turn comes. */
  readonly questions: () => Asking<Outcome>;
  /** Called exactly once. The caller reports the decision: `overload`, or that of the verdict. */
  readonly done: (end: JudgeEnd) => void;
}

/** `calls`: what was asked on the way; the first ones of many. */
export type JudgeEnd = (
  | { readonly kind: 'judged'; readonly verdict: Verdict }
  | { readonly kind: 'over_budget'; readonly reason: string }
  | { readonly kind: 'overload'; readonly reason: 'queue_full' | 'stopping' | 'judge_down' }
) & { readonly calls?: readonly JudgeCall[] };

export interface JudgeExecutorOptions {
  readonly telemetry: Telemetry;
  readonly sleep: Sleep;
  /** Jobs of all queue keys beyond their room. */
  readonly waitingMax?: number;
  readonly questionsMax?: number;
}

export interface JudgeExecutor {
  /** Never waits, never throws. */
  offer(job: JudgeJob): void;
  /** Refuses new jobs, finishes what is there, ends what is left at the deadline as overload. May be called twice. */
  stop(deadlineMs: number): Promise<void>;
}

interface Held {
  readonly job: JudgeJob;
  /** False as soon as `done` was called. */
  open: boolean;
  /** Waits for a slot. */
  isWaiting: boolean;
}

interface KeyState {
  /** The newest of the name. */
  key: QueueKey;
  readonly limiter: ConcurrencyLimiter;
  held: number;
}

export function judgeExecutor(options: JudgeExecutorOptions): JudgeExecutor {
  const { telemetry, waitingMax = 1000, questionsMax = 50 } = options;
  /** Only of those with jobs. */
  const keys = new Map<string, KeyState>();
  const held = new Set<Held>();
  let waiting = 0;
  let stopped: Promise<void> | undefined;
  let drained: (() => void) | undefined;

  function end(entry: Held, result: JudgeEnd): void {
    if (!entry.open) return;
    entry.open = false;
    held.delete(entry);
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
    /** The answer of a question that was not sent. Nothing more is asked then: what the evaluator makes of it is not its verdict. */
    let unasked: Answer | undefined;
    let cached = 0;
    const made: JudgeCall[] = [];
    const failures = new Set<string>();
    let tokens: Tokens | undefined;
    const answerer = job.answer?.(lend) ?? job.key.answer;
    const ask: Ask = async (request) => {
      if (unasked !== undefined) return unasked;
      const answer = await answerer(request, (call) => void made.push(call));
      countTokens(telemetry, job, answer);
      if (answer.tokens !== undefined)
        tokens = { input: (tokens?.input ?? 0) + answer.tokens.input, output: (tokens?.output ?? 0) + answer.tokens.output };
      if (overLimit(answer) !== undefined || isCircuitOpen(answer) || isPutOff(answer)) unasked = answer;
      if (answer.kind === 'answered' && answer.cached === true) cached++;
      if (answer.kind === 'failed') failures.add(answer.error);
      return answer;
    };
    const verdict = await runJudge(begun(job), ask, { questionsMax, threshold: job.threshold });
    const calls = made.length === 0 ? {} : { calls: made.slice(0, judgeCallsMax) };
    const limit = unasked === undefined ? undefined : overLimit(unasked);
    if (limit !== undefined) return { kind: 'over_budget', reason: limit, ...calls };
    if (unasked !== undefined) return { kind: 'overload', reason: isPutOff(unasked) ? 'stopping' : 'judge_down', ...calls };
    const used = {
      ...(cached === 0 ? {} : { cached }),
      ...(tokens === undefined ? {} : { judge_tokens: { ...tokens } }),
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
      if (jobs >= roomOf(key) && beyond() >= waitingMax) return end(entry, { kind: 'overload', reason: 'queue_full' });
      const state = stateOf(key);
      state.held++;
      held.add(entry);
      setWaiting(entry, true);
      void work(entry, state);
    },
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}

function roomOf({ room, concurrency }: QueueKey): number {
  return room ?? concurrency;
}

/** The explanation of a verdict that failed with its judge names the judge: a service has several of them. */
function namedIn(verdict: Verdict, failures: ReadonlySet<string>, { judge }: QueueKey): Verdict {
  return judge !== undefined && verdict.kind === 'failed' && failures.has(verdict.error)
    ? { ...verdict, explanation: `Judge ${judge}: ${verdict.explanation}` }
    : verdict;
}

/** Begins inside the generator, so that a fault there is a failed verdict as well. */
function* begun(job: JudgeJob): Asking<Outcome> {
  return yield* job.questions();
}

function countTokens(
  telemetry: Telemetry,
  { name, agent = '', key: { judge = '', model = '', batchPrice, ...key } }: JudgeJob,
  answer: Answer,
): void {
  const { tokens } = answer;
  if (tokens === undefined) return;
  const price = answer.kind === 'answered' && answer.batched === true ? (batchPrice ?? key.price) : key.price;
  const labels = { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge, 'gen_ai.agent.name': agent, 'gen_ai.request.model': model };
  telemetry.add('tracejury.evaluation.tokens', tokens.input, { ...labels, 'gen_ai.token.type': 'input' });
  telemetry.add('tracejury.evaluation.tokens', tokens.output, { ...labels, 'gen_ai.token.type': 'output' });
  if (price !== undefined) telemetry.add('tracejury.evaluation.cost', usdOf(costOf(tokens, price)), labels);
}
