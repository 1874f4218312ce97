/** The comparison of two experiments as text for a terminal, and as Markdown for a comment on a pull request. */
import { cell, markdownDetails, markdownTable } from '../../report/markdown.ts';
import { measureText } from './measure-text.ts';
import { aligned, percent, section, textTable, thousands } from '../../report/text.ts';
import { oneLine, oneName } from '../../model/one-line.ts';
import type { ComparedIssue } from '../compared-issues.ts';
import { issueTitle } from '../issue-figures.ts';
import type { Comparison, ComparisonWord, EvaluatorComparison, Flip, TestedDifference, UsageComparison } from '../experiment-comparison.ts';
import type { Measure } from '../experiment-summary.ts';
import type { Experiment } from '../../model/experiment.ts';
import type { Estimate } from '../../statistics/estimate.ts';

export const wordTexts: { readonly [word in ComparisonWord]: string } = {
  better: 'better',
  worse: 'WORSE',
  worse_with_unscored: 'WORSE with unscored runs',
  no_difference_shown: 'no difference shown',
  not_comparable: 'not comparable',
};

export const comparisonHeads = ['evaluator', 'examples', 'A', 'B', 'difference', 'p (Holm)', 'result'] as const;

export function comparisonCells(one: EvaluatorComparison): readonly string[] {
  return [
    one.name,
    String(one.examples),
    sideText(one.first, one.measure),
    sideText(one.second, one.measure),
    differenceText(one.difference, one.measure),
    one.adjustedP === undefined ? '–' : pText(one.adjustedP),
    wordTexts[one.word],
  ];
}

function sideText(estimate: Estimate, measure: Measure): string {
  if (estimate.kind === 'not_estimable') return '–';
  return `${measureText(estimate.point, measure)} (${measureText(estimate.low, measure)} to ${measureText(estimate.high, measure)})`;
}

/** In points for a rate. */
function differenceText(difference: EvaluatorComparison['difference'], measure: Measure): string {
  if (difference.kind === 'not_estimable') return '–';
  const text = (value: number): string => signed(measure === 'rate' ? 100 * value : value, measure === 'rate' ? 1 : 3);
  return `${text(difference.point)} (${text(difference.low)} to ${text(difference.high)})${measure === 'rate' ? ' points' : ''}`;
}

