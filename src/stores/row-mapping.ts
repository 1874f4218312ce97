/** Maps a scored run to what stores keep of it. */
import { environmentOf, type Run, type ToolCall } from '../model/agent-trace.ts';
import { tookNano } from '../model/error-signs.ts';
import type { JsonObject, JsonValue } from '../model/json.ts';
import { runTargetId, sampledBy, verdictWord, type Evaluation, type Verdict } from '../model/verdict.ts';
import type { RunFigures } from '../model/scored-run.ts';
import type { StoredVerdict } from '../model/store/store.ts';
import type { Micros } from '../model/timestamp.ts';

/** The last microsecond, in the year 2255, that a double holds exactly. SQLite stores a later one, and throws when it reads it back. */
const lastMicros = BigInt(Number.MAX_SAFE_INTEGER);

/** A later time than the last microsecond counts as that one: `startTimeUnixNano` of a hostile span reaches the year 2554. */
export function microsOf(unixNano: bigint): Micros {
  const micros = unixNano / 1_000n;
  return Number(micros > lastMicros ? lastMicros : micros);
}

export function storedVerdict({
  key,
  evaluator,
  evaluatorVersion,
  revision,
  verdict,
  sampleProbability,
  ...by
}: Evaluation): StoredVerdict {
  const scored = verdict.kind === 'scored' ? verdict : undefined;
  return {
    name: key.name,
    evaluator,
    version: evaluatorVersion,
    revision,
    verdict: verdictWord(verdict),
    score: scored?.score,
    label: scored?.label ?? verdictWord(verdict),
    explanation: verdict.explanation,
    reason: verdict.kind === 'skipped' ? verdict.reason : verdict.kind === 'failed' ? verdict.error : undefined,
    evidence: scored?.evidence ?? [],
    details:
      scored === undefined || scored.parts.length === 0 ? verdict.details : { ...verdict.details, parts: scored.parts.map(partJson) },
    sampleProbability,
    ...sampledBy(by),
    ...(scored === undefined || scored.threshold === null ? {} : { threshold: scored.threshold }),
  };
}

type Part = Extract<Verdict, { readonly kind: 'scored' }>['parts'][number];

function partJson({ of, index, tool, callId, spanId, score, passed, explanation }: Part): JsonObject {
  return { ...(of === undefined ? {} : { of }), index, tool, call_id: callId ?? null, span_id: spanId ?? null, score, passed, explanation };
}

export function tookMicros(call: ToolCall): number | undefined {
  const took = tookNano(call);
  return took === undefined ? undefined : microsOf(took);
}

/** The columns of a run that lists and filters use. */
export function runColumns(run: Run, figures: RunFigures = {}) {
  return {
    tenant: run.tenant,
    trace_id: run.traceId,
    span_id: run.spanId,
    agent: run.trace.agent ?? null,
    service: run.service ?? null,
    version: run.serviceVersion ?? null,
    session_id: run.trace.sessionId ?? null,
    model: run.trace.model ?? null,
    started_us: microsOf(run.startUnixNano),
    ended_us: microsOf(run.endUnixNano),
    completeness: run.completeness,
    status: run.trace.status,
    revision: run.revision,
    part_of: run.partOf === undefined ? null : runTargetId(run.partOf),
    user_id: run.trace.userId ?? null,
    environment: environmentOf(run) ?? null,
    prompt: figures.prompt ?? null,
    task: figures.task ?? null,
    input_tokens: figures.inputTokens ?? null,
    output_tokens: figures.outputTokens ?? null,
    cost_usd: figures.costUsd ?? null,
  } as const satisfies { readonly [column: string]: JsonValue };
}

/** How many of the oldest runs go at once where a store holds more bytes than it may: as many as bear what is too much if all are alike, and at least one. */
export function surplusRuns({ used, bytesMax, runs }: { readonly used: number; readonly bytesMax: number; readonly runs: number }): number {
  return used <= bytesMax ? 0 : Math.max(1, Math.ceil((runs * (used - bytesMax)) / used));
}
