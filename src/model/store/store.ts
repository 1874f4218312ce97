/**
 * The contract of a store, which keeps runs and their verdicts. It keeps the highest revision of a run, and of each evaluation the verdict
 * and decision of the highest revision. Writing an item again changes nothing.
 */
import type { Fence, JournalPartitionStore } from './journal-partition-store.ts';
import type { ScoredRun } from '../scored-run.ts';
import type { RunKey, RunStatus } from '../agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { LogRecord, Span } from '../span.ts';
import type { Micros } from '../timestamp.ts';
import type { SampledBy, VerdictWord } from '../verdict.ts';
import type { AnnotationStore, IdentifiedAnnotation } from './annotation-store.ts';
import type { DatasetStore } from './dataset-store.ts';
import type { ExperimentStore } from './experiment-store.ts';
import type { ExportStore, NewExport } from './export-store.ts';
import type { QuantileSketch } from '../quantile-sketch.ts';
import type { RunPeriod, RunSplit, VerdictRows } from './verdict-rows.ts';
import type { RollupKind, RollupQuery, Rollups } from './rollup-store.ts';
import type { VersionStore } from './version-store.ts';
import type { JudgeBatchStore, JudgeAnswerStore, JudgeJobStore, JudgeSpendStore } from './judge-store.ts';
import type { DriftStore } from './drift-store.ts';
import type { ProcessStore } from './process-store.ts';
import type { IssueId, IssueStore } from './issue-store.ts';
import type { QueueStore } from './queue-store.ts';
import type { ReplicaStore } from './replica-store.ts';
import type { SignInStore } from './sign-in-store.ts';
import type { NewRuleMatch, RuleMatchStore } from './rule-match-store.ts';
import type { SessionRow, WorstTurns } from './session-list.ts';
import type { JudgeSessionStore } from './session-store.ts';

export interface Store {
  /** True when written data outlives the process. */
  readonly isDurable: boolean;
  /**
   * Writes all items or none, in order, with the unsent exports of them. Rejects when nothing was written. Resolves with the row of each
   * export, in order; `undefined` when it has none, as the item is sent or a newer revision replaces it.
   */
  write(items: readonly StoreItem[], exports?: readonly NewExport[]): Promise<readonly (number | undefined)[]>;
  /** Items that wait for backends. */
  readonly exports: ExportStore;
  /** Verdicts from outside. */
  readonly annotations: AnnotationStore;
  /** Single verdicts, for rates over many runs. */
  readonly verdicts: VerdictRows;
  /** Spending of judges. */
  readonly judgeSpend: JudgeSpendStore;
  /** Pending evaluations by judges. */
  readonly judgeJobs: JudgeJobStore;
  /** Turns of sessions to evaluate as a whole. */
  readonly judgeSessions: JudgeSessionStore;
  /** Cached answers of judges. */
  readonly judgeAnswers: JudgeAnswerStore;
  /** Questions in batches. */
  readonly judgeBatches: JudgeBatchStore;
  /** Drift measurements. */
  readonly judgeDrift: DriftStore;
  /** Figures by version of an agent, and the states of alerts. */
  readonly versions: VersionStore;
  /** Normal processes of agents. */
  readonly processes: ProcessStore;
  /** Examples for evaluations, by dataset and version. */
  readonly datasets: DatasetStore;
  /** Runs of agent versions over datasets, with their verdicts. */
  readonly experiments: ExperimentStore;
  /** Runs that people are to answer questions about. */
  readonly queues: QueueStore;
  /** Classes of failed verdicts. */
  readonly issues: IssueStore;
  /** Runs that wait for a rule of the configuration. */
  readonly ruleMatches: RuleMatchStore;
  /** Processes that have the store open, and which of them does a task that one process does at a time. */
  readonly replicas: ReplicaStore;
  /** The people who are signed in, where several processes have the store open. */
  readonly signIns: SignInStore;
  /** Owners of the partitions of a shared journal. */
  readonly journalPartitions: JournalPartitionStore;
  /**
   * Adds pieces to the archived spans of traces, all or none. A repeated piece changes nothing, and pieces beyond `piecesPerTraceMax` are
   * dropped.
   */
  writeSpans(pieces: readonly NewSpanPiece[]): Promise<void>;
  /** The archived spans of a trace in the order of arrival; for a trace that belongs to another one, those of that trace. */
  spans(tenant: Tenant, traceId: TraceId): Promise<readonly SpanPiece[]>;
  /** The known ones among up to a few hundred traces, with their runs. */
  known(traces: readonly TraceName[]): Promise<readonly KnownTrace[]>;
  run(key: RunKey): Promise<StoredRun | undefined>;
  /** Newest first. */
  runs(query: RunQuery): Promise<RunPage>;
  /** Runs that were written last, and runs with a new verdict or revision, by all processes on a store that several have open. */
  recent(query: RecentQuery): Promise<RecentPage>;
  /** Sessions with a run that matches, by the newest such run. */
  sessions(query: SessionQuery): Promise<SessionPage>;
  /** The worst turn of a session by evaluator, of its newest `sessionRunsMax` runs. */
  worstTurns(session: { readonly tenant: Tenant; readonly id: string }): Promise<WorstTurns>;
  /** All runs of one trace and the decision of each evaluator on them. */
  decisions(traceId: TraceId): Promise<readonly StoredDecision[]>;
  /** Verdicts by evaluator over time. */
  summary(query: SummaryQuery): Promise<readonly SummaryRow[]>;
  /** Sums over time, which `versions.refresh` keeps up to date. */
  rollups<Kind extends RollupKind>(kind: Kind, query: RollupQuery): Promise<Rollups<Kind>>;
  /** Calls by tool. */
  tools(query: ToolQuery): Promise<readonly ToolRow[]>;
  /** Adds words of stored texts to the index of `RunFilter.text`, in one small step. */
  indexTexts(options: IndexOptions): Promise<IndexedTexts>;
  /** The size of the store. */
  usage(): Promise<StoreUsage>;
  /** Deletes what exceeds the retention, in small steps. */
  prune(limits: Retention): Promise<Pruned>;
  /** Writes a consistent copy while the store is in use. */
  backup(file: string): Promise<void>;
  /** May be called twice. */
  stop(): Promise<void>;
}

