/** All results of one experiment, for answers with its rates. */
import type { ExperimentResult } from '../../model/experiment.ts';
import { allResults, type ExperimentStore, type StoredExperiment } from '../../model/store/experiment-store.ts';
import { Refusal } from './route.ts';

/** Most results of an experiment whose rates are in an answer: they are read into memory. */
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
  return await allResults(experiments, { tenant: of, id: name });
}
