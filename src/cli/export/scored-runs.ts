/** What exporters are given of recorded runs, and of runs that a store has: as the service would, with nobody asked. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import type { Config } from '../../config/config.ts';
import { configuredRedaction } from '../../config/entries/redaction.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import type { Evaluation } from '../../model/verdict.ts';
import { evaluateRun } from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import { keptSpans } from '../../stores/span-decoder.ts';
import type { Store } from '../../model/store/store.ts';
import { noTelemetry } from '../../telemetry/telemetry.ts';
import { played } from '../inspect/replay.ts';
import { asStored, storedEvaluations } from './stored-evaluations.ts';

export interface ScoredRuns {
  readonly items: readonly ScoredRun[];
  /** Verdicts that nobody was asked for. */
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

export interface StoredPlace {
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
  const { runs } = played({ ...kept, recordsWithoutTrace: 0, rejections: [] }, config);
  const revisions = new Map(known?.runs.map((one) => [one.spanId, one.revision]));
  const wanted = runs
    .filter((run) => run.traceId === traceId && (spanId === undefined || run.spanId === spanId))
    .map((run): Run => ({ ...run, tenant, revision: revisions.get(run.spanId) ?? run.revision }));
  if (wanted.length === 0) return undefined;
  const judged = new Map<RunKey, ReturnType<typeof storedEvaluations>>();
  for (const run of wanted) judged.set(run, storedEvaluations(run, (await store.run(run))?.verdicts ?? [], config.evaluators));
  return scoredRuns(wanted, config, (run) => judged.get(run) ?? []);
}
