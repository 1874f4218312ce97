/** The comparison of two experiments as a resource of the API and in files. */
import * as api from '../model/resource.ts';
import type { ComparedIssue, ComparedIssues } from './compared-issues.ts';
import { issueTitle } from './issue-figures.ts';
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
const namesOf = (description: string): api.Shape<readonly string[]> => {
  const names = api.inline<readonly string[]>()({
    count: [api.count, ({ length }) => length],
    examples: [api.many(api.text), (all) => all.slice(0, namesMax)],
  });
  return api.described(names, description);
};

const experiment = api.shapeOf(experimentMembers);

const side = api.inline<Flip['first']>()({
  value: { ...api.number, description: 'Share of the runs that passed, or the mean score.' },
  runs: api.count,
  explanation: { ...api.text, description: 'Explanation of the worst run.' },
  trace_id: [api.textOrNull('The worst run.'), ({ run }) => run?.traceId],
  span_id: [api.textOrNull(), ({ run }) => run?.spanId],
  cost_usd: [api.numberOrNull('Mean of the runs of the example.'), ({ usage }) => usage.cost],
  tokens: [api.numberOrNull('Mean of the runs of the example.'), ({ usage }) => usage.tokens],
  duration_seconds: [api.numberOrNull('Mean of the runs of the example.'), ({ usage }) => usage.duration],
});
const flip = api.inline<Flip>()({
  example_id: api.text,
  input: api.textOrNull(),
  a: [side, ({ first }) => first],
  b: [side, ({ second }) => second],
});

const tested = api.part<TestedDifference>()({
  difference: api.described(estimateShape, '`b` less `a`.'),
  test: { enum: ['mcnemar', 'sign_flip', 'student_t', null] },
  p: api.numberOrNull(),
  adjusted_p: [api.numberOrNull('Holm’s correction for the number of tests.'), ({ adjustedP }) => adjustedP],
});
const testedShape = api.shapeOf(tested);

const unscoredSide = api.inline<UnscoredComparison['first']>()({ runs: api.count, unscored: api.count });
const unscored = api.inline<UnscoredComparison>()({
  examples: { ...api.count, description: 'Examples that one side at least has a score of.' },
  a: [unscoredSide, ({ first }) => first],
  b: [unscoredSide, ({ second }) => second],
  share: api.described(testedShape, 'The share of runs without a score.'),
  as_not_passed: api.described(testedShape, 'A run without a score counts as not passed, or as the score 0.'),
  range: api.described(
    api.inline<UnscoredComparison['range']>()({ low: api.number, high: api.number }),
    'The difference from the worst case of the runs without a score to the best.',
  ),
  less_scored: namesOf('Examples with a larger share of runs without a score in `b`.'),
});

const evaluator = api.joined<EvaluatorComparison>(
  api.part<EvaluatorComparison>()({
    name: { ...api.text, description: '`completed` means runs that ended normally.' },
    measure,
    result: [{ enum: comparisonWords, description: 'Of `b` against `a`.' }, ({ word }) => word],
    examples: api.count,
    a: [estimateShape, ({ first }) => first],
    b: [estimateShape, ({ second }) => second],
  }),
  tested,
  api.part<EvaluatorComparison>()({
    unscored: api.optional(unscored, 'Null when both sides scored the same examples on each run.'),
    flipped_count: [api.count, ({ flipped }) => flipped.length],
    flipped: [api.many(flip), ({ flipped }) => flipped.slice(0, flipsMax)],
    repeats: api.inline<EvaluatorComparison['repeats']>()({ a: [repeats, ({ first }) => first], b: [repeats, ({ second }) => second] }),
  }),
);

const usage = api.inline<UsageComparison>()({
  of: { enum: ['cost', 'tokens', 'duration'] },
  unit: [api.text, ({ of }) => usageUnits[of]],
  examples: api.count,
  a: [api.number, ({ first }) => first],
  b: [api.number, ({ second }) => second],
  difference: estimateShape,
});

const issue = api.inline<ComparedIssue>()({
  evaluator: [api.text, ({ name }) => name],
  tool: [api.textOrNull('Null for a failure that is not of a tool.'), ({ tool }) => (tool === '' ? null : tool)],
  signature: api.text,
  title: [api.text, issueTitle],
  examples: namesOf('Examples with it.'),
});
const issues = api.inline<ComparedIssues>()({
  closed: api.many(issue, 'Issues of `a` that `b` does not have, although it has a verdict on each of their examples.'),
  opened: api.many(issue, 'Issues of `b` that `a` does not have, although it has a verdict on one of their examples.'),
});

export const comparison = api.resource<Comparison>()('ExperimentComparison', {
  a: [experiment, ({ first }) => first],
  b: [experiment, ({ second }) => second],
  examples: { ...api.count, description: 'Examples that both have a result of.' },
  only_a: [namesOf('Examples that only `a` has; they are left out.'), ({ onlyFirst }) => onlyFirst],
  only_b: [namesOf('Examples that only `b` has; they are left out.'), ({ onlySecond }) => onlySecond],
  level: { ...api.share, description: 'An adjusted p below it is significant.' },
  evaluators: api.many(api.shapeOf(evaluator)),
  usage: api.many(usage),
  issues: api.optional(issues, 'Null when the failed verdicts of one side have no signatures.'),
  regressions: api.many(api.text, 'Evaluators that find `b` significantly worse.'),
  unscored_regressions: api.many(api.text, 'Evaluators that find `b` significantly worse when a run without a score counts as not passed.'),
  lost: api.many(api.text, 'Evaluators that scored `a`, and nothing of `b`.'),
  warnings: api.many(api.text),
});
