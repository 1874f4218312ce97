/**
 * Evaluators' modules as a process loads them. Node keeps every module that it has loaded for good, under its URL: a file is loaded anew,
 * under another URL, when it says something else than before, and as often as the bound allows.
 */
import { createHash } from 'node:crypto';
import { readFile, realpath } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import type { ModuleExports } from './evaluator-module.ts';

export interface LoadedModule {
  readonly exports: ModuleExports;
  /** Fingerprint of the file's content. */
  readonly print: string;
}

export interface EvaluatorModules {
  /** Rejects with what the module throws, or a TooManyVersions. */
  load(path: string): Promise<LoadedModule>;
}

/** Modules that may be loaded. One of five kilobytes takes nine, for good. */
export const versionsMaxDefault = 500;

export class TooManyVersions extends Error {
  constructor() {
    super('too many versions of modules are loaded');
    this.name = 'TooManyVersions';
  }
}

export function evaluatorModules({ versionsMax = versionsMaxDefault }: { readonly versionsMax?: number } = {}): EvaluatorModules {
  /** By path and print. */
  const known = new Map<string, LoadedModule>();
  const loads = new Map<string, number>();
  let versions = 0;

  async function loaded(path: string, print: string): Promise<LoadedModule> {
    if (versions >= versionsMax) throw new TooManyVersions();
    versions++;
    const nth = (loads.get(path) ?? 0) + 1;
    loads.set(path, nth);
    const url = pathToFileURL(path);
    // The first one keeps its plain name, as in a process that reads its configuration once.
    if (nth > 1) url.searchParams.set('version', String(nth));
    const exports = (await import(url.href)) as ModuleExports;
    // Written meanwhile: Node may have read either. The next check of the file reads its new content.
    if ((await printOf(path)) !== print) return { exports, print: `${print} or later` };
    const module = { exports, print };
    known.set(`${path} ${print}`, module);
    return module;
  }

  return {
    async load(file) {
      const path = await realpath(file);
      const print = await printOf(path);
      return known.get(`${path} ${print}`) ?? (await loaded(path, print));
    },
  };
}

async function printOf(path: string): Promise<string> {
  return createHash('sha256')
    .update(await readFile(path))
    .digest('base64');
}
