/** The comparison of two experiments as a resource of the API and in files. */
import {
  count,
  described,
  inline,
  joined,
  many,
  number,
  numberOrNull,
  optional,
  part,
  resource,
  type Shape,
  shapeOf,
  share,
  text,
  textOrNull,
} from '../model/resource.ts';
import {
  type Comparison,
  comparisonWords,
  type EvaluatorComparison,
  type Flip,
  type TestedDifference,
  type UnscoredComparison,
  type UsageComparison,
} from './experiment-comparison.ts';
import { estimateShape, experimentMembers, measure, repeats } from './experiment-json.ts';

/** Flips of one evaluator; `flipped_count` has all of them. */
const flipsMax = 1_000;
const namesMax = 1_000;

const usageUnits: { readonly [of in UsageComparison['of']]: string } = { cost: 'USD', tokens: 'tokens', duration: 's' };

/** The number of examples, and the first of them. */
const namesOf = (description: string): Shape<readonly string[]> => {
  const names = inline<readonly string[]>()({
    count: [count, ({ length }) => length],
    examples: [many(text), (all) => all.slice(0, namesMax)],
  });
  return described(names, description);
};

const experiment = shapeOf(experimentMembers);

const side = inline<Flip['first']>()({
  value: { ...number, description: 'Share of the runs that passed, or the mean score.' },
  runs: count,
  explanation: { ...text, description: 'Of the worst run.' },
  trace_id: [textOrNull('The worst run.'), ({ run }) => run?.traceId],
  span_id: [textOrNull(), ({ run }) => run?.spanId],
  cost_usd: [numberOrNull('Mean of the runs of the example.'), ({ usage }) => usage.cost],
  tokens: [numberOrNull('Mean of the runs of the example.'), ({ usage }) => usage.tokens],
  duration_seconds: [numberOrNull('Mean of the runs of the example.'), ({ usage }) => usage.duration],
});
const flip = inline<Flip>()({
  example_id: text,
  input: textOrNull(),
  a: [side, ({ first }) => first],
  b: [side, ({ second }) => second],
});

const tested = part<TestedDifference>()({
  difference: described(estimateShape, '`b` less `a`.'),
  test: { enum: ['mcnemar', 'sign_flip', 'student_t', null] },
  p: numberOrNull(),
  adjusted_p: [numberOrNull('Holm’s correction for the number of tests.'), ({ adjustedP }) => adjustedP],
});
const testedShape = shapeOf(tested);

const unscoredSide = inline<UnscoredComparison['first']>()({ runs: count, unscored: count });
const unscored = inline<UnscoredComparison>()({
  examples: { ...count, description: 'Examples that one side at least has a score of.' },
  a: [unscoredSide, ({ first }) => first],
  b: [unscoredSide, ({ second }) => second],
  share: described(testedShape, 'The share of runs without a score.'),
  as_not_passed: described(testedShape, 'A run without a score counts as not passed, or as the score 0.'),
  range: described(
    inline<UnscoredComparison['range']>()({ low: number, high: number }),
    'The difference from the worst case of the runs without a score to the best.',
  ),
  less_scored: namesOf('Examples with a larger share of runs without a score in `b`.'),
});

const evaluator = joined<EvaluatorComparison>(
  part<EvaluatorComparison>()({
    name: { ...text, description: '`completed` stands for runs that came to their end.' },
    measure,
    result: [{ enum: comparisonWords, description: 'Of `b` against `a`.' }, ({ word }) => word],
    examples: count,
    a: [estimateShape, ({ first }) => first],
    b: [estimateShape, ({ second }) => second],
  }),
  tested,
  part<EvaluatorComparison>()({
    unscored: optional(unscored, 'Null: both sides scored the same examples on each run.'),
    flipped_count: [count, ({ flipped }) => flipped.length],
    flipped: [many(flip), ({ flipped }) => flipped.slice(0, flipsMax)],
    repeats: inline<EvaluatorComparison['repeats']>()({ a: [repeats, ({ first }) => first], b: [repeats, ({ second }) => second] }),
  }),
);

const usage = inline<UsageComparison>()({
  of: { enum: ['cost', 'tokens', 'duration'] },
  unit: [text, ({ of }) => usageUnits[of]],
  examples: count,
  a: [number, ({ first }) => first],
  b: [number, ({ second }) => second],
  difference: estimateShape,
});

export const comparison = resource<Comparison>()('ExperimentComparison', {
  a: [experiment, ({ first }) => first],
  b: [experiment, ({ second }) => second],
  examples: { ...count, description: 'Examples that both have a result of.' },
  only_a: [namesOf('Examples that only `a` has; they are left out.'), ({ onlyFirst }) => onlyFirst],
  only_b: [namesOf('Examples that only `b` has; they are left out.'), ({ onlySecond }) => onlySecond],
  level: { ...share, description: 'An adjusted p below it is significant.' },
  evaluators: many(shapeOf(evaluator)),
  usage: many(usage),
  regressions: many(text, 'Evaluators by which `b` is significantly worse.'),
  unscored_regressions: many(text, 'Evaluators by which `b` is significantly worse when a run without a score counts as not passed.'),
  lost: many(text, 'Evaluators that scored `a`, and nothing of `b`.'),
  warnings: many(text),
});
