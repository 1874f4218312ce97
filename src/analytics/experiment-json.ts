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
  type ResultTexts,
  type ResultVerdict,
} from '../model/experiment.ts';
import { parseSpanId, parseTraceId, tenant } from '../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, textAt, objectAt } from '../model/json.ts';
import { present } from '../model/present.ts';
import * as api from '../model/resource.ts';
import type { StoredExperiment } from '../model/store/experiment-store.ts';
import { type Micros, parseTimeText } from '../model/timestamp.ts';
import { verdictWords } from '../model/verdict.ts';
import type { Estimate } from '../statistics/estimate.ts';
import type { EvaluatorSummary, ExperimentSummary, RepeatSummary } from './experiment-summary.ts';

type Interval = Pick<Extract<Estimate, { kind: 'estimated' }>, 'kind' | 'point' | 'low' | 'high'>;
type NoInterval = Extract<Estimate, { kind: 'not_estimable' }>;

const interval = api.inline<Interval>()({ kind: { const: 'estimated' }, point: api.number, low: api.number, high: api.number });
const noInterval = api.inline<NoInterval>()({ kind: { const: 'not_estimable' }, reason: api.text, explanation: api.text });
export const estimateShape: api.Shape<Interval | NoInterval> = {
  schema: { oneOf: [interval.schema, noInterval.schema] },
  write: (one) => (one.kind === 'estimated' ? interval.write(one) : noInterval.write(one)),
};
export const measure: JsonObject = {
  enum: ['rate', 'mean'],
  description: '`rate`: verdicts pass or fail. `mean`: the evaluator has no threshold.',
};
export const repeats = api.many(
  api.inline<RepeatSummary>()({ k: api.count, examples: api.count, pass_at_k: api.share, pass_hat_k: api.share }),
  'By k: the probability that at least one of k runs passes, and that all k pass.',
);
const statusCounts: JsonObject = api.object(Object.fromEntries(resultStatuses.map((status) => [status, api.count])));

const dataset = api.inline<ExperimentDataset>()({
  name: api.text,
  version: api.orNull(api.integer, 'Null for a file.'),
  hash: { ...api.text, description: 'SHA-256 of the examples.' },
  examples: api.count,
});
const provenance = api.inline<Provenance>()({
  commit: api.textOrNull(),
  branch: api.textOrNull(),
  dirty: [api.orNull(api.flag, 'True when the work tree had uncommitted changes.'), ({ isDirty }) => isDirty],
  config_hash: api.textOrNull(),
  environment: [{ type: 'object', additionalProperties: api.text }, ({ environment }) => ({ ...environment })],
});
const evaluators = api.many(
  api.inline<ExperimentEvaluator>()({ name: api.text, evaluator: api.text, version: api.count, threshold: api.numberOrNull() }),
);

export const experimentMembers = api.part<Experiment>()({
  id: api.text,
  tenant: api.text,
  name: api.text,
  dataset: api.optional(dataset),
  repeats: { ...api.count, description: 'Runs of each example.' },
  state: { enum: experimentStates },
  began_at: api.time,
  ended_at: api.optional(api.time),
  provenance,
  evaluators,
});
const storedMembers = api.joined<StoredExperiment>(
  experimentMembers,
  api.part<StoredExperiment>()({ results: api.count, statuses: statusCounts }),
);
export const storedExperiment = api.resourceOf('Experiment', storedMembers);

export const resultResource = api.resource<ExperimentResult>()('ExperimentResult', {
  example_id: api.text,
  repeat: { ...api.count, description: 'Number of the run of the example, from 1.' },
  status: { enum: resultStatuses },
  input: api.textOrNull('The beginning of the input in one line.'),
  texts: api.optional(
    api.inline<ResultTexts>()({ input: api.text, response: api.text }),
    'Input and final response of the run, each cut after 8,000 characters. Null in results of spans, whose runs the store has.',
  ),
  error: api.optional(api.inline<ResultError>()({ kind: { enum: resultErrorKinds }, message: api.text })),
  trace_id: [api.textOrNull(), ({ run }) => run?.traceId],
  span_id: [api.textOrNull(), ({ run }) => run?.spanId],
  began_at: api.time,
  ended_at: api.time,
  duration_us: [api.orNull(api.integer), ({ tookMicros }) => tookMicros],
  input_tokens: api.orNull(api.integer),
  output_tokens: api.orNull(api.integer),
  cost_usd: [api.numberOrNull(), ({ cost }) => cost],
  agent: api.inline<AgentFacts>()({
    name: [api.textOrNull(), ({ agent }) => agent],
    version: api.textOrNull(),
    model: api.textOrNull(),
    prompt_hash: api.textOrNull(),
    tools_hash: api.textOrNull(),
  }),
  verdicts: api.many(
    api.inline<ResultVerdict>()({
      name: api.text,
      evaluator: api.text,
      verdict: { enum: verdictWords },
      score: api.numberOrNull(),
      label: api.text,
      explanation: api.text,
      reason: api.textOrNull(),
      faults: api.optional(
        api.many(api.inline<NonNullable<ResultVerdict['faults']>[number]>()({ tool: api.text, signature: api.text })),
        'The issues that a failed verdict belongs to. Null when they are unknown.',
      ),
    }),
  ),
});

