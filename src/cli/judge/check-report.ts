/** What `tracejury judge check` found, for a terminal and for programs. */
import { jsonText, type JsonObject } from '../../model/json.ts';
import type { Estimate, NotEstimable } from '../../statistics/estimate.ts';
import type { JudgeComparison } from '../../statistics/judge-comparison.ts';
import { estimateJson, judgeFiguresJson } from '../../web/api/figures-json.ts';
import { oneLine } from '../inspect/one-line.ts';
import type { CheckResult } from './judge-validation.ts';

export interface CheckReport {
  /** Runs with a label. */
  readonly runs: number;
  readonly against: string | undefined;
  readonly results: readonly {
    readonly result: CheckResult;
    readonly other?: CheckResult;
    readonly comparison?: JudgeComparison | NotEstimable;
  }[];
}

type Compared = CheckReport['results'][number];

const nameChars = 80;

export function checkText({ runs, against, results }: CheckReport): string {
  return [
    `${runs} labelled ${runs === 1 ? 'run' : 'runs'}`,
    ...results.flatMap((one) => ['', ...resultLines(one.result), ...comparedLines(one, against)]),
  ].join('\n');
}

function resultLines({ name, labelled, unanswered, agreement }: CheckResult): readonly string[] {
  const title = `${oneLine(name, nameChars)}${agreement === undefined ? '' : ` (${oneLine(agreement.model ?? agreement.evaluator, nameChars)}, version ${agreement.version})`}`;
  const counts = `  ${labelled} labelled, ${unanswered} without a verdict that passes or fails`;
  if (agreement === undefined) return [title, counts];
  const { truePositive, falsePositive, falseNegative, trueNegative } = agreement.confusion;
  return [
    title,
    counts,
    `  both pass ${trueNegative}, both fail ${truePositive}, missed ${falseNegative}, false alarms ${falsePositive}`,
    `  accuracy   ${estimateText(agreement.rates.accuracy)}`,
    `  precision  ${estimateText(agreement.rates.precision, 'of what it fails')}`,
    `  recall     ${estimateText(agreement.rates.recall, 'of what people fail')}`,
    `  kappa      ${estimateText(agreement.kappa)}`,
  ];
}

function comparedLines({ other, comparison }: Compared, against: string | undefined): readonly string[] {
  if (other === undefined || comparison === undefined) return [];
  const accuracy = other.agreement?.rates.accuracy;
  const before =
    accuracy === undefined
      ? ''
      : accuracy.kind === 'not_estimable'
        ? ', whose accuracy cannot be estimated'
        : `, whose accuracy is ${estimateText(accuracy)}`;
  const head = `  against ${oneLine(against ?? '', nameChars)}${before}:`;
  if (comparison.kind === 'not_estimable') return [head, `    ${comparison.explanation}`];
  const { word, difference, counts, midP } = comparison;
  return [
    head,
    `    ${word.replaceAll('_', ' ')}: ${estimateText(difference, 'in accuracy')}, p = ${midP.toFixed(3)}; only this one right ${counts.onlySecond}, only the other ${counts.onlyFirst}`,
  ];
}

/** `of` names the whole of the share; an absent share has none. */
export function estimateText(value: Estimate | NotEstimable, of = ''): string {
  if (value.kind === 'not_estimable') return `cannot be estimated: ${value.explanation}`;
  return `${value.point.toFixed(3)} (${value.low.toFixed(3)} to ${value.high.toFixed(3)})${of === '' ? '' : ` ${of}`}`;
}

export function checkJson({ runs, results }: CheckReport): string {
  return jsonText({
    runs,
    evaluators: results.map(({ result, other, comparison }) => ({
      ...resultJson(result),
      against: other === undefined ? null : resultJson(other),
      comparison: comparison === undefined ? null : comparisonJson(comparison),
    })),
  });
}

function resultJson({ name, labelled, unanswered, agreement }: CheckResult): JsonObject {
  return { name, labelled, unanswered, agreement: agreement === undefined ? null : judgeFiguresJson(agreement) };
}

function comparisonJson(comparison: JudgeComparison | NotEstimable): JsonObject {
  if (comparison.kind === 'not_estimable')
    return { word: null, difference: estimateJson(comparison), p: null, only_this_right: null, only_other_right: null };
  const { word, difference, counts, midP } = comparison;
  return { word, difference: estimateJson(difference), p: midP, only_this_right: counts.onlySecond, only_other_right: counts.onlyFirst };
}
