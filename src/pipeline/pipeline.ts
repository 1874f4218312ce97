/**
 * The whole flow on one screen:
 *
 *   spans, log records → gather → close → assemble → evaluate ─┬→ deliver        rule verdicts, at once
 *                                                              └→ ask → deliver  a sample goes to judges, each verdict when it comes;
 *                                                                                where a store keeps what waits for them, it goes out with the run and comes back by `resume`
 *
 * Pure: time comes from a clock, and the host calls `advance` at the time of `nextDueMs`.
 */
import type { Collector } from '../../collectors/collector.ts';
import type { EvaluationContext } from '../../evaluators/evaluator.ts';
import type { PriceTable } from '../../evaluators/pricing/prices.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Tenant } from '../model/ids.ts';
import type { MemoryReference } from '../model/ingest.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { Evaluation } from '../model/verdict.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { evaluateRun, ruleSteps, type Pace, type PlannedEvaluator, type ToJudge } from './evaluation/evaluate.ts';
import { withBoundedNames } from './evaluation/bounded-names.ts';
import { redactedRun } from './evaluation/redacted-run.ts';
import { turnOf, type TurnsWith } from './evaluation/session-turns.ts';
import type { GatheringSettings, GroupLimits } from './gathering/close-policy.ts';
import { gathering } from './gathering/gatherer.ts';
import type { SessionNote } from './assembly/session-tool-definitions.ts';
import type { OtherGatherers } from './gathering/hand-over.ts';
import type { JournalReferences } from './gathering/journal-references.ts';
import type { Reopening } from './gathering/late-spans.ts';
import type { SlabAllocator } from './gathering/slab-allocator.ts';
import { judging, type Ask, type Queued, type ResumedJob } from './judging.ts';
import type { AskEnd } from './jury/judge-driver.ts';
import { costCounting, countActivity } from './reporting/agent-activity.ts';
import type { TaskGroups } from './reporting/task-groups.ts';
import type { Context } from '../telemetry/context.ts';

/** Settings for runs. They may be exchanged at any time: a run follows those in force when it closes. */
export interface PipelineSettings extends GatheringSettings {
  readonly plan: readonly PlannedEvaluator[];
  /** In US dollars, of the models that the agents use. */
  readonly prices?: PriceTable;
  /** Compares the runs of one task with one another. */
  readonly groups?: TaskGroups;
  /** Content that only rules may see. */
  readonly redaction?: Redaction;
}

export interface PipelineOptions extends PipelineSettings, Pick<Context, 'clock' | 'telemetry'> {
  readonly collectors: readonly Collector[];
  readonly context: EvaluationContext;
  readonly limits?: GroupLimits;
  /** Memory of the bodies that hold spans; without it, spans of closed traces are copied out of the bodies. */
  readonly bodies?: { readonly usedBytes: () => number };
  /** Compacts the spans of traces that are open for long; omitted to leave them unchanged. */
  readonly compaction?: SlabAllocator;
  /** Omitted when all traces are here. */
  readonly others?: OtherGatherers;
  /** Receives the keys of traces without anything open, or that have shown no run; before the verdicts of their runs, in the same turn. */
  readonly settled?: (keys: readonly string[]) => void;
  /** True while a request has begun whose spans are not here yet. Omitted when that cannot happen. */
  readonly isReceiving?: () => boolean;
  /** Hands verdicts on; never waits, never throws. */
  readonly deliver: (item: ScoredRun) => void;
  readonly ask: Ask;
  /** Omitted when there are no budgets. */
  readonly pace?: Pace;
  /**
   * The work that waits for a judge in the store, or the reason why it may not. `undefined` when nothing waits there, and the judge is asked at once.
   */
  readonly queue?: (work: ToJudge) => Queued | undefined;
  /** The least probability of a sampler before the service that is believed; absent: `upstreamProbabilityMin`. */
  readonly upstreamMin?: number;
  /** Called for each run that claims a smaller one. */
  readonly upstreamRaised?: (tenant: Tenant) => void;
  /** Learns from unredacted runs; never waits, never throws. Omitted when nothing learns. */
  readonly learn?: (run: Run, evaluations: readonly Evaluation[]) => void;
  /** Omitted when no session is judged as a whole. */
  readonly sessions?: Pick<TurnsWith, 'queueKeyOf' | 'refused'>;
}

