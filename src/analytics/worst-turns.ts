/** The worst turn of a session, by evaluator: the runs that share a session id are its turns, in the order of their starts. */

/** What one evaluator says of one turn; undefined `score`: it did not score the turn. */
export interface TurnScore {
  readonly name: string;
  readonly score: number | undefined;
}

export interface WorstTurn {
  /** Of the evaluator. */
  readonly name: string;
  /** Turns that it scored. */
  readonly scored: number;
  /** Index of the turn with the lowest score, the earliest of equal ones; undefined: it scored none. */
  readonly worst: number | undefined;
  /** The lowest score. */
  readonly score: number | undefined;
}

/** In the order in which the names first come. */
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
