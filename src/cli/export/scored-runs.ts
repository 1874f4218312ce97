/** Scored runs for exporters, from recordings or from a store, as the service makes them, but without asking a judge. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Config, EvaluatorConfig } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Run, RunKey, SessionSoFar } from '../../model/agent-trace.ts';
import { type SpanId, type Tenant, type TraceId, parseSpanId } from '../../model/ids.ts';
import { type Evaluation, type PartVerdict, type Verdict, targetKey } from '../../model/verdict.ts';
import { evaluateRun } from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import { keptSpans } from '../../stores/span-decoder.ts';
import type { Store, StoredVerdict } from '../../model/store/store.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import { replayed } from '../inspect/replay.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';

export interface ScoredRuns {
  readonly items: readonly ScoredRun[];
  /** Verdicts that would have needed a judge. */
  readonly notAsked: number;
}

/** The verdicts of all rules go together, each judge's by itself. */
export function scoredRuns(runs: readonly Run[], config: Config, stored: (run: RunKey) => readonly Evaluation[] = () => []): ScoredRuns {
  const redaction = configuredRedaction(config.redact, noTelemetry);
  const context = evaluationContext();
  const clock = { nowMs: () => performance.now() };
  let notAsked = 0;
  const items = runs.flatMap((run) => {
    const { evaluations, decisions, toJudge } = evaluateRun(run, config.evaluators, { context, clock, telemetry: noTelemetry });
    const answered = stored(run);
    const names = new Set(answered.map(({ key }) => key.name));
    notAsked += toJudge.filter(({ configured }) => !names.has(configured.name)).length;
    const left = redactedRun(run, redaction);
    return [left.item({ evaluations, decisions }), ...answered.map((one) => itemOf(left.item({ evaluations: [one], decisions: [] }), one))];
  });
  return { items, notAsked };
}

/** A verdict on a session comes with the run that stands for it. */
function itemOf(item: ScoredRun, { key, revision }: Evaluation): ScoredRun {
  return key.targetKind === 'session' ? { ...item, run: { ...item.run, session: asStored({ revision }) } } : item;
}

interface StoredPlace {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  /** Undefined: all runs of the trace. */
  readonly spanId: SpanId | undefined;
}

/** Undefined: the spans of the trace are not kept, or no such run is in them. */
export async function storedRuns(store: Store, place: StoredPlace, config: Config): Promise<ScoredRuns | undefined> {
  const { tenant, traceId, spanId } = place;
  const [kept, [known]] = await Promise.all([keptSpans(await store.spans(tenant, traceId)), store.known([{ tenant, traceId }])]);
  if (kept === undefined) return undefined;
  const { runs } = replayed({ ...kept, recordsWithoutTrace: 0, rejections: [] }, config);
  const revisions = new Map(known?.runs.map((one) => [one.spanId, one.revision]));
  const wanted = runs
    .filter((run) => run.traceId === traceId && (spanId === undefined || run.spanId === spanId))
    .map((run): Run => ({ ...run, tenant, revision: revisions.get(run.spanId) ?? run.revision }));
  if (wanted.length === 0) return undefined;
  const judged = new Map<RunKey, ReturnType<typeof storedEvaluations>>();
  for (const run of wanted) judged.set(run, storedEvaluations(run, (await store.run(run))?.verdicts ?? [], config.evaluators));
  return scoredRuns(wanted, config, (run) => judged.get(run) ?? []);
}

// Stored verdicts of judges stay as they were; rules score again.

function storedEvaluations(run: Run, verdicts: readonly StoredVerdict[], plan: readonly EvaluatorConfig[]): readonly Evaluation[] {
  return verdicts.flatMap((stored) => {
    const planned = plan.find(({ configured }) => configured.name === stored.name);
    if (planned === undefined || planned.configured.kind === 'rule') return [];
    const { tenant, traceId, spanId } = run;
    return [
      {
        key: targetKey(member(stored.details, 'session') === undefined ? run : { ...run, session: asStored(stored) }, stored.name),
        run: { tenant, traceId, spanId },
        evaluator: stored.evaluator,
        evaluatorKind: planned.configured.kind,
        evaluatorVersion: stored.version,
        optionsHash: '',
        revision: stored.revision,
        completeness: run.completeness,
        verdict: verdictOf(stored, planned.configured.threshold),
        sampleProbability: stored.sampleProbability,
      },
    ];
  });
}

/** A judged session as the store has it: without its number of turns. */
function asStored({ revision }: Pick<StoredVerdict, 'revision'>): SessionSoFar {
  return { revision, turns: 0, leftOut: 0 };
}

function verdictOf(
  { verdict, score = 0, label, explanation, reason = '', evidence, details }: StoredVerdict,
  threshold: number | null,
): Verdict {
  if (verdict === 'error') return { kind: 'failed', error: reason, explanation, details };
  // The word comes out of a store that wrote it.
  if (verdict === 'skipped')
    return { kind: 'skipped', reason: reason as Extract<Verdict, { kind: 'skipped' }>['reason'], explanation, details };
  const parts = member(details, 'parts');
  return {
    kind: 'scored',
    score,
    threshold,
    passed: verdict === 'raw' ? null : verdict === 'pass',
    label,
    explanation,
    evidence: evidence.flatMap((id) => parseSpanId(id) ?? []),
    parts: parts !== undefined && isJsonArray(parts) ? parts.flatMap(partOf) : [],
    details,
  };
}

function partOf(written: JsonValue): readonly PartVerdict[] {
  if (!isJsonObject(written)) return [];
  const text = (key: string): string | undefined => textAt(written, key);
  const [spanId, callId] = [parseSpanId(text('span_id') ?? ''), text('call_id')];
  return [
    {
      index: Number(member(written, 'index')),
      tool: text('tool') ?? '',
      ...(callId === undefined ? {} : { callId }),
      ...(spanId === undefined ? {} : { spanId }),
      score: Number(member(written, 'score')),
      passed: member(written, 'passed') === true,
      explanation: text('explanation') ?? '',
    },
  ];
}

function textAt(object: JsonObject, key: string): string | undefined {
  const value = member(object, key);
  return typeof value === 'string' ? value : undefined;
}
