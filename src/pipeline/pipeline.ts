/**
 * The whole flow on one screen:
 *
 *   spans, log records → gather → close → assemble → evaluate ─┬→ deliver        rule verdicts, at once
 *                                                              └→ ask → deliver  a sample goes to judges, each verdict when it comes;
 *                                                                                where a store keeps what waits for them, it goes out with the run and comes back by `resume`
 *
 * Pure: time comes from a clock, and the host calls `advance` when `nextDueMs` says so.
 */
import type { Collector } from '../../collectors/collector.ts';
import type { EvaluationContext } from '../../evaluators/evaluator.ts';
import type { PriceTable } from '../../evaluators/pricing/prices.ts';
import type { RunDecision, ScoredRun } from '../model/scored-run.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Clock } from '../model/clock.ts';
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { Evaluation, Verdict } from '../model/verdict.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { NewJudgeJob } from '../model/judge-work.ts';
import { countActivity, countCosts } from './reporting/agent-activity.ts';
import {
  decision,
  decisionOf,
  evaluateRun,
  expectedOf,
  evaluationOf,
  recordDuration,
  ruleSteps,
  whoIsAsked,
  type Pace,
  type PlannedEvaluator,
  type ToJudge,
} from './evaluation/evaluate.ts';
import { gathering } from './gathering/gatherer.ts';
import type { GatheringSettings, GroupLimits } from './gathering/close-policy.ts';
import type { JournalReferences } from './gathering/journal-references.ts';
import type { SlabAllocator } from './gathering/slab-allocator.ts';
import { redactedRun } from './evaluation/redacted-run.ts';
import type { Reopening } from './gathering/late-spans.ts';
import type { AskEnd } from './jury/judge-driver.ts';
import { asConversation, turnOf, withoutEarlier, type TurnsWith } from './evaluation/session-turns.ts';
import type { TaskGroups } from './reporting/task-groups.ts';

/** What a configuration says about runs. It may be exchanged at any time: a run goes by what holds when it closes. */
export interface PipelineSettings extends GatheringSettings {
  readonly plan: readonly PlannedEvaluator[];
  /** In US dollars, of the models that the agents use. */
  readonly prices?: PriceTable;
  /** Compares the runs of one task with one another. */
  readonly groups?: TaskGroups;
  /** What nobody but rules may see. */
  readonly redaction?: Redaction;
}

