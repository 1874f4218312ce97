/** The route of judges: the agreement of evaluators with people, budgets, traffic and drift. */
import { agreementOf, type JudgeAgreement, type PeopleAgreement, withoutLabels } from '../../analytics/judge-agreement.ts';
import * as api from '../../model/resource.ts';
import { annotationRowsMax } from '../../model/store/annotation-store.ts';
import type { DaySpend, JudgeSpendStore } from '../../model/store/judge-store.ts';
import { splitValuesMax } from '../../model/store/verdict-rows.ts';
import type { RaterPair } from '../../statistics/cohen-kappa.ts';
import type { Confusion } from '../../statistics/proportion.ts';
import { estimate } from './estimate-json.ts';
import { drift, driftRows } from './judge-drift.ts';
import { judgeLatency, judgeLatencyRows, judgeTraffic, judgeTrafficRows } from './judge-traffic.ts';
import { annotatorParameter, kindsOf } from './rates.ts';
import {
  type BudgetRow,
  named,
  periodOf,
  periodParameters,
  type Route,
  runParameters,
  tenantOf,
  tenantParameter,
  textParameter,
} from './route.ts';

const dayMicros = 86_400_000_000;
/** Days of spending in one answer. */
const spendDays = 14;
const nanoPerUsd = 1_000_000_000;
const evaluatorAccount = 'evaluator:';

const amount = { ...api.number, minimum: 0 } as const;
const about = { enum: ['run', 'tool_call'] } as const;

/** Plain shares: an interval would speak of runs that had no chance of a label. */
const plainShare = (hits: number, of: number): number | null => (of === 0 ? null : hits / of);

const chosenLabels = api.inline<Confusion>()({
  runs: [api.count, (of) => of.truePositive + of.falsePositive + of.falseNegative + of.trueNegative],
  both_pass: [api.count, ({ trueNegative }) => trueNegative],
  both_fail: [api.count, ({ truePositive }) => truePositive],
  missed: [api.count, ({ falseNegative }) => falseNegative],
  false_alarms: [api.count, ({ falsePositive }) => falsePositive],
  precision: [
    api.numberOrNull('Share of these runs, not corrected.'),
    ({ truePositive, falsePositive }) => plainShare(truePositive, truePositive + falsePositive),
  ],
  recall: [
    api.numberOrNull('Share of these runs, not corrected.'),
    ({ truePositive, falseNegative }) => plainShare(truePositive, truePositive + falseNegative),
  ],
  accuracy: [
    api.numberOrNull('Share of these runs, not corrected.'),
    (of) => plainShare(of.truePositive + of.trueNegative, of.truePositive + of.falsePositive + of.falseNegative + of.trueNegative),
  ],
});

export const judgeFigures = api.resource<JudgeAgreement>()('JudgeFigures', {
  name: api.text,
  about: { ...about, description: 'Subject of the comparison: whole runs, or single tool calls.' },
  evaluator: api.text,
  kind: api.text,
  version: api.count,
  model: api.textOrNull(),
  agent_version: [
    api.textOrNull('With `by=version`: version of the agent, empty for runs without one. Null for all versions.'),
    ({ agentVersion }) => agentVersion,
  ],
  runs: { ...api.count, description: 'Runs, or calls, with a pass or fail of both people and the evaluator, chosen and drawn.' },
  both_pass: [api.count, ({ confusion }) => confusion.trueNegative],
  both_fail: [api.count, ({ confusion }) => confusion.truePositive],
  missed: [{ ...api.count, description: 'Failed by people, passed by the evaluator.' }, ({ confusion }) => confusion.falseNegative],
  false_alarms: [{ ...api.count, description: 'Failed by the evaluator, passed by people.' }, ({ confusion }) => confusion.falsePositive],
  drawn_labels: [
    {
      ...api.count,
      description: 'Labels of runs that a queue drew at random. The estimates come only from these, weighted, and hold for all traffic.',
    },
    ({ drawn }) => drawn,
  ],
  chosen_labels: [
    api.described(chosenLabels, 'The other labels: a person or a rule chose their runs. Their results do not hold for other runs.'),
    ({ chosen }) => chosen,
  ],
  precision: [api.described(estimate, 'Share of the failures of the evaluator that people fail.'), ({ rates }) => rates.precision],
  recall: [api.described(estimate, 'Share of the failures of people that the evaluator fails.'), ({ rates }) => rates.recall],
  specificity: [api.described(estimate, 'Share of the passes of people that the evaluator passes.'), ({ rates }) => rates.specificity],
  accuracy: [estimate, ({ rates }) => rates.accuracy],
  kappa: api.described(estimate, 'Cohen’s kappa: agreement beyond chance, 1 at most.'),
});

export const budgetFigures = api.resource<BudgetRow>()('BudgetFigures', {
  judge: api.textOrNull('Null for the budget of an evaluator.'),
  evaluator: api.textOrNull('Null for the budget of a judge.'),
  budget: [{ enum: ['usd_per_day', 'requests_per_day', 'tokens_per_day'] }, ({ limit }) => limit],
  limit: [{ ...amount, description: 'In US dollars, requests or tokens, by its key.' }, ({ most }) => most],
  spent: amount,
  reserved: { ...amount, description: 'For requests in flight, and a little for the next ones.' },
  left: [amount, ({ most, spent, reserved }) => Math.max(0, most - spent - reserved)],
  pace: [{ ...api.share, description: 'Factor on sample rates now.' }, (row) => row.share],
});

