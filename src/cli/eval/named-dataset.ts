/** The dataset that `--dataset` names: a file, or a dataset of the store. A path that exists is a file. */
import { existsSync } from 'node:fs';
import { parseReference, wholeDataset } from '../dataset/stored-dataset.ts';
import { UsageError } from '../command.ts';
import { exampleJson } from '../../datasets/example-json.ts';
import { noTenant } from '../../model/ids.ts';
import { mayBeThere, openStore, storeName, type StoreAddress } from '../../stores/index.ts';
import { datasetOf, readDataset } from './dataset.ts';
import type { FileExample } from './scoring.ts';

interface NamedWith {
  readonly address: StoreAddress;
  readonly complain: (text: string) => void;
}

/** Says whether a file or the store was read, and how many examples are drafts. Throws a UsageError, or INPUT_UNREADABLE. */
export async function namedDataset(
  name: string | undefined,
  options: Parameters<typeof readDataset>[1],
  { address, complain }: NamedWith,
): Promise<readonly FileExample[]> {
  if (name === undefined) return [];
  const isFile = existsSync(name);
  if (isFile && !name.includes('.') && parseReference(name) !== undefined)
    complain(`--dataset: ${name} is a file here, and that file is read; no dataset of the store.`);
  const examples = isFile ? readDataset(name, options) : await storedDataset(name, options, { address, complain });
  const drafts = examples.filter(({ isDraft }) => isDraft).length;
  if (drafts > 0)
    complain(
      `${name}: ${drafts} of ${examples.length} examples ${drafts === 1 ? 'is a draft' : 'are drafts'}: no one has reviewed the expectation, which repeats what a run did.`,
    );
  return examples;
}

async function storedDataset(
  text: string,
  options: Parameters<typeof readDataset>[1],
  { address, complain }: NamedWith,
): Promise<readonly FileExample[]> {
  const reference = parseReference(text);
  const isThere = mayBeThere(address);
  // A path with a folder or an ending is not the name of a dataset: its reader reports what is wrong with the file.
  if (reference === undefined) return readDataset(text, options);
  if (!isThere)
    throw new UsageError(
      `--dataset: there is no file ${text}, and no store to read a dataset ${reference.name} from (${address.scheme === 'postgres' ? '' : `${address.scheme}:`}${storeName(address)}).`,
    );
  const store = await openStore(address);
  try {
    const key = { tenant: noTenant, name: reference.name };
    const whole = await wholeDataset(store.datasets, { key, version: reference.version }).catch((error: unknown) => {
      throw error instanceof UsageError ? new UsageError(`--dataset: there is no file ${text}. ${error.message}`) : error;
    });
    const where = `${reference.name}@${whole.version}`;
    complain(`Dataset ${where} of the store ${storeName(address)}: ${whole.examples.length} examples.`);
    return datasetOf(where, whole.examples.map(exampleJson), options);
  } finally {
    await store.stop();
  }
}
