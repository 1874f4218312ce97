/** Schemas of experiments in the OpenAPI document. */
import { comparisonWords } from '../../analytics/experiment-comparison.ts';
import { experimentStates, resultErrorKinds, resultStatuses } from '../../model/experiment.ts';
import type { JsonObject } from '../../model/json.ts';
import { verdictWords } from '../../model/verdict.ts';
import { count, object, text, time } from './route.ts';

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
const evaluatorSummary: JsonObject = object({
  name: text,
  measure,
  passed: count,
  failed: count,
  raw: count,
  skipped: count,
  errors: count,
  estimate,
  repeats,
});
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
const side: JsonObject = object({
  value: { type: 'number', description: 'Share of the runs that passed, or the mean score.' },
  runs: count,
  explanation: { ...text, description: 'Of the worst run.' },
  trace_id: orNull('string', 'The worst run.'),
  span_id: orNull('string'),
  cost_usd: orNull('number', 'Mean of the runs of the example.'),
  tokens: orNull('number', 'Mean of the runs of the example.'),
  duration_seconds: orNull('number', 'Mean of the runs of the example.'),
});
const tested: { readonly [name: string]: JsonObject } = {
  difference: { ...estimate, description: '`b` less `a`.' },
  test: { enum: ['mcnemar', 'sign_flip', 'student_t', null] },
  p: orNull('number'),
  adjusted_p: orNull('number', 'Holm’s correction for the number of tests.'),
};
const unscoredSide: JsonObject = object({ runs: count, unscored: count });
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
        items: evaluatorSummary,
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
  ExperimentInHistory: object({
    id: text,
    tenant: text,
    name: text,
    dataset: experimentProperties['dataset'] ?? {},
    state: { enum: experimentStates },
    began_at: time,
    results: count,
    versions: { type: 'array', items: text, description: 'Versions of the agent that its runs name.' },
    models: { type: 'array', items: text },
    commit: orNull('string'),
    evaluators: {
      type: 'array',
      description: '`completed` first.',
      items: evaluatorSummary,
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
        ...tested,
        unscored: {
          anyOf: [
            object({
              examples: { ...count, description: 'Examples that one side at least has a score of.' },
              a: unscoredSide,
              b: unscoredSide,
              share: { ...object(tested), description: 'The share of runs without a score.' },
              as_not_passed: { ...object(tested), description: 'A run without a score counts as not passed, or as the score 0.' },
              range: {
                ...object({ low: { type: 'number' }, high: { type: 'number' } }),
                description: 'The difference from the worst case of the runs without a score to the best.',
              },
              less_scored: namesOf('Examples with a larger share of runs without a score in `b`.'),
            }),
            { type: 'null' },
          ],
          description: 'Null: both sides scored the same examples on each run.',
        },
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
    unscored_regressions: {
      type: 'array',
      items: text,
      description: 'Evaluators by which `b` is significantly worse when a run without a score counts as not passed.',
    },
    lost: { type: 'array', items: text, description: 'Evaluators that scored `a`, and nothing of `b`.' },
    warnings: { type: 'array', items: text },
  }),
};
