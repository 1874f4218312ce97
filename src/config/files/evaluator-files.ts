/** Loads evaluators from files: `use: ./my-evaluator.ts`, relative to the configuration. The loader imports them before the check. */
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile, realpath } from 'node:fs/promises';
import { dirname, extname, resolve } from 'node:path';
import { setTimeout as sleepFor } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import type { AnyEvaluator, Need } from '../../../evaluators/evaluator.ts';
import { expectedParts } from '../../../evaluators/expectation/expectation.ts';
import { schemaProblem } from '../checks/check.ts';
import { asObject, type Finding, listAt, finding, ownMembers } from '../diagnostic.ts';
import type { ConfigDocument } from '../document.ts';
import { configSchema } from '../schema.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../../model/json.ts';

type ModuleEvaluator =
  | { readonly kind: 'found'; readonly evaluator: AnyEvaluator }
  | { readonly kind: 'faulty'; readonly problem: string; readonly todo: string };

/** A module's exports by name, as `import` gives them. */
type ModuleExports = { readonly [name: string]: unknown };

const idLengthMax = 100;
/** In one message. */
const namesMax = 10;
const needs: { readonly [need in Need]: true } = {
  tool_calls: true,
  tool_definitions: true,
  tool_results: true,
  input: true,
  final_response: true,
  expected_tool_calls: true,
  expected_tool_outputs: true,
  expected_tool_counts: true,
  expected_tool_order: true,
  expected_messages: true,
  expected_output: true,
  expected_context: true,
  search_text: true,
  documents: true,
  tokens: true,
  times: true,
  tasks: true,
};

/** The evaluator of a module, or all its faults. `table`: other evaluators, whose ids are taken. An error of a getter is a fault of the module. */
function moduleEvaluator(exports: ModuleExports, table: readonly AnyEvaluator[]): ModuleEvaluator {
  try {
    const named = Object.entries(exports).filter(([name, value]) => name !== 'default' && resemblesEvaluator(value));
    const [only, second] = named;
    if (only === undefined) return absent(exports);
    if (second !== undefined)
      return faulty(
        `exports several evaluators: ${named
          .slice(0, namesMax)
          .map(([name]) => name)
          .join(', ')}`,
        'Keep one evaluator in a file.',
      );
    const candidate = only[1] as ModuleExports;
    const problems = [...dataProblems(candidate, table), ...functionProblems(candidate)];
    const all = problems.length > 0 ? problems : schemaProblems(candidate, table);
    return all.length === 0
      ? { kind: 'found', evaluator: candidate as unknown as AnyEvaluator }
      : faulty(`exports ${only[0]}, which is not an evaluator: ${all.join('; ')}`, contractTodo);
  } catch (error) {
    return faulty(`exports something unreadable: ${error instanceof Error ? error.name : 'an error'}`, contractTodo);
  }
}

const contractTodo = 'See docs/guides/custom-evaluators.md.';

function faulty(problem: string, todo: string): ModuleEvaluator {
  return { kind: 'faulty', problem, todo };
}

function absent(exports: ModuleExports): ModuleEvaluator {
  if (resemblesEvaluator(exports['default']))
    return faulty('exports its evaluator as default', 'Export it by a name: export const myEvaluator = { … }.');
  const names = Object.keys(exports).slice(0, namesMax).join(', ');
  return faulty(
    `exports no evaluator${names === '' ? '' : `, only ${names}`}`,
    'Export one object with kind, id and evaluate: see docs/guides/custom-evaluators.md.',
  );
}

function resemblesEvaluator(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'kind' in value && 'id' in value && 'evaluate' in value;
}

function dataProblems(candidate: ModuleExports, table: readonly AnyEvaluator[]): readonly string[] {
  const { id, kind, target, version, summary, source, onByDefault, defaultThreshold, defaults, optionsSchema, expectationSchema } =
    candidate;
  const isId = typeof id === 'string' && /^[a-z][a-z0-9]*(?:_[a-z0-9]+)*$/.test(id) && id.length <= idLengthMax;
  const isThreshold = defaultThreshold === null || (typeof defaultThreshold === 'number' && defaultThreshold >= 0 && defaultThreshold <= 1);
  return [
    ...(kind === 'rule' || kind === 'judge' ? [] : ['kind must be rule or judge']),
    ...(target === undefined || (target === 'session' && kind === 'judge') ? [] : ['target may be session, of a judge, or is left out']),
    ...(isId ? [] : ['id must be written in snake_case']),
    ...(isId && others(table, candidate).some((member) => member.id === id) ? [`another evaluator has the id ${id} already`] : []),
    ...(typeof version === 'number' && Number.isSafeInteger(version) && version > 0 ? [] : ['version must be a whole number from 1']),
    ...['summary', 'source'].flatMap((key) =>
      typeof { summary, source }[key as 'summary' | 'source'] === 'string' ? [] : [`${key} must be a text`],
    ),
    ...(typeof onByDefault === 'boolean' ? [] : ['onByDefault must be true or false']),
    ...(isThreshold ? [] : ['defaultThreshold must be a number from 0 to 1, or null']),
    ...needProblems(candidate['needs']),
    ...(isJsonObject(defaults) && isJson(defaults) ? [] : ['defaults must be an object of JSON values']),
    ...(isJsonObject(optionsSchema) && isJson(optionsSchema) ? [] : ['optionsSchema must be a JSON Schema']),
    ...switchProblems(candidate['switchedOnBy']),
    ...(expectationSchema === undefined || (isJsonObject(expectationSchema) && isJson(expectationSchema))
      ? []
      : ['expectationSchema must be a JSON Schema']),
  ];
}

