/**
 * The configuration as a file that is read more than once, with the files that it names. Whether any of them has changed is told by what the
 * file system says of them, links followed: it does not matter whether an editor writes into a file, puts another one in its place, or a link
 * on the way is turned to another folder.
 */
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { AnyEvaluator } from '../../evaluators/evaluator.ts';
import { parseConfigText } from './document.ts';
import { driftPaths } from './drift-files.ts';
import { evaluatorPaths } from './evaluator-files.ts';
import { evaluatorModules } from './evaluator-modules.ts';
import { configFileText } from './file.ts';
import { readConfig, type LoadedConfig } from './load.ts';
import type { Environment } from './substitution.ts';
import { tlsPaths } from './tls-files.ts';
import { tlsPlacePaths } from './tls-places.ts';
import { toolPaths } from './tool-files.ts';

export interface WatchedFile {
  readonly file: string;
  /** Rejects with a ConfigError with all faults. */
  read(): Promise<LoadedConfig>;
  /** How the files stand, when they stand differently than at the last `read`; undefined: as then. */
  change(): Promise<string | undefined>;
}

export function watchedFile({ file, env, evaluators }: { readonly file: string; readonly env: Environment; readonly evaluators: readonly AnyEvaluator[] }): WatchedFile {
  const modules = evaluatorModules();
  let seen: { readonly files: readonly string[]; readonly stand: string } = { files: [file], stand: '' };
  return {
    file,
    async read() {
      // Before they are read: what is written from here on is a change.
      const files = namedFiles(file, env);
      seen = { files, stand: await standOf(files) };
      return await readConfig({ file, env, evaluators, modules });
    },
    async change() {
      const { files, stand } = seen;
      const now = await standOf(files);
      return now === stand ? undefined : now;
    },
  };
}

/** The file, and those that it names; a file that cannot be read names none. */
function namedFiles(file: string, env: Environment): readonly string[] {
  const document = documentOf(file, env);
  if (document === undefined || document.broken) return [file];
  const named = [...evaluatorPaths(document.value), ...toolPaths(document), ...tlsPaths(document), ...tlsPlacePaths({ file, document, env }), ...driftPaths(document.value)];
  return [...new Set([file, ...named.slice(0, filesMax).map((path) => resolve(dirname(file), path))])];
}

/** As many as the sections allow. */
const filesMax = 300;

function documentOf(file: string, env: Environment): ReturnType<typeof parseConfigText> | undefined {
  try {
    return parseConfigText(configFileText(file), env);
  } catch {
    return undefined;
  }
}

async function standOf(files: readonly string[]): Promise<string> {
  return (await Promise.all(files.map(standOfOne))).join('\n');
}

async function standOfOne(file: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
  }
}
