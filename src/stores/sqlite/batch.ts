/** What one transaction writes, made where the runs are and small enough to be sent to the thread that has the file: contents and exports as bytes. */
import { setImmediate } from 'node:timers/promises';
import { itemRevision, type ScoredRun } from '../../model/scored-run.ts';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import type { NewExport } from '../../model/store/export-store.ts';
import { jsonText } from '../../model/json.ts';
import type { Evaluation } from '../../model/verdict.ts';
import { brief } from '../compression.ts';
import { callEnd } from '../../model/error-signs.ts';
import { runColumns, storedVerdict, tookMicros } from '../row-mapping.ts';
import { contentOf, exportText, jobBody } from '../blob-codec.ts';
import type { ContentGone, StoreItem } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import type { EvaluationRow } from './rows.ts';

export interface Batch {
  readonly items: readonly BatchItem[];
  readonly exports: readonly BatchExport[];
}

export interface BatchItem extends Pick<ScoredRun, 'decisions' | 'jobs' | 'turn' | 'answered'> {
  readonly run: BatchRun;
  readonly evaluations: readonly BatchEvaluation[];
}

/** A row but for what it has of its run. */
export type BatchEvaluation = Omit<EvaluationRow, 'run_id' | 'agent' | 'started_us'>;

export interface BatchRun extends RunKey {
  readonly revision: number;
  /** What is said of a whole session is of its revision. */
  readonly session?: NonNullable<Run['session']>;
  readonly columns: ReturnType<typeof runColumns>;
  readonly content: BatchContent;
  /** As it waits for judges; undefined unless it does. */
  readonly waiting: Uint8Array | undefined;
  readonly calls: readonly { readonly name: string; readonly ended: string; readonly took: Micros | null }[];
}

export interface BatchContent {
  readonly content: Uint8Array | undefined;
  readonly contentGone: ContentGone | undefined;
}

export interface BatchExport extends Omit<NewExport, 'item'> {
  readonly run: RunKey;
  readonly revision: number;
  readonly item: Uint8Array;
}

/** Of so many at once: a few milliseconds in which no request is answered. A turn may take longer than a slice, and all who wait for the store wait for these. */
const sliceItems = 50;

/** Others have their turn in between. */
export async function batchOf(items: readonly StoreItem[], exports: readonly NewExport[]): Promise<Batch> {
  return { items: await inSlices(items, batchItem), exports: await inSlices(exports, batchExport) };
}

async function inSlices<From, To>(all: readonly From[], of: (one: From) => To): Promise<readonly To[]> {
  const made: To[] = [];
  for (const [at, one] of all.entries()) {
    if (at > 0 && at % sliceItems === 0) await setImmediate();
    made.push(of(one));
  }
  return made;
}

function batchExport({ item, ...rest }: NewExport): BatchExport {
  return { ...rest, run: keyOf(item.run), revision: itemRevision(item), item: brief(exportText(item)) };
}

function batchItem({
  run,
  withoutContent,
  content = contentOf(run, withoutContent),
  evaluations,
  decisions,
  jobs = [],
  turn,
  answered,
}: StoreItem): BatchItem {
  const waiting = jobs.length === 0 && turn?.choices.some(({ mayBeChosen }) => mayBeChosen) !== true ? undefined : jobBody(run);
  return {
    run: { ...runOf(run), content, waiting },
    evaluations: evaluations.map(batchEvaluation),
    decisions,
    ...(jobs.length === 0 ? {} : { jobs }),
    ...(turn === undefined ? {} : { turn }),
    ...(answered === undefined ? {} : { answered }),
  };
}

function batchEvaluation(evaluation: Evaluation): BatchEvaluation {
  const { verdict, evidence, details, score, reason, sampleProbability, ...rest } = storedVerdict(evaluation);
  return {
    ...rest,
    kind: evaluation.evaluatorKind,
    options_hash: evaluation.optionsHash,
    verdict,
    score: score ?? null,
    reason: reason ?? null,
    evidence: jsonText([...evidence]),
    details: jsonText(details),
    sample_probability: sampleProbability,
  };
}

function runOf(run: Run): Omit<BatchRun, 'content' | 'waiting'> {
  return {
    ...keyOf(run),
    revision: run.revision,
    ...(run.session === undefined ? {} : { session: run.session }),
    columns: runColumns(run),
    calls: run.trace.toolCalls.map((call) => ({ name: call.name, ended: callEnd(call), took: tookMicros(call) ?? null })),
  };
}

function keyOf({ tenant, traceId, spanId }: RunKey): RunKey {
  return { tenant, traceId, spanId };
}