function switchProblems(given: unknown): readonly string[] {
  if (given === undefined) return [];
  const known: readonly string[] = expectedParts;
  if (
    isJsonObject(given) &&
    Object.entries(given).every(([part, options]) => known.includes(part) && isJsonObject(options) && isJson(options))
  )
    return [];
  return [`switchedOnBy must give options by the names ${known.join(', ')}`];
}

function needProblems(given: unknown): readonly string[] {
  if (!Array.isArray(given)) return ['needs must be a list'];
  const unknown = given.some((need) => typeof need !== 'string' || !Object.hasOwn(needs, need));
  return unknown ? [`needs may name ${Object.keys(needs).join(', ')}`] : [];
}

function functionProblems({ kind, evaluate, evaluateWithJudge, checks }: ModuleExports): readonly string[] {
  const isGenerator = kindOfFunction(evaluate) === 'GeneratorFunction';
  const wrongEvaluate = kind === 'judge' ? !isGenerator : kindOfFunction(evaluate) !== 'Function';
  return [
    ...(wrongEvaluate
      ? [
          kind === 'judge'
            ? 'evaluate of a judge must be a generator function (function*)'
            : 'evaluate of a rule must be a plain function, not async',
        ]
      : []),
    ...(checks === undefined || kindOfFunction(checks) === 'Function' ? [] : ['checks must be a plain function']),
    ...(evaluateWithJudge === undefined || kindOfFunction(evaluateWithJudge) === 'GeneratorFunction'
      ? []
      : ['evaluateWithJudge must be a generator function (function*)']),
  ];
}

function kindOfFunction(value: unknown): string | undefined {
  return typeof value === 'function' ? Object.prototype.toString.call(value).slice('[object '.length, -1) : undefined;
}

/** Two paths may lead to one module. */
function others(table: readonly AnyEvaluator[], candidate: unknown): readonly AnyEvaluator[] {
  return table.filter((member) => member !== candidate);
}

/** The schemas of the evaluator must compile as parts of the configuration schema. */
function schemaProblems(candidate: ModuleExports, table: readonly AnyEvaluator[]): readonly string[] {
  const { optionsSchema, expectationSchema } = candidate;
  if (JSON.stringify([optionsSchema, expectationSchema]).includes('"$id"')) return ['its schemas must not carry $id'];
  const problem = schemaProblem(configSchema([...others(table, candidate), candidate as unknown as AnyEvaluator]));
  return problem === undefined ? [] : [`its schemas do not compile: ${problem.slice(0, 200)}`];
}

/** `true` for values that survive a JSON round trip: no functions, dates, cycles. */
function isJson(value: unknown): boolean {
  try {
    const text = JSON.stringify(value);
    return text !== undefined && sameShape(JSON.parse(text), value);
  } catch {
    return false;
  }
}

function sameShape(read: unknown, given: unknown): boolean {
  if (typeof given !== 'object' || given === null) return read === given;
  if (typeof read !== 'object' || read === null || Array.isArray(read) !== Array.isArray(given)) return false;
  const [left, right] = [Object.entries(read), Object.entries(given)];
  return (
    left.length === right.length &&
    left.every(([key, value]) => Object.hasOwn(given, key) && sameShape(value, (given as ModuleExports)[key]))
  );
}

interface LoadedModule {
  readonly exports: ModuleExports;
  /** Fingerprint of the file's content. */
  readonly print: string;
}

export interface EvaluatorModules {
  /** Rejects with what the module throws, or a TooManyVersions. */
  load(path: string): Promise<LoadedModule>;
}

/** A module of 5 kB takes 9 kB of memory for the life of the process. */
const versionsMaxDefault = 500;

export class TooManyVersions extends Error {
  constructor() {
    super('too many versions of modules are loaded');
    this.name = 'TooManyVersions';
  }
}

