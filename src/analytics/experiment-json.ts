/** The JSON form of experiments in the API and in files: snake_case, times in RFC 3339 with microseconds. */
import type {
  Comparison,
  EvaluatorComparison,
  Flip,
  TestedDifference,
  UnscoredComparison,
  UsageComparison,
} from './experiment-comparison.ts';
import type { EvaluatorSummary, ExperimentSummary, RepeatSummary } from './experiment-summary.ts';
import {
  type Experiment,
  type ExperimentResult,
  experimentStates,
  isExperimentId,
  resultErrorKinds,
  resultStatuses,
  type ResultVerdict,
} from '../model/experiment.ts';
import { parseSpanId, parseTraceId, tenant } from '../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';
import { type Micros, parseTimeText, timeText } from '../model/timestamp.ts';
import { verdictWords } from '../model/verdict.ts';
import type { Estimate } from '../statistics/estimate.ts';

export function experimentJson({ dataset, provenance, ...experiment }: Experiment): JsonObject {
  return {
    id: experiment.id,
    tenant: experiment.tenant,
    name: experiment.name,
    dataset:
      dataset === undefined
        ? null
        : { name: dataset.name, version: dataset.version ?? null, hash: dataset.hash, examples: dataset.examples },
    repeats: experiment.repeats,
    state: experiment.state,
    began_at: microsText(experiment.beganAt),
    ended_at: experiment.endedAt === undefined ? null : microsText(experiment.endedAt),
    provenance: {
      commit: provenance.commit ?? null,
      branch: provenance.branch ?? null,
      dirty: provenance.isDirty ?? null,
      config_hash: provenance.configHash ?? null,
      environment: { ...provenance.environment },
    },
    evaluators: experiment.evaluators.map(({ name, evaluator, version, threshold }) => ({ name, evaluator, version, threshold })),
  };
}

export function resultJson(result: ExperimentResult): JsonObject {
  const { error, run, agent } = result;
  return {
    example_id: result.exampleId,
    repeat: result.repeat,
    status: result.status,
    input: result.input ?? null,
    error: error === undefined ? null : { kind: error.kind, message: error.message },
    trace_id: run?.traceId ?? null,
    span_id: run?.spanId ?? null,
    began_at: microsText(result.beganAt),
    ended_at: microsText(result.endedAt),
    duration_us: result.tookMicros ?? null,
    input_tokens: result.inputTokens ?? null,
    output_tokens: result.outputTokens ?? null,
    cost_usd: result.cost ?? null,
    agent: {
      name: agent.agent ?? null,
      version: agent.version ?? null,
      model: agent.model ?? null,
      prompt_hash: agent.promptHash ?? null,
      tools_hash: agent.toolsHash ?? null,
    },
    verdicts: result.verdicts.map(({ name, evaluator, verdict, score, label, explanation, reason }) => ({
      name,
      evaluator,
      verdict,
      score: score ?? null,
      label,
      explanation,
      reason: reason ?? null,
    })),
  };
}

export function summaryJson({ statuses, notCompleted, evaluators, tokens, cost, withoutCost }: ExperimentSummary): JsonObject {
  return {
    statuses: { ...statuses },
    not_completed: notCompleted,
    tokens: tokens ?? null,
    cost_usd: cost ?? null,
    results_without_cost: withoutCost,
    evaluators: evaluators.map(evaluatorSummaryJson),
  };
}

export function evaluatorSummaryJson({ name, measure, estimate, repeats, ...counts }: EvaluatorSummary): JsonObject {
  return {
    name,
    measure,
    passed: counts.passed,
    failed: counts.failed,
    raw: counts.raw,
    skipped: counts.skipped,
    errors: counts.errors,
    estimate: estimateJson(estimate),
    repeats: repeats.map(repeatJson),
  };
}

function repeatJson({ k, examples, passAtK, passHatK }: RepeatSummary): JsonObject {
  return { k, examples, pass_at_k: passAtK, pass_hat_k: passHatK };
}

function estimateJson(
  estimate:
    | Pick<Extract<Estimate, { kind: 'estimated' }>, 'kind' | 'point' | 'low' | 'high'>
    | Extract<Estimate, { kind: 'not_estimable' }>,
): JsonObject {
  return estimate.kind === 'estimated'
    ? { kind: estimate.kind, point: estimate.point, low: estimate.low, high: estimate.high }
    : { kind: estimate.kind, reason: estimate.reason, explanation: estimate.explanation };
}

