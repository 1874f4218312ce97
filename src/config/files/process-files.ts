/** Reads the process models that entries of `evaluators` name: `options: { model: ./support.json }`. */
import { dirname, resolve } from 'node:path';
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { isJsonObject, member, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import { asObject, ConfigError, finding, type Finding, listAt, type Path, withMember } from '../diagnostic.ts';
import type { ConfigDocument } from '../document.ts';
import { entryOf } from '../entries/evaluator-entry.ts';
import { configFileText } from './tool-files.ts';

interface ProcessPlaces {
  readonly file: string;
  readonly document: ConfigDocument;
  readonly evaluators: readonly AnyEvaluator[];
}

type ProcessFile =
  | { readonly kind: 'read'; readonly model: JsonObject }
  | { readonly kind: 'faulty'; readonly problem: string; readonly todo: string };

/** Files by the path in the configuration. */
export type ProcessFiles = ReadonlyMap<string, ProcessFile>;

/** A model at all its limits has about a megabyte. */
const fileBytesMax = 4 * 1024 * 1024;
export const processFilesMax = 50;
const formTodo = 'Write the answer of GET /api/v1/processes/{agent}/{version} into the file.';

/** `file`: path of the configuration. */
export function processFiles({ file, document, evaluators }: ProcessPlaces): ProcessFiles {
  const names = document.broken ? [] : processPaths(document.value, evaluators);
  return new Map(
    names.map((name, nth) => [
      name,
      nth < processFilesMax
        ? readProcessFile(resolve(dirname(file), name))
        : { kind: 'faulty', problem: `exceeds the limit of ${processFilesMax} models`, todo: 'Let evaluators share some.' },
    ]),
  );
}

/** The paths in the configuration, each once. */
export function processPaths(value: JsonValue, evaluators: readonly AnyEvaluator[]): readonly string[] {
  return [...new Set(modelsNamed(value, evaluators).map(({ name }) => name))];
}

/** Puts each model in the place of its path; a path that was not read stays, with a finding. */
export function withProcessModels(
  value: JsonValue,
  files: ProcessFiles,
  evaluators: readonly AnyEvaluator[],
): { readonly value: JsonValue; readonly findings: readonly Finding[] } {
  const named = modelsNamed(value, evaluators);
  if (named.length === 0) return { value, findings: [] };
  const findings = named.flatMap(({ name, path }): readonly Finding[] => {
    const read = files.get(name) ?? { kind: 'faulty', problem: 'was not loaded', todo: 'Give the configuration as a file.' };
    return read.kind === 'read' ? [] : [finding(path, 'value', `${JSON.stringify(name)} ${read.problem}`, read.todo)];
  });
  const entries = listAt(asObject(value), 'evaluators').map((entry) => withModel(entry, files, evaluators));
  return { value: withMember(asObject(value), 'evaluators', entries), findings };
}

function withModel(entry: JsonValue, files: ProcessFiles, evaluators: readonly AnyEvaluator[]): JsonValue {
  const name = modelName(entry, evaluators);
  const read = name === undefined ? undefined : files.get(name);
  if (read?.kind !== 'read' || !isJsonObject(entry)) return entry;
  return withMember(entry, 'options', withMember(asObject(member(entry, 'options')), 'model', read.model));
}

interface NamedModel {
  readonly name: string;
  readonly path: Path;
}

function modelsNamed(value: JsonValue, evaluators: readonly AnyEvaluator[]): readonly NamedModel[] {
  return listAt(asObject(value), 'evaluators').flatMap((entry, at) => {
    const name = modelName(entry, evaluators);
    return name === undefined ? [] : [{ name, path: ['evaluators', at, 'options', 'model'] }];
  });
}

function modelName(entry: JsonValue, evaluators: readonly AnyEvaluator[]): string | undefined {
  const written = entryOf(entry);
  if (!evaluators.some(({ id, learns }) => learns !== undefined && id === member(written, 'use'))) return undefined;
  const name = member(asObject(member(written, 'options')), 'model');
  return typeof name === 'string' ? name : undefined;
}

/** The API's answer has the model beside its agent and version; a bare model is accepted as well. */
function readProcessFile(path: string): ProcessFile {
  try {
    const value = parseJson(configFileText(path, fileBytesMax).replace(/^\uFEFF/, ''));
    if (!isJsonObject(value)) return { kind: 'faulty', problem: 'is not a JSON object', todo: formTodo };
    const inner = member(value, 'model');
    return { kind: 'read', model: isJsonObject(inner) ? inner : value };
  } catch (error) {
    const fault = error instanceof ConfigError ? error.faults[0] : undefined;
    if (fault === undefined) throw error;
    return { kind: 'faulty', problem: fault.problem, todo: fault.todo };
  }
}
