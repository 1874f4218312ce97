/** A conversation through evaluators turn by turn, and as a whole. */
import { turnsOf, worstOf, type TurnGrouping, type TurnVerdicts } from '../../evaluators/evidence/turns.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import type { Expectation } from '../model/expectation.ts';
import { evaluate, type EvaluateWith, type Expected, type UsableEvaluator } from './evaluate.ts';
import { readyEvaluator } from './factory.ts';

export interface ExpectedByTurn extends Expected {
  /** What is expected of each turn, by its place; further turns have no expectation. */
  readonly byTurn?: readonly Expectation[];
}

export interface EvaluateTurnsWith extends EvaluateWith {
  /** `user_turn` when left out. */
  readonly grouping?: TurnGrouping;
}

export interface NamedTurnVerdicts extends TurnVerdicts {
  /** The configured name. */
  readonly name: string;
}

/** For each evaluator a verdict on every turn, one on the whole, and which turn is the worst. A trace without messages is one turn. */
export async function evaluateTurns(
  trace: AgentTrace,
  { expect = {}, byTurn = [] }: ExpectedByTurn,
  evaluators: readonly UsableEvaluator[],
  { grouping = 'user_turn', ...options }: EvaluateTurnsWith = {},
): Promise<readonly NamedTurnVerdicts[]> {
  const ready = evaluators.map(readyEvaluator);
  const turns = turnsOf(trace, grouping)?.traces ?? [trace];
  const flat = await evaluate(trace, { expect }, ready, options);
  const found = await Promise.all(turns.map(async (turn, at) => await evaluate(turn, { expect: byTurn[at] ?? {} }, ready, options)));
  return ready.flatMap(({ name }, nth) => {
    const whole = flat[nth];
    const own = found.flatMap((verdicts) => verdicts[nth] ?? []);
    return whole === undefined ? [] : [{ name, byTurn: own, flat: whole, worst: worstOf(own) }];
  });
}
