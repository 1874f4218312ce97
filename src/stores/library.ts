/** `tracejury/store`: opens the store of the service for programs that write experiments into it. */
import type { ExperimentStore } from '../model/store/experiment-store.ts';
import { openStore, storeAddress } from './index.ts';

export interface ExperimentStoreHandle {
  readonly experiments: ExperimentStore;
  /** Closes the file. May be called twice. */
  stop(): Promise<void>;
}

/** `url` as `store.url` of the configuration. Rejects when the store cannot be opened. */
export async function openExperimentStore(url = 'sqlite:./tracejury-data/tracejury.db'): Promise<ExperimentStoreHandle> {
  const address = storeAddress(url);
  if (address === undefined)
    throw new TypeError(`${JSON.stringify(url)} names no store. Write sqlite: and the path of a file, or memory:.`);
  const { experiments, stop } = await openStore(address);
  return { experiments, stop };
}
