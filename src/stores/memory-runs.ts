/** Runs as a store without a file holds them, and what is told of them. */
import type { Run } from '../model/agent-trace.ts';
import { runTargetId } from '../model/verdict.ts';
import { roughBytes } from '../model/size-estimate.ts';
import { microsOf } from './row-mapping.ts';
import { heldBytes, wholeVerdicts, type HeldVerdict } from './memory-verdicts.ts';
import type { ContentGone, RunFilter, RunPlace, RunRow, StoredDecision } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';

/** Of one revision. Little of it and in few pieces: what lives long in memory has the collector walk over it again and again. */
export interface Version {
  readonly row: Omit<RunRow, 'verdicts'>;
  readonly calls: readonly { readonly name: string; readonly ended: string; readonly took: Micros | undefined }[];
  content: Uint8Array | undefined;
  contentGone: ContentGone | undefined;
}

export interface Kept {
  readonly id: number;
  readonly key: string;
  version: Version;
  readonly verdicts: Map<string, HeldVerdict>;
  readonly decisions: Map<string, StoredDecision>;
  /** What it holds, roughly, without the content of its version. */
  bytes: number;
}

export function startOf({ version }: Kept): number {
  return version.row.startedAt;
}

export function isBehind(one: Kept, after: RunPlace): boolean {
  return startOf(one) < after.startedAt || (startOf(one) === after.startedAt && one.id < after.id);
}

export function isWanted(one: Kept, filter: RunFilter): boolean {
  const { row } = one.version;
  if (row.partOf !== undefined) return false;
  const is = (wanted: string | undefined, value: string | undefined): boolean => wanted === undefined || wanted === value;
  if (
    !(
      is(filter.tenant, row.tenant) &&
      is(filter.agent, row.agent) &&
      is(filter.service, row.service) &&
      is(filter.version, row.version) &&
      is(filter.sessionId, row.sessionId) &&
      is(filter.traceId, row.traceId)
    )
  )
    return false;
  if (startOf(one) < (filter.from ?? -Infinity) || startOf(one) >= (filter.to ?? Infinity)) return false;
  if (filter.evaluator === undefined && filter.verdict === undefined) return true;
  return [...one.verdicts.values()].some(({ name, verdict }) => is(filter.evaluator, name) && is(filter.verdict, verdict));
}

export function listed({ version, verdicts }: Kept): RunRow {
  return { ...version.row, verdicts: wholeVerdicts(byName([...verdicts.values()])) };
}

export function rowOf(run: Run): Version['row'] {
  return {
    tenant: run.tenant,
    traceId: run.traceId,
    spanId: run.spanId,
    agent: run.trace.agent,
    service: run.service,
    version: run.serviceVersion,
    sessionId: run.trace.sessionId,
    model: run.trace.model,
    startedAt: microsOf(run.startUnixNano),
    endedAt: microsOf(run.endUnixNano),
    completeness: run.completeness,
    status: run.trace.status,
    revision: run.revision,
    partOf: run.partOf === undefined ? undefined : runTargetId(run.partOf),
  };
}

export function byName<Named extends { readonly name: string }>(rows: readonly Named[]): readonly Named[] {
  return rows.toSorted((one, other) => compared(one.name, other.name));
}

export function compared(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Weighed anew whenever something is said of it. */
export function weightOf({ version: { row, calls }, verdicts, decisions }: Kept): number {
  return roughBytes([row, calls, ...decisions.values()]) + heldBytes(verdicts.values());
}