const pair = api.inline<RaterPair>()({
  people: { ...api.many(api.text), minItems: 2, maxItems: 2 },
  runs: [api.count, ({ items }) => items],
  kappa: estimate,
});

export const peopleFigures = api.resource<PeopleAgreement>()('PeopleFigures', {
  name: api.text,
  about,
  people: api.count,
  runs: { ...api.count, description: 'Annotated runs, or calls.' },
  disputed: { ...api.count, description: 'Those with as many passes as fails; no comparison counts them.' },
  unreadable: { ...api.count, description: 'Annotations with a label that no verdict has.' },
  mean_kappa: [
    api.numberOrNull('Mean over pairs of people, weighted by runs; null: no two people labelled the same runs.'),
    ({ agreement: { mean } }) => (mean.kind === 'estimated' ? mean.point : null),
  ],
  pairs: [api.many(pair), ({ agreement }) => agreement.pairs],
});

interface DayOfAccount extends DaySpend {
  readonly day: string;
  readonly judge: string | undefined;
  readonly evaluator: string | undefined;
}

export const judgeDay = api.resource<DayOfAccount>()('JudgeDay', {
  day: { type: 'string', format: 'date', description: 'In UTC.' },
  judge: api.textOrNull('Null for the budget of an evaluator.'),
  evaluator: api.textOrNull('Null for the budget of a judge.'),
  cost_usd: [amount, ({ nanoUsd }) => nanoUsd / nanoPerUsd],
  requests: api.count,
  input_tokens: api.count,
  output_tokens: api.count,
});

async function spentDays(spend: JudgeSpendStore, nowMs: number): Promise<readonly DayOfAccount[]> {
  const rows: DayOfAccount[] = [];
  for (let back = 0; back < spendDays; back++) {
    const day = api.timeOf(api.ofMs(nowMs) - back * dayMicros).slice(0, 10);
    for (const [account, spent] of await spend.on(day)) {
      const isEvaluator = account.startsWith(evaluatorAccount);
      const evaluator = isEvaluator ? account.slice(evaluatorAccount.length) : undefined;
      rows.push({ ...spent, day, judge: isEvaluator ? undefined : account, evaluator });
    }
  }
  return rows;
}

export const judgeRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/judges',
    summary: `Agreement of evaluators with people on the same runs, by version and model, and of people with one another. Estimates come from labels of runs that a queue drew at random. It reads the newest ${annotationRowsMax} annotations of the period. Budgets, traffic and drift are those of now, for all tenants.`,
    path_parameters: {},
    query_parameters: {
      from: {
        ...periodParameters.from,
        description: 'Runs that started at this time or later, in RFC 3339; when left out, thirty days before `to`.',
      },
      to: periodParameters.to,
      agent: runParameters.agent,
      tenant: tenantParameter,
      evaluator: { ...textParameter, description: 'Name of the evaluator.' },
      annotator: annotatorParameter,
      by: {
        enum: ['version'],
        description: `Also by version of the agent, for the ${splitValuesMax} versions with the most labelled runs.`,
      },
    },
    answer: api.object({
      judges: api.many(judgeFigures.schema, 'By evaluator, version and model. Evaluators without labels come last, without figures.'),
      people: api.many(peopleFigures.schema, 'By name.'),
      budgets: api.many(budgetFigures.schema, 'Each limit of this day (UTC), of judges and evaluators.'),
      days: api.many(
        judgeDay.schema,
        `Spending of judges and evaluators with a budget, by day (UTC), the last ${spendDays} days, newest first.`,
      ),
      traffic: api.many(judgeTraffic.schema, 'Requests since the start of the service, by judge, and what waits now.'),
      latency: api.many(judgeLatency.schema, 'Time to a verdict since the start of the service, by evaluator.'),
      whole: { ...api.flag, description: 'False when the period has more annotations than the API reads.' },
      drift: api.many(drift.schema, 'By evaluator that has or had a fixed set.'),
    }),
    ofAllTenants: ['budgets', 'days', 'traffic', 'latency', 'drift'],
    async handle({ store, clock, budgets, judges: inForce, metrics }, query) {
      const rows = await store.annotations.onRuns({
        ...periodOf(query, clock, 30 * dayMicros),
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        ...named(query, 'evaluator', 'name'),
        kinds: kindsOf(query),
        limit: annotationRowsMax,
      });
      const { judges, people } = agreementOf(rows, { byVersion: query['by'] === 'version' });
      const isWanted = ({ name }: { readonly name: string }): boolean => (query['evaluator'] ?? name) === name;
      const others = inForce().filter((one) => isWanted(one) && !judges.some(({ name }) => name === one.name));
      return {
        judges: [...judges, ...others.map(withoutLabels)].map(judgeFigures.write),
        people: people.map(peopleFigures.write),
        budgets: budgets().map(budgetFigures.write),
        days: (await spentDays(store.judgeSpend, clock.nowMs())).map(judgeDay.write),
        traffic: judgeTrafficRows(metrics()),
        latency: judgeLatencyRows(metrics()).filter(isWanted),
        whole: rows.length < annotationRowsMax,
        drift: (await driftRows(store.judgeDrift, isWanted)).map(drift.write),
      };
    },
  },
];
