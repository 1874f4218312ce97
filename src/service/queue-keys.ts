/** Queue keys: in which queue a pair of run and evaluator waits, and whose budget pays for it. */
import type { Config } from '../config/config.ts';
import type { JudgeInForce } from '../analytics/judge-agreement.ts';
import type { Budget } from '../judges/budget/budgets.ts';
import { endpointQueueKey } from '../judges/client/http-calls.ts';
import type { PlannedEvaluator } from '../pipeline/evaluation/evaluate.ts';
import { judgesOf, slotsOf } from '../pipeline/jury/jury-panel.ts';

type Planned = Pick<PlannedEvaluator, 'configured' | 'judge' | 'panel' | 'budget'>;

/** Whose budget it is. */
export type Payer = Pick<Budget, 'of' | 'name'>;

/**
 * Names of judges and evaluators hold neither a blank nor a colon. Votes of one judge wait in the queue of the judge, votes of several in a queue of the evaluator. An evaluator
 * with its own budget has its own queue too, so that it holds up no other.
 */
export function queueKeyOf({ configured: { kind, name }, judge = '', panel, budget }: Planned): string {
  if (kind !== 'judge') return endpointQueueKey(name);
  if (panel !== undefined && panel.judges.length > 1) return `jury:${name}`;
  const only = panel?.judges[0] ?? judge;
  return budget === undefined ? only : `${only} ${name}`;
}

/** The judge of a queue that belongs to one judge. */
export function judgeOfQueueKey(queueKey: string): string {
  return queueKey.split(' ')[0] ?? '';
}

/** The judges that may be asked about pairs of a queue. */
export function judgesOfQueueKey(queueKey: string, plan: readonly Planned[]): readonly string[] {
  const panel = plan.find((planned) => planned.panel !== undefined && queueKeyOf(planned) === queueKey)?.panel;
  return panel === undefined ? [judgeOfQueueKey(queueKey)] : judgesOf(panel);
}

/** Questions of one pair at the cost of a judge or an evaluator: one for each vote. Where evaluators share a queue, the largest number counts. */
export function questionsOf(queueKey: string, { of, name }: Payer, plan: readonly Planned[]): number {
  const asked = plan
    .filter((planned) => queueKeyOf(planned) === queueKey)
    .map(({ configured, judge, panel }) => {
      const judges = panel === undefined ? [judge] : slotsOf(panel).map((slot) => slot.judge);
      if (of === 'evaluator') return configured.name === name ? judges.length : 0;
      return judges.filter((one) => one === name).length;
    });
  return Math.max(0, ...asked);
}

/** Evaluators that ask a judge. An evaluator with several votes names no single model. */
export function judgesInForce({ evaluators, judges }: Pick<Config, 'evaluators' | 'judges'>): readonly JudgeInForce[] {
  return evaluators.flatMap(
    ({
      configured: {
        name,
        evaluator: { id, version },
      },
      judge,
      panel,
    }) =>
      judge === undefined && panel === undefined
        ? []
        : [{ name, evaluator: id, version, model: judges.find((one) => one.name === judge)?.model }],
  );
}