export interface Pipeline extends Reopening {
  /**
   * `position`: where the journal has the request that brought them; `origin`: where it had that request before it was written again; `memory`: in
   * which they lie, where it is used again.
   */
  spans(tenant: Tenant, spans: readonly Span[], position?: number, origin?: number, memory?: MemoryReference): void;
  logs(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
  /** The journal's view of the traces. */
  readonly references: JournalReferences;
  /** Closes and scores what is due, in at most `piecesMax` pieces: a small trace is one, a large one many. `nextDueMs` shows whether more is due. */
  advance(piecesMax?: number): void;
  /** When something is due, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes and scores everything that is open, for the end of the process. */
  finish(): void;
  /**
   * Asks about work that has waited, by the configuration that is in force now; an evaluator that is not in it any more ends as filtered. `ended` is
   * true when the verdict or the decision has been delivered, false when there was no room, so that it waits on. With `as` it ends so, and no judge
   * is asked.
   */
  resume(job: ResumedJob, done: (ended: boolean) => void, as?: AskEnd): void;
  /** For every run that closes from now on; judges that were asked before end under what held when they were. */
  exchange(settings: PipelineSettings): void;
  /** Compacts the spans of up to `tracesMax` idle traces. `true` when more are due. */
  packIdle(tracesMax: number): boolean;
  /** The trace with this key belongs to another gatherer. */
  handOver(key: string): void;
  /** Another gatherer reports tools. */
  hear(note: SessionNote): void;
  /** Another gatherer has the requests at these positions. Gives the positions whose requests are to be gathered again. */
  drop(isLost: (position: number) => boolean): readonly number[];
  /** Lets traces go when the limits have become tighter. */
  relieve(): void;
  /** True while spans still come to the open trace that was begun first. Looks through the closed ones before it. */
  isOldestActive(): boolean;
  /** Bytes of the spans and records that are held. */
  bytes(): number;
  /** Bytes of the traces that are not done. */
  openBytes(): number;
}

export function pipeline(options: PipelineOptions): Pipeline {
  const { clock, telemetry, deliver, ask, queue } = options;
  let settings: PipelineSettings = options;
  let countCosts = costCounting(options.prices ?? {}, telemetry);
  const judges = judging({ clock, telemetry, settings: () => settings, deliver, ask, queue });
  /** Verdicts of large runs that close in this turn. */
  const ruleVerdicts = new WeakMap<Run, readonly Evaluation[]>();
  const gather = gathering({
    ...options,
    *beforeClose(run) {
      ruleVerdicts.set(run, yield* ruleSteps(withBoundedNames(run, settings.redaction?.text), settings.plan, options));
    },
  });

  function score(closed: Run): void {
    const { plan, groups, redaction } = settings;
    const whole = withBoundedNames(closed, redaction?.text);
    const { evaluations, decisions, toJudge, isRaised } = evaluateRun(whole, plan, options, ruleVerdicts.get(closed));
    if (isRaised === true) {
      telemetry.add('tracejury.sampling.raised', 1);
      options.upstreamRaised?.(whole.tenant);
    }
    options.learn?.(whole, evaluations);
    const redacted = redactedRun(whole, redaction);
    const { run } = redacted;
    countActivity(run, telemetry);
    countCosts(run);
    groups?.closed(run, evaluations);
    const { jobs, refused, atOnce } = judges.places(toJudge);
    const turn = options.sessions === undefined ? undefined : turnOf(whole, run, plan, { ...options.sessions, ...options });
    const isAsked = toJudge.length > 0 || turn?.choices.some(({ mayBeChosen }) => mayBeChosen) === true;
    deliver(
      redacted.item({
        evaluations,
        decisions: [...decisions, ...refused],
        ...(isAsked ? { asked: true } : {}),
        ...(jobs.length === 0 ? {} : { jobs }),
        ...(turn === undefined ? {} : { turn }),
      }),
    );
    judges.ask(redacted, atOnce);
  }

  /** Something has been added, or room was made. */
  function changed(): void {
    for (const run of gather.due(0)) score(run);
    observe();
  }

  function observe(): void {
    telemetry.set('tracejury.open.traces', gather.openTraces());
    telemetry.set('tracejury.open.bytes', gather.bytes());
  }

  return {
    references: gather.references,
    resume: judges.resume,
    takeStrays: gather.takeStrays,
    mayHaveStrays: gather.mayHaveStrays,
    reopen(stored) {
      gather.reopen(stored);
      changed();
    },
    dismiss(trace) {
      gather.dismiss(trace);
      changed();
    },
    spans(tenant, spans, position, origin, memory) {
      settings.groups?.spans(tenant, spans);
      gather.addSpans(tenant, spans, position, origin, memory);
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
      countCosts = costCounting(next.prices ?? {}, telemetry);
      gather.exchange(next);
    },
    drop(isLost) {
      const again = gather.drop(isLost);
      observe();
      return again;
    },
    relieve() {
      gather.relieve();
      changed();
    },
    handOver(key) {
      gather.handOver(key);
      changed();
    },
    hear(note) {
      gather.hear(note);
      changed();
    },
    packIdle: gather.packIdle,
    isOldestActive: gather.isOldestActive,
    bytes: gather.bytes,
    openBytes: gather.openBytes,
  };
}