/** Node keeps every module under its URL for good: a changed file is loaded under another URL, within the bound. */
export function evaluatorModules({ versionsMax = versionsMaxDefault }: { readonly versionsMax?: number } = {}): EvaluatorModules {
  /** Modules by path and fingerprint. */
  const known = new Map<string, LoadedModule>();
  const loads = new Map<string, number>();
  let versions = 0;

  async function loaded(path: string, print: string): Promise<LoadedModule> {
    if (versions >= versionsMax) throw new TooManyVersions();
    versions++;
    const nth = (loads.get(path) ?? 0) + 1;
    loads.set(path, nth);
    const url = pathToFileURL(path);
    // The first load keeps the plain URL.
    if (nth > 1) url.searchParams.set('version', String(nth));
    const exports = (await import(url.href)) as ModuleExports;
    // The file changed meanwhile: Node may have read either version. The next check reads the new one.
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

/** Evaluators by the path in the configuration. */
export type EvaluatorFiles = ReadonlyMap<string, FileEvaluator>;

/** `print`: fingerprint of the file's content. */
type FileEvaluator = ModuleEvaluator & { readonly print?: string };

interface EvaluatorFilesOptions {
  /** Path of the configuration. */
  readonly file: string;
  readonly document: ConfigDocument;
  readonly evaluators: readonly AnyEvaluator[];
  /** Longest time of an import: a module may wait at its top level. */
  readonly importMs?: number;
  /** Loaded modules, for a configuration that is read more than once. */
  readonly modules?: EvaluatorModules;
}

export const evaluatorFilesMax = 100;
const importMsDefault = 10_000;
const endings: readonly string[] = ['.ts', '.mts', '.js', '.mjs'];
/** Only messages about code are quoted: an error of the module may contain anything. */
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
  // In order: the second evaluator with an id is at fault.
  for (const [nth, use] of written.entries()) {
    const read: FileEvaluator =
      nth < evaluatorFilesMax
        ? await fileEvaluator(resolve(dirname(file), use), { known, importMs, modules })
        : { kind: 'faulty', problem: `exceeds the limit of ${evaluatorFilesMax} files`, todo: 'Leave some out.' };
    if (read.kind === 'found') known.push(read.evaluator);
    found.set(use, read);
  }
  return found;
}

/** The paths in the configuration, each once. */
export function evaluatorPaths(value: JsonValue): readonly string[] {
  return [...new Set(usesOf(value).map(({ use }) => use))];
}

/** Built-in evaluators, then those of files. */
export function allEvaluators(evaluators: readonly AnyEvaluator[], files: EvaluatorFiles): readonly AnyEvaluator[] {
  return [...new Set([...evaluators, ...[...files.values()].flatMap((read) => (read.kind === 'found' ? [read.evaluator] : []))])];
}

/** Replaces each valid file by the id of its evaluator, and reports the others. */
export function withEvaluatorIds(
  value: JsonValue,
  files: EvaluatorFiles,
): { readonly value: JsonValue; readonly findings: readonly Finding[] } {
  const findings = usesOf(value).flatMap(({ use, at }): readonly Finding[] => {
    const read = files.get(use) ?? ({ kind: 'faulty', problem: 'was not loaded', todo: 'Give the configuration as a file.' } as const);
    return read.kind === 'found' ? [] : [finding(['evaluators', at, 'use'], 'value', `${JSON.stringify(use)} ${read.problem}`, read.todo)];
  });
  const ids = new Map([...files].flatMap(([use, read]) => (read.kind === 'found' ? [[use, read.evaluator.id] as const] : [])));
  return { value: withUses(value, ids), findings };
}

/** Restores the paths for `config print`. */
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
      problem: 'is not a module',
      todo: `Name a module that ends in ${endings.join(', ')}.`,
    };
  if (statSync(path, { throwIfNoEntry: false })?.isFile() !== true)
    return { kind: 'faulty', problem: 'does not exist', todo: 'The path is relative to the folder of the configuration.' };
  const settled = new AbortController();
  const late = sleepFor(importMs, 'late' as const, { signal: settled.signal }).catch(() => 'late' as const);
  try {
    const module = await Promise.race([modules.load(path), late]);
    if (module === 'late')
      return {
        kind: 'faulty',
        problem: `did not finish loading within ${importMs / 1_000} s`,
        todo: 'Do not wait at the top level of the module.',
      };
    return { ...moduleEvaluator(module.exports, known), print: module.print };
  } catch (error) {
    if (error instanceof TooManyVersions)
      return {
        kind: 'faulty',
        problem: 'was not loaded, because Node has loaded too many versions of modules',
        todo: 'Restart the service.',
      };
    return {
      kind: 'faulty',
      problem: `cannot be loaded: ${reasonOf(error)}`,
      todo: 'Run it with Node to see the place. Node strips types: use no enums, and import files with their extension.',
    };
  } finally {
    settled.abort();
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'it threw a value that is not an error';
  const speaksOfCode = error instanceof SyntaxError || ('code' in error && typeof error.code === 'string' && error.code.startsWith('ERR_'));
  return speaksOfCode ? `${error.name}: ${(error.message.split('\n')[0] ?? '').slice(0, messageLengthMax)}` : error.name;
}
