/** Experiments and their results as resources of the API and in files: snake_case, times in RFC 3339 with microseconds. */
import {
  type AgentFacts,
  type Experiment,
  type ExperimentDataset,
  type ExperimentEvaluator,
  type ExperimentResult,
  experimentStates,
  isExperimentId,
  type Provenance,
  type ResultError,
  resultErrorKinds,
  resultStatuses,
  type ResultVerdict,
} from '../model/experiment.ts';
import { parseSpanId, parseTraceId, tenant } from '../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';
import {
  count,
  flag,
  inline,
  integer,
  joined,
  many,
  number,
  numberOrNull,
  object,
  optional,
  orNull,
  part,
  resource,
  resourceOf,
  type Shape,
  share,
  text,
  textOrNull,
  time,
} from '../model/resource.ts';
import type { StoredExperiment } from '../model/store/experiment-store.ts';
import { type Micros, parseTimeText } from '../model/timestamp.ts';
import { verdictWords } from '../model/verdict.ts';
import type { Estimate } from '../statistics/estimate.ts';
import type { EvaluatorSummary, ExperimentSummary, RepeatSummary } from './experiment-summary.ts';

type Interval = Pick<Extract<Estimate, { kind: 'estimated' }>, 'kind' | 'point' | 'low' | 'high'>;
type NoInterval = Extract<Estimate, { kind: 'not_estimable' }>;

const interval = inline<Interval>()({ kind: { const: 'estimated' }, point: number, low: number, high: number });
const noInterval = inline<NoInterval>()({ kind: { const: 'not_estimable' }, reason: text, explanation: text });
export const estimateShape: Shape<Interval | NoInterval> = {
  schema: { oneOf: [interval.schema, noInterval.schema] },
  write: (one) => (one.kind === 'estimated' ? interval.write(one) : noInterval.write(one)),
};
export const measure: JsonObject = {
  enum: ['rate', 'mean'],
  description: '`rate`: verdicts pass or fail. `mean`: the evaluator has no threshold.',
};
export const repeats = many(
  inline<RepeatSummary>()({ k: count, examples: count, pass_at_k: share, pass_hat_k: share }),
  'By k: the probability that at least one of k runs passes, and that all k pass.',
);
const statusCounts: JsonObject = object(Object.fromEntries(resultStatuses.map((status) => [status, count])));

const dataset = inline<ExperimentDataset>()({
  name: text,
  version: orNull(integer, 'Null: a file.'),
  hash: { ...text, description: 'SHA-256 of the examples.' },
  examples: count,
});
const provenance = inline<Provenance>()({
  commit: textOrNull(),
  branch: textOrNull(),
  dirty: [orNull(flag, 'True: the work tree had changes that are in no commit.'), ({ isDirty }) => isDirty],
  config_hash: textOrNull(),
  environment: [{ type: 'object', additionalProperties: text }, ({ environment }) => ({ ...environment })],
});
const evaluators = many(inline<ExperimentEvaluator>()({ name: text, evaluator: text, version: count, threshold: numberOrNull() }));

export const experimentMembers = part<Experiment>()({
  id: text,
  tenant: text,
  name: text,
  dataset: optional(dataset),
  repeats: { ...count, description: 'Runs of each example.' },
  state: { enum: experimentStates },
  began_at: time,
  ended_at: optional(time),
  provenance,
  evaluators,
});
const storedMembers = joined<StoredExperiment>(experimentMembers, part<StoredExperiment>()({ results: count, statuses: statusCounts }));
export const storedExperiment = resourceOf('Experiment', storedMembers);

