/** Writes rows of the store as JSON of the API: snake_case, times in RFC 3339 with microseconds, unknown values as null. */
import { wire } from '../../model/attributes.ts';
import type { SpanId } from '../../model/ids.ts';
import { isJsonArray, type JsonObject, jsonText, type JsonValue, member } from '../../model/json.ts';
import { judgeTrace } from '../../model/judge-call.ts';
import { endOf, type Attributed, type AttributeValue, type Span } from '../../model/span.ts';
import type { IdentifiedAnnotation } from '../../model/store/annotation-store.ts';
import type { ContentGone, RevisionChange, RunRow, StoredDecision, StoredRun, StoredVerdict, SummaryRow } from '../../model/store/store.ts';
import type { RunSplit } from '../../model/store/verdict-rows.ts';
import { type Micros, timeText } from '../../model/timestamp.ts';
import { runTargetId } from '../../model/verdict.ts';
import type { Unbundled } from '../../otlp/cut/bundle.ts';
import { isLack, lackOf, lackTexts, missingDataOf, placesOf } from '../../pipeline/reporting/missing-data.ts';
import { ownSpans } from '../../pipeline/reporting/span-readings.ts';
import { contentWithCalls, detailsWithParts } from './run-lists.ts';
import { writeLogsJson, writeTraces } from '../../otlp/write/write.ts';
import type { MetricFamily } from '../../telemetry/registry.ts';

const microsPerSecond = 1_000_000;

export function runRowJson(row: RunRow): JsonObject {
  return {
    trace_id: row.traceId,
    span_id: row.spanId,
    tenant: row.tenant,
    agent: row.agent ?? null,
    service: row.service ?? null,
    version: row.version ?? null,
    session_id: row.sessionId ?? null,
    model: row.model ?? null,
    started_at: timeOf(row.startedAt),
    ended_at: timeOf(row.endedAt),
    completeness: row.completeness,
    status: row.status,
    revision: row.revision,
    duration_seconds: Math.max(0, row.endedAt - row.startedAt) / microsPerSecond,
    input_tokens: row.inputTokens ?? null,
    output_tokens: row.outputTokens ?? null,
    cost_usd: row.costUsd ?? null,
    input_excerpt: row.excerpt ?? null,
    labels: row.labels.map(({ name, label }) => ({ name, label })),
    verdicts: row.verdicts.map(shortVerdictJson),
  };
}

/** A run without content has the reason instead: an empty field would look like an empty answer. `listMax`: entries of its long lists. */
export function runJson(run: StoredRun, listMax?: number): JsonObject {
  const { verdicts: _short, ...row } = runRowJson(run);
  return {
    ...contentWithCalls(run, listMax),
    ...row,
    content_kept: run.content !== undefined,
    content_gone: run.contentGone === undefined ? null : { reason: run.contentGone, explanation: goneSentences[run.contentGone] },
    spans_kept: run.spans,
    spans_gone: run.spans > 0 ? null : spansGoneJson(run),
    part_of: run.partOf ?? null,
    verdicts: run.verdicts.map((verdict) => ({
      ...shortVerdictJson(verdict),
      explanation: verdict.explanation,
      evidence: [...verdict.evidence],
      details: detailsWithParts(verdict.details, listMax),
      sample_probability: verdict.sampleProbability,
      threshold: verdict.threshold ?? null,
      judge_trace: judgeTraceJson(run, verdict),
    })),
    decisions: run.decisions.map((one) => ({ ...shortDecisionJson(one), missing: missingJson(one, run) })),
    task: run.task ?? null,
    revisions: (run.revisions ?? []).map(({ revision, changes }) => ({ revision, changes: changes.map(changeJson) })),
    annotations: run.annotations.map(annotationJson),
  };
}

function changeJson({ of, name, before, after }: RevisionChange): JsonObject {
  const value = (one: string | number | null): string | number | null => (of === 'ended_at' && typeof one === 'number' ? timeOf(one) : one);
  return { of, name: name ?? null, before: value(before), after: value(after) };
}

