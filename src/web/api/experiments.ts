/** The experiment routes: what experiments are stored, their results, and two of them compared. */
import { experimentComparison, comparisonWords } from '../../analytics/experiment-comparison.ts';
import { comparisonJson, experimentJson, resultJson, summaryJson } from '../../analytics/experiment-json.ts';
import { experimentSummary } from '../../analytics/experiment-summary.ts';
import { type ExperimentResult, experimentIdPattern, experimentStates, resultErrorKinds, resultStatuses } from '../../model/experiment.ts';
import { tenant as tenantNamed } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { type ExperimentStore, resultsPageMax, type StoredExperiment } from '../../model/store/experiment-store.ts';
import { verdictWords } from '../../model/verdict.ts';
import {
  count,
  limitDefault,
  list,
  named,
  object,
  offsetOf,
  offsetText,
  pages,
  type Parameters,
  Refusal,
  type Route,
  tenantOf,
  text,
  textParameter,
  time,
} from './route.ts';

const id = { type: 'string', pattern: experimentIdPattern, description: 'Id of the experiment.' } as const;
const tenant = { ...textParameter, description: 'Tenant of the experiment; empty when left out.' } as const;
const reference = {
  ...textParameter,
  minLength: 1,
  description: 'Id of an experiment, or a name, which stands for the newest one.',
} as const;
const missing = { message: 'The store has no such experiment.', todo: 'GET /api/v1/experiments lists the experiments.' };
/** Of one experiment whose rates an answer has: the results are read into memory. */
const analysedMax = 50_000;
const refusals = { 422: `An experiment has more than ${analysedMax} results.` } as const;

export const experimentRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/experiments',
    summary: 'Experiments, newest first.',
    path_parameters: {},
    query_parameters: {
      name: { ...textParameter, description: 'Experiments of this name.' },
      dataset: { ...textParameter, description: 'Experiments on a dataset, or file, of this name.' },
      tenant: { ...tenant, description: 'Tenant of the experiments; all when left out.' },
      ...pages,
    },
    answer: list('experiments', 'Experiment'),
    async handle({ store }, query) {
      const page = await store.experiments.list({
        ...tenantOf(query),
        ...named(query, 'name', 'name'),
        ...named(query, 'dataset', 'dataset'),
        ...pageOf(query),
      });
      return { experiments: page.experiments.map(storedJson), next: page.next === undefined ? null : offsetText(page.next) };
    },
  },
  {
    method: 'get',
    path: '/experiments/compare',
    summary: 'Two experiments, compared on the examples that both have.',
    path_parameters: {},
    query_parameters: { a: reference, b: reference, tenant },
    answer: { $ref: '#/components/schemas/ExperimentComparison' },
    missing,
    refusals,
    async handle({ store: { experiments } }, query) {
      const [first, second] = [await referred(experiments, query, 'a'), await referred(experiments, query, 'b')];
      if (first === undefined || second === undefined) return undefined;
      const [one, other] = [await wholeResults(experiments, first), await wholeResults(experiments, second)];
      return comparisonJson(experimentComparison({ experiment: first, results: one }, { experiment: second, results: other }));
    },
  },
  {
    method: 'get',
    path: '/experiments/{id}',
    summary: 'One experiment with its rates by evaluator.',
    path_parameters: { id },
    query_parameters: { tenant },
    answer: { $ref: '#/components/schemas/ExperimentWithSummary' },
    missing,
    refusals,
    async handle({ store: { experiments } }, query) {
      const found = await experiments.experiment(keyOf(query));
      if (found === undefined) return undefined;
      return { ...storedJson(found), summary: summaryJson(experimentSummary(found, await wholeResults(experiments, found))) };
    },
  },
  {
    method: 'get',
    path: '/experiments/{id}/results',
    summary: 'Results of an experiment, one for each run of each example, in the order in which they came.',
    path_parameters: { id },
    query_parameters: { tenant, limit: { ...pages.limit, maximum: resultsPageMax }, cursor: pages.cursor },
    answer: list('results', 'ExperimentResult'),
    missing,
    async handle({ store: { experiments } }, query) {
      if ((await experiments.experiment(keyOf(query))) === undefined) return undefined;
      const page = await experiments.results(keyOf(query), pageOf(query));
      return { results: page.results.map(resultJson), next: page.next === undefined ? null : offsetText(page.next) };
    },
  },
];