export const resultResource = resource<ExperimentResult>()('ExperimentResult', {
  example_id: text,
  repeat: { ...count, description: 'Number of the run of the example, from 1.' },
  status: { enum: resultStatuses },
  input: textOrNull('The beginning of the input in one line.'),
  error: optional(inline<ResultError>()({ kind: { enum: resultErrorKinds }, message: text })),
  trace_id: [textOrNull(), ({ run }) => run?.traceId],
  span_id: [textOrNull(), ({ run }) => run?.spanId],
  began_at: time,
  ended_at: time,
  duration_us: [orNull(integer), ({ tookMicros }) => tookMicros],
  input_tokens: orNull(integer),
  output_tokens: orNull(integer),
  cost_usd: [numberOrNull(), ({ cost }) => cost],
  agent: inline<AgentFacts>()({
    name: [textOrNull(), ({ agent }) => agent],
    version: textOrNull(),
    model: textOrNull(),
    prompt_hash: textOrNull(),
    tools_hash: textOrNull(),
  }),
  verdicts: many(
    inline<ResultVerdict>()({
      name: text,
      evaluator: text,
      verdict: { enum: verdictWords },
      score: numberOrNull(),
      label: text,
      explanation: text,
      reason: textOrNull(),
    }),
  ),
});

export const evaluatorSummary = inline<EvaluatorSummary>()({
  name: text,
  measure,
  passed: count,
  failed: count,
  raw: count,
  skipped: count,
  errors: count,
  estimate: estimateShape,
  repeats,
});

export const summaryShape = inline<ExperimentSummary>()({
  statuses: statusCounts,
  not_completed: { ...count, description: 'Results with an error.' },
  tokens: orNull(integer),
  cost_usd: [numberOrNull(), ({ cost }) => cost],
  results_without_cost: [count, ({ withoutCost }) => withoutCost],
  evaluators: many(evaluatorSummary),
});

export interface SummarisedExperiment extends StoredExperiment {
  readonly summary: ExperimentSummary;
}

export const experimentWithSummary = resourceOf(
  'ExperimentWithSummary',
  joined<SummarisedExperiment>(storedMembers, part<SummarisedExperiment>()({ summary: summaryShape })),
);

interface InHistory {
  readonly experiment: StoredExperiment;
  /** Of the agent. */
  readonly results: number;
  readonly versions: readonly string[];
  readonly models: readonly string[];
  readonly evaluators: readonly EvaluatorSummary[];
}

export const experimentInHistory = resource<InHistory>()('ExperimentInHistory', {
  id: [text, ({ experiment }) => experiment.id],
  tenant: [text, ({ experiment }) => experiment.tenant],
  name: [text, ({ experiment }) => experiment.name],
  dataset: [optional(dataset), ({ experiment }) => experiment.dataset],
  state: [{ enum: experimentStates }, ({ experiment }) => experiment.state],
  began_at: [time, ({ experiment }) => experiment.beganAt],
  results: count,
  versions: many(text, 'Versions of the agent that its runs name.'),
  models: many(text),
  commit: [textOrNull(), ({ experiment }) => experiment.provenance.commit],
  evaluators: {
    schema: { type: 'array', description: '`completed` first.', items: evaluatorSummary.schema },
    write: many(evaluatorSummary).write,
  },
});

export interface ExperimentFile {
  readonly experiment: Experiment;
  readonly results: readonly ExperimentResult[];
}

export function experimentFileJson({ experiment, results }: ExperimentFile, summary: ExperimentSummary): JsonObject {
  return {
    experiment: experimentMembers.write(experiment),
    summary: summaryShape.write(summary),
    results: results.map(resultResource.write),
  };
}

/** Results of a file; the limit of the store. */
const resultsMax = 1_000_000;

/** The reverse of `experimentFileJson`. A text names the fault. */
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

const textAt = (from: JsonObject, key: string): string | undefined => {
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
  return parseTimeText(textAt(from, key) ?? '') ?? 0;
};

function present<Member extends object>(members: { readonly [Key in keyof Member]: Member[Key] | undefined }): Member {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Member;
}

