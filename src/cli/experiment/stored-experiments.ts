/** Experiments of the store, and of files, as people name them on a command line. */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { UsageError } from '../command.ts';
import { type ExperimentFile, readExperimentFile } from '../../analytics/experiment-json.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { unreadable } from '../../model/errors.ts';
import type { Tenant } from '../../model/ids.ts';
import { parseJson } from '../../model/json.ts';
import { experimentsPageMax, type ExperimentStore, referredExperiment, type StoredExperiment } from '../../model/store/experiment-store.ts';

const fileBytesMax = 512 * 1024 * 1024;

/** `undefined`: there is no such file. Throws INPUT_UNREADABLE for a file that holds something else. */
export function experimentFile(path: string): ExperimentFile | undefined {
  if (!existsSync(path) || !statSync(path).isFile()) return undefined;
  if (statSync(path).size > fileBytesMax) throw unreadable(path, `larger than ${fileBytesMax} bytes.`);
  const value = parseJson(readFileSync(path, 'utf8').replace(/^\uFEFF/, ''));
  const read = value === undefined ? 'it is not JSON' : readExperimentFile(value);
  if (typeof read === 'string')
    throw unreadable(path, `${read}.`, 'Give a file that tracejury experiment run or show wrote with --output.');
  return read;
}

/** By id, or the newest of a name. Throws a UsageError with what the store has. */
export async function storedExperiment(experiments: ExperimentStore, tenant: Tenant, reference: string): Promise<StoredExperiment> {
  const found = await referredExperiment(experiments, tenant, reference);
  if (found !== undefined) return found;
  const { experiments: known } = await experiments.list({ tenant, limit: experimentsPageMax });
  const names = [...new Set(known.flatMap(({ id, name }) => [name, id]))];
  const guess = didYouMean(reference, names);
  const hint =
    guess !== undefined
      ? `Did you mean ${guess}?`
      : names.length === 0
        ? 'The store has no experiment yet.'
        : 'tracejury experiment list shows what the store has.';
  throw new UsageError(`There is no experiment and no file ${JSON.stringify(reference)}. ${hint}`);
}
