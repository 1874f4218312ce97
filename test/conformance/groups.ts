/** The runners of cases about a group of runs, by the evaluator that their file names. */
import { convergence, type GroupOutcome } from '../../evaluators/evidence/convergence.ts';
import { isJsonArray, isJsonObject, member } from '../../src/model/json.ts';
import type { Case } from './vectors.ts';

export const groups: { readonly [evaluator: string]: ((one: Case) => GroupOutcome) | undefined } = { convergence: converged };

function converged(one: Case): GroupOutcome {
  const [given, optimal] = [member(one.trace, 'runs'), member(one.config, 'optimal_steps')];
  const runs = (isJsonArray(given) ? given : [])
    .filter(isJsonObject)
    .map((run) => ({ steps: Number(member(run, 'steps')), success: member(run, 'success') !== false }));
  return convergence(runs, typeof optimal === 'number' ? { optimalSteps: optimal } : {});
}