function signed(value: number, digits: number): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? '−' : '+'}${text}`;
}

const pLeast = 0.0001;

export function pText(p: number): string {
  return p < pLeast ? `< ${pLeast}` : p.toFixed(4);
}

export const usageHeads = ['mean of a run', 'examples', 'A', 'B', 'difference'] as const;

export function usageCells({ of, examples, first, second, difference }: UsageComparison): readonly string[] {
  const text = (value: number): string =>
    of === 'cost' ? `$${value.toFixed(5)}` : of === 'duration' ? `${value.toFixed(2)} s` : thousands(Math.round(value));
  const change = (value: number): string => `${value < 0 ? '−' : '+'}${text(Math.abs(value))}`;
  return [
    of,
    String(examples),
    text(first),
    text(second),
    difference.kind === 'estimated'
      ? `${change(difference.point)} (${change(difference.low)} to ${change(difference.high)})`
      : change(second - first),
  ];
}

export const repeatHeads = ['evaluator', 'k', 'pass@k A', 'pass@k B', 'pass^k A', 'pass^k B'] as const;

export function repeatRows(evaluators: readonly EvaluatorComparison[]): readonly (readonly string[])[] {
  return evaluators.flatMap(({ name, repeats: { first, second } }) => {
    const most = Math.max(first.length, second.length);
    return Array.from({ length: most }, (_, at) => {
      const [one, other] = [first[at], second[at]];
      const text = (value: number | undefined): string => (value === undefined ? '–' : percent(value));
      return [name, String(at + 1), text(one?.passAtK), text(other?.passAtK), text(one?.passHatK), text(other?.passHatK)];
    });
  });
}

const shortCommit = 10;

export function experimentText({ name, id, provenance: { commit, branch, isDirty }, dataset }: Experiment): string {
  const parts = [
    `${name} (${id})`,
    ...(commit === undefined
      ? []
      : [`commit ${commit.slice(0, shortCommit)}${isDirty === true ? ' with changes' : ''}${branch === undefined ? '' : ` on ${branch}`}`]),
    ...(dataset === undefined ? [] : [`dataset ${dataset.name}${dataset.version === undefined ? '' : `@${dataset.version}`}`]),
  ];
  return parts.join(', ');
}

/** Runs without a score of each evaluator, and what they could hide. */
export function unscoredTexts({ evaluators }: Pick<Comparison, 'evaluators'>): readonly string[] {
  return evaluators.flatMap(({ name, measure, unscored }) => {
    if (unscored === undefined) return [];
    const { first, second, share, asNotPassed, range } = unscored;
    const side = (letter: string, { runs, unscored: without }: typeof first): string => `${without} of ${runs} in ${letter}`;
    const change = (value: number): string => (measure === 'rate' ? signed(100 * value, 1) : signed(value, 3));
    return [
      `${name}: runs without a score: ${side('A', first)}, ${side('B', second)}: ${testText(share, 'rate')}. Counted as ${measure === 'rate' ? 'not passed' : 'the score 0'}: ${testText(asNotPassed, measure)}. The worst and the best case are ${change(range.low)} to ${change(range.high)}${measure === 'rate' ? ' points' : ''}.`,
    ];
  });
}

function testText({ difference, adjustedP }: TestedDifference, measure: Measure): string {
  if (difference.kind === 'not_estimable') return `not estimable (${clause(difference.explanation)})`;
  return `${differenceText(difference, measure)}, p (Holm) ${adjustedP === undefined ? '–' : pText(adjustedP)}`;
}

/** Why a difference has no interval. */
export function notEstimableTexts({ evaluators, usage }: Pick<Comparison, 'evaluators' | 'usage'>): readonly string[] {
  return [...evaluators, ...usage.map(({ of, difference }) => ({ name: of, difference }))].flatMap(({ name, difference }) =>
    difference.kind === 'estimated' ? [] : [`${name}: the difference is not estimable: ${clause(difference.explanation)}.`],
  );
}

/** A sentence within another one. */
function clause(sentence: string): string {
  return `${sentence.charAt(0).toLowerCase()}${sentence.slice(1)}`.replace(/\.$/, '');
}

export const issueHeads = ['change', 'evaluator', 'issue', 'examples'] as const;
/** Issues of each kind in a text. */
const issuesMax = 20;

/** Issues that B closes and opens. */
export function issueRows({ issues }: Pick<Comparison, 'issues'>): readonly (readonly string[])[] {
  const rows = (word: string, all: readonly ComparedIssue[] = []): readonly (readonly string[])[] => [
    ...all.slice(0, issuesMax).map((one) => [word, one.name, issueTitle(one), String(one.examples.length)]),
    ...(all.length > issuesMax ? [[word, '', `and ${all.length - issuesMax} more`, '']] : []),
  ];
  return [...rows('opened', issues?.opened), ...rows('closed', issues?.closed)];
}

const namesMax = 20;

/** Examples that only one side has. */
export function unpairedTexts({ onlyFirst, onlySecond }: Comparison): readonly string[] {
  return [
    ['A', onlyFirst],
    ['B', onlySecond],
  ].flatMap(([side, ids]) =>
    typeof side !== 'string' || typeof ids === 'string' || ids === undefined || ids.length === 0
      ? []
      : [
          `${ids.length} ${ids.length === 1 ? 'example is' : 'examples are'} only in ${side} and left out: ${ids.slice(0, namesMax).join(', ')}${ids.length > namesMax ? `, and ${ids.length - namesMax} more` : ''}`,
        ],
  );
}

export function headlineOf({ regressions, unscoredRegressions, evaluators, examples }: Comparison): string {
  if (examples === 0) return 'nothing can be compared: the two have no example in common';
  const better = evaluators.filter(({ word }) => word === 'better').map(({ name }) => name);
  const worse = [
    ...(regressions.length === 0 ? [] : [`worse: ${regressions.join(', ')}`]),
    ...(unscoredRegressions.length === 0 ? [] : [`worse with unscored runs as not passed: ${unscoredRegressions.join(', ')}`]),
  ];
  const shown = [...worse, ...(better.length === 0 ? [] : [`better: ${better.join(', ')}`])];
  const [broken, lessScored] = [brokenExamples({ evaluators }), lessScoredExamples({ evaluators })];
  return [
    ...(shown.length === 0 ? ['no difference shown'] : shown),
    ...(regressions.length > 0 || broken.length === 0 ? [] : [examplesText(broken, 'less often', 'passes', 'pass')]),
    ...(lessScored.length === 0 ? [] : [examplesText(lessScored, 'fewer scores', 'has', 'have')]),
  ].join('; ');
}

/** Examples with a larger share of runs without a score in B. */
function lessScoredExamples({ evaluators }: Pick<Comparison, 'evaluators'>): readonly string[] {
  return [...new Set(evaluators.flatMap(({ unscored }) => unscored?.lessScored ?? []))];
}

/** ❌: a regression. ⚠: something of B may be worse than is shown. */
function signOf(comparison: Comparison): '❌' | '⚠' | '✅' {
  const { regressions, unscoredRegressions, lost, examples } = comparison;
  if (regressions.length + unscoredRegressions.length > 0) return '❌';
  return examples === 0 || lost.length + brokenExamples(comparison).length + lessScoredExamples(comparison).length > 0 ? '⚠' : '✅';
}

/** Examples that an evaluator passed more often in A than in B, whether or not that is significant. */
function brokenExamples({ evaluators }: Pick<Comparison, 'evaluators'>): readonly string[] {
  const flips = evaluators.filter(({ measure }) => measure === 'rate').flatMap(({ flipped }) => flipped);
  return [...new Set(flips.filter(({ first, second }) => second.value < first.value).map(({ exampleId }) => exampleId))];
}

function examplesText(ids: readonly string[], how: string, one: string, several: string): string {
  const listed = ids.slice(0, brokenMax).join(', ');
  return `${ids.length} ${ids.length === 1 ? `example ${one}` : `examples ${several}`} ${how}: ${listed}${ids.length > brokenMax ? `, and ${ids.length - brokenMax} more` : ''}`;
}

/** Examples that a headline names. */
const brokenMax = 5;

/** Flips that a text lists for each evaluator. */
const flipsMax = 20;
const labelChars = 60;
const nameChars = 120;
const textChars = 300;
const sentenceChars = 600;

export function flipText({ first, second }: Flip, measure: Measure): string {
  const side = ({ value, runs }: Flip['first']): string =>
    measure === 'mean' ? value.toFixed(3) : runs === 1 ? (value === 1 ? 'pass' : 'fail') : `${Math.round(value * runs)} of ${runs} passed`;
  return `${side(first)} → ${side(second)}`;
}

export function comparisonTable(comparison: Comparison): string {
  const { first, second, evaluators, usage, warnings, examples } = comparison;
  return [
    `A  ${oneLine(experimentText(first), textChars)}`,
    `B  ${oneLine(experimentText(second), textChars)}`,
    `${examples} ${examples === 1 ? 'example' : 'examples'} in both`,
    ...unpairedTexts(comparison).map((text) => oneLine(text, textChars)),
    ...warnings.map((text) => `⚠ ${oneLine(text, textChars)}`),
    '',
    ...aligned([comparisonHeads, ...evaluators.map((one) => comparisonCells(one).map((text) => oneLine(text, labelChars)))]),
    ...unscoredTexts(comparison).map((text) => `⚠ ${oneLine(text, sentenceChars)}`),
    ...notEstimableTexts(comparison).map((text) => oneLine(text, sentenceChars)),
    ...textTable(repeatHeads, repeatRows(evaluators), (cells) => cells.map((text) => oneLine(text, labelChars))),
    ...textTable(usageHeads, usage, usageCells),
    ...textTable(issueHeads, issueRows(comparison), (cells) => cells.map((text) => oneLine(text, nameChars)), { others: 'left' }),
    ...evaluators.flatMap(({ name, measure, flipped }) =>
      section(
        `Changed: ${oneLine(name, labelChars)}`,
        flipped,
        (flip) => [
          `${oneName(flip.exampleId, nameChars)}  ${flipText(flip, measure)}`,
          ...(flip.input === undefined ? [] : [`  Input: ${oneLine(flip.input, textChars)}`]),
          `  A: ${oneLine(flip.first.explanation, textChars)}`,
          `  B: ${oneLine(flip.second.explanation, textChars)}`,
        ],
        flipsMax,
      ),
    ),
    '',
    oneLine(headlineOf(comparison), textChars),
  ].join('\n');
}

export function comparisonMarkdown(comparison: Comparison): string {
  const { first, second, evaluators, usage, warnings, examples } = comparison;
  const [repeats, issues] = [repeatRows(evaluators), issueRows(comparison)];
  return [
    `### ${signOf(comparison)} Experiment: ${cell(headlineOf(comparison))}`,
    `A: ${cell(experimentText(first))}<br>\nB: ${cell(experimentText(second))}<br>\n${examples} ${examples === 1 ? 'example' : 'examples'} in both.`,
    ...unpairedTexts(comparison).map((text) => `${cell(text, 1_000)}.`),
    ...warnings.map((text) => `⚠ ${cell(text)}`),
    ...markdownTable({ heads: comparisonHeads, rows: evaluators, write: comparisonCells }),
    ...unscoredTexts(comparison).map((text) => `⚠ ${cell(text, sentenceChars)}`),
    ...notEstimableTexts(comparison).map((text) => cell(text, sentenceChars)),
    ...(repeats.length === 0 ? [] : markdownTable({ heads: repeatHeads, rows: repeats, write: (cells) => cells })),
    ...(usage.length === 0 ? [] : markdownTable({ heads: usageHeads, rows: usage, write: usageCells })),
    ...(issues.length === 0 ? [] : markdownTable({ heads: issueHeads, rows: issues, write: (cells) => cells })),
    ...evaluators.flatMap(({ name, measure, flipped }) =>
      markdownDetails(`${cell(name)}: ${flipped.length} changed`, {
        heads: ['example', 'input', 'change', 'A', 'B'],
        rows: flipped,
        write: (flip) => [flip.exampleId, flip.input ?? '', flipText(flip, measure), flip.first.explanation, flip.second.explanation],
        most: flipsMax,
      }),
    ),
  ].join('\n\n');
}
