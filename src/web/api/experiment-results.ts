/** All results of one experiment, for answers with its rates. */
import type { ExperimentResult } from '../../model/experiment.ts';
import { type ExperimentStore, resultsPageMax, type StoredExperiment } from '../../model/store/experiment-store.ts';
import { Refusal } from './route.ts';

/** Of one experiment whose rates an answer has: the results are read into memory. */
export const analysedMax = 50_000;

/** Throws a Refusal for more than `analysedMax`. */
export async function wholeResults(
  experiments: ExperimentStore,
  { tenant: of, id: name, results }: StoredExperiment,
): Promise<readonly ExperimentResult[]> {
  if (results > analysedMax)
    throw new Refusal(422, {
      code: 'too_many_results',
      message: `The experiment ${name} has ${results} results; this answer takes at most ${analysedMax}.`,
      todo: 'Use tracejury experiment show or compare on the machine of the store.',
    });
  const found: ExperimentResult[] = [];
  let after: number | undefined;
  do {
    const page = await experiments.results({ tenant: of, id: name }, { limit: resultsPageMax, ...(after === undefined ? {} : { after }) });
    found.push(...page.results);
    after = page.next;
  } while (after !== undefined);
  return found;
}
