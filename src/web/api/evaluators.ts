/** The route of evaluators: what is on, and the verdicts of a period. */
import * as api from '../../model/resource.ts';
import type { SummaryRow } from '../../model/store/store.ts';
import { verdictWords, type VerdictWord } from '../../model/verdict.ts';
import { proportion } from '../../statistics/proportion.ts';
import type { Estimate } from '../../statistics/estimate.ts';
import { estimate } from './estimate-json.ts';
import { type EvaluatorInForce, list, periodOf, periodParameters, type Route, runParameters, runsOf } from './route.ts';
import { tenant } from './run-list.ts';

const dayMicros = 86_400_000_000;

interface Figures {
  readonly verdicts: { readonly [verdict: string]: number };
  readonly meanScore: number | undefined;
  readonly passRate: Estimate | undefined;
}

/** Members of the entry are missing when the configuration no longer has it. */
type EvaluatorRow = Figures & Partial<EvaluatorInForce> & Pick<EvaluatorInForce, 'name'>;

export const evaluator = api.resource<EvaluatorRow>()('Evaluator', {
  name: api.text,
  on: [
    { ...api.flag, description: 'False when it has verdicts in the period but is not in the configuration.' },
    (row) => row.evaluator !== undefined,
  ],
  evaluator: api.optional(api.text, 'Null when it is not in the configuration, as are all members up to `conditional`.'),
  kind: api.optional({ enum: ['rule', 'judge', 'http'] }),
  version: api.optional(api.count),
  summary: api.optional(api.text, 'The check, in one sentence.'),
  threshold: api.optional(api.number, 'The lowest score that passes. Null for a metric without pass or fail.'),
  target: api.optional({ enum: ['run', 'session'] }),
  judges: [api.many(api.text), ({ judges }) => judges ?? []],
  sample_rate: api.optional(api.share, 'Share of runs that it is to score; 1 for rules.'),
  conditional: [api.optional(api.flag, 'True when its entry has `when`, which chooses runs.'), ({ isConditional }) => isConditional],
  verdicts: {
    ...api.object(Object.fromEntries(verdictWords.map((word) => [word, api.count]))),
    description: 'Runs of the period by verdict.',
  },
  mean_score: api.optional(api.number, 'Null when nothing was scored, or when verdicts are a sample, see `/rates`.'),
  pass_rate: api.optional(estimate, 'Pass rate of the scored runs. Null when verdicts are a sample, see `/rates`.'),
});

export const evaluatorRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/evaluators',
    summary:
      'The evaluators of the configuration, and those with verdicts in the period, with the number of each verdict. Rules score each run and have a pass rate with its interval; `/rates` has the rate of the others over all traffic.',
    path_parameters: {},
    query_parameters: {
      from: { ...periodParameters.from, description: 'Runs that started at this time or later; a day ago when left out.' },
      to: periodParameters.to,
      ...runParameters,
      tenant,
    },
    answer: list('evaluators', evaluator),
    async handle({ store, clock, evaluators: inForce }, query) {
      const rows = await store.summary({ ...periodOf(query, clock), ...runsOf(query), bucketMicros: dayMicros });
      const byName = Map.groupBy(rows, ({ name }) => name);
      const entries = inForce();
      const known = new Set(entries.map(({ name }) => name));
      const others = [...byName.keys()].filter((name) => !known.has(name)).sort();
      const evaluators: readonly EvaluatorRow[] = [
        ...entries.map((entry) => ({ ...entry, ...figuresOf(byName.get(entry.name) ?? [], entry) })),
        ...others.map((name) => ({ name, ...figuresOf(byName.get(name) ?? []) })),
      ];
      return { evaluators: evaluators.map(evaluator.write), next: null };
    },
  },
];

/** The plain mean of a sample does not estimate all runs. An evaluator that is not in force may have drawn a sample. */
function figuresOf(rows: readonly SummaryRow[], entry?: Pick<EvaluatorInForce, 'kind' | 'sampleRate'>): Figures {
  const isOfAll = entry?.kind === 'rule' || entry?.sampleRate === 1;
  const of = (verdict: VerdictWord): readonly SummaryRow[] => rows.filter((row) => row.verdict === verdict);
  const sum = (verdict: VerdictWord): number => of(verdict).reduce((all, row) => all + row.count, 0);
  const scored = rows.filter(({ score }) => score !== undefined);
  const scoredRuns = scored.reduce((all, row) => all + row.count, 0);
  const scores = scored.reduce((all, row) => all + row.count * (row.score ?? 0), 0);
  const [passed, failed] = [sum('pass'), sum('fail')];
  return {
    verdicts: Object.fromEntries(verdictWords.map((word) => [word, sum(word)])),
    meanScore: !isOfAll || scoredRuns === 0 ? undefined : scores / scoredRuns,
    passRate: entry?.kind === 'rule' ? proportion({ hits: passed, of: passed + failed }) : undefined,
  };
}
