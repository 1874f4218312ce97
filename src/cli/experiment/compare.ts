/** `tracejury experiment compare`: two experiments of the store or of files, example by example. */
import { existsSync } from 'node:fs';
import { allResults, experimentFile, storedExperiment } from './stored-experiments.ts';
import { type CommandInput, textOption, UsageError, writeOutput } from '../command.ts';
import { withStore } from '../open-store.ts';
import { oneLine } from '../../model/one-line.ts';
import { comparisonReports } from '../../analytics/reports/comparison-reports.ts';
import { experimentComparison, type ExperimentWithResults } from '../../analytics/experiment-comparison.ts';
import { tenant } from '../../model/ids.ts';

const namesChars = 1_000;

/** 1: the second experiment is significantly worse by an evaluator, or nothing can be compared; as a gate also when it is worse with unscored runs as not passed, or has lost the scores of an evaluator. */
export async function experimentCompare(input: CommandInput, [one, other, ...more]: readonly string[]): Promise<number> {
  if (one === undefined || other === undefined || more.length > 0)
    throw new UsageError('Name two experiments: ids, names, or files that experiment run or show has written.');
  const format = textOption(input, 'format') ?? 'table';
  const report = comparisonReports.find((one) => one.name === format);
  if (report === undefined) throw new UsageError(`--format takes one of ${comparisonReports.map(({ name }) => name).join(', ')}.`);
  const comparison = experimentComparison(...(await bothOf(input, one, other)));
  const output = textOption(input, 'output');
  if (output === undefined) input.say(report.write(comparison));
  else writeOutput('output', output, report.write(comparison));
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
  const isGate = input.options['fail-on-regression'] === true;
  return regressions.length > 0 || (isGate && unscoredRegressions.length + lost.length > 0) ? 1 : 0;
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
