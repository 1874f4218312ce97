/**
 * A configuration file that is read more than once, with the files that it names. A change of a file's status counts as a change of the file,
 * with links followed: an editor may write into a file, replace it, or redirect a link.
 */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { type Environment, parseConfigText } from '../document.ts';
import { driftFilesMax, driftPaths } from './drift-files.ts';
import { schemaValidators } from '../checks/check.ts';
import { evaluatorFilesMax, evaluatorModules, evaluatorPaths } from './evaluator-files.ts';
import { processFilesMax, processPaths } from './process-files.ts';
import { configFileText, toolFilesMax, toolPaths } from './tool-files.ts';
import { readConfig, type LoadedConfig } from '../load.ts';
import type { ConfigFlags } from '../overrides.ts';
import { tlsFilesMax, tlsPaths, tlsPlaceFilesMax, tlsPlacePaths } from './tls-files.ts';

export interface WatchedFile {
  readonly file: string;
  /** Rejects with a ConfigError with all faults. */
  read(): Promise<LoadedConfig>;
  /** The state of the files when it differs from the last `read`, otherwise `undefined`. */
  change(): Promise<string | undefined>;
}

export function watchedFile({
  file,
  env,
  evaluators,
  flags = {},
}: {
  readonly file: string;
  readonly env: Environment;
  readonly evaluators: readonly AnyEvaluator[];
  readonly flags?: ConfigFlags;
}): WatchedFile {
  const [modules, validators] = [evaluatorModules(), schemaValidators()];
  let seen: { readonly files: readonly string[]; readonly state: string } = { files: [file], state: '' };
  return {
    file,
    async read() {
      // Before the read, so that a later write counts as a change.
      const files = namedFiles(file, env, evaluators);
      seen = { files, state: await stateOf(files) };
      return await readConfig({ file, env, evaluators, flags, modules, validators });
    },
    async change() {
      const { files, state } = seen;
      const now = await stateOf(files);
      return now === state ? undefined : now;
    },
  };
}

/** The file, and those that it names within the limits of the sections. The loader refuses a configuration that names more. */
function namedFiles(file: string, env: Environment, evaluators: readonly AnyEvaluator[]): readonly string[] {
  const document = documentOf(file, env);
  if (document === undefined || document.broken) return [file];
  const named = [
    evaluatorPaths(document.value).slice(0, evaluatorFilesMax),
    toolPaths(document).slice(0, toolFilesMax),
    tlsPaths(document).slice(0, tlsFilesMax),
    tlsPlacePaths({ file, document, env }).slice(0, tlsPlaceFilesMax),
    driftPaths(document.value).slice(0, driftFilesMax),
    processPaths(document.value, evaluators).slice(0, processFilesMax),
  ];
  return [...new Set([file, ...named.flat().map((path) => resolve(dirname(file), path))])];
}

function documentOf(file: string, env: Environment): ReturnType<typeof parseConfigText> | undefined {
  try {
    return parseConfigText(configFileText(file), env);
  } catch {
    return undefined;
  }
}

/** Concurrent checks of files. */
const readsAtOnce = 32;

async function stateOf(files: readonly string[]): Promise<string> {
  const states: string[] = [];
  // In groups: one by one would take long, and all at once would delay the writes of the journal.
  for (let from = 0; from < files.length; from += readsAtOnce)
    states.push(...(await Promise.all(files.slice(from, from + readsAtOnce).map(stateOfOne))));
  return states.join('\n');
}

async function stateOfOne(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}