export interface TraceName {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
}

export interface KnownTrace extends TraceName {
  readonly runs: readonly { readonly spanId: SpanId; readonly revision: number; readonly partOf: string | undefined }[];
  /** True when its spans are archived with the trace that it belongs to. */
  readonly isJoined: boolean;
}

/** The archived spans of a trace, decoded. */
export interface KeptSpans {
  /** Without duplicates. */
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  /** False when spans are missing. */
  readonly isWhole: boolean;
}

/** Why a run is written without its content. */
export type WithoutContent = 'switched_off' | 'sampled_out' | 'overload';

/** Why a run has no content. unknown: an older release deleted it. */
export const contentGoneWords = ['switched_off', 'sampled_out', 'overload', 'too_large', 'expired', 'unknown'] as const;
export type ContentGone = (typeof contentGoneWords)[number];

/** The run as JSON, with input and output of the agent, or why it is missing. */
export type RunContent =
  /** `excerpt`: the first characters of the input on one line; absent without an input. */
  | { readonly content: string; readonly contentGone: undefined; readonly excerpt?: string }
  | { readonly content: undefined; readonly contentGone: ContentGone; readonly excerpt?: undefined };

/** Verdicts, decisions and tool counts of a run, encoded. */
export interface RunRecord {
  /** One line per evaluator with what filters and counts need. */
  readonly marks: string;
  /** Numbers of the marks, in the order of the marks. */
  readonly figures: readonly number[];
  /** Verdicts and decisions as JSON. */
  readonly verdicts: string;
  /** Tool calls counted by tool, as JSON; null when the run has none. */
  readonly tools: string | null;
  /** Arguments that the schemas of the tools refuse, as JSON; null when there are none. */
  readonly failures: string | null;
}

