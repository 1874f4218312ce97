/**
 * The contract of a store: where runs and their verdicts are kept, and read again. Of a run the highest revision is kept, and of an
 * evaluation the verdict and the decision of the highest revision; writing the same item again changes nothing.
 */
import type { ScoredRun } from '../scored-run.ts';
import type { RunKey } from '../agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../ids.ts';
import type { JsonObject } from '../json.ts';
import type { LogRecord, Span } from '../span.ts';
import type { Micros } from '../timestamp.ts';
import type { VerdictWord } from '../verdict.ts';
import type { AnnotationStore, IdentifiedAnnotation } from './annotation-store.ts';
import type { ExportStore, NewExport } from './export-store.ts';
import type { VerdictRows } from './verdict-rows.ts';
import type { JudgeBatchStore, JudgeAnswerStore, JudgeJobStore, JudgeSpendStore } from './judge-store.ts';
import type { DriftStore } from './drift-store.ts';
import type { JudgeSessionStore } from './session-store.ts';

export interface Store {
  /** True: what is written is there after the process has ended. */
  readonly isDurable: boolean;
  /**
   * All items or none, in the order in which they came, and with them what exporters have not sent of them. Rejects when nothing was written. Gives the row
   * of each export, in their order; undefined: it has none, for it is sent, or a newer revision takes its place.
   */
  write(items: readonly StoreItem[], exports?: readonly NewExport[]): Promise<readonly (number | undefined)[]>;
  /** What waits for backends. */
  readonly exports: ExportStore;
  /** What people and other programs say of runs. */
  readonly annotations: AnnotationStore;
  /** Single verdicts, for figures over many runs. */
  readonly verdicts: VerdictRows;
  /** What judges have cost. */
  readonly judgeSpend: JudgeSpendStore;
  /** What judges are still to be asked. */
  readonly judgeJobs: JudgeJobStore;
  /** Turns of sessions that they are to judge as a whole. */
  readonly judgeSessions: JudgeSessionStore;
  /** What they answered. */
  readonly judgeAnswers: JudgeAnswerStore;
  /** Which questions are in batches. */
  readonly judgeBatches: JudgeBatchStore;
  /** What they said of fixed sets of runs. */
  readonly judgeDrift: DriftStore;
  /** Adds spans to what is kept of traces; all or none. The same piece once more changes nothing, and beyond `piecesPerTraceMax` nothing is added. */
  writeSpans(pieces: readonly SpanPiece[]): Promise<void>;
  /** What is kept of the spans of a trace, in the order in which it came; for a trace that is part of another one, of that. */
  spans(tenant: Tenant, traceId: TraceId): Promise<readonly SpanPiece[]>;
  /** Which of these traces are there, and their runs; of a few hundred at most. */
  known(traces: readonly TraceName[]): Promise<readonly KnownTrace[]>;
  run(key: RunKey): Promise<StoredRun | undefined>;
  /** Newest first. */
  runs(query: RunQuery): Promise<RunPage>;
  /** All runs of one trace and how each (run, evaluator) pair ended. */
  decisions(traceId: TraceId): Promise<readonly StoredDecision[]>;
  /** Verdicts by evaluator over time. */
  summary(query: SummaryQuery): Promise<readonly SummaryRow[]>;
  /** Calls by tool. */
  tools(query: ToolQuery): Promise<readonly ToolRow[]>;
  /** Deletes what is too old or too much, a small step at a time. */
  prune(limits: Retention): Promise<Pruned>;
  /** A consistent copy of the whole, while it is written to. */
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
  /** Its spans are kept with those of another trace, whose part it turned out to be. */
  readonly isJoined: boolean;
}

/** What is kept of a trace, read. */
export interface KeptSpans {
  /** Each once. */
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  /** False: some are missing. */
  readonly isWhole: boolean;
}

/** Why a run is written without its content. */
export type WithoutContent = 'switched_off' | 'sampled_out' | 'overload';

/** Why a run is there without its content; unknown: an older release let it go. */
export const contentGoneWords = ['switched_off', 'sampled_out', 'overload', 'too_large', 'expired', 'unknown'] as const;
export type ContentGone = (typeof contentGoneWords)[number];

/** What an agent was given and gave, in the bytes of `brief`, or why it is not there. */
export type RunContent =
  | { readonly content: Buffer; readonly contentGone: undefined }
  | { readonly content: undefined; readonly contentGone: ContentGone };

export interface StoreItem extends ScoredRun {
  /** Absent: the content is written as well. Of one revision the first item says. */
  readonly withoutContent?: WithoutContent;
  /** Made beforehand: then the rest of the run is only what lists and counts are made of. */
  readonly content?: RunContent;
}

/** A trace's spans come together when it is done; those that come late are a piece of their own. */
export const piecesPerTraceMax = 100;

/** Spans and log records of a trace, put together and compressed. */
export interface SpanPiece {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  /** Traces that turned out to be parts of this one: their spans are in here. */
  readonly joined: readonly TraceId[];
  /** Start of the first run. */
  readonly startedAt: Micros;
  readonly storedAt: Micros;
  readonly spans: number;
  /** False: something of it could not be read again. */
  readonly isWhole: boolean;
  /** True: the configuration had rules of redaction, so texts may differ from those that were scored. */
  readonly isRedacted: boolean;
  /** Tells a piece from the others of the trace. */
  readonly digest: string;
  /** A bundle of OTLP requests, compressed with zstd. */
  readonly body: Uint8Array;
}

