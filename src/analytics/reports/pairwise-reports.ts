/** The comparison of two experiments together with what a pairwise judge found. */
import { comparisonMarkdown, comparisonTable, pText } from './comparison-text.ts';
import { comparison as comparisonResource } from '../comparison-json.ts';
import type { Comparison } from '../experiment-comparison.ts';
import { estimateShape } from '../experiment-json.ts';
import { isJudged, type JudgedPair, type PairOutcome, type PairwiseSummary } from '../pairwise.ts';
import { jsonText } from '../../model/json.ts';
import { oneLine, oneName } from '../../model/one-line.ts';
import * as api from '../../model/resource.ts';
import { cell, markdownDetails } from '../../report/markdown.ts';
import { percent, section } from '../../report/text.ts';
import type { Estimate } from '../../statistics/estimate.ts';

export const pairwiseFormats = ['table', 'markdown', 'json'] as const;
export type PairwiseFormat = (typeof pairwiseFormats)[number];

export function isPairwiseFormat(format: string): format is PairwiseFormat {
  return pairwiseFormats.some((one) => one === format);
}

const outcomes: { readonly [outcome in PairOutcome]: string } = {
  a: 'A is better',
  b: 'B is better',
  tie: 'tie',
  first: 'tie: leans to the first place',
  second: 'tie: leans to the second place',
  failed: 'judge failed',
  not_asked: 'not asked',
  no_text: 'no text',
};

const words: { readonly [word in PairwiseSummary['word']]: string } = {
  better: 'better',
  worse: 'WORSE',
  no_difference_shown: 'no difference shown',
  not_comparable: 'not comparable',
};

const pairsMax = 20;
const criterionChars = 300;
const nameChars = 120;
const textChars = 300;

/** The same lines for a terminal and for Markdown. */
function pairwiseLines({ counts, winRate, p, word, positionBias, isBiased, pairs }: PairwiseSummary): readonly string[] {
  const judged = pairs.filter(({ outcome }) => isJudged(outcome)).length;
  const disagreed = counts.first + counts.second;
  const without = [
    ...(counts.failed === 0 ? [] : [`the judge failed on ${counts.failed}`]),
    ...(counts.not_asked === 0 ? [] : [`a budget had no room for ${counts.not_asked}`]),
    ...(counts.no_text === 0 ? [] : [`${counts.no_text} without stored texts`]),
  ];
  return [
    `${judged} of ${pairs.length} pairs judged: B wins ${counts.b}, A wins ${counts.a}, ${counts.tie + disagreed} ties`,
    ...(without.length === 0 ? [] : [`Left out: ${without.join(', ')}`]),
    `Win rate of B: ${shareText(winRate)}${p === undefined ? '' : `, p ${pText(p)}`}: ${words[word]}`,
    `Position bias: ${biasText(positionBias)}; the two orders disagree on ${disagreed} of ${judged} pairs (first place ${counts.first}, second place ${counts.second})`,
    ...(isBiased ? ['⚠ The judge favours a place. Pairs that the place decides count as ties, so the win rate is nearer to 50 %.'] : []),
  ];
}

function shareText(estimate: Estimate): string {
  if (estimate.kind === 'not_estimable') return `not estimable (${estimate.explanation})`;
  return `${percent(estimate.point)} (${percent(estimate.low)} to ${percent(estimate.high)})`;
}

/** In points, above 0 when the first place is favoured. */
function biasText(estimate: Estimate): string {
  if (estimate.kind === 'not_estimable') return `not estimable (${estimate.explanation})`;
  const points = (value: number): string => `${value < 0 ? '−' : '+'}${(100 * Math.abs(value)).toFixed(1)}`;
  return `${points(estimate.point)} (${points(estimate.low)} to ${points(estimate.high)}) points for the first place`;
}

function decided({ pairs }: PairwiseSummary): readonly JudgedPair[] {
  return pairs.filter(({ outcome }) => outcome !== 'tie' && outcome !== 'no_text');
}

/** The number of a run, unless it is the first. */
function pairName({ exampleId, repeat }: JudgedPair): string {
  return repeat === 1 ? exampleId : `${exampleId} (run ${repeat})`;
}

function pairwiseTable(summary: PairwiseSummary): string {
  return [
    `Pairwise by ${oneLine(summary.judge, nameChars)}: ${oneLine(summary.criterion, criterionChars)}`,
    ...pairwiseLines(summary).map((line) => `  ${line}`),
    ...section(
      'Pairs',
      decided(summary),
      (pair) => [`${oneName(pairName(pair), nameChars)}  ${outcomes[pair.outcome]}`, `  ${oneLine(pair.explanation, textChars)}`],
      pairsMax,
    ),
  ].join('\n');
}

function pairwiseMarkdown(summary: PairwiseSummary): string {
  return [
    `#### Pairwise by ${cell(summary.judge)}: ${cell(summary.criterion, criterionChars)}`,
    ...pairwiseLines(summary).map((line) => cell(line, textChars)),
    ...markdownDetails('Pairs', {
      heads: ['example', 'result', 'explanation'],
      rows: decided(summary),
      write: (pair) => [pairName(pair), outcomes[pair.outcome], pair.explanation],
      most: pairsMax,
    }),
  ].join('\n\n');
}

const resource = api.inline<PairwiseSummary>()({
  criterion: api.text,
  judge: api.text,
  result: [api.text, ({ word }) => word],
  counts: [api.object(Object.fromEntries(Object.keys(outcomes).map((outcome) => [outcome, api.count]))), ({ counts }) => ({ ...counts })],
  win_rate: [estimateShape, ({ winRate }) => winRate],
  p: api.numberOrNull(),
  position_bias: [estimateShape, ({ positionBias }) => positionBias],
  biased: [api.flag, ({ isBiased }) => isBiased],
  pairs: api.many(api.inline<JudgedPair>()({ example_id: api.text, repeat: api.count, outcome: api.text, explanation: api.text })),
});

export const comparisonWithPairwise: {
  readonly [format in PairwiseFormat]: (comparison: Comparison, pairwise: PairwiseSummary) => string;
} = {
  table: (comparison, pairwise) => `${comparisonTable(comparison)}\n\n${pairwiseTable(pairwise)}`,
  markdown: (comparison, pairwise) => `${comparisonMarkdown(comparison)}\n\n${pairwiseMarkdown(pairwise)}`,
  json: (comparison, pairwise) => jsonText({ ...comparisonResource.write(comparison), pairwise: resource.write(pairwise) }),
};