export interface StoreItem extends ScoredRun {
  /** Why the content is not written; absent when it is. The first item of a revision decides. */
  readonly withoutContent?: WithoutContent;
  /** The encoded content. When present, the rest of the run serves only lists. */
  readonly content?: RunContent;
  /** Encoded verdicts and decisions. When present, the store reads no others. */
  readonly record?: RunRecord;
  /** Rules that wait for the run. */
  readonly matches?: readonly NewRuleMatch[];
  /** The item is written while the fence holds. When omitted, it is always written. */
  readonly fence?: Fence;
}

/** Pieces per trace. The spans of a trace come together when it is done; late spans are a separate piece. */
export const piecesPerTraceMax = 100;

/** Spans and log records of one trace, compressed. */
export interface SpanPiece {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  /** Traces that belong to this one; the piece contains their spans. */
  readonly joined: readonly TraceId[];
  /** Start of the first run. */
  readonly startedAt: Micros;
  readonly storedAt: Micros;
  readonly spans: number;
  /** False when a part could not be read again. */
  readonly isWhole: boolean;
  /** True when redaction rules were configured, so that texts may differ from those that were evaluated. */
  readonly isRedacted: boolean;
  /** Distinguishes the pieces of a trace. */
  readonly digest: string;
  /** A bundle of OTLP requests, compressed with zstd. */
  readonly body: Uint8Array;
}

export interface NewSpanPiece extends SpanPiece {
  /** True when the store compresses `body`. */
  readonly isPlain?: boolean;
}

/** A run in a list. */
export interface RunRow extends RunKey {
  readonly agent: string | undefined;
  readonly service: string | undefined;
  readonly version: string | undefined;
  readonly sessionId: string | undefined;
  /** Id of the person or customer that the agent works for. */
  readonly userId: string | undefined;
  /** `deployment.environment.name` of the resource. */
  readonly environment: string | undefined;
  readonly model: string | undefined;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
  readonly completeness: string;
  readonly status: RunStatus;
  readonly revision: number;
  /** Tokens and cost of its model calls; `undefined` when unknown. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
  /** In US dollars. */
  readonly costUsd: number | undefined;
  /** The first characters of the input on one line; `undefined` when the store has no content of the run. */
  readonly excerpt: string | undefined;
  /** Labels of its annotations, newest first, at most `rowLabelsMax`. */
  readonly labels: readonly RunLabel[];
  /** The run that this one belongs to, as `trace/span`. Such a run has no verdicts and is in no list. */
  readonly partOf: string | undefined;
  readonly verdicts: readonly StoredVerdict[];
}

export interface RunLabel {
  /** Name of the annotation. */
  readonly name: string;
  readonly label: string;
}

export const rowLabelsMax = 20;

export interface StoredRun extends RunRow {
  /** The run as `runJson` writes it; `undefined` when its content is missing. */
  readonly content: JsonObject | undefined;
  /** Why the content is missing; `undefined` when it is not. */
  readonly contentGone: ContentGone | undefined;
  /** Number of archived spans of its trace. */
  readonly spans: number;
  /** The task by `groups.task_key`; omitted when it has none. */
  readonly task?: string;
  /** Oldest first, from the second revision on; those that changed nothing of what is compared are left out. Omitted when there are none. */
  readonly revisions?: readonly RunRevision[];
  readonly decisions: readonly StoredDecision[];
  /** Sorted by name and annotator. */
  readonly annotations: readonly IdentifiedAnnotation[];
}

/** Revisions of one run whose changes are kept; later ones are not. */
export const revisionsKeptMax = 50;

/** The changes of a revision against the one before. */
export interface RunRevision {
  readonly revision: number;
  readonly changes: readonly RevisionChange[];
}

export const revisionChangeKinds = [
  'completeness',
  'status',
  'ended_at',
  'input_tokens',
  'output_tokens',
  'tool_calls',
  'verdict',
] as const;

/** `ended_at` in microseconds since the epoch, `verdict` as a word; null: there was none. */
export interface RevisionChange {
  readonly of: (typeof revisionChangeKinds)[number];
  /** Name of the tool or the evaluator. */
  readonly name?: string;
  readonly before: string | number | null;
  readonly after: string | number | null;
}

