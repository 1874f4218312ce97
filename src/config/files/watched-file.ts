/**
 * The configuration as a file that is read more than once, with the files that it names. Whether any of them has changed is told by what the
 * file system says of them, links followed: it does not matter whether an editor writes into a file, puts another one in its place, or a link
 * on the way is turned to another folder.
 */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { type Environment, parseConfigText } from '../document.ts';
import { driftFilesMax, driftPaths } from './drift-files.ts';
import { evaluatorFilesMax, evaluatorModules, evaluatorPaths } from './evaluator-files.ts';
import { configFileText, toolFilesMax, toolPaths } from './tool-files.ts';
import { readConfig, type LoadedConfig } from '../load.ts';
import type { ConfigFlags } from '../overrides.ts';
import { tlsFilesMax, tlsPaths, tlsPlaceFilesMax, tlsPlacePaths } from './tls-files.ts';

export interface WatchedFile {
  readonly file: string;
  /** Rejects with a ConfigError with all faults. */
  read(): Promise<LoadedConfig>;
  /** How the files stand, when they stand differently than at the last `read`; undefined: as then. */
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
  const modules = evaluatorModules();
  let seen: { readonly files: readonly string[]; readonly stand: string } = { files: [file], stand: '' };
  return {
    file,
    async read() {
      // Before they are read: what is written from here on is a change.
      const files = namedFiles(file, env);
      seen = { files, stand: await standOf(files) };
      return await readConfig({ file, env, evaluators, flags, modules });
    },
    async change() {
      const { files, stand } = seen;
      const now = await standOf(files);
      return now === stand ? undefined : now;
    },
  };
}

/**
 * The file, and those that it names; a file that cannot be read names none. Of each kind there are as many as the sections allow: a configuration
 * that names more is refused, and nothing but another text of its own mends that.
 */
function namedFiles(file: string, env: Environment): readonly string[] {
  const document = documentOf(file, env);
  if (document === undefined || document.broken) return [file];
  const named = [
    evaluatorPaths(document.value).slice(0, evaluatorFilesMax),
    toolPaths(document).slice(0, toolFilesMax),
    tlsPaths(document).slice(0, tlsFilesMax),
    tlsPlacePaths({ file, document, env }).slice(0, tlsPlaceFilesMax),
    driftPaths(document.value).slice(0, driftFilesMax),
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

/** Checks of files that run at the same time. */
const readsAtOnce = 32;

async function standOf(files: readonly string[]): Promise<string> {
  const stands: string[] = [];
  // One after another would take long where there are many, and all at once would keep what the journal writes waiting.
  for (let from = 0; from < files.length; from += readsAtOnce)
    stands.push(...(await Promise.all(files.slice(from, from + readsAtOnce).map(standOfOne))));
  return stands.join('\n');
}

async function standOfOne(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}
