/** The worst turn of a session by evaluator. Turns are the runs of a session id by start time. */

/** The score of one evaluator on one turn; `undefined` when the turn has none. */
export interface TurnScore {
  readonly name: string;
  readonly score: number | undefined;
}

export interface WorstTurn {
  /** Name of the evaluator. */
  readonly name: string;
  /** Number of scored turns. */
  readonly scored: number;
  /** Index of the turn with the lowest score, the earliest of equal ones; `undefined` when no turn has a score. */
  readonly worst: number | undefined;
  /** The lowest score. */
  readonly score: number | undefined;
}

/** In order of the first appearance of a name. */
export function worstTurns(turns: readonly (readonly TurnScore[])[]): readonly WorstTurn[] {
  const found = new Map<string, WorstTurn>();
  for (const [at, turn] of turns.entries()) {
    for (const { name, score } of turn) {
      const before = found.get(name) ?? { name, scored: 0, worst: undefined, score: undefined };
      if (score === undefined) found.set(name, before);
      else {
        const isWorse = before.score === undefined || score < before.score;
        found.set(name, { ...(isWorse ? { name, worst: at, score } : before), scored: before.scored + 1 });
      }
    }
  }
  return [...found.values()];
}