export interface StoredVerdict extends SampledBy {
  readonly name: string;
  readonly evaluator: string;
  readonly version: number;
  /** Revision of the evaluated run, which is lower than the run's while a judge works on the newer one. */
  readonly revision: number;
  readonly verdict: VerdictWord;
  /** From 0 to 1; `undefined` unless it was scored. */
  readonly score: number | undefined;
  readonly label: string;
  readonly explanation: string;
  /** Reason of a skip, or the error. */
  readonly reason: string | undefined;
  readonly evidence: readonly string[];
  readonly details: JsonObject;
  readonly sampleProbability: number;
  /** The lowest score that passes. Omitted when there is none, or when an older release wrote the verdict. */
  readonly threshold?: number;
}

export interface StoredDecision extends RunKey {
  readonly name: string;
  readonly evaluator: string;
  /** Revision of the evaluated run. */
  readonly revision: number;
  readonly decision: string;
  readonly reason: string | undefined;
  /** Probability with which the run was chosen, when it was chosen without a verdict. */
  readonly probability: number | undefined;
}

/** All given conditions apply. Times are those of the start: `from` inclusive, `to` exclusive. */
export interface RunFilter {
  readonly tenant?: Tenant;
  readonly agent?: string;
  readonly service?: string;
  readonly version?: string;
  readonly model?: string;
  /** Hash of the system prompt. */
  readonly prompt?: string;
  readonly sessionId?: string;
  readonly userId?: string;
  readonly environment?: string;
  /** The task by `groups.task_key`. */
  readonly task?: string;
  readonly traceId?: TraceId;
  readonly status?: RunStatus;
  /** Runs with a verdict of this evaluator. */
  readonly evaluator?: string;
  /** Runs with such a verdict, of `evaluator` or, without one, of any. */
  readonly verdict?: VerdictWord;
  /** True for annotated runs, false for the others. */
  readonly annotated?: boolean;
  /** Runs with a call of this tool. */
  readonly tool?: string;
  /** Runs with an annotation of this label, or, for a text `name=label`, with one of this name and label. */
  readonly label?: string;
  /**
   * Runs whose input and final answer have all these words; the last one may be the beginning of a word. It finds runs with stored texts
   * that `indexTexts` has reached.
   */
  readonly text?: string;
  /** Runs of this issue. */
  readonly issue?: IssueId;
  /** From the start of the run to its end, both bounds inclusive. */
  readonly minDuration?: Micros;
  readonly maxDuration?: Micros;
  /** In US dollars, both bounds inclusive. A run of unknown cost matches neither. */
  readonly minCost?: number;
  readonly maxCost?: number;
  readonly from?: Micros;
  readonly to?: Micros;
}

export interface RunQuery extends RunFilter {
  /** Entries to return, 1 to 200. */
  readonly limit: number;
  /** Continues after this run. New runs neither repeat nor displace entries. */
  readonly after?: RunPlace;
  /** Limit of runs that one page examines when no index answers the filter. Default: `examinedMax`. */
  readonly examine?: number;
}

export const examinedMax = 50_000;

/** Position of a run in the list. */
export interface RunPlace {
  readonly startedAt: Micros;
  readonly id: number;
}

export interface RunPage {
  readonly runs: readonly RunRow[];
  /** `undefined` on the last page. A page may be short or empty and have a next one. */
  readonly next: RunPlace | undefined;
  /** Start of the last examined run when the page ended at the limit of examined runs; `undefined` otherwise. */
  readonly searchedTo: Micros | undefined;
  /** With `text`: an upper bound of the runs that `indexTexts` has not reached; `undefined` without. */
  readonly unindexed: number | undefined;
}

export interface RecentQuery extends RunFilter {
  /** Entries to return, 1 to 200. */
  readonly limit: number;
  /** A position of an earlier answer. When omitted, the answer has no runs, only the position to go on from. */
  readonly after?: number;
}

export interface RecentPage {
  /** In the order of their writing; the last ones when there are more than the limit. */
  readonly runs: readonly RunRow[];
  readonly position: number;
  /** Matching runs beyond the limit, and runs that may match: those whose texts were not read, and writes that the store no longer knows. */
  readonly leftOut: number;
}

