/** The route of the summary: verdicts by evaluator over time. */
import * as api from '../../model/resource.ts';
import type { JsonObject } from '../../model/json.ts';
import type { SummaryRow } from '../../model/store/store.ts';
import { type RunSplit, runSplits } from '../../model/store/verdict-rows.ts';
import { verdictWords } from '../../model/verdict.ts';
import {
  list,
  named,
  periodOf,
  QueryFault,
  type Route,
  runParameters,
  runsOf,
  splitDescription,
  splitIn,
  splitJson,
  splitMembers,
  splitOf,
} from './route.ts';
import { runFilters, tenant, time } from './run-list.ts';

const dayMicros = 86_400_000_000;
const buckets: { readonly [name: string]: number } = { minute: 60_000_000, hour: 3_600_000_000, day: dayMicros };
/** Buckets of one answer. */
const bucketsMax = 1_500;

const step = api.part<SummaryRow>()({ at: { ...api.time, description: 'Start of the step.' } });
const figures = api.part<SummaryRow>()({
  name: api.text,
  verdict: { enum: verdictWords },
  count: api.count,
  mean_score: [api.numberOrNull(), ({ score }) => score],
});

export const summaryRow = api.resourceOf('SummaryRow', api.joined(step, figures), splitMembers);

function summaryJson(row: SummaryRow, by: RunSplit | undefined): JsonObject {
  return { ...step.write(row), ...splitJson(by, row.of), ...figures.write(row) };
}

export const summaryRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/summary',
    summary: 'Verdicts by evaluator over time.',
    path_parameters: {},
    query_parameters: {
      from: { ...time, description: 'Runs that started at this time or later; a day ago when left out.' },
      to: { ...time, description: 'Runs that started before this time; now when left out.' },
      ...runParameters,
      tenant,
      evaluator: runFilters.evaluator,
      by: { enum: runSplits, description: `${splitDescription}, the others as \`other\`.` },
      bucket: { enum: Object.keys(buckets), default: 'hour', description: 'Width of one step in time.' },
    },
    answer: list('summary', summaryRow),
    async handle({ store, clock }, query) {
      const bucketMicros = buckets[String(query['bucket'] ?? 'hour')] ?? dayMicros;
      const between = periodOf(query, clock);
      if ((between.to - between.from) / bucketMicros > bucketsMax)
        throw new QueryFault(`from and to are more than ${bucketsMax} steps apart.`, 'Name a wider bucket or a shorter time.');
      const rows = await store.summary({
        ...between,
        bucketMicros,
        ...runsOf(query),
        ...named(query, 'evaluator', 'evaluator'),
        ...splitIn(query),
      });
      return { summary: rows.map((row) => summaryJson(row, splitOf(query))), next: null };
    },
  },
];