/** Flips of one evaluator in the JSON form; `flipped_count` has all of them. */
const flipsMax = 1_000;
const namesMax = 1_000;

export function comparisonJson(comparison: Comparison): JsonObject {
  const { first, second, onlyFirst, onlySecond } = comparison;
  return {
    a: experimentJson(first),
    b: experimentJson(second),
    examples: comparison.examples,
    only_a: { count: onlyFirst.length, examples: onlyFirst.slice(0, namesMax) },
    only_b: { count: onlySecond.length, examples: onlySecond.slice(0, namesMax) },
    level: comparison.level,
    evaluators: comparison.evaluators.map(evaluatorComparisonJson),
    usage: comparison.usage.map(usageJson),
    regressions: [...comparison.regressions],
    unscored_regressions: [...comparison.unscoredRegressions],
    lost: [...comparison.lost],
    warnings: [...comparison.warnings],
  };
}

function evaluatorComparisonJson(one: EvaluatorComparison): JsonObject {
  return {
    name: one.name,
    measure: one.measure,
    result: one.word,
    examples: one.examples,
    a: estimateJson(one.first),
    b: estimateJson(one.second),
    ...testedJson(one),
    unscored: one.unscored === undefined ? null : unscoredJson(one.unscored),
    flipped_count: one.flipped.length,
    flipped: one.flipped.slice(0, flipsMax).map(flipJson),
    repeats: { a: one.repeats.first.map(repeatJson), b: one.repeats.second.map(repeatJson) },
  };
}

function testedJson({ difference, test, p, adjustedP }: TestedDifference): JsonObject {
  return { difference: estimateJson(difference), test: test ?? null, p: p ?? null, adjusted_p: adjustedP ?? null };
}

function unscoredJson({ examples, first, second, share, asNotPassed, range, lessScored }: UnscoredComparison): JsonObject {
  return {
    examples,
    a: { ...first },
    b: { ...second },
    share: testedJson(share),
    as_not_passed: testedJson(asNotPassed),
    range: { ...range },
    less_scored: { count: lessScored.length, examples: lessScored.slice(0, namesMax) },
  };
}

function flipJson({ exampleId, input, first, second }: Flip): JsonObject {
  const side = ({ value, runs, explanation, run, usage }: Flip['first']): JsonObject => ({
    value,
    runs,
    explanation,
    trace_id: run?.traceId ?? null,
    span_id: run?.spanId ?? null,
    cost_usd: usage.cost ?? null,
    tokens: usage.tokens ?? null,
    duration_seconds: usage.duration ?? null,
  });
  return { example_id: exampleId, input: input ?? null, a: side(first), b: side(second) };
}

function usageJson({ of, examples, first, second, difference }: UsageComparison): JsonObject {
  return { of, unit: usageUnits[of], examples, a: first, b: second, difference: estimateJson(difference) };
}

export const usageUnits: { readonly [of in UsageComparison['of']]: string } = { cost: 'USD', tokens: 'tokens', duration: 's' };

function microsText(micros: Micros): string {
  return timeText(BigInt(micros) * 1_000n);
}

export interface ExperimentFile {
  readonly experiment: Experiment;
  readonly results: readonly ExperimentResult[];
}

export function experimentFileJson({ experiment, results }: ExperimentFile, summary: ExperimentSummary): JsonObject {
  return { experiment: experimentJson(experiment), summary: summaryJson(summary), results: results.map(resultJson) };
}

/** Results of a file; the limit of the store. */
const resultsMax = 1_000_000;

/** What `experimentFileJson` has written. A text says what is wrong. */
export function readExperimentFile(value: JsonValue): ExperimentFile | string {
  const [experiment, results] = isJsonObject(value) ? [member(value, 'experiment'), member(value, 'results')] : [];
  if (!isJsonObject(experiment) || !isJsonArray(results))
    return 'it has no members experiment and results, as tracejury experiment writes them';
  if (results.length > resultsMax) return `it has more than ${resultsMax} results`;
  const read = experimentOf(experiment);
  if (read === undefined) return 'its member experiment has no id and name';
  const found: ExperimentResult[] = [];
  for (const [at, one] of results.entries()) {
    const result = isJsonObject(one) ? resultOf(one) : undefined;
    if (result === undefined) return `results[${at}] is no result: it needs example_id, repeat, status and verdicts`;
    found.push(result);
  }
  return { experiment: read, results: found };
}