function storedJson(experiment: StoredExperiment): JsonObject {
  return { ...experimentJson(experiment), results: experiment.results, statuses: { ...experiment.statuses } };
}

function keyOf(query: Parameters) {
  return { tenant: tenantOf(query).tenant ?? tenantNamed(''), id: String(query['id'] ?? '') };
}

function pageOf({ limit, cursor }: Parameters): { readonly limit: number; readonly after?: number } {
  return {
    limit: typeof limit === 'number' ? limit : limitDefault,
    ...(typeof cursor === 'string' ? { after: offsetOf(cursor) } : {}),
  };
}

async function referred(experiments: ExperimentStore, query: Parameters, side: 'a' | 'b'): Promise<StoredExperiment | undefined> {
  const given = query[side];
  if (typeof given !== 'string')
    throw new Refusal(422, { code: 'bad_query', message: `${side} is missing.`, todo: 'Name two experiments: ?a=…&b=….' });
  const { tenant: of } = keyOf(query);
  const byId = await experiments.experiment({ tenant: of, id: given });
  return byId ?? (await experiments.list({ tenant: of, name: given, limit: 1 })).experiments[0];
}

async function wholeResults(
  experiments: ExperimentStore,
  { tenant: of, id: name, results }: StoredExperiment,
): Promise<readonly ExperimentResult[]> {
  if (results > analysedMax)
    throw new Refusal(422, {
      code: 'too_many_results',
      message: `The experiment ${name} has ${results} results; this answer takes at most ${analysedMax}.`,
      todo: 'Use tracejury experiment show or compare on the machine of the store.',
    });
  const found: ExperimentResult[] = [];
  let after: number | undefined;
  do {
    const page = await experiments.results({ tenant: of, id: name }, { limit: resultsPageMax, ...(after === undefined ? {} : { after }) });
    found.push(...page.results);
    after = page.next;
  } while (after !== undefined);
  return found;
}

const orNull = (type: string, description?: string): JsonObject => ({
  type: [type, 'null'],
  ...(description === undefined ? {} : { description }),
});
const share: JsonObject = { type: 'number', minimum: 0, maximum: 1 };
const numbers = { point: { type: 'number' }, low: { type: 'number' }, high: { type: 'number' } } as const;
const estimate: JsonObject = {
  oneOf: [
    object({ kind: { const: 'estimated' }, ...numbers }),
    object({ kind: { const: 'not_estimable' }, reason: text, explanation: text }),
  ],
};
const measure: JsonObject = {
  enum: ['rate', 'mean'],
  description: '`rate`: verdicts pass or fail. `mean`: the evaluator has no threshold.',
};
const repeats: JsonObject = {
  type: 'array',
  items: object({ k: count, examples: count, pass_at_k: share, pass_hat_k: share }),
  description: 'By k: the probability that at least one of k runs passes, and that all k pass.',
};
const statusCounts: JsonObject = object(Object.fromEntries(resultStatuses.map((status) => [status, count])));

