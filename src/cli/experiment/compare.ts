/** `tracejury experiment compare`: two experiments of the store or of files, example by example. */
import { existsSync } from 'node:fs';
import { experimentFile, storedExperiment } from './stored-experiments.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { comparedPairwise } from './pairwise.ts';
import { type CommandInput, numberOption, textOption, UsageError, writeOutput } from '../command.ts';
import { withStore } from '../open-store.ts';
import { oneLine } from '../../model/one-line.ts';
import { type ComparisonReport, comparisonReports } from '../../analytics/reports/comparison-reports.ts';
import { comparisonWithPairwise, isPairwiseFormat, pairwiseFormats } from '../../analytics/reports/pairwise-reports.ts';
import { type Comparison, experimentComparison, type ExperimentWithResults } from '../../analytics/experiment-comparison.ts';
import type { PairwiseSummary } from '../../analytics/pairwise.ts';
import { readConfig } from '../../config/load.ts';
import type { PairwiseForecast } from '../../library/answer-pairs.ts';
import { tenant } from '../../model/ids.ts';
import { thousands } from '../../report/text.ts';
import { mayBeThere, openStore } from '../../stores/index.ts';
import { allResults } from '../../model/store/experiment-store.ts';

const namesChars = 1_000;

/** 1: the second experiment is significantly worse by an evaluator or the pairwise judge, or nothing can be compared; as a gate also when it is worse with unscored runs as not passed, or has lost the scores of an evaluator. */
export async function experimentCompare(input: CommandInput, [one, other, ...more]: readonly string[]): Promise<number> {
  if (one === undefined || other === undefined || more.length > 0)
    throw new UsageError('Name two experiments: ids, names, or files that experiment run or show has written.');
  const format = textOption(input, 'format') ?? 'table';
  const report = comparisonReports.find((one) => one.name === format);
  if (report === undefined) throw new UsageError(`--format takes one of ${comparisonReports.map(({ name }) => name).join(', ')}.`);
  const both = await bothOf(input, one, other);
  const comparison = experimentComparison(...both);
  const pairwise = await pairwiseOf(input, both, format);
  const text = withPairwise(report, comparison, pairwise);
  const output = textOption(input, 'output');
  if (output === undefined) input.say(text);
  else writeOutput('output', output, text);
  if (comparison.examples === 0) {
    input.complain('⚠ The two experiments have no example in common, so nothing is compared.');
    return 1;
  }
  const { regressions, unscoredRegressions, lost } = comparison;
  if (regressions.length > 0) input.complain(`⚠ Significantly worse: ${oneLine(regressions.join(', '), namesChars)}.`);
  if (unscoredRegressions.length > 0)
    input.complain(
      `⚠ Significantly worse when a run without a score counts as not passed: ${oneLine(unscoredRegressions.join(', '), namesChars)}.`,
    );
  if (lost.length > 0)
    input.complain(`⚠ Nothing of B has a score of ${oneLine(lost.join(', '), namesChars)}, so a regression there stays unseen.`);
  if (pairwise?.word === 'worse') input.complain('⚠ Significantly worse by the pairwise judge.');
  const isGate = input.options['fail-on-regression'] === true;
  return regressions.length > 0 || pairwise?.word === 'worse' || (isGate && unscoredRegressions.length + lost.length > 0) ? 1 : 0;
}

const budgetUsdMax = 1_000_000;

/** `undefined`: nothing was asked. */
async function pairwiseOf(
  input: CommandInput,
  both: readonly [ExperimentWithResults, ExperimentWithResults],
  format: string,
): Promise<PairwiseSummary | undefined> {
  const [criterion, judge] = [textOption(input, 'pairwise'), textOption(input, 'judge')];
  const budgetUsd = numberOption(input, 'budget', budgetUsdMax);
  if (criterion === undefined) {
    if (judge !== undefined || budgetUsd !== undefined) throw new UsageError('--judge and --budget go with --pairwise CRITERION.');
    return undefined;
  }
  if (!isPairwiseFormat(format)) throw new UsageError(`--pairwise takes --format ${pairwiseFormats.join(', ')}.`);
  const { config } = await readConfig({ file: textOption(input, 'config'), env: input.env, evaluators });
  const { address } = config.store;
  const store = address.scheme !== 'memory' && mayBeThere(address) ? await openStore(address) : undefined;
  try {
    const { forecast, summary, spentUsd } = await comparedPairwise(
      both,
      { criterion, judge, budgetUsd, onForecast: (found) => input.complain(forecastText(found)) },
      { config, store, complain: input.complain },
    );
    if (summary === undefined) input.complain(`The judge was not asked. --budget USD asks it, within this sum and its own budget.`);
    else if (forecast.questions > 0) input.complain(`Spent: ${usdText(spentUsd)}.`);
    return summary;
  } finally {
    await store?.stop();
  }
}

function forecastText({ judge, pairs, withoutText, questions, inputTokens, outputTokens, usd }: PairwiseForecast): string {
  const without = withoutText === 0 ? '' : ` ${withoutText} of ${pairs} pairs have no stored texts and are left out.`;
  const cost = usd === undefined ? 'at no known price' : `about ${usdText(usd)}`;
  return `Pairwise: ${questions} questions to ${judge}, about ${thousands(inputTokens)} input and ${thousands(outputTokens)} output tokens, ${cost}.${without}`;
}

function usdText(usd: number): string {
  return `${usd.toFixed(4)} USD`;
}

function withPairwise({ name, write }: ComparisonReport, comparison: Comparison, pairwise: PairwiseSummary | undefined): string {
  return pairwise === undefined || !isPairwiseFormat(name) ? write(comparison) : comparisonWithPairwise[name](comparison, pairwise);
}

/** Opens the store only for names that are not files. */
async function bothOf(input: CommandInput, one: string, other: string): Promise<readonly [ExperimentWithResults, ExperimentWithResults]> {
  const [first, second] = [fileOf(one), fileOf(other)];
  if (first !== undefined && second !== undefined) return [first, second];
  return await withStore(input, { instead: 'Compare files that --output has written.' }, async ({ store: { experiments } }) => {
    const stored = async (reference: string): Promise<ExperimentWithResults> => {
      const experiment = await storedExperiment(experiments, tenant(textOption(input, 'tenant') ?? ''), reference);
      return { experiment, results: await allResults(experiments, experiment) };
    };
    return [first ?? (await stored(one)), second ?? (await stored(other))];
  });
}

function fileOf(reference: string): ExperimentWithResults | undefined {
  const read = experimentFile(reference);
  if (read === undefined && /\.json$/i.test(reference) && !existsSync(reference)) throw new UsageError(`There is no file ${reference}.`);
  return read;
}