/** What the spans of the run lack for an evaluator that skipped it, where they could carry it, and the switch that brings it. */
function missingJson({ decision, reason }: StoredDecision, { content = {} }: StoredRun): JsonObject | null {
  const lack = decision === 'skipped' ? lackOf(reason ?? '') : undefined;
  if (lack === undefined) return null;
  const read = member(content, 'dialects') ?? null;
  const dialects = isJsonArray(read) ? read.map(String) : [];
  return { need: lack, name: lackTexts[lack], todo: missingDataOf(lack, dialects) ?? null, places: [...placesOf(lack, dialects)] };
}

/** The trace to which exporters send the judge calls of a verdict. */
function judgeTraceJson(run: StoredRun, { name, revision, details }: StoredVerdict): JsonObject | null {
  if (details['judge_requests'] === undefined) return null;
  const session = details['session'] === undefined ? undefined : run.sessionId;
  const target =
    session === undefined
      ? ({ targetKind: 'run', targetId: runTargetId(run) } as const)
      : ({ targetKind: 'session', targetId: session } as const);
  const { traceId, spanId } = judgeTrace({ tenant: run.tenant, ...target, name }, revision);
  return { trace_id: traceId, span_id: spanId };
}

function annotationJson({
  id,
  toolCall,
  name,
  by,
  kind,
  label,
  score,
  passed,
  explanation,
  at,
  probability,
}: IdentifiedAnnotation): JsonObject {
  return {
    id,
    tool_call: toolCall ?? null,
    name,
    by,
    kind,
    label: label ?? null,
    score: score ?? null,
    passed: passed ?? null,
    explanation,
    at: timeOf(at),
    probability: probability ?? null,
  };
}

const goneSentences: { readonly [reason in ContentGone]: string } = {
  switched_off: 'The configuration keeps no content (store.content is none).',
  sampled_out: 'Nothing failed in this run, and it is not in the sample (store.content, store.content_sample, store.content_per_minute).',
  overload: 'The service was overloaded when it scored the run, and stored no content (tracejury_stress_shed_total).',
  too_large: 'The content exceeds the size limit of a run.',
  expired: 'The content was older than store.keep.content.',
  unknown: 'An earlier release deleted the content.',
};

/** Why the store has no spans of the trace. */
export function spansGoneJson({ contentGone }: StoredRun): { readonly reason: string; readonly explanation: string } {
  if (contentGone !== undefined) return { reason: contentGone, explanation: goneSentences[contentGone] };
  return {
    reason: 'not_stored',
    explanation:
      'The service stores spans when all runs of the trace have closed. It leaves out traces that are too large, or that came while the store could not keep up.',
  };
}

function shortVerdictJson({ name, evaluator, version, revision, verdict, score, label, reason }: StoredVerdict): JsonObject {
  return {
    name,
    evaluator,
    version,
    revision,
    status: statusOf(verdict),
    score: score ?? null,
    label,
    passed: verdict === 'pass' ? true : verdict === 'fail' ? false : null,
    reason: reason ?? null,
  };
}

function statusOf(verdict: StoredVerdict['verdict']): 'scored' | 'skipped' | 'failed' {
  return verdict === 'skipped' ? 'skipped' : verdict === 'error' ? 'failed' : 'scored';
}

export function decisionJson(one: StoredDecision): JsonObject {
  return { trace_id: one.traceId, span_id: one.spanId, tenant: one.tenant, ...shortDecisionJson(one) };
}

function shortDecisionJson({ name, evaluator, revision, decision, reason }: StoredDecision): JsonObject {
  return { name, evaluator, revision, decision, reason: reason ?? null };
}

/** `by`: the split, whose value stands under its name. */
export function summaryJson({ at, of, name, verdict, count, score }: SummaryRow, by: RunSplit | undefined): JsonObject {
  return { at: timeOf(at), ...splitJson(by, of), name, verdict, count, mean_score: score ?? null };
}

export function splitJson(by: RunSplit | undefined, of: string | undefined): JsonObject {
  return by === undefined ? {} : { [by]: of ?? null };
}

export function timeOf(micros: Micros): string {
  return timeText(BigInt(Math.max(0, micros)) * 1_000n);
}