function experimentOf(from: JsonObject): Experiment | undefined {
  const [id, name] = [textAt(from, 'id'), textAt(from, 'name')];
  if (id === undefined || !isExperimentId(id) || name === undefined) return undefined;
  const [dataset, provenance] = [below(from, 'dataset'), below(from, 'provenance')];
  const [datasetName, dirty, evaluators] = [textAt(dataset, 'name'), member(provenance, 'dirty'), member(from, 'evaluators')];
  return {
    id,
    tenant: tenant(textAt(from, 'tenant') ?? ''),
    name,
    ...(datasetName === undefined
      ? {}
      : {
          dataset: {
            ...present<{ version?: number }>({ version: amount(dataset, 'version') }),
            name: datasetName,
            hash: textAt(dataset, 'hash') ?? '',
            examples: amount(dataset, 'examples') ?? 0,
          },
        }),
    repeats: amount(from, 'repeats') ?? 1,
    state: experimentStates.find((state) => state === textAt(from, 'state')) ?? 'stopped',
    beganAt: micros(from, 'began_at'),
    endedAt: textAt(from, 'ended_at') === undefined ? undefined : micros(from, 'ended_at'),
    provenance: present({
      commit: textAt(provenance, 'commit'),
      branch: textAt(provenance, 'branch'),
      isDirty: typeof dirty === 'boolean' ? dirty : undefined,
      configHash: textAt(provenance, 'config_hash'),
      environment: Object.fromEntries(
        Object.entries(below(provenance, 'environment')).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
      ),
    }),
    evaluators: (isJsonArray(evaluators) ? evaluators : []).filter(isJsonObject).map((one) => ({
      name: textAt(one, 'name') ?? '',
      evaluator: textAt(one, 'evaluator') ?? '',
      version: amount(one, 'version') ?? 1,
      threshold: amount(one, 'threshold') ?? null,
    })),
  };
}

function resultOf(from: JsonObject): ExperimentResult | undefined {
  const [exampleId, repeat, verdicts] = [textAt(from, 'example_id'), amount(from, 'repeat'), member(from, 'verdicts')];
  const status = resultStatuses.find((one) => one === textAt(from, 'status'));
  if (exampleId === undefined || repeat === undefined || status === undefined || !isJsonArray(verdicts)) return undefined;
  const [error, agent] = [below(from, 'error'), below(from, 'agent')];
  const kind = resultErrorKinds.find((one) => one === textAt(error, 'kind'));
  const [traceId, spanId] = [parseTraceId(textAt(from, 'trace_id') ?? ''), parseSpanId(textAt(from, 'span_id') ?? '')];
  return present<ExperimentResult>({
    exampleId,
    repeat,
    status,
    input: textAt(from, 'input'),
    error: kind === undefined ? undefined : { kind, message: textAt(error, 'message') ?? '' },
    run: traceId === undefined || spanId === undefined ? undefined : { traceId, spanId },
    beganAt: micros(from, 'began_at'),
    endedAt: micros(from, 'ended_at'),
    tookMicros: amount(from, 'duration_us'),
    inputTokens: amount(from, 'input_tokens'),
    outputTokens: amount(from, 'output_tokens'),
    cost: amount(from, 'cost_usd'),
    agent: present({
      agent: textAt(agent, 'name'),
      version: textAt(agent, 'version'),
      model: textAt(agent, 'model'),
      promptHash: textAt(agent, 'prompt_hash'),
      toolsHash: textAt(agent, 'tools_hash'),
    }),
    verdicts: verdicts.filter(isJsonObject).flatMap(verdictOf),
  });
}

function verdictOf(from: JsonObject): readonly ResultVerdict[] {
  const [name, verdict] = [textAt(from, 'name'), verdictWords.find((word) => word === textAt(from, 'verdict'))];
  if (name === undefined || verdict === undefined) return [];
  return [
    present<ResultVerdict>({
      name,
      evaluator: textAt(from, 'evaluator') ?? name,
      verdict,
      score: amount(from, 'score'),
      label: textAt(from, 'label') ?? verdict,
      explanation: textAt(from, 'explanation') ?? '',
      reason: textAt(from, 'reason'),
    }),
  ];
}
