/** Evaluators from files: `use: ./my-evaluator.ts`, with the path relative to the configuration. They are imported before it is checked. */
import { statSync } from 'node:fs';
import { dirname, extname, resolve } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { ConfigDocument } from '../document.ts';
import { moduleEvaluator, type ModuleEvaluator } from './evaluator-module.ts';
import { evaluatorModules, TooManyVersions, type EvaluatorModules } from './evaluator-modules.ts';
import type { Finding } from '../diagnostic.ts';
import { asObject, listAt } from '../partial-value.ts';
import { ownMembers } from '../schema.ts';

/** What each file gave, by its path as it is written in the configuration. */
export type EvaluatorFiles = ReadonlyMap<string, FileEvaluator>;

/** `print`: fingerprint of the file's content. */
export type FileEvaluator = ModuleEvaluator & { readonly print?: string };

export interface EvaluatorFilesOptions {
  /** Of the configuration. */
  readonly file: string;
  readonly document: ConfigDocument;
  readonly evaluators: readonly AnyEvaluator[];
  /** How long a module may take; it may wait for something at its top. */
  readonly importMs?: number;
  /** Where a configuration is read more than once: what has been loaded so far. */
  readonly modules?: EvaluatorModules;
}

export const evaluatorFilesMax = 100;
const importMsDefault = 10_000;
const endings: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];
/** A message is quoted only where it speaks of the code: what a module throws itself may hold anything. */
const messageLengthMax = 200;

export async function evaluatorFiles({
  file,
  document,
  evaluators,
  importMs = importMsDefault,
  modules = evaluatorModules(),
}: EvaluatorFilesOptions): Promise<EvaluatorFiles> {
  const found = new Map<string, FileEvaluator>();
  const known: AnyEvaluator[] = [...evaluators];
  const written = document.broken ? [] : evaluatorPaths(document.value);
  // One after another: the second of two with one id is at fault.
  for (const [nth, use] of written.entries()) {
    const read: FileEvaluator =
      nth < evaluatorFilesMax
        ? await fileEvaluator(resolve(dirname(file), use), { known, importMs, modules })
        : { kind: 'faulty', problem: `is one file too many: there may be ${evaluatorFilesMax}`, todo: 'Leave some out.' };
    if (read.kind === 'found') known.push(read.evaluator);
    found.set(use, read);
  }
  return found;
}

/** As they are written, each once. */
export function evaluatorPaths(value: JsonValue): readonly string[] {
  return [...new Set(usesOf(value).map(({ use }) => use))];
}

/** The files' evaluators behind those of the table. */
export function allEvaluators(evaluators: readonly AnyEvaluator[], files: EvaluatorFiles): readonly AnyEvaluator[] {
  return [...new Set([...evaluators, ...[...files.values()].flatMap((read) => (read.kind === 'found' ? [read.evaluator] : []))])];
}

/** The value of a configuration, every usable file replaced by the id of its evaluator, and what is wrong with the others. */
export function withEvaluatorIds(
  value: JsonValue,
  files: EvaluatorFiles,
): { readonly value: JsonValue; readonly findings: readonly Finding[] } {
  const findings = usesOf(value).flatMap(({ use, at }): readonly Finding[] => {
    const read = files.get(use) ?? ({ kind: 'faulty', problem: 'was not loaded', todo: 'Give the configuration as a file.' } as const);
    return read.kind === 'found'
      ? []
      : [{ path: ['evaluators', at, 'use'], at: 'value', problem: `${JSON.stringify(use)} ${read.problem}`, todo: read.todo }];
  });
  const ids = new Map([...files].flatMap(([use, read]) => (read.kind === 'found' ? [[use, read.evaluator.id] as const] : [])));
  return { value: withUses(value, ids), findings };
}

/** The way back, for `config print`. */
export function withEvaluatorPaths(value: JsonObject, files: EvaluatorFiles): JsonValue {
  return withUses(value, new Map([...files].flatMap(([use, read]) => (read.kind === 'found' ? [[read.evaluator.id, use] as const] : []))));
}

function usesOf(value: JsonValue): readonly { readonly use: string; readonly at: number }[] {
  return listAt(asObject(value), 'evaluators').flatMap((entry, at) => {
    const use = isJsonObject(entry) ? member(entry, 'use') : undefined;
    return typeof use === 'string' && /^\.{0,2}\//.test(use) ? [{ use, at }] : [];
  });
}

function withUses(value: JsonValue, names: ReadonlyMap<string, string>): JsonValue {
  const list = isJsonObject(value) ? member(value, 'evaluators') : undefined;
  if (!isJsonObject(value) || !isJsonArray(list) || names.size === 0) return value;
  const evaluators = list.map((entry) => {
    const use = isJsonObject(entry) ? member(entry, 'use') : undefined;
    const name = typeof use === 'string' ? names.get(use) : undefined;
    return isJsonObject(entry) && name !== undefined ? ownMembers(Object.entries({ ...entry, use: name })) : entry;
  });
  return ownMembers(Object.entries({ ...value, evaluators }));
}

async function fileEvaluator(
  path: string,
  { known, importMs, modules }: { readonly known: readonly AnyEvaluator[]; readonly importMs: number; readonly modules: EvaluatorModules },
): Promise<FileEvaluator> {
  if (!endings.includes(extname(path)))
    return {
      kind: 'faulty',
      problem: 'is no file that can be loaded',
      todo: `Write an evaluator as a module that ends in ${endings.join(', ')}.`,
    };
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    return { kind: 'faulty', problem: 'is not there', todo: 'The path counts from the folder of the configuration.' };
  const settled = new AbortController();
  const late = sleepFor(importMs, 'late' as const, { signal: settled.signal }).catch(() => 'late' as const);
  try {
    const module = await Promise.race([modules.load(path), late]);
    if (module === 'late')
      return {
        kind: 'faulty',
        problem: `did not finish loading within ${importMs / 1_000} s`,
        todo: 'Let it wait for nothing at its top.',
      };
    return { ...moduleEvaluator(module.exports, known), print: module.print };
  } catch (error) {
    if (error instanceof TooManyVersions)
      return {
        kind: 'faulty',
        problem: 'was not loaded, because modules have been loaded too often: Node keeps each version',
        todo: 'Restart the service.',
      };
    return {
      kind: 'faulty',
      problem: `cannot be loaded: ${reasonOf(error)}`,
      todo: 'Run it with Node by itself to see where. Types are stripped, not compiled: no enums, and imports name the file with its ending.',
    };
  } finally {
    settled.abort();
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it threw something that is no error';
  const speaksOfCode = error instanceof SyntaxError || ('code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_'));
  return speaksOfCode ? `${error.name}: ${(error.message.split('\n')[0] ?? '').slice(0, messageLengthMax)}` : error.name;
}