export const evaluatorSummary = api.inline<EvaluatorSummary>()({
  name: api.text,
  measure,
  passed: api.count,
  failed: api.count,
  raw: api.count,
  skipped: api.count,
  errors: api.count,
  estimate: estimateShape,
  repeats,
});

export const summaryShape = api.inline<ExperimentSummary>()({
  statuses: statusCounts,
  not_completed: { ...api.count, description: 'Results with an error.' },
  tokens: api.orNull(api.integer),
  cost_usd: [api.numberOrNull(), ({ cost }) => cost],
  results_without_cost: [api.count, ({ withoutCost }) => withoutCost],
  evaluators: api.many(evaluatorSummary),
});

export interface SummarisedExperiment extends StoredExperiment {
  readonly summary: ExperimentSummary;
}

export const experimentWithSummary = api.resourceOf(
  'ExperimentWithSummary',
  api.joined<SummarisedExperiment>(storedMembers, api.part<SummarisedExperiment>()({ summary: summaryShape })),
);

interface InHistory {
  readonly experiment: StoredExperiment;
  /** Time of the agent. */
  readonly results: number;
  readonly versions: readonly string[];
  readonly models: readonly string[];
  readonly evaluators: readonly EvaluatorSummary[];
}

export const experimentInHistory = api.resource<InHistory>()('ExperimentInHistory', {
  id: [api.text, ({ experiment }) => experiment.id],
  tenant: [api.text, ({ experiment }) => experiment.tenant],
  name: [api.text, ({ experiment }) => experiment.name],
  dataset: [api.optional(dataset), ({ experiment }) => experiment.dataset],
  state: [{ enum: experimentStates }, ({ experiment }) => experiment.state],
  began_at: [api.time, ({ experiment }) => experiment.beganAt],
  results: api.count,
  versions: api.many(api.text, 'Versions of the agent that its runs name.'),
  models: api.many(api.text),
  commit: [api.textOrNull(), ({ experiment }) => experiment.provenance.commit],
  evaluators: {
    schema: { type: 'array', description: '`completed` first.', items: evaluatorSummary.schema },
    write: api.many(evaluatorSummary).write,
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
    if (result === undefined) return `results[${at}] is not a result: it needs example_id, repeat, status and verdicts`;
    found.push(result);
  }
  return { experiment: read, results: found };
}

const amount = (from: JsonObject, key: string): number | undefined => {
  const value = member(from, key);
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
};
const micros = (from: JsonObject, key: string): Micros => parseTimeText(textAt(from, key) ?? '') ?? 0;

function experimentOf(from: JsonObject): Experiment | undefined {
  const [id, name] = [textAt(from, 'id'), textAt(from, 'name')];
  if (id === undefined || !isExperimentId(id) || name === undefined) return undefined;
  const [dataset, provenance] = [objectAt(from, 'dataset'), objectAt(from, 'provenance')];
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
        Object.entries(objectAt(provenance, 'environment')).flatMap(([key, value]) => (typeof value === 'string' ? [[key, value]] : [])),
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
  const [error, agent] = [objectAt(from, 'error'), objectAt(from, 'agent')];
  const kind = resultErrorKinds.find((one) => one === textAt(error, 'kind'));
  const [traceId, spanId] = [parseTraceId(textAt(from, 'trace_id') ?? ''), parseSpanId(textAt(from, 'span_id') ?? '')];
  return present<ExperimentResult>({
    exampleId,
    repeat,
    status,
    input: textAt(from, 'input'),
    texts: textsOf(objectAt(from, 'texts')),
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

function textsOf(from: JsonObject): ExperimentResult['texts'] {
  const [input, response] = [textAt(from, 'input'), textAt(from, 'response')];
  return input === undefined || response === undefined ? undefined : { input, response };
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
      faults: faultsOf(from),
    }),
  ];
}

function faultsOf(from: JsonObject): ResultVerdict['faults'] {
  const faults = member(from, 'faults') ?? null;
  return isJsonArray(faults)
    ? faults.filter(isJsonObject).map((one) => ({ tool: textAt(one, 'tool') ?? '', signature: textAt(one, 'signature') ?? '' }))
    : undefined;
}