const experimentProperties: JsonObject = {
  id: text,
  tenant: text,
  name: text,
  dataset: {
    anyOf: [
      object({
        name: text,
        version: orNull('integer', 'Null: a file.'),
        hash: { ...text, description: 'SHA-256 of the examples.' },
        examples: count,
      }),
      { type: 'null' },
    ],
  },
  repeats: { ...count, description: 'Runs of each example.' },
  state: { enum: experimentStates },
  began_at: time,
  ended_at: { anyOf: [time, { type: 'null' }] },
  provenance: object({
    commit: orNull('string'),
    branch: orNull('string'),
    dirty: orNull('boolean', 'True: the work tree had changes that are in no commit.'),
    config_hash: orNull('string'),
    environment: { type: 'object', additionalProperties: text },
  }),
  evaluators: { type: 'array', items: object({ name: text, evaluator: text, version: count, threshold: orNull('number') }) },
};
const stored: JsonObject = { ...experimentProperties, results: count, statuses: statusCounts };
const side: JsonObject = object({ value: { type: 'number' }, runs: count, explanation: text });
const namesOf = (description: string): JsonObject => ({ ...object({ count, examples: { type: 'array', items: text } }), description });

export const experimentSchemas: { readonly [name: string]: JsonObject } = {
  Experiment: object(stored),
  ExperimentWithSummary: object({
    ...stored,
    summary: object({
      statuses: statusCounts,
      not_completed: { ...count, description: 'Results with an error.' },
      tokens: orNull('integer'),
      cost_usd: orNull('number'),
      results_without_cost: count,
      evaluators: {
        type: 'array',
        items: object({ name: text, measure, passed: count, failed: count, raw: count, skipped: count, errors: count, estimate, repeats }),
      },
    }),
  }),
  ExperimentResult: object({
    example_id: text,
    repeat: { ...count, description: 'Number of the run of the example, from 1.' },
    status: { enum: resultStatuses },
    input: orNull('string', 'The beginning of the input in one line.'),
    error: { anyOf: [object({ kind: { enum: resultErrorKinds }, message: text }), { type: 'null' }] },
    trace_id: orNull('string'),
    span_id: orNull('string'),
    began_at: time,
    ended_at: time,
    duration_us: orNull('integer'),
    input_tokens: orNull('integer'),
    output_tokens: orNull('integer'),
    cost_usd: orNull('number'),
    agent: object({
      name: orNull('string'),
      version: orNull('string'),
      model: orNull('string'),
      prompt_hash: orNull('string'),
      tools_hash: orNull('string'),
    }),
    verdicts: {
      type: 'array',
      items: object({
        name: text,
        evaluator: text,
        verdict: { enum: verdictWords },
        score: orNull('number'),
        label: text,
        explanation: text,
        reason: orNull('string'),
      }),
    },
  }),
  ExperimentComparison: object({
    a: object(experimentProperties),
    b: object(experimentProperties),
    examples: { ...count, description: 'Examples that both have a result of.' },
    only_a: namesOf('Examples that only `a` has; they are left out.'),
    only_b: namesOf('Examples that only `b` has; they are left out.'),
    level: { ...share, description: 'An adjusted p below it is significant.' },
    evaluators: {
      type: 'array',
      items: object({
        name: { ...text, description: '`completed` stands for runs that came to their end.' },
        measure,
        result: { enum: comparisonWords, description: 'Of `b` against `a`.' },
        examples: count,
        a: estimate,
        b: estimate,
        difference: { ...estimate, description: '`b` less `a`.' },
        test: { enum: ['mcnemar', 'bootstrap', 'student_t', 'sign_test', null] },
        p: orNull('number'),
        adjusted_p: orNull('number', 'Holm’s correction for the number of evaluators.'),
        flipped_count: count,
        flipped: { type: 'array', items: object({ example_id: text, input: orNull('string'), a: side, b: side }) },
        repeats: object({ a: repeats, b: repeats }),
      }),
    },
    usage: {
      type: 'array',
      items: object({
        of: { enum: ['cost', 'tokens', 'duration'] },
        unit: text,
        examples: count,
        a: { type: 'number' },
        b: { type: 'number' },
        difference: estimate,
      }),
    },
    regressions: { type: 'array', items: text, description: 'Evaluators by which `b` is significantly worse.' },
    lost: { type: 'array', items: text, description: 'Evaluators that scored `a`, and nothing of `b`.' },
    warnings: { type: 'array', items: text },
  }),
};