const text = (from: JsonObject, key: string): string | undefined => {
  const value = member(from, key);
  return typeof value === 'string' ? value : undefined;
};
const amount = (from: JsonObject, key: string): number | undefined => {
  const value = member(from, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};
const below = (from: JsonObject, key: string): JsonObject => {
  const value = member(from, key);
  return isJsonObject(value) ? value : {};
};
const micros = (from: JsonObject, key: string): Micros => {
  return parseTimeText(text(from, key) ?? '') ?? 0;
};

function present<Member extends object>(members: { readonly [Key in keyof Member]: Member[Key] | undefined }): Member {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Member;
}

function experimentOf(from: JsonObject): Experiment | undefined {
  const [id, name] = [text(from, 'id'), text(from, 'name')];
  if (id === undefined || !isExperimentId(id) || name === undefined) return undefined;
  const [dataset, provenance] = [below(from, 'dataset'), below(from, 'provenance')];
  const [datasetName, dirty, evaluators] = [text(dataset, 'name'), member(provenance, 'dirty'), member(from, 'evaluators')];
  return {
    id,
    tenant: tenant(text(from, 'tenant') ?? ''),
    name,
    ...(datasetName === undefined
      ? {}
      : {
          dataset: {
            ...present<{ version?: number }>({ version: amount(dataset, 'version') }),
            name: datasetName,
            hash: text(dataset, 'hash') ?? '',
            examples: amount(dataset, 'examples') ?? 0,
          },
        }),
    repeats: amount(from, 'repeats') ?? 1,
    state: experimentStates.find((state) => state === text(from, 'state')) ?? 'stopped',
    beganAt: micros(from, 'began_at'),
    endedAt: text(from, 'ended_at') === undefined ? undefined : micros(from, 'ended_at'),
    provenance: present({
      commit: text(provenance, 'commit'),
      branch: text(provenance, 'branch'),
      isDirty: typeof dirty === 'boolean' ? dirty : undefined,
      configHash: text(provenance, 'config_hash'),
      environment: Object.fromEntries(
        Object.entries(below(provenance, 'environment')).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
      ),
    }),
    evaluators: (isJsonArray(evaluators) ? evaluators : []).filter(isJsonObject).map((one) => ({
      name: text(one, 'name') ?? '',
      evaluator: text(one, 'evaluator') ?? '',
      version: amount(one, 'version') ?? 1,
      threshold: amount(one, 'threshold') ?? null,
    })),
  };
}

function resultOf(from: JsonObject): ExperimentResult | undefined {
  const [exampleId, repeat, verdicts] = [text(from, 'example_id'), amount(from, 'repeat'), member(from, 'verdicts')];
  const status = resultStatuses.find((one) => one === text(from, 'status'));
  if (exampleId === undefined || repeat === undefined || status === undefined || !isJsonArray(verdicts)) return undefined;
  const [error, agent] = [below(from, 'error'), below(from, 'agent')];
  const kind = resultErrorKinds.find((one) => one === text(error, 'kind'));
  const [traceId, spanId] = [parseTraceId(text(from, 'trace_id') ?? ''), parseSpanId(text(from, 'span_id') ?? '')];
  return present<ExperimentResult>({
    exampleId,
    repeat,
    status,
    input: text(from, 'input'),
    error: kind === undefined ? undefined : { kind, message: text(error, 'message') ?? '' },
    run: traceId === undefined || spanId === undefined ? undefined : { traceId, spanId },
    beganAt: micros(from, 'began_at'),
    endedAt: micros(from, 'ended_at'),
    tookMicros: amount(from, 'duration_us'),
    inputTokens: amount(from, 'input_tokens'),
    outputTokens: amount(from, 'output_tokens'),
    cost: amount(from, 'cost_usd'),
    agent: present({
      agent: text(agent, 'name'),
      version: text(agent, 'version'),
      model: text(agent, 'model'),
      promptHash: text(agent, 'prompt_hash'),
      toolsHash: text(agent, 'tools_hash'),
    }),
    verdicts: verdicts.filter(isJsonObject).flatMap(verdictOf),
  });
}

function verdictOf(from: JsonObject): readonly ResultVerdict[] {
  const [name, verdict] = [text(from, 'name'), verdictWords.find((word) => word === text(from, 'verdict'))];
  if (name === undefined || verdict === undefined) return [];
  return [
    present<ResultVerdict>({
      name,
      evaluator: text(from, 'evaluator') ?? name,
      verdict,
      score: amount(from, 'score'),
      label: text(from, 'label') ?? verdict,
      explanation: text(from, 'explanation') ?? '',
      reason: text(from, 'reason'),
    }),
  ];
}
