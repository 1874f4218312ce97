/** The bounded queue between the pipeline and the judges, in memory: jobs wait here, each judge works on so many at a time. */
import type { Answer, Asking } from '../../evaluators/evaluator.ts';
import { unreachable } from '../model/ids.ts';
import type { Sleep } from '../model/clock.ts';
import type { Outcome, Verdict } from '../model/verdict.ts';
import { askOf, runJudge, type Ask } from '../pipeline/ask.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { Judge } from './judge.ts';

/** One judge evaluator on one run. */
export interface JudgeJob {
  /** Name of the configured evaluator. */
  readonly name: string;
  readonly judge: Judge;
  readonly threshold: number | null;
  /** Begins the evaluation; called when its turn comes. */
  readonly questions: () => Asking<Outcome>;
  /** Called exactly once. Whoever offered the job makes the decision known: `overload`, or that of the verdict. */
  readonly done: (end: JudgeEnd) => void;
}

export type JudgeEnd = { readonly kind: 'judged'; readonly verdict: Verdict } | { readonly kind: 'overload'; readonly reason: 'queue_full' | 'stopping' };

export interface JudgeLaneOptions {
  readonly telemetry: Telemetry;
  readonly sleep: Sleep;
  /** Jobs that one judge works on at the same time, by the judge's name. */
  readonly concurrency: (judge: string) => number;
  /** Jobs of all judges that may wait. */
  readonly waitingMax?: number;
  readonly questionsMax?: number;
}

export interface JudgeLane {
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

interface JudgeState {
  readonly waiting: Set<Held>;
  working: number;
}

export function judgeLane(options: JudgeLaneOptions): JudgeLane {
  const { telemetry, concurrency, waitingMax = 1000, questionsMax = 50 } = options;
  /** One per configured judge. */
  const judges = new Map<string, JudgeState>();
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

  function pump(name: string, state: JudgeState): void {
    for (const entry of state.waiting) {
      if (state.working >= concurrency(name)) return;
      state.waiting.delete(entry);
      setWaiting(-1);
      void work(entry, name, state);
    }
    if (state.working === 0) judges.delete(name);
  }

  async function work(entry: Held, name: string, state: JudgeState): Promise<void> {
    state.working++;
    end(entry, { kind: 'judged', verdict: await verdictOn(entry.job) });
    state.working--;
    pump(name, state);
  }

  async function verdictOn(job: JudgeJob): Promise<Verdict> {
    const answered = askOf(job.judge);
    const ask: Ask = async (request) => {
      const answer = await answered(request);
      countTokens(telemetry, job, answer);
      return answer;
    };
    return await runJudge(begun(job), ask, { questionsMax, threshold: job.threshold });
  }

  async function drain(deadlineMs: number): Promise<void> {
    const deadline = new AbortController();
    const empty = new Promise<void>((resolve) => {
      drained = resolve;
      if (held.size === 0) resolve();
    });
    await Promise.race([empty, options.sleep(deadlineMs, deadline.signal)]);
    deadline.abort();
    for (const { waiting: left } of judges.values()) {
      for (let count = left.size; count > 0; count--) setWaiting(-1);
      left.clear();
    }
    for (const entry of held) end(entry, { kind: 'overload', reason: 'stopping' });
  }

  return {
    offer(job) {
      const entry: Held = { job, open: true };
      if (stopped !== undefined) return end(entry, { kind: 'overload', reason: 'stopping' });
      const { name } = job.judge;
      const state = judges.get(name) ?? { waiting: new Set(), working: 0 };
      if (waiting >= waitingMax && state.working >= concurrency(name)) return end(entry, { kind: 'overload', reason: 'queue_full' });
      judges.set(name, state);
      held.add(entry);
      state.waiting.add(entry);
      setWaiting(1);
      pump(name, state);
    },
    stop: (deadlineMs) => (stopped ??= drain(deadlineMs)),
  };
}

/** Begins inside the generator, so that a fault there is a failed verdict as well. */
function* begun(job: JudgeJob): Asking<Outcome> {
  return yield* job.questions();
}

function countTokens(telemetry: Telemetry, { name, judge }: JudgeJob, answer: Answer): void {
  switch (answer.kind) {
    case 'answered':
      for (const [type, count] of Object.entries(answer.tokens ?? {})) {
        telemetry.add('tracejury.evaluation.tokens', count, { 'gen_ai.evaluation.name': name, 'gen_ai.token.type': type, 'gen_ai.request.model': judge.model });
      }
      return;
    case 'failed':
      return;
    default:
      unreachable(answer);
  }
}
