/** Sessions of several runs in the inputs, with the worst turn of each by evaluator. */
import { worstTurns, type WorstTurn } from '../../analytics/worst-turns.ts';
import type { EvalResult } from './item.ts';

export interface SessionResult {
  readonly id: string;
  /** Its runs by their starts; where the inputs have no times, in the order of the inputs. */
  readonly turns: readonly EvalResult[];
  readonly worst: readonly WorstTurn[];
}

/** Sessions of one run say no more than the run. */
export function sessionsOf(results: readonly EvalResult[]): readonly SessionResult[] {
  const known = results.filter(({ session }) => session !== undefined && session !== '');
  return [...Map.groupBy(known, ({ session }) => session ?? '')]
    .filter(([, runs]) => runs.length > 1)
    .map(([id, runs]) => {
      const turns = runs.toSorted((one, other) => Number(one.item.run.startUnixNano - other.item.run.startUnixNano));
      const scores = turns.map(({ verdicts }) =>
        verdicts.map(({ name, verdict }) => ({ name, score: verdict.kind === 'scored' ? verdict.score : undefined })),
      );
      return { id, turns, worst: worstTurns(scores) };
    });
}
