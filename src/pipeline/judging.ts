/** The second half of the flow: runs that are put before judges at once, or come back to them from the store, until their verdicts are delivered. */
import type { Run } from '../model/agent-trace.ts';
import type { NewJudgeJob } from '../model/judge-work.ts';
import type { RunDecision, ScoredRun } from '../model/scored-run.ts';
import { sampledBy, type Verdict } from '../model/verdict.ts';
import {
  decision,
  decisionOf,
  evaluationOf,
  expectedOf,
  recordDuration,
  whoIsAsked,
  type PlannedEvaluator,
  type ToJudge,
} from './evaluation/evaluate.ts';
import { redactedRun, type RedactedRun } from './evaluation/redacted-run.ts';
import { asConversation, withoutEarlier } from './evaluation/session-turns.ts';
import type { AskEnd } from './jury/judge-driver.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { TaskGroups } from './reporting/task-groups.ts';
import type { Context } from '../telemetry/context.ts';

/** The work that waits for a judge in the store, or the reason why it may not. */
export type Queued = { readonly kind: 'job'; readonly job: NewJudgeJob } | { readonly kind: 'overload'; readonly reason: string };

/** A job that has waited in the store. */
export type ResumedJob = NewJudgeJob & { readonly run: Run };

/** Puts a run before a judge. Calls `done` exactly once, whenever that is. */
export type Ask = (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;

interface JudgingDeps extends Pick<Context, 'clock' | 'telemetry'> {
  /** Those in force. */
  readonly settings: () => { readonly plan: readonly PlannedEvaluator[]; readonly groups?: TaskGroups; readonly redaction?: Redaction };
  readonly deliver: (item: ScoredRun) => void;
  readonly ask: Ask;
  /** Undefined: nothing waits in the store, and the judge is asked at once. */
  readonly queue?: ((work: ToJudge) => Queued | undefined) | undefined;
}

/** Destinations of the questions about one run. */
interface Places {
  readonly jobs: readonly NewJudgeJob[];
  /** For whom there is no room. */
  readonly refused: readonly RunDecision[];
  readonly atOnce: readonly ToJudge[];
}

interface Judging {
  places(toJudge: readonly ToJudge[]): Places;
  /** Asks about a run that has just been scored. */
  ask(scored: Pick<RedactedRun, 'run' | 'item' | 'work'>, atOnce: readonly ToJudge[]): void;
  resume(job: ResumedJob, done: (ended: boolean) => void, as?: AskEnd): void;
}

/** Reasons that may pass: there may be room later. */
const waitsOn: ReadonlySet<string> = new Set(['queue_full', 'stopping', 'judge_down']);

export function judging({ clock, telemetry, settings, deliver, ask, queue }: JudgingDeps): Judging {
  /** The basis of the verdict is fixed when the question is asked, even if the configuration has changed when the answer comes. */
  function whenAnswered({ run, item }: Pick<RedactedRun, 'run' | 'item'>, asked: ToJudge, askedMs: number): (end: AskEnd) => void {
    const { groups } = settings();
    return (end) => {
      const ended = judged(run, asked, end);
      for (const evaluation of ended.evaluations) recordDuration(telemetry, evaluation, clock.nowMs() - askedMs);
      if (run.session === undefined) groups?.judged(run, ended.evaluations);
      deliver(item({ ...ended, answered: true, ...(end.calls === undefined ? {} : { calls: end.calls }) }));
    };
  }

  return {
    places(toJudge) {
      const [jobs, refused, atOnce]: [NewJudgeJob[], RunDecision[], ToJudge[]] = [[], [], []];
      for (const asked of toJudge) {
        const place = queue?.(asked);
        if (place === undefined) atOnce.push(asked);
        else if (place.kind === 'job') jobs.push(place.job);
        else refused.push(decision(asked.configured, place.kind, place.reason, asked.probability));
      }
      return { jobs, refused, atOnce };
    },
    ask(scored, atOnce) {
      const askedMs = clock.nowMs();
      for (const asked of atOnce) ask(scored.run, scored.work(asked), whenAnswered(scored, asked, askedMs));
    },
    resume(job, done, as) {
      const { plan, redaction } = settings();
      const { run, item: whole, work } = redactedRun(job.run, redaction);
      const item: typeof whole = (outcome) => {
        const scored = whole(outcome);
        return { ...scored, run: withoutEarlier(scored.run) };
      };
      const deliverAs = (end: Pick<RunDecision, 'decision' | 'reason'>): void => {
        const { name, evaluator, evaluatorKind, probability } = job;
        deliver(item({ evaluations: [], decisions: [{ name, evaluator, evaluatorKind, ...end, probability }], answered: true }));
        done(true);
      };
      if (as !== undefined && as.kind !== 'judged') return deliverAs({ decision: as.kind, reason: as.reason });
      const planned = plan.find(({ configured }) => configured.name === job.name);
      if (planned === undefined || planned.configured.kind === 'rule') return deliverAs({ decision: 'filtered', reason: 'not_configured' });
      const { configured } = planned;
      // Another question than the one that this run was chosen for.
      if (configured.optionsHash !== job.optionsHash) return deliverAs({ decision: 'filtered', reason: 'reconfigured' });
      const asked: ToJudge = {
        configured,
        ...whoIsAsked(planned),
        expected: expectedOf(run),
        probability: job.probability,
        ...sampledBy(job),
      };
      const answered = whenAnswered({ run, item }, asked, job.offeredAt / 1_000);
      ask(asConversation(run), work(asked), (end) => {
        if (end.kind === 'overload' && waitsOn.has(end.reason)) return done(false);
        answered(end);
        done(true);
      });
    },
  };
}

function judged(run: Run, work: ToJudge, end: AskEnd): Omit<ScoredRun, 'run'> {
  if (end.kind !== 'judged') return { evaluations: [], decisions: [decision(work.configured, end.kind, end.reason, work.probability)] };
  return {
    evaluations: [evaluationOf(run, work.configured, ofSession(run, end.verdict), work)],
    decisions: [decisionOf(work.configured, end.verdict)],
  };
}

/** The verdict with how much of the session it is about. */
export function ofSession({ session }: Run, verdict: Verdict): Verdict {
  return session === undefined
    ? verdict
    : { ...verdict, details: { ...verdict.details, session: { turns: session.turns, left_out: session.leftOut } } };
}
