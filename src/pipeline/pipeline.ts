/**
 * The whole flow on one screen:
 *
 *   spans, log records → gather → close → assemble → evaluate ─┬→ deliver        rule verdicts, at once
 *                                                              └→ ask → deliver  a sample goes to judges, each verdict when it comes
 *
 * Pure: time comes from a clock, and whoever hosts it calls `advance` when `nextDueMs` says so.
 */
import type { Collector } from '../../collectors/collector.ts';
import type { EvaluationContext } from '../../evaluators/evaluator.ts';
import type { PriceTable } from '../../evaluators/prices.ts';
import type { ScoredRun } from '../exporters/exporter.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Clock } from '../model/clock.ts';
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { Verdict } from '../model/verdict.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { countCosts } from './agent-costs.ts';
import { decision, decisionOf, evaluateRun, evaluationOf, recordDuration, type PlannedEvaluator, type ToJudge } from './evaluate.ts';
import { gathering } from './group.ts';
import type { GatheringSettings } from './gathering-settings.ts';
import { type GroupLimits } from './group-limits.ts';
import type { Standings } from './standing.ts';
import { leaving } from './leaving.ts';
import type { Reopening } from './reopening.ts';
import type { TaskGroups } from './task-groups.ts';

export type AskEnd = { readonly kind: 'judged'; readonly verdict: Verdict } | { readonly kind: 'overload' | 'over_budget'; readonly reason: string };

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
  /** Hands verdicts on; never waits, never throws. */
  readonly deliver: (item: ScoredRun) => void;
  /** Puts a run before a judge. Calls `done` exactly once, whenever that is. */
  readonly ask: (run: Run, work: ToJudge, done: (end: AskEnd) => void) => void;
  /** What the budget of a judge leaves of sample rates, 0..1; absent: all. */
  readonly pace?: (judge: string) => number;
}

export interface Pipeline extends Reopening {
  /** `position` tells where the journal has the request that they came with. */
  spans(tenant: Tenant, spans: readonly Span[], position?: number): void;
  logs(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
  /** What a journal needs to know of the traces. */
  readonly standings: Standings;
  /** Closes and scores what is due, of so many traces at most; `nextDueMs` tells whether more is due. */
  advance(tracesMax?: number): void;
  /** When something is due, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes and scores everything that is open, for the end of the process. */
  finish(): void;
  /** For every run that closes from now on; judges that were asked before end under what held when they were. */
  exchange(settings: PipelineSettings): void;
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
  const gather = gathering(options);
  let settings: PipelineSettings = options;

  function score(whole: Run): void {
    const { plan, prices = {}, groups, redaction } = settings;
    const { evaluations, decisions, toJudge } = evaluateRun(whole, plan, options);
    const { run, item, work } = leaving(whole, redaction);
    countCosts(run, prices, telemetry);
    groups?.closed(run, evaluations);
    deliver(item({ evaluations, decisions, ...(toJudge.length === 0 ? {} : { asked: true }) }));
    const askedMs = clock.nowMs();
    for (const asked of toJudge) {
      ask(run, work(asked), (end) => {
        const ended = judged(run, asked, end);
        for (const evaluation of ended.evaluations) recordDuration(telemetry, evaluation, clock.nowMs() - askedMs);
        groups?.judged(run, ended.evaluations);
        deliver(item(ended));
      });
    }
  }

  function observe(): void {
    telemetry.set('tracejury.open.traces', gather.traces());
    telemetry.set('tracejury.open.bytes', gather.bytes());
  }

  return {
    standings: gather.standings,
    takeStrays: gather.takeStrays,
    reopen(stored) {
      gather.reopen(stored);
      observe();
    },
    dismiss(trace) {
      gather.dismiss(trace);
      observe();
    },
    spans(tenant, spans, position) {
      settings.groups?.spans(tenant, spans);
      gather.addSpans(tenant, spans, position);
      observe();
    },
    logs(tenant, records, position) {
      gather.addRecords(tenant, records, position);
      observe();
    },
    advance(tracesMax) {
      for (const run of gather.due(tracesMax)) score(run);
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
      observe();
    },
    isOldestActive: gather.isOldestActive,
    bytes: gather.bytes,
    openBytes: gather.openBytes,
  };
}

function judged(run: Run, work: ToJudge, end: AskEnd): Omit<ScoredRun, 'run'> {
  if (end.kind !== 'judged') return { evaluations: [], decisions: [decision(work.configured, end.kind, end.reason)] };
  return { evaluations: [evaluationOf(run, work.configured, end.verdict, work.probability)], decisions: [decisionOf(work.configured, end.verdict)] };
}
