/** Opens the store of a configuration for a command. */
import { evaluators } from '../../evaluators/index.ts';
import { type CommandInput, textOption, UsageError } from './command.ts';
import type { Config } from '../config/config.ts';
import { readConfig } from '../config/load.ts';
import type { Store } from '../model/store/store.ts';
import { mayBeThere, openStore, storeName } from '../stores/index.ts';

export interface OpenedStore {
  readonly store: Store;
  readonly config: Config;
}

interface OpenOptions {
  /** Advice for a store that only its own process can read. */
  readonly instead: string;
  /** True when a missing store is created. */
  readonly mayMake?: boolean;
}

/** Closes the store when `use` ends. Throws a UsageError when there is no store that another process can read. */
export async function withStore<Result>(
  input: Pick<CommandInput, 'options' | 'env'>,
  { instead, mayMake = false }: OpenOptions,
  use: (opened: OpenedStore) => Promise<Result>,
): Promise<Result> {
  const { config } = await readConfig({ file: textOption(input, 'config'), env: input.env, evaluators });
  const { address } = config.store;
  if (address.scheme === 'memory') throw new UsageError(`store.url is memory:, which only its own process can read. ${instead}`);
  if (!mayMake && !mayBeThere(address))
    throw new UsageError(
      `There is no store at ${storeName(address)}. Start the service in this folder first, or name its configuration with -c.`,
    );
  const store = await openStore(address);
  try {
    return await use({ store, config });
  } finally {
    await store.stop();
  }
}