/** The filter is about runs: a session matches when one of its runs does. */
export interface SessionQuery extends Omit<RunFilter, 'sessionId' | 'traceId' | 'text'>, Pick<RunQuery, 'examine'> {
  /** Entries to return, 1 to 200. */
  readonly limit: number;
  /** Continues after the session with this run. */
  readonly after?: RunPlace;
}

export interface SessionPage {
  readonly sessions: readonly SessionRow[];
  /** `undefined` on the last page. A page may be short or empty and have a next one. */
  readonly next: RunPlace | undefined;
  /** Start of the last examined run when the page ended at the limit of examined runs; `undefined` otherwise. */
  readonly searchedTo: Micros | undefined;
}

export interface SummaryQuery extends RunPeriod {
  readonly evaluator?: string;
  readonly bucketMicros: number;
  /** Rows for each value; absent: over all of them. */
  readonly by?: RunSplit;
}

export interface SummaryRow {
  /** Start of the bucket. */
  readonly at: Micros;
  /** Value of the split; `undefined` for runs without a value, and without a split. */
  readonly of: string | undefined;
  readonly name: string;
  readonly verdict: VerdictWord;
  readonly count: number;
  /** Mean of the scores; `undefined` when none was scored. */
  readonly score: number | undefined;
}

export interface ToolQuery extends RunPeriod {
  /** Rows for each value; absent: over all of them. */
  readonly by?: RunSplit;
}

export interface ToolRow {
  /** Value of the split; `undefined` for runs without a value, and without a split. */
  readonly of: string | undefined;
  readonly agent: string | undefined;
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  /** Requested calls without a sign that they ran. */
  readonly notExecuted: number;
  /** Mean of the calls with known times. */
  readonly tookMicros: number | undefined;
  /** Their microseconds. */
  readonly times: QuantileSketch;
  /** Arguments that the schema of the tool refuses, by path and keyword, most first. */
  readonly argumentFailures: readonly ArgumentFailures[];
}

export interface StoreUsage {
  /** Bytes in use, without free pages. */
  readonly bytes: number;
  /** Rows of runs. A run that is part of another one has a row too. */
  readonly runs: number;
  /** Start of the oldest of them; `undefined` when there is none. */
  readonly oldestAt: Micros | undefined;
}

export interface ArgumentFailures {
  /** Names of members down to the value, with dots; `[]`: a place in a list. Empty: the arguments as a whole. */
  readonly path: string;
  /** Keyword of the JSON Schema. */
  readonly keyword: string;
  readonly calls: number;
}

export interface IndexOptions {
  /** Limit of runs with content per step. */
  readonly runsMax: number;
  /** Limit of characters of the input, and of the final answer, of one run. The index has the words of the beginning. */
  readonly charsMax: number;
}

export interface IndexedTexts {
  /** Runs of the step. */
  readonly runs: number;
  /** Number of these runs with more words than the index takes of one run. */
  readonly cut: number;
  /** True when more are left. */
  readonly more: boolean;
}

export interface Retention {
  /** Age limit of runs. A run stays while an export, a judge job or a session turn of it waits, unless that is too old itself. */
  readonly runsBefore: Micros;
  readonly contentBefore: Micros;
  /** Age limit of judge jobs, from their choice on: older ones keep no run. */
  readonly jobsBefore: Micros;
  /** Age limit of waiting session turns, from their arrival on. */
  readonly turnsBefore: Micros;
  /** Age limit of exports, from the scoring on. */
  readonly exportsBefore: Micros;
  /** Limit of export rows; dead letters go first, then the oldest. */
  readonly exportsMax: number;
  /**
   * Limit of the whole store, as far as its size is known. Beyond it the oldest runs go, even those that are waited for, and no more than necessary.
   */
  readonly bytesMax: number;
  /** Limit of runs per step. */
  readonly stepRuns: number;
}

export interface Pruned {
  readonly runs: number;
  readonly contents: number;
  /** Pieces of spans. */
  readonly spans: number;
  /** Deleted export rows by exporter. */
  readonly exports: { readonly [exporter: string]: number };
  /** Judge jobs that were deleted with their run. */
  readonly jobs: number;
  /** True when another step is needed. */
  readonly more: boolean;
}
