/** What the verdicts of evaluators say of all traffic, and what people say of these verdicts. */
import { agreementOf, withoutLabels } from '../../analytics/judge-agreement.ts';
import { peopleKinds, rates } from '../../analytics/rates.ts';
import { annotationRowsMax, annotatorKinds, type AnnotatorKind } from '../../model/store/annotation-store.ts';
import type { JsonObject } from '../../model/json.ts';
import { timeText } from '../../model/timestamp.ts';
import { driftJson } from './drift-json.ts';
import { budgetJson, judgeFiguresJson, object, peopleFiguresJson, rateJson } from './figures-json.ts';
import { text } from './pages.ts';
import { named, periodOf, tenantOf, type Parameters } from './query.ts';
import type { Route } from './route.ts';

/** Of one answer: some tenths of a second of work. */
const runsMax = 50_000;
const agentsMax = 20;
const tenantsMax = 20;
const dayMicros = 86_400_000_000;

const time = { type: 'string', maxLength: 40 } as const;
const period = {
  from: { ...time, description: 'Runs that started at this time or later, as RFC 3339 writes it; when left out, a day before `to`.' },
  to: { ...time, description: 'Runs that started before this time; now when left out.' },
} as const;
const filters = {
  agent: { ...text, description: 'Name of the agent.' },
  tenant: {
    ...text,
    description: 'Runs of this tenant alone: the name of the token that their spans came with, empty where none is asked for.',
  },
  evaluator: { ...text, description: 'Name of the evaluator.' },
  annotator: { enum: annotatorKinds, description: 'Words of annotators of this kind alone; when left out, of people: `human` and `user`.' },
} as const;
const time64: JsonObject = { type: 'string', format: 'date-time' };
const listOf = (schema: string, description: string): JsonObject => ({
  type: 'array',
  items: { $ref: `#/components/schemas/${schema}` },
  description,
});

export const figureRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/rates',
    summary: `The rate of each evaluator over all traffic: weighted by the probabilities with which runs were chosen, with its interval, corrected by people’s labels where there are enough, and with the share that it does not speak for. Of evaluators that ask somebody, unless one is named; of the newest ${runsMax} runs of the period.`,
    path_parameters: {},
    query_parameters: {
      ...period,
      agent: filters.agent,
      tenant: filters.tenant,
      evaluator: { ...filters.evaluator, description: 'Name of the evaluator; a rule is told only when it is named.' },
      annotator: filters.annotator,
      by: {
        enum: ['agent', 'tenant'],
        description: `\`agent\`: also for each of the ${agentsMax} agents with the most verdicts; \`tenant\`: for each of as many tenants.`,
      },
    },
    answer: {
      type: 'object',
      required: ['since', 'rates', 'upstream'],
      properties: {
        since: { ...time64, description: 'Runs count that started from here on: later than `from` where there are too many.' },
        rates: listOf('Rate', 'By evaluator.'),
        upstream: {
          ...object({
            probability_min: {
              type: 'number',
              description: '`limits.upstream_probability`: the least share that a sampler before the service is believed to keep.',
            },
            raised: {
              type: 'integer',
              minimum: 0,
              description: 'Runs since the service started, of all tenants, that claimed less and count as if that share were kept.',
            },
          }),
          description: 'What is believed of samplers before the service.',
        },
      },
    },
    async handle({ store, clock, upstream }, query) {
      const found = await rates(store, {
        ...periodOf(query, clock),
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        ...named(query, 'evaluator', 'name'),
        kinds: kindsOf(query),
        runsMax,
        agentsMax: query['by'] === 'agent' ? agentsMax : 0,
        tenantsMax: query['by'] === 'tenant' ? tenantsMax : 0,
      });
      return {
        since: timeText(BigInt(found.since) * 1_000n),
        rates: found.rates.map(rateJson),
        upstream: { probability_min: upstream.probabilityMin, raised: upstream.raised() },
      };
    },
  },
  {
    method: 'get',
    path: '/judges',
    summary: `How far evaluators agree with people who annotated the same runs under the evaluator’s name, by version and model; and people with one another. Of the newest ${annotationRowsMax} annotations of the period. Also, whatever the period and the tenant, how budgets stand, and whether judges still say the same of their fixed sets.`,
    path_parameters: {},
    query_parameters: {
      from: {
        ...period.from,
        description: 'Runs that started at this time or later, as RFC 3339 writes it; when left out, thirty days before `to`.',
      },
      to: period.to,
      ...filters,
    },
    answer: {
      type: 'object',
      required: ['judges', 'people', 'budgets', 'whole', 'drift'],
      properties: {
        judges: listOf(
          'JudgeFigures',
          'By evaluator, version and model. Those whose verdicts nobody has labelled yet stand behind, without figures.',
        ),
        people: listOf('PeopleFigures', 'By name.'),
        budgets: listOf('BudgetFigures', 'Of judges and evaluators that have one, each limit of this day (UTC).'),
        whole: { type: 'boolean', description: 'False: there were more annotations than were read.' },
        drift: listOf('Drift', 'By evaluator, for those that have or had a fixed set.'),
      },
    },
    ofAllTenants: ['budgets', 'drift'],
    async handle({ store, clock, budgets, judges: inForce }, query) {
      const rows = await store.annotations.onRuns({
        ...periodOf(query, clock, 30 * dayMicros),
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        ...named(query, 'evaluator', 'name'),
        kinds: kindsOf(query),
        limit: annotationRowsMax,
      });
      const { judges: labelled, people } = agreementOf(rows);
      const others = inForce().filter(({ name }) => (query['evaluator'] ?? name) === name && !labelled.some((one) => one.name === name));
      const judges = [...labelled, ...others.map(withoutLabels)];
      return {
        judges: judges.map(judgeFiguresJson),
        people: people.map(peopleFiguresJson),
        budgets: budgets().map(budgetJson),
        whole: rows.length < annotationRowsMax,
        drift: await driftJson(store.judgeDrift, typeof query['evaluator'] === 'string' ? query['evaluator'] : undefined),
      };
    },
  },
];

function kindsOf(query: Parameters): readonly AnnotatorKind[] {
  const kind = annotatorKinds.find((one) => one === query['annotator']);
  return kind === undefined ? peopleKinds : [kind];
}
