/** In which lines pairs of run and evaluator wait in the store, and at whose cost. */
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
 * Neither a judge's nor an evaluator's name has a blank, and none of them a colon. Votes of one judge wait in its own line, those of several in one of the evaluator; and so
 * does an evaluator with a budget of its own, which holds up no other then.
 */
export function queueKeyOf({ configured: { kind, name }, judge = '', panel, budget }: Planned): string {
  if (kind !== 'judge') return endpointQueueKey(name);
  if (panel !== undefined && panel.judges.length > 1) return `jury:${name}`;
  const only = panel?.judges[0] ?? judge;
  return budget === undefined ? only : `${only} ${name}`;
}

/** Of a line before one judge. */
export function judgeOfQueueKey(party: string): string {
  return party.split(' ')[0] ?? '';
}

/** All that may be asked about what waits in a line. */
export function judgesOfQueueKey(party: string, plan: readonly Planned[]): readonly string[] {
  const panel = plan.find((planned) => planned.panel !== undefined && queueKeyOf(planned) === party)?.panel;
  return panel === undefined ? [judgeOfQueueKey(party)] : judgesOf(panel);
}

/** At the cost of a judge or an evaluator, of one pair in a line: as many as there are votes. Where evaluators share a line, of the one with the most. */
export function questionsOf(party: string, { of, name }: Payer, plan: readonly Planned[]): number {
  const asked = plan
    .filter((planned) => queueKeyOf(planned) === party)
    .map(({ configured, judge, panel }) => {
      const judges = panel === undefined ? [judge] : slotsOf(panel).map((seat) => seat.judge);
      if (of === 'evaluator') return configured.name === name ? judges.length : 0;
      return judges.filter((one) => one === name).length;
    });
  return Math.max(0, ...asked);
}

/** Evaluators that ask a judge; of several votes no single model is told. */
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
