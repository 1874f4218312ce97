/** The bounded queue between the pipeline and those who are asked, in memory: jobs wait here, each judge or endpoint works on so many at a time. */
import type { Answer, Asking } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import type { Sleep } from '../../model/clock.ts';
import { judgeCallsMax, type JudgeCall } from '../../model/judge-call.ts';
import type { Outcome, Verdict } from '../../model/verdict.ts';
import { runJudge, type Ask } from '../../pipeline/jury/judge-driver.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { isPutOff } from '../batch/batch-queue.ts';
import { isCircuitOpen } from './judge-circuit-breaker.ts';
import { costOf, usdOf, type TokenPrice } from '../budget/budgets.ts';
import { overLimit } from '../budget/budget-reservation.ts';

/** Who is asked: a judge, or the endpoint of an evaluator over HTTP. */
export interface QueueKey {
  /** Jobs with the same name share its places. */
  readonly name: string;
  /** Jobs that it works on at the same time. */
  readonly concurrency: number;
  /** Whose tokens it tells: the name of the judge, its model, and what a million of them cost. */
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
  readonly party: QueueKey;
  /** Who answers this one; absent: its party. */
  readonly answer?: Ask;
  readonly threshold: number | null;
  /** Begins the evaluation; called when its turn comes. */
  readonly questions: () => Asking<Outcome>;
  /** Called exactly once. Whoever offered the job makes the decision known: `overload`, or that of the verdict. */
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
  /** Jobs of all parties that may wait. */
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
}

interface PartyState {
  readonly waiting: Set<Held>;
  working: number;
}

export function judgeExecutor(options: JudgeExecutorOptions): JudgeExecutor {
  const { telemetry, waitingMax = 1000, questionsMax = 50 } = options;
  /** Only of those with jobs. */
  const parties = new Map<string, PartyState>();
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

  function setWaiting(change: 1 | -1): void {
    waiting += change;
    telemetry.set('tracejury.judge.queue', waiting);
  }

  function pump({ name, concurrency }: QueueKey, state: PartyState): void {
    for (const entry of state.waiting) {
      if (state.working >= concurrency) return;
      state.waiting.delete(entry);
      setWaiting(-1);
      void work(entry, state);
    }
    if (state.working === 0) parties.delete(name);
  }

  async function work(entry: Held, state: PartyState): Promise<void> {
    state.working++;
    end(entry, await endOf(entry.job));
    state.working--;
    pump(entry.job.party, state);
  }

  async function endOf(job: JudgeJob): Promise<JudgeEnd> {
    /** What a question found that nobody was to be asked. Nothing more is asked then: whatever the evaluator makes of it is not its verdict. */
    let unasked: Answer | undefined;
    let cached = 0;
    const made: JudgeCall[] = [];
    let tokens: Tokens | undefined;
    const ask: Ask = async (request) => {
      if (unasked !== undefined) return unasked;
      const answer = await (job.answer ?? job.party.answer)(request, (call) => void made.push(call));
      countTokens(telemetry, job, answer);
      if (answer.tokens !== undefined)
        tokens = { input: (tokens?.input ?? 0) + answer.tokens.input, output: (tokens?.output ?? 0) + answer.tokens.output };
      if (overLimit(answer) !== undefined || isCircuitOpen(answer) || isPutOff(answer)) unasked = answer;
      if (answer.kind === 'answered' && answer.cached === true) cached++;
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
    return { kind: 'judged', verdict: { ...verdict, details: { ...verdict.details, ...used } }, ...calls };
  }

  async function drain(deadlineMs: number): Promise<void> {
    const deadline = new AbortController();
    const empty = new Promise<void>((resolve) => {
      drained = resolve;
      if (held.size === 0) resolve();
    });
    await Promise.race([empty, options.sleep(deadlineMs, deadline.signal)]);
    deadline.abort();
    for (const { waiting: left } of parties.values()) {
      for (let count = left.size; count > 0; count--) setWaiting(-1);
      left.clear();
    }
    for (const entry of held) end(entry, { kind: 'overload', reason: 'stopping' });
  }

  return {
    offer(job) {
      const entry: Held = { job, open: true };
      if (stopped !== undefined) return end(entry, { kind: 'overload', reason: 'stopping' });
      const { party } = job;
      const state = parties.get(party.name) ?? { waiting: new Set(), working: 0 };
      if (waiting >= waitingMax && state.working >= party.concurrency) return end(entry, { kind: 'overload', reason: 'queue_full' });
      parties.set(party.name, state);
      held.add(entry);
      state.waiting.add(entry);
      setWaiting(1);
      pump(party, state);
    },
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}

/** Begins inside the generator, so that a fault there is a failed verdict as well. */
function* begun(job: JudgeJob): Asking<Outcome> {
  return yield* job.questions();
}

function countTokens(
  telemetry: Telemetry,
  { name, agent = '', party: { judge = '', model = '', batchPrice, ...party } }: JudgeJob,
  answer: Answer,
): void {
  const { tokens } = answer;
  if (tokens === undefined) return;
  const price = answer.kind === 'answered' && answer.batched === true ? (batchPrice ?? party.price) : party.price;
  const labels = { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge, 'gen_ai.agent.name': agent, 'gen_ai.request.model': model };
  telemetry.add('tracejury.evaluation.tokens', tokens.input, { ...labels, 'gen_ai.token.type': 'input' });
  telemetry.add('tracejury.evaluation.tokens', tokens.output, { ...labels, 'gen_ai.token.type': 'output' });
  if (price !== undefined) telemetry.add('tracejury.evaluation.cost', usdOf(costOf(tokens, price)), labels);
}