export interface PipelineOptions extends PipelineSettings {
  readonly collectors: readonly Collector[];
  readonly context: EvaluationContext;
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly limits?: GroupLimits;
  /** Makes the spans of traces smaller that are open for long; absent: they stay as long as they are. */
  readonly compaction?: SlabAllocator;
  /** Receives the keys of traces of which nothing is open, or that have shown no run; before the verdicts of their runs, in the same turn. */
  readonly settled?: (keys: readonly string[]) => void;
  /** Hands verdicts on; never waits, never throws. */
  readonly deliver: (item: ScoredRun) => void;
  /** Puts a run before a judge. Calls `done` exactly once, whenever that is. */
  readonly ask: (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;
  /** Absent: there are no budgets. */
  readonly pace?: Pace;
  /** What waits for a judge in the store, or why it may not. Undefined: nothing waits there, and the judge is asked at once. */
  readonly queue?: (work: ToJudge) => Queued | undefined;
  /** The least probability of a sampler before the service that is believed; absent: `upstreamProbabilityMin`. */
  readonly upstreamMin?: number;
  /** Called for each run that claims a smaller one. */
  readonly upstreamRaised?: (tenant: Tenant) => void;
  /** Absent: no session is judged as a whole. */
  readonly sessions?: Pick<TurnsWith, 'partyOf' | 'refused'>;
}

export type Queued = { readonly kind: 'job'; readonly job: NewJudgeJob } | { readonly kind: 'overload'; readonly reason: string };

/** What has waited in the store. */
export type ResumedJob = NewJudgeJob & { readonly run: Run };

export interface Pipeline extends Reopening {
  /** `position`: where the journal has the request that brought them; `origin`: where it had that request before it was written again. */
  spans(tenant: Tenant, spans: readonly Span[], position?: number, origin?: number): void;
  logs(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
  /** What a journal needs to know of the traces. */
  readonly references: JournalReferences;
  /** Closes and scores what is due, in so many pieces at most: a small trace is one, a large one many. `nextDueMs` tells whether more is due. */
  advance(piecesMax?: number): void;
  /** When something is due, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes and scores everything that is open, for the end of the process. */
  finish(): void;
  /**
   * Asks about what has waited, by the configuration that is in force now; an evaluator that is not in it any more ends as filtered. `ended`: the verdict or the decision
   * has been delivered; false: there was no room, and it waits on. With `as` it ends so, and nobody is asked.
   */
  resume(job: ResumedJob, done: (ended: boolean) => void, as?: AskEnd): void;
  /** For every run that closes from now on; judges that were asked before end under what held when they were. */
  exchange(settings: PipelineSettings): void;
  /** Makes the spans of so many open traces smaller to which nothing has come for a while. */
  packIdle(tracesMax: number): void;
  /** Lets traces go when the limits have become tighter. */
  relieve(): void;
  /** True: spans still come to the open trace that was begun first. Looks through the closed ones before it. */
  isOldestActive(): boolean;
  /** Bytes of the spans and records that are held. */
  bytes(): number;
  /** Of these, what belongs to traces that are not done. */
  openBytes(): number;
}

export function pipeline(options: PipelineOptions): Pipeline {
  const { clock, telemetry, deliver, ask } = options;
  let settings: PipelineSettings = options;
  /** Of large runs that close in this turn. */
  const ruleVerdicts = new WeakMap<Run, readonly Evaluation[]>();
  const gather = gathering({
    ...options,
    *beforeClose(run) {
      ruleVerdicts.set(run, yield* ruleSteps(run, settings.plan, options));
    },
  });

  function score(whole: Run): void {
    const { plan, prices = {}, groups, redaction } = settings;
    const { evaluations, decisions, toJudge, isRaised } = evaluateRun(whole, plan, options, ruleVerdicts.get(whole));
    if (isRaised === true) {
      telemetry.add('tracejury.sampling.raised', 1);
      options.upstreamRaised?.(whole.tenant);
    }
    const { run, item, work } = redactedRun(whole, redaction);
    countActivity(run, telemetry);
    countCosts(run, prices, telemetry);
    groups?.closed(run, evaluations);
    const { jobs, refused, atOnce } = queued(toJudge, options.queue);
    const turn = options.sessions === undefined ? undefined : turnOf(whole, run, plan, { ...options.sessions, ...options });
    const isAsked = toJudge.length > 0 || turn?.choices.some(({ mayBeChosen }) => mayBeChosen) === true;
    deliver(
      item({
        evaluations,
        decisions: [...decisions, ...refused],
        ...(isAsked ? { asked: true } : {}),
        ...(jobs.length === 0 ? {} : { jobs }),
        ...(turn === undefined ? {} : { turn }),
      }),
    );
    const askedMs = clock.nowMs();
    for (const asked of atOnce) ask(run, work(asked), (end) => answered({ run, item, asked, askedMs, groups }, end));
  }

  /** Something has been added, or room was made. */
  function changed(): void {
    for (const run of gather.due(0)) score(run);
    observe();
  }

  function answered({ run, item, asked, askedMs, groups }: AskedRun, end: AskEnd): void {
    const ended = judged(run, asked, end);
    for (const evaluation of ended.evaluations) recordDuration(telemetry, evaluation, clock.nowMs() - askedMs);
    if (run.session === undefined) groups?.judged(run, ended.evaluations);
    deliver(item({ ...ended, answered: true, ...(end.calls === undefined ? {} : { calls: end.calls }) }));
  }

  function resume(job: ResumedJob, done: (ended: boolean) => void, as?: AskEnd): void {
    const { plan, groups, redaction } = settings;
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
    const asked: ToJudge = { configured, ...whoIsAsked(planned), expected: expectedOf(run), probability: job.probability };
    ask(asConversation(run), work(asked), (end) => {
      if (end.kind === 'overload' && waitsOn.has(end.reason)) return done(false);
      answered({ run, item, asked, askedMs: job.offeredAt / 1_000, groups }, end);
      done(true);
    });
  }

  function observe(): void {
    telemetry.set('tracejury.open.traces', gather.traces());
    telemetry.set('tracejury.open.bytes', gather.bytes());
  }

  return {
    references: gather.references,
    resume,
    takeStrays: gather.takeStrays,
    reopen(stored) {
      gather.reopen(stored);
      changed();
    },
    dismiss(trace) {
      gather.dismiss(trace);
      changed();
    },
    spans(tenant, spans, position, origin) {
      settings.groups?.spans(tenant, spans);
      gather.addSpans(tenant, spans, position, origin);
      changed();
    },
    logs(tenant, records, position) {
      gather.addRecords(tenant, records, position);
      changed();
    },
    advance(piecesMax) {
      for (const run of gather.due(piecesMax)) score(run);
      observe();
    },
    nextDueMs: gather.nextDueMs,
    finish() {
      for (const run of gather.closeAll()) score(run);
      observe();
    },
    exchange(next) {
      settings = next;
      gather.exchange(next);
    },
    relieve() {
      gather.relieve();
      changed();
    },
    packIdle: gather.packIdle,
    isOldestActive: gather.isOldestActive,
    bytes: gather.bytes,
    openBytes: gather.openBytes,
  };
}

interface AskedRun {
  readonly run: Run;
  readonly item: (item: Omit<ScoredRun, 'run'>) => ScoredRun;
  readonly asked: ToJudge;
  readonly askedMs: number;
  readonly groups: TaskGroups | undefined;
}

/** Of those who ask: there may be room later. */
const waitsOn: ReadonlySet<string> = new Set(['queue_full', 'stopping', 'judge_down']);

function queued(
  toJudge: readonly ToJudge[],
  queue: PipelineOptions['queue'],
): { readonly jobs: readonly NewJudgeJob[]; readonly refused: readonly RunDecision[]; readonly atOnce: readonly ToJudge[] } {
  const [jobs, refused, atOnce]: [NewJudgeJob[], RunDecision[], ToJudge[]] = [[], [], []];
  for (const asked of toJudge) {
    const place = queue?.(asked);
    if (place === undefined) atOnce.push(asked);
    else if (place.kind === 'job') jobs.push(place.job);
    else refused.push(decision(asked.configured, place.kind, place.reason, asked.probability));
  }
  return { jobs, refused, atOnce };
}

function judged(run: Run, work: ToJudge, end: AskEnd): Omit<ScoredRun, 'run'> {
  if (end.kind !== 'judged') return { evaluations: [], decisions: [decision(work.configured, end.kind, end.reason, work.probability)] };
  return {
    evaluations: [evaluationOf(run, work.configured, ofSession(run, end.verdict), work.probability)],
    decisions: [decisionOf(work.configured, end.verdict)],
  };
}

/** Says on how much of the session it is. */
function ofSession({ session }: Run, verdict: Verdict): Verdict {
  return session === undefined
    ? verdict
    : { ...verdict, details: { ...verdict.details, session: { turns: session.turns, left_out: session.leftOut } } };
}
