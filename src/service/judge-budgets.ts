/** Budgets of judges and evaluators: their reservations, the pace that they leave to sample rates, and the status of their limits. */
import type { JudgeConfig } from '../config/config.ts';
import type { EvaluatorBudget } from '../judges/batch/batch-job.ts';
import type { Budget } from '../judges/budget/budgets.ts';
import type { Ledger, LimitStatus } from '../judges/budget/ledger.ts';
import type { BudgetReservation } from '../model/budget.ts';
import type { Pace, PlannedEvaluator } from '../pipeline/evaluation/evaluate.ts';
import { pacedBy } from '../pipeline/evaluation/sampling.ts';
import { slotsOf } from '../pipeline/jury/jury-panel.ts';

export type Planned = Pick<PlannedEvaluator, 'configured' | 'judge' | 'panel' | 'budget'>;

/** `judge` or `evaluator` is undefined when the limit is not theirs. */
export interface BudgetStatus extends LimitStatus {
  readonly judge: string | undefined;
  readonly evaluator: string | undefined;
}

export interface JudgeBudgets {
  /** Reservation of a judge; undefined when it has no budget. */
  reservation(config: JudgeConfig): BudgetReservation | undefined;
  /** The same at the price of batches. */
  batchReservation(config: JudgeConfig): BudgetReservation | undefined;
  /** Budget of an evaluator with this judge, at the prices of the judge. */
  evaluatorBudget(work: Pick<Planned, 'configured' | 'budget'>, judge: JudgeConfig): EvaluatorBudget | undefined;
  readonly pace: Pace;
  /** Status of the limits of every judge and of these evaluators. */
  status(plan: readonly Planned[]): readonly BudgetStatus[];
}

/** `judges`: the configured judges by name. */
export function judgeBudgets(ledger: Ledger, judges: () => ReadonlyMap<string, { readonly config: JudgeConfig }>): JudgeBudgets {
  const reservation = (budget: Budget | undefined): BudgetReservation | undefined =>
    budget === undefined ? undefined : ledger.reservation(budget);

  return {
    reservation: (config) => reservation(ofJudge(config)),
    batchReservation(config) {
      const budget = ofJudge(config);
      return reservation(budget === undefined ? undefined : { ...budget, ...inBatches(config) });
    },
    evaluatorBudget({ configured: { name }, budget }, config) {
      const direct = ofEvaluator(name, budget, config);
      return direct === undefined
        ? undefined
        : { direct: (lend) => ledger.reservation(direct, lend), batched: ledger.reservation({ ...direct, ...inBatches(config) }) };
    },
    pace({ configured: { name, kind }, judge, panel, budget }) {
      if (kind !== 'judge') return ledger.share([]);
      const asked = panel === undefined ? [judge ?? ''] : slotsOf(panel).map((slot) => slot.judge);
      const shares = asked.map((one) => ledger.share(listed(ofJudge(judges().get(one)?.config))));
      return pacedBy(ledger.share(listed(ofEvaluator(name, budget))), shares);
    },
    status(plan) {
      const all = [
        ...[...judges().values()].map(({ config }) => ofJudge(config)),
        ...plan.map(({ configured: { name }, budget }) => ofEvaluator(name, budget)),
      ];
      return all.flatMap(listed).flatMap((budget) =>
        ledger.status(budget).map((limit) => ({
          ...limit,
          judge: budget.of === 'judge' ? budget.name : undefined,
          evaluator: budget.of === 'evaluator' ? budget.name : undefined,
        })),
      );
    },
  };
}

/** `requests_per_minute` of a judge and of its budget are one limit: the lower one holds. */
function ofJudge(config: JudgeConfig | undefined): Budget | undefined {
  if (config === undefined || (config.budget === undefined && config.requestsPerMinute === undefined)) return undefined;
  const { budget, name, price, requestsPerMinute = Infinity } = config;
  const perMinute = Math.min(requestsPerMinute, budget?.requestsPerMinute ?? Infinity);
  return { ...budget, ...(perMinute === Infinity ? {} : { requestsPerMinute: perMinute }), of: 'judge', name, price };
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
