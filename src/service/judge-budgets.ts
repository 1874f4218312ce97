/** What judges and evaluators may spend: what pays for questions, what is left of sample rates, and how the limits stand. */
import type { JudgeConfig } from '../config/config.ts';
import type { Purse } from '../judges/batch/batch-job.ts';
import type { Budget } from '../judges/budget/budgets.ts';
import type { Ledger, LimitStanding } from '../judges/budget/ledger.ts';
import type { Till } from '../model/budget.ts';
import type { Pace, PlannedEvaluator } from '../pipeline/evaluation/evaluate.ts';
import { pacedBy } from '../pipeline/evaluation/budget-pacing.ts';
import { seatsOf } from '../pipeline/jury/jury-panel.ts';

export type Planned = Pick<PlannedEvaluator, 'configured' | 'judge' | 'panel' | 'budget'>;

/** Undefined: it is not theirs. */
export interface BudgetStanding extends LimitStanding {
  readonly judge: string | undefined;
  readonly evaluator: string | undefined;
}

export interface JudgeBudgets {
  /** Of a judge; undefined: it has no budget. */
  till(config: JudgeConfig): Till | undefined;
  /** The same, at the price of batches. */
  batchTill(config: JudgeConfig): Till | undefined;
  /** Of an evaluator before this judge: money is counted at its prices. */
  purse(work: Pick<Planned, 'configured' | 'budget'>, judge: JudgeConfig): Purse | undefined;
  readonly pace: Pace;
  /** Of every judge, and of these evaluators. */
  standing(plan: readonly Planned[]): readonly BudgetStanding[];
}

/** `judges`: those that are configured now, by name. */
export function judgeBudgets(books: Ledger, judges: () => ReadonlyMap<string, { readonly config: JudgeConfig }>): JudgeBudgets {
  const till = (budget: Budget | undefined): Till | undefined => (budget === undefined ? undefined : books.till(budget));

  return {
    till: (config) => till(ofJudge(config)),
    batchTill(config) {
      const budget = ofJudge(config);
      return till(budget === undefined ? undefined : { ...budget, ...inBatches(config) });
    },
    purse({ configured: { name }, budget }, config) {
      const direct = ofEvaluator(name, budget, config);
      return direct === undefined ? undefined : { evaluator: name, direct: books.till(direct), batched: books.till({ ...direct, ...inBatches(config) }) };
    },
    pace({ configured: { name, kind }, judge, panel, budget }) {
      if (kind !== 'judge') return books.share([]);
      const asked = panel === undefined ? [judge ?? ''] : seatsOf(panel).map((seat) => seat.judge);
      const shares = asked.map((one) => books.share(listed(ofJudge(judges().get(one)?.config))));
      return pacedBy(books.share(listed(ofEvaluator(name, budget))), shares);
    },
    standing(plan) {
      const all = [...[...judges().values()].map(({ config }) => ofJudge(config)), ...plan.map(({ configured: { name }, budget }) => ofEvaluator(name, budget))];
      return all.flatMap(listed).flatMap((budget) => books.standing(budget).map((limit) => ({ ...limit, judge: budget.of === 'judge' ? budget.name : undefined, evaluator: budget.of === 'evaluator' ? budget.name : undefined })));
    },
  };
}

function ofJudge(config: JudgeConfig | undefined): Budget | undefined {
  return config?.budget === undefined ? undefined : { ...config.budget, of: 'judge', name: config.name, price: config.price };
}

function ofEvaluator(name: string, budget: Planned['budget'], judge?: JudgeConfig): Budget | undefined {
  return budget === undefined ? undefined : { ...budget, of: 'evaluator', name, price: judge?.price };
}

function inBatches({ batch, price }: JudgeConfig): Pick<Budget, 'price' | 'isBatched'> {
  return { price: batch?.price ?? price, isBatched: true };
}

function listed(budget: Budget | undefined): readonly Budget[] {
  return budget === undefined ? [] : [budget];
}
