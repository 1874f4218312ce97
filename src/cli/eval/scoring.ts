/** Runs through their evaluators, as the service does it: rules at once, judges through the judge lane. */
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { EvaluationContext } from '../../../evaluators/evaluator.ts';
import { wire } from '../../model/attributes.ts';
import type { Clock } from '../../model/clock.ts';
import type { Evaluation, Verdict } from '../../model/verdict.ts';
import { evaluateRun, type PlannedEvaluator, type ToJudge } from '../../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../../pipeline/evaluation/redacted-run.ts';
import type { NamedVerdict } from '../../library/report.ts';
import type { Redaction } from '../../redaction/redaction.ts';
import type { JudgePool } from '../../service/judge-pool.ts';
import { noTelemetry, type Telemetry } from '../../telemetry/telemetry.ts';
import type { EvalResult, MatchedItem } from './item.ts';

export interface ScoringOptions {
  readonly plan: readonly PlannedEvaluator[];
  readonly context: EvaluationContext;
  readonly clock: Clock;
  readonly ask: JudgePool['ask'];
  /** Of one judge verdict; undefined: as long as the judge takes. */
  readonly timeoutMs: number | undefined;
  readonly failFast: boolean;
  /** What neither judges nor reports may see. */
  readonly redaction?: Redaction | undefined;
  readonly onDone: (done: number) => void;
}

/** Runs whose judges are asked at the same time; the judges' own concurrency holds below that. */
const runsAtOnce = 64;

/** Results in the order of the items; fewer than items when the first failure ended it. */
export async function scored(items: readonly MatchedItem[], options: ScoringOptions): Promise<readonly EvalResult[]> {
  const results = new Map<MatchedItem, EvalResult>();
  const queue = items.values();
  let failed = false;
  const worker = async (): Promise<void> => {
    for (const item of queue) {
      const result = await resultOn(item, options);
      const { verdicts } = result;
      results.set(item, result);
      options.onDone(results.size);
      failed ||= verdicts.some(({ verdict }) => verdict.kind === 'scored' && verdict.passed === false);
      if (options.failFast && failed) return;
    }
  };
  await Promise.all(Array.from({ length: options.failFast ? 1 : Math.min(runsAtOnce, items.length) }, worker));
  return items.flatMap((item) => results.get(item) ?? []);
}

/** In the order of the plan. Offline every run is put before its judges: a sample is drawn with --sample. */
async function resultOn(item: MatchedItem, options: ScoringOptions): Promise<EvalResult> {
  const { context, clock } = options;
  const plan = (item.plan ?? item.example?.plan ?? options.plan).map((planned) => ({ ...planned, sampleRate: 1 }));
  const tookMs = new Map<string, number>();
  const telemetry: Telemetry = {
    ...noTelemetry,
    record(metric, value, labels = {}) {
      if (metric === 'tracejury.evaluation.duration') tookMs.set(String(labels[wire.evaluationName]), value * 1_000);
    },
  };
  const { evaluations, toJudge } = evaluateRun(item.run, plan, { context, clock, telemetry, sessionsAsRuns: true });
  const { run, work, verdict } = redactedRun(item.run, options.redaction);
  const judged = await Promise.all(
    toJudge.map(async (one) => {
      const { name, evaluator } = one.configured;
      const startMs = clock.nowMs();
      const given = await asked(run, work(one), options);
      tookMs.set(name, clock.nowMs() - startMs);
      return { name, evaluator: evaluator.id, verdict: given };
    }),
  );
  const found = new Map([...evaluations.map(named), ...judged].map((one) => [one.name, one]));
  const verdicts = plan
    .flatMap(({ configured }) => found.get(configured.name) ?? [])
    .map((one) => ({ ...one, verdict: verdict(one.verdict) }));
  const { sessionId } = run.trace;
  return { item: { ...item, run }, verdicts, tookMs, session: sessionId === item.run.trace.sessionId ? sessionId : undefined };
}

function named({ key, evaluator, verdict }: Evaluation): NamedVerdict {
  return { name: key.name, evaluator, verdict };
}

async function asked(run: MatchedItem['run'], work: ToJudge, { ask, timeoutMs }: ScoringOptions): Promise<Verdict> {
  const answered = new Promise<Verdict>((resolve) => {
    ask(run, work, (end) =>
      resolve(end.kind === 'judged' ? end.verdict : broken(end.kind === 'over_budget' ? end.kind : end.reason, 'The judge was not asked.')),
    );
  });
  if (timeoutMs === undefined) return await answered;
  const settled = new AbortController();
  const late = sleepFor(timeoutMs, undefined, { signal: settled.signal }).then(
    () => broken('timed_out', `The judge gave no verdict within ${timeoutMs / 1_000} s.`),
    () => broken('aborted', ''),
  );
  const verdict = await Promise.race([answered, late]);
  settled.abort();
  return verdict;
}

function broken(error: string, explanation: string): Verdict {
  return { kind: 'failed', error, explanation, details: {} };
}
