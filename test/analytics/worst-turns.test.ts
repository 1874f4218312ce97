import { expect, test } from 'vitest';
import { worstTurns, type TurnScore, type WorstTurn } from '../../src/analytics/worst-turns.ts';

const turn = (...scores: readonly (readonly [string, number | undefined])[]): readonly TurnScore[] =>
  scores.map(([name, score]) => ({ name, score }));

const cases: readonly { readonly name: string; readonly turns: readonly (readonly TurnScore[])[]; readonly want: readonly WorstTurn[] }[] =
  [
    { name: 'no turn', turns: [], want: [] },
    {
      name: 'the lowest score counts',
      turns: [turn(['a', 1]), turn(['a', 0.2]), turn(['a', 0.5])],
      want: [{ name: 'a', scored: 3, worst: 1, score: 0.2 }],
    },
    {
      name: 'the earliest of equal scores',
      turns: [turn(['a', 0]), turn(['a', 0])],
      want: [{ name: 'a', scored: 2, worst: 0, score: 0 }],
    },
    {
      name: 'a turn without a score is never the worst',
      turns: [turn(['a', undefined]), turn(['a', 1])],
      want: [{ name: 'a', scored: 1, worst: 1, score: 1 }],
    },
    {
      name: 'an evaluator without any score has no worst turn',
      turns: [turn(['a', undefined]), turn(['a', undefined])],
      want: [{ name: 'a', scored: 0, worst: undefined, score: undefined }],
    },
    {
      name: 'each evaluator has its own',
      turns: [turn(['a', 1], ['b', 0]), turn(['a', 0], ['b', 1])],
      want: [
        { name: 'a', scored: 2, worst: 1, score: 0 },
        { name: 'b', scored: 2, worst: 0, score: 0 },
      ],
    },
  ];
for (const { name, turns, want } of cases) {
  test(`worst turns: ${name}`, () => expect(worstTurns(turns)).toEqual(want));
}
