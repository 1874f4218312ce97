/** What judges and evaluators may spend: what pays for questions, what is left of sample rates, and how the limits stand. */
import type { JudgeConfig } from '../config/config.ts';
import type { EvaluatorBudget } from '../judges/batch/batch-job.ts';
import type { Budget } from '../judges/budget/budgets.ts';
import type { Ledger, LimitStatus } from '../judges/budget/ledger.ts';
import type { BudgetReservation } from '../model/budget.ts';
import type { Pace, PlannedEvaluator } from '../pipeline/evaluation/evaluate.ts';
import { pacedBy } from '../pipeline/evaluation/sampling.ts';
import { slotsOf } from '../pipeline/jury/jury-panel.ts';

export type Planned = Pick<PlannedEvaluator, 'configured' | 'judge' | 'panel' | 'budget'>;

/** Undefined: it is not theirs. */
export interface BudgetStatus extends LimitStatus {
  readonly judge: string | undefined;
  readonly evaluator: string | undefined;
}

export interface JudgeBudgets {
  /** Of a judge; undefined: it has no budget. */
  till(config: JudgeConfig): BudgetReservation | undefined;
  /** The same, at the price of batches. */
  batchTill(config: JudgeConfig): BudgetReservation | undefined;
  /** Of an evaluator before this judge: money is counted at its prices. */
  purse(work: Pick<Planned, 'configured' | 'budget'>, judge: JudgeConfig): EvaluatorBudget | undefined;
  readonly pace: Pace;
  /** Of every judge, and of these evaluators. */
  standing(plan: readonly Planned[]): readonly BudgetStatus[];
}

/** `judges`: those that are configured now, by name. */
export function judgeBudgets(books: Ledger, judges: () => ReadonlyMap<string, { readonly config: JudgeConfig }>): JudgeBudgets {
  const till = (budget: Budget | undefined): BudgetReservation | undefined => (budget === undefined ? undefined : books.till(budget));

  return {
    till: (config) => till(ofJudge(config)),
    batchTill(config) {
      const budget = ofJudge(config);
      return till(budget === undefined ? undefined : { ...budget, ...inBatches(config) });
    },
    purse({ configured: { name }, budget }, config) {
      const direct = ofEvaluator(name, budget, config);
      return direct === undefined
        ? undefined
        : { evaluator: name, direct: books.till(direct), batched: books.till({ ...direct, ...inBatches(config) }) };
    },
    pace({ configured: { name, kind }, judge, panel, budget }) {
      if (kind !== 'judge') return books.share([]);
      const asked = panel === undefined ? [judge ?? ''] : slotsOf(panel).map((seat) => seat.judge);
      const shares = asked.map((one) => books.share(listed(ofJudge(judges().get(one)?.config))));
      return pacedBy(books.share(listed(ofEvaluator(name, budget))), shares);
    },
    standing(plan) {
      const all = [
        ...[...judges().values()].map(({ config }) => ofJudge(config)),
        ...plan.map(({ configured: { name }, budget }) => ofEvaluator(name, budget)),
      ];
      return all.flatMap(listed).flatMap((budget) =>
        books.standing(budget).map((limit) => ({
          ...limit,
          judge: budget.of === 'judge' ? budget.name : undefined,
          evaluator: budget.of === 'evaluator' ? budget.name : undefined,
        })),
      );
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