/** What a list tells of a run. */
export interface RunRow extends RunKey {
  readonly agent: string | undefined;
  readonly service: string | undefined;
  readonly version: string | undefined;
  readonly sessionId: string | undefined;
  readonly model: string | undefined;
  readonly startedAt: Micros;
  readonly endedAt: Micros;
  readonly completeness: string;
  readonly status: string;
  readonly revision: number;
  /** The run that it turned out to be a part of, as `trace/span`: then it has no verdicts and is in no list. */
  readonly partOf: string | undefined;
  readonly verdicts: readonly StoredVerdict[];
}

export interface StoredRun extends RunRow {
  /** The run as `runJson` writes it; undefined: its content is not kept, or no longer. */
  readonly content: JsonObject | undefined;
  /** Why not; undefined where it is. */
  readonly contentGone: ContentGone | undefined;
  /** Spans of its trace that are kept. */
  readonly spans: number;
  readonly decisions: readonly StoredDecision[];
  /** By name and annotator. */
  readonly annotations: readonly IdentifiedAnnotation[];
}

export interface StoredVerdict {
  readonly name: string;
  readonly evaluator: string;
  readonly version: number;
  /** Of the run that it is about: lower than that of the run while a judge has not seen the newer one. */
  readonly revision: number;
  readonly verdict: VerdictWord;
  /** 0..1; undefined unless it was scored. */
  readonly score: number | undefined;
  readonly label: string;
  readonly explanation: string;
  /** Why it was skipped, or which error it ended in. */
  readonly reason: string | undefined;
  readonly evidence: readonly string[];
  readonly details: JsonObject;
  readonly sampleProbability: number;
}

export interface StoredDecision extends RunKey {
  readonly name: string;
  readonly evaluator: string;
  /** Of the run that it is about. */
  readonly revision: number;
  readonly decision: string;
  readonly reason: string | undefined;
  /** With which it was chosen, where it was and no verdict was reached. */
  readonly probability: number | undefined;
}

/** All named conditions hold. Times are of the start of the run: from `from` on, before `to`. */
export interface RunFilter {
  readonly tenant?: Tenant;
  readonly agent?: string;
  readonly service?: string;
  readonly version?: string;
  readonly sessionId?: string;
  readonly traceId?: TraceId;
  /** Runs that this evaluator has a verdict on. */
  readonly evaluator?: string;
  /** Runs with such a verdict, of `evaluator` where that is named, else of any. */
  readonly verdict?: VerdictWord;
  /** True: runs that somebody has annotated; false: the others. */
  readonly annotated?: boolean;
  readonly from?: Micros;
  readonly to?: Micros;
}

export interface RunQuery extends RunFilter {
  /** 1..200. */
  readonly limit: number;
  /** Goes on behind this run; runs that came in between are not repeated and push none aside. */
  readonly after?: RunPlace;
}

/** Where a run stands in the list. */
export interface RunPlace {
  readonly startedAt: Micros;
  readonly id: number;
}

export interface RunPage {
  readonly runs: readonly RunRow[];
  /** Undefined: there are no more. */
  readonly next: RunPlace | undefined;
}

export interface SummaryQuery {
  readonly from: Micros;
  readonly to: Micros;
  readonly agent?: string;
  readonly tenant?: Tenant;
  readonly evaluator?: string;
  readonly bucketMicros: number;
}

export interface SummaryRow {
  /** Start of the bucket. */
  readonly at: Micros;
  readonly name: string;
  readonly verdict: VerdictWord;
  readonly count: number;
  /** Mean of the scores; undefined where none was scored. */
  readonly score: number | undefined;
}

export interface ToolQuery {
  readonly from: Micros;
  readonly to: Micros;
  readonly agent?: string;
  readonly tenant?: Tenant;
}

export interface ToolRow {
  readonly agent: string | undefined;
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  /** Calls that were asked for and that nothing shows to have run. */
  readonly notExecuted: number;
  /** Mean of the calls whose times are known. */
  readonly tookMicros: number | undefined;
}

export interface Retention {
  /** A run stays while a backend waits for its scores, or a judge is to be asked about it or the session whose turn it is, as long as what waits is not too old itself. */
  readonly runsBefore: Micros;
  readonly contentBefore: Micros;
  /** What waits for judges, by the time at which it was chosen: older ones keep no run. */
  readonly jobsBefore: Micros;
  /** Likewise the turns of sessions that wait to be judged, by the time at which they came. */
  readonly turnsBefore: Micros;
  /** By the time at which it was scored. */
  readonly exportsBefore: Micros;
  /** Rows of exports; beyond it the oldest go, dead letters first. */
  readonly exportsMax: number;
  /** Of the whole, as far as the store can tell; beyond it the oldest runs go, whatever waits, and no more of them than must. */
  readonly bytesMax: number;
  /** Runs that one step touches at most. */
  readonly stepRuns: number;
}

export interface Pruned {
  readonly runs: number;
  readonly contents: number;
  /** Pieces of spans. */
  readonly spans: number;
  /** Rows that waited for a backend or were dead letters, by exporter. */
  readonly exports: { readonly [exporter: string]: number };
  /** Pairs that waited for a judge and went with their run. */
  readonly jobs: number;
  /** True: another step would find more. */
  readonly more: boolean;
}
