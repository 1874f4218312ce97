/** Makes folders of data, on a path that may be of any kind. */
import type { Sleep } from '../model/clock.ts';

export interface FolderWork {
  /** Makes one folder, not those that lead to it. Rejects with an error that has a `code`. */
  readonly make: (path: string) => Promise<unknown>;
  readonly isFolder: (path: string) => Promise<boolean>;
  readonly parentOf: (path: string) => string;
  readonly sleep: Sleep;
}

/** A disk that needs longer does not answer. */
export const foldersMs = 30_000;

/**
 * Makes the folder and its parents. Node's `recursive` never returns where a folder takes no others and reports that they do not exist, as /proc
 * does. Rejects after `foldersMs`.
 */
export async function makeFolders(path: string, work: FolderWork): Promise<void> {
  const over = new AbortController();
  const late = work.sleep(foldersMs, over.signal).then(() => {
    if (!over.signal.aborted) throw new Error(`the folder ${path} could not be made within ${foldersMs / 1_000} s`);
  });
  try {
    await Promise.race([made(path, work), late]);
  } finally {
    over.abort();
  }
}

async function made(path: string, work: FolderWork): Promise<void> {
  const { make, isFolder, parentOf } = work;
  const codeOf = async (): Promise<string | undefined> => {
    try {
      await make(path);
      return undefined;
    } catch (error) {
      const { code } = error as { readonly code?: string };
      // A root reports that it may not be made, and another process may have made the folder meanwhile.
      if (code === 'ENOENT' || (await isFolder(path))) return code;
      throw error;
    }
  };
  if ((await codeOf()) !== 'ENOENT') return;
  const parent = parentOf(path);
  if (parent !== path) await made(parent, work);
  if ((await codeOf()) === 'ENOENT') throw new Error(`the folder ${path} cannot be made: ${parent} takes no folders`);
}
