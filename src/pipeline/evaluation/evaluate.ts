/** One closed run through every configured evaluator: rules at once, judges as work to be asked later. Each pair ends in one decision. */
import type { ConfiguredAsking, ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { EvaluationContext } from '../../../evaluators/evaluator.ts';
import { readExpectation } from '../../../evaluators/expectation/expectation.ts';
import type { RunDecision } from '../../model/scored-run.ts';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import type { BudgetLimits } from '../../model/budget.ts';
import type { Mutable } from '../../model/mutable.ts';
import type { Expectation } from '../../model/expectation.ts';
import { wire } from '../../model/attributes.ts';
import { sampledBy, type SampledBy, targetKey, runTargetId, type Decision, type Evaluation, type Verdict } from '../../model/verdict.ts';
import { runSteps, type Steps } from '../../runtime/cooperative.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { RunExpression } from './run-expression.ts';
import { unpaced, type Paced, sampleDecision, raisedRate, leastRate, type Raise } from './sampling.ts';
import type { Panel } from '../jury/jury-panel.ts';
import { factsOf } from './run-facts.ts';
import type { Context } from '../../telemetry/context.ts';

/** A configured evaluator with the runs that it is for. */
export interface PlannedEvaluator {
  readonly configured: ConfiguredEvaluator;
  /** Omitted when every run is evaluated. */
  readonly when?: (run: Run) => boolean;
  /** Name of the judge; for judge evaluators that ask one once, and only for these. */
  readonly judge?: string;
  /** Instead of `judge`: several votes. */
  readonly panel?: Panel;
  /** Share 0..1 of the received runs that an evaluator asks about; rules look at all. */
  readonly sampleRate: number;
  /** Higher rates for runs on which rules have found something. */
  readonly raise?: readonly Raise[];
  /** Its own, beside those of its judges. */
  readonly budget?: BudgetLimits;
  /** Settings of an evaluator that learns the normal process of agents; omitted also for one with a fixed model. */
  readonly learning?: ProcessLearningSettings;
}

export interface ProcessLearningSettings {
  readonly runsMin: number;
  readonly runsMax: number;
  readonly freezes: boolean;
  /** True while the model of the former version serves, until that of a new one is learnt. */
  readonly usesFormer: boolean;
  /** Condition on the runs to learn from; by default runs without an error that no rule fails. */
  readonly when?: RunExpression;
}

export type Pace = (planned: Pick<PlannedEvaluator, 'configured' | 'judge' | 'panel' | 'budget'>) => Paced;

/** An evaluator that asks a judge or a service, and that was sampled for a run. */
export interface ToJudge extends SampledBy {
  readonly configured: ConfiguredAsking;
  /** For judge evaluators one of the two, and only for these. */
  readonly judge?: string;
  readonly panel?: Panel;
  readonly budget?: BudgetLimits;
  readonly expected: Expectation;
  readonly probability: number;
}

interface Evaluated {
  readonly evaluations: readonly Evaluation[];
  readonly decisions: readonly RunDecision[];
  readonly toJudge: readonly ToJudge[];
  /** The run claims a smaller probability than is believed, and an evaluator draws a sample of runs. */
  readonly isRaised?: true;
}

interface EvaluateWith extends Pick<Context, 'clock' | 'telemetry'> {
  readonly context: EvaluationContext;
  /** Omitted when there are no budgets. */
  readonly pace?: Pace;
  /** The least probability of a sampler before the service that is believed; left out: `upstreamProbabilityMin`. */
  readonly upstreamMin?: number;
  /** True when no gatherer collects the turns of sessions, so that each run counts as a whole session. */
  readonly sessionsAsRuns?: boolean;
}

/** True when the evaluator judges sessions as a whole. */
export function isOfSession({ evaluator }: Pick<ConfiguredEvaluator, 'evaluator'>): boolean {
  return evaluator.target === 'session';
}

/** `ruleVerdicts`: from `ruleSteps` with the same plan, where that was done before. */
export function evaluateRun(
  run: Run,
  whole: readonly PlannedEvaluator[],
  options: EvaluateWith,
  ruleVerdicts?: readonly Evaluation[],
): Evaluated {
  const plan = planOf(whole, options);
  if (run.partOf !== undefined) return takenBack(run, run.partOf, plan);
  const expected = expectedOf(run);
  const wanted = wantedOf(run, plan);
  // Rules run first, in any order of the plan: their findings decide how many of such runs are asked about.
  const evaluations = ruleVerdicts ?? runSteps(ruleEvaluations(run, wanted, expected, options));
  const verdicts = new Map<string, Verdict>();
  for (const { key, verdict } of evaluations) verdicts.set(key.name, verdict);
  const decisions: RunDecision[] = [];
  const toJudge: ToJudge[] = [];
  let raised: Pick<Evaluated, 'isRaised'> = {};
  for (const planned of plan) {
    const { configured, sampleRate, raise = [] } = planned;
    const verdict = verdicts.get(configured.name);
    if (!wanted.includes(planned)) decisions.push(decision(configured, 'filtered', 'when'));
    else if (configured.kind === 'rule') {
      if (verdict !== undefined) decisions.push(decisionOf(configured, verdict));
    } else {
      const asked = whoIsAsked(planned);
      const rate = raisedRate(sampleRate, raise, () => factsOf(run, verdicts));
      const { left, by } = options.pace?.(planned) ?? unpaced;
      const { sampled, probability, upstream, isRaised } = sampleDecision({
        traceId: run.traceId,
        traceState: run.traceState,
        rate: rate * left,
        ...(options.upstreamMin === undefined ? {} : { upstreamMin: options.upstreamMin }),
      });
      if (isRaised === true) raised = { isRaised };
      // Without a judge there is no one to ask; the configuration refuses that, so this is a plan made by hand.
      if (configured.kind === 'judge' && asked === undefined) decisions.push(decision(configured, 'filtered', 'no_judge'));
      else if (sampled)
        toJudge.push({
          configured,
          ...asked,
          expected,
          probability,
          ...raisedOver(leastRate(sampleRate, raise), rate),
          ...sampledBy({ upstream }),
        });
      else decisions.push(left === 0 && rate > 0 ? decision(configured, 'over_budget', by) : decision(configured, 'sampled_out'));
    }
  }
  return { evaluations, decisions, toJudge, ...raised };
}

/** The rules of a plan on a large run, one rule a piece. */
export function ruleSteps(run: Run, whole: readonly PlannedEvaluator[], options: EvaluateWith): Steps<readonly Evaluation[]> {
  return ruleEvaluations(run, wantedOf(run, planOf(whole, options)), expectedOf(run), options);
}

function planOf(whole: readonly PlannedEvaluator[], { sessionsAsRuns }: EvaluateWith): readonly PlannedEvaluator[] {
  return sessionsAsRuns === true ? whole : whole.filter(({ configured }) => !isOfSession(configured));
}

function wantedOf(run: Run, plan: readonly PlannedEvaluator[]): readonly PlannedEvaluator[] {
  return plan.filter(({ when }) => when === undefined || when(run));
}

/** Name of the judge of an evaluator, and at whose cost; `undefined` when the plan names none. */
export function whoIsAsked({
  judge,
  panel,
  budget,
}: Pick<PlannedEvaluator, 'judge' | 'panel' | 'budget'>): Pick<PlannedEvaluator, 'judge' | 'panel' | 'budget'> | undefined {
  const own = budget === undefined ? {} : { budget };
  if (panel !== undefined) return { panel, ...own };
  return judge === undefined ? undefined : { judge, ...own };
}

/** The expectation that the run itself carries. */
export function expectedOf({ expected }: Run): Expectation {
  return expected === undefined ? {} : readExpectation(expected).expectation;
}

function* ruleEvaluations(
  run: Run,
  wanted: readonly PlannedEvaluator[],
  expected: Expectation,
  { context, clock, telemetry }: EvaluateWith,
): Steps<readonly Evaluation[]> {
  const found: Evaluation[] = [];
  for (const { configured } of wanted) {
    if (configured.kind !== 'rule') continue;
    if (found.length > 0) yield;
    const startMs = clock.nowMs();
    const evaluation = evaluationOf(run, configured, configured.evaluate(run.trace, expected, context, run));
    recordDuration(telemetry, evaluation, clock.nowMs() - startMs);
    found.push(evaluation);
  }
  return found;
}

/** Every verdict on a run that turned out to be part of another one is replaced: the part has nothing to score by itself. */
function takenBack(run: Run, whole: RunKey, plan: readonly PlannedEvaluator[]): Evaluated {
  const verdict: Verdict = {
    kind: 'skipped',
    reason: 'part_of_another_run',
    explanation: `Later spans showed that this is part of the run ${runTargetId(whole)}, which is scored as a whole.`,
    details: {},
  };
  return {
    evaluations: plan.map(({ configured }) => evaluationOf(run, configured, verdict)),
    decisions: plan.map(({ configured }) => decisionOf(configured, verdict)),
    toJudge: [],
  };
}

function raisedOver(least: number, rate: number): SampledBy {
  return least > 0 && rate > least ? { raisedBy: rate / least } : {};
}

export function evaluationOf(
  run: Run,
  configured: ConfiguredEvaluator,
  verdict: Verdict,
  { probability = 1, ...by }: SampledBy & { readonly probability?: number } = {},
): Evaluation {
  const { tenant, traceId, spanId, session } = run;
  return {
    key: targetKey(run, configured.name),
    run: { tenant, traceId, spanId },
    evaluator: configured.evaluator.id,
    evaluatorKind: configured.kind,
    evaluatorVersion: configured.evaluator.version,
    ...(configured.evaluator.guard === true ? { guard: true as const } : {}),
    optionsHash: configured.optionsHash,
    revision: session?.revision ?? run.revision,
    completeness: run.completeness,
    verdict,
    sampleProbability: probability,
    ...sampledBy(by),
  };
}

/** Records the time from the beginning of an evaluation to its verdict; for a judge with the time in the queue. */
export function recordDuration(telemetry: Telemetry, { key, evaluatorKind, verdict }: Evaluation, ms: number): void {
  const labels = { [wire.evaluationName]: key.name, [wire.evaluatorKind]: evaluatorKind };
  telemetry.record(
    'tracejury.evaluation.duration',
    ms / 1000,
    verdict.kind === 'failed' ? { ...labels, [wire.errorType]: errorWord(verdict.error) } : labels,
  );
}

/** Errors read `word: sentence`; only the word is fit for a label. */
export function errorWord(error: string): string {
  return /^\w+/.exec(error)?.[0] ?? 'unknown';
}

export function decisionOf(configured: ConfiguredEvaluator, verdict: Verdict): RunDecision {
  if (verdict.kind === 'scored') return decision(configured, 'scored');
  return verdict.kind === 'skipped' ? decision(configured, 'skipped', verdict.reason) : decision(configured, 'failed', verdict.error);
}

/** `probability`: with which it was chosen to be asked about, where nothing came of that. */
export function decision(configured: ConfiguredEvaluator, ended: Decision, reason?: string, probability?: number): RunDecision {
  const made: Mutable<RunDecision> = {
    name: configured.name,
    evaluator: configured.evaluator.id,
    evaluatorKind: configured.kind,
    decision: ended,
  };
  if (reason !== undefined) made.reason = reason;
  if (probability !== undefined) made.probability = probability;
  return made;
}
