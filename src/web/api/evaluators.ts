/** The route of evaluators: what is on, and the verdicts of a period. */
import type { JsonObject } from '../../model/json.ts';
import type { SummaryRow } from '../../model/store/store.ts';
import { verdictWords, type VerdictWord } from '../../model/verdict.ts';
import { proportion } from '../../statistics/proportion.ts';
import { estimateJson } from './estimate-json.ts';
import { count, type EvaluatorInForce, list, object, periodOf, type Route, runParameters, runsOf, text, textParameter } from './route.ts';

const dayMicros = 86_400_000_000;

export const evaluatorRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/evaluators',
    summary:
      'The evaluators of the configuration, and those with verdicts in the period, with the number of each verdict. Rules score each run and have a pass rate with its interval; `/rates` has the rate of the others over all traffic.',
    path_parameters: {},
    query_parameters: {
      from: { type: 'string', maxLength: 40, description: 'Runs that started at this time or later; a day ago when left out.' },
      to: { type: 'string', maxLength: 40, description: 'Runs that started before this time; now when left out.' },
      ...runParameters,
      tenant: { ...textParameter, description: 'Name of the token of the spans; empty for spans without a token.' },
    },
    answer: list('evaluators', 'Evaluator'),
    async handle({ store, clock, evaluators: inForce }, query) {
      const rows = await store.summary({ ...periodOf(query, clock), ...runsOf(query), bucketMicros: dayMicros });
      const byName = Map.groupBy(rows, ({ name }) => name);
      const entries = inForce();
      const known = new Set(entries.map(({ name }) => name));
      const others = [...byName.keys()].filter((name) => !known.has(name)).sort();
      return {
        evaluators: [
          ...entries.map((entry) => ({ ...entryJson(entry), ...figuresJson(byName.get(entry.name) ?? [], entry) })),
          ...others.map((name) => ({ ...offJson(name), ...figuresJson(byName.get(name) ?? []) })),
        ],
        next: null,
      };
    },
  },
];

function entryJson(entry: EvaluatorInForce): JsonObject {
  const { name, evaluator, kind, version, summary, threshold, target, judges, sampleRate, isConditional } = entry;
  return {
    name,
    on: true,
    evaluator,
    kind,
    version,
    summary,
    threshold,
    target,
    judges: [...judges],
    sample_rate: sampleRate,
    conditional: isConditional,
  };
}

/** The configuration no longer has it. */
function offJson(name: string): JsonObject {
  return {
    name,
    on: false,
    evaluator: null,
    kind: null,
    version: null,
    summary: null,
    threshold: null,
    target: null,
    judges: [],
    sample_rate: null,
    conditional: null,
  };
}

/** Verdicts of a sample say nothing of all runs by their plain mean. An evaluator that is not in force may have drawn one. */
function figuresJson(rows: readonly SummaryRow[], entry?: Pick<EvaluatorInForce, 'kind' | 'sampleRate'>): JsonObject {
  const isOfAll = entry?.kind === 'rule' || entry?.sampleRate === 1;
  const of = (verdict: VerdictWord): readonly SummaryRow[] => rows.filter((row) => row.verdict === verdict);
  const sum = (verdict: VerdictWord): number => of(verdict).reduce((all, row) => all + row.count, 0);
  const scored = rows.filter(({ score }) => score !== undefined);
  const scoredRuns = scored.reduce((all, row) => all + row.count, 0);
  const scores = scored.reduce((all, row) => all + row.count * (row.score ?? 0), 0);
  const [passed, failed] = [sum('pass'), sum('fail')];
  return {
    verdicts: Object.fromEntries(verdictWords.map((word) => [word, sum(word)])),
    mean_score: !isOfAll || scoredRuns === 0 ? null : scores / scoredRuns,
    pass_rate: entry?.kind === 'rule' ? estimateJson(proportion({ hits: passed, of: passed + failed })) : null,
  };
}

const orNull = (schema: JsonObject, description?: string): JsonObject => ({
  anyOf: [schema, { type: 'null' }],
  ...(description === undefined ? {} : { description }),
});

export const evaluatorSchemas: { readonly [name: string]: JsonObject } = {
  Evaluator: object({
    name: text,
    on: { type: 'boolean', description: 'False: it has verdicts in the period, but the configuration does not have it.' },
    evaluator: orNull(text, 'Null: not in the configuration; the same holds for the members up to `conditional`.'),
    kind: orNull({ enum: ['rule', 'judge', 'http'] }),
    version: orNull(count),
    summary: orNull(text, 'The check, in one sentence.'),
    threshold: orNull({ type: 'number' }, 'The lowest score that passes. Null: a metric without pass or fail.'),
    target: orNull({ enum: ['run', 'session'] }),
    judges: { type: 'array', items: text },
    sample_rate: orNull({ type: 'number', minimum: 0, maximum: 1 }, 'Share of runs that it is to score; 1 for rules.'),
    conditional: orNull({ type: 'boolean' }, 'True: its entry has `when`, which chooses runs.'),
    verdicts: {
      ...object(Object.fromEntries(verdictWords.map((word) => [word, count]))),
      description: 'Runs of the period by verdict.',
    },
    mean_score: orNull({ type: 'number' }, 'Null: nothing was scored, or verdicts are a sample, see `/rates`.'),
    pass_rate: orNull({ $ref: '#/components/schemas/Estimate' }, 'Of the scored runs. Null: verdicts are a sample, see `/rates`.'),
  }),
};
