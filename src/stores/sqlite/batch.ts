/** What one transaction writes, made where the runs are and small enough to be sent to the thread that has the file: contents and exports as bytes. */
import { constants, zstdCompressSync } from 'node:zlib';
import type { ScoredRun } from '../../exporters/exporter.ts';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import type { NewExport } from '../../model/export-store.ts';
import { exportText } from '../export-item.ts';
import { callEnd, runColumns, tookMicros } from '../item.ts';
import { jobBody } from '../job-body.ts';
import { contentOf, type RunContent } from '../run-content.ts';
import type { ContentGone, Micros, StoreItem } from '../store.ts';

export interface Batch {
  readonly items: readonly BatchItem[];
  readonly exports: readonly BatchExport[];
}

export interface BatchItem extends Pick<ScoredRun, 'evaluations' | 'decisions' | 'jobs' | 'answered'> {
  readonly run: BatchRun;
}

export interface BatchRun extends RunKey {
  readonly revision: number;
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

/** A few hundred bytes to some kilobytes: more than the fastest level takes longer and saves little. */
const compressionLevel = 1;

export function batchOf(items: readonly StoreItem[], exports: readonly NewExport[]): Batch {
  return {
    items: items.map(batchItem),
    exports: exports.map(({ item, ...rest }) => ({ ...rest, run: keyOf(item.run), revision: item.run.revision, item: alone(zstdCompressSync(exportText(item), { params: { [constants.ZSTD_c_compressionLevel]: compressionLevel } })) })),
  };
}

function batchItem({ run, withoutContent, evaluations, decisions, jobs = [], answered }: StoreItem): BatchItem {
  const waiting = jobs.length === 0 ? undefined : alone(jobBody(run));
  return { run: { ...runOf(run), content: contentAlone(contentOf(run, withoutContent)), waiting }, evaluations, decisions, ...(jobs.length === 0 ? {} : { jobs }), ...(answered === undefined ? {} : { answered }) };
}

/** A Buffer may lie in memory that is much larger, or that it shares with others: all of that would go along. */
export function alone<Value>(value: Value): Value | Uint8Array {
  return value instanceof Uint8Array && value.byteLength !== value.buffer.byteLength ? new Uint8Array(value) : value;
}

function contentAlone(content: RunContent): BatchContent {
  return { content: alone(content.content), contentGone: content.contentGone };
}

function runOf(run: Run): Omit<BatchRun, 'content' | 'waiting'> {
  return { ...keyOf(run), revision: run.revision, columns: runColumns(run), calls: run.trace.toolCalls.map((call) => ({ name: call.name, ended: callEnd(call), took: tookMicros(call) ?? null })) };
}

function keyOf({ tenant, traceId, spanId }: RunKey): RunKey {
  return { tenant, traceId, spanId };
}