/** A row for each label set of the evaluability counter. */
export function evaluabilityRows(families: readonly MetricFamily[]): readonly JsonObject[] {
  const points = families.find(({ name }) => name === 'tracejury.evaluability')?.points ?? [];
  return points.flatMap((point) => {
    if (point.kind !== 'number') return [];
    const label = (name: string): string | null => point.labels[name] ?? null;
    return [
      {
        agent: label(wire.agentName),
        dialect: label('tracejury.dialect'),
        name: label(wire.evaluationName),
        outcome: label('tracejury.outcome'),
        reason: label('tracejury.reason') || null,
        need: label('tracejury.need') || null,
        ...neededJson(label('tracejury.need'), label('tracejury.dialect')),
        count: point.value,
      },
    ];
  });
}

function neededJson(need: string | null, dialect: string | null): JsonObject {
  if (need === null || !isLack(need)) return { missing: null, todo: null };
  return { missing: lackTexts[need], todo: missingDataOf(need, dialect === null ? [] : [dialect]) ?? null };
}

/** One OTLP/JSON request a line, as the Collector's file exporter writes them: traces, then logs. */
export function otlpLines({ spans, records }: Unbundled): string {
  return [
    ...(spans.length === 0 ? [] : [writeTraces(spans, 'json').toString()]),
    ...(records.length === 0 ? [] : [writeLogsJson(records).toString()]),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

/** Of one text; `cut` names longer attributes. */
const textCharsMax = 20_000;
const eventsMax = 100;
/** Of one page as JSON. A page has at least one span. */
const pageCharsMax = 4_000_000;

interface SpanPage {
  readonly spans: readonly JsonObject[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

/** The run's own spans by start, then the other spans of its trace. Spans with the same start keep the order of their arrival. */
export function spanPage(
  spans: readonly Span[],
  root: SpanId,
  { from, limit }: { readonly from: number; readonly limit: number },
): SpanPage {
  const own = ownSpans(spans, root);
  const ordered = spans.toSorted(
    (one, other) => Number(own.has(other)) - Number(own.has(one)) || compared(one.startUnixNano, other.startUnixNano),
  );
  const page: JsonObject[] = [];
  let chars = 0;
  for (const span of ordered.slice(from, from + limit)) {
    const json = spanJson(span, own.has(span));
    chars += jsonText(json).length;
    if (page.length > 0 && chars > pageCharsMax) break;
    page.push(json);
  }
  const next = from + page.length;
  return { spans: page, next: page.length > 0 && next < ordered.length ? next : undefined };
}

export const spanKinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const;

export function spanJson(span: Span, isOwn: boolean): JsonObject {
  const cut: string[] = [];
  const attributes = attributesJson(span, cut);
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId ?? null,
    of_run: isOwn,
    name: textJson(span.name),
    kind: spanKinds[span.kind],
    started_at: timeText(span.startUnixNano),
    ended_at: timeText(endOf(span)),
    status: { code: span.status.code, message: textJson(span.status.message) },
    service: typeof span.resource.attribute('service.name') === 'string' ? textJson(String(span.resource.attribute('service.name'))) : null,
    scope: textJson(span.scope.name),
    attributes,
    events: span.events
      .slice(0, eventsMax)
      .map((event) => ({ name: textJson(event.name), at: timeText(event.timeUnixNano), attributes: attributesJson(event, cut) })),
    links: span.links.slice(0, eventsMax).map(({ traceId, spanId }) => ({ trace_id: traceId, span_id: spanId })),
    cut: [...new Set(cut)],
  };
}

/** Adds the names of shortened attributes to `cut`. */
function attributesJson(from: Attributed, cut: string[]): JsonObject {
  const entries = from.attributeKeys().map((key) => {
    const value = plainJson(from.attribute(key) ?? null);
    const text = typeof value === 'string' ? value : jsonText(value);
    if (text.length <= textCharsMax) return [key, value] as const;
    cut.push(key);
    return [key, textJson(text)] as const;
  });
  return Object.fromEntries(entries);
}

function plainJson(value: AttributeValue): JsonValue {
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (Array.isArray(value)) return (value as readonly AttributeValue[]).map(plainJson);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainJson(item)]));
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

function textJson(text: string): string {
  return text.slice(0, textCharsMax);
}

function compared(one: bigint, other: bigint): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
