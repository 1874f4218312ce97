/** Reads configuration files within limits, and the tool definitions of the configuration. */
import { closeSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { definitionsMax, readDefinitions } from '../../../collectors/parsing/definitions.ts';
import { asObject, ConfigError, type Finding, listAt, finding } from '../diagnostic.ts';
import type { ConfigDocument } from '../document.ts';
import type { ToolDefinition } from '../../model/agent-trace.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, parseJson } from '../../model/json.ts';

/** A larger file is not a configuration. */
const fileBytesMax = 256 * 1024;

/** Throws a ConfigError when the file is unreadable, too large or not a text. */
export function configFileText(file: string, bytesMax: number = fileBytesMax): string {
  const bytes = fileBytes(file, bytesMax);
  if (bytes.length > bytesMax) throw unusable(file, 'is too large for a configuration', `Keep it within ${bytesMax} bytes.`);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unusable(file, 'is not UTF-8 text', 'Save it as UTF-8.');
  }
}

/** Reads at most one byte more than allowed: a device or a pipe may be endless. */
function fileBytes(file: string, bytesMax: number): Uint8Array {
  try {
    const descriptor = openSync(file, 'r');
    try {
      const buffer = new Uint8Array(bytesMax + 1);
      let length = 0;
      while (length < buffer.length) {
        const read = readSync(descriptor, buffer, length, buffer.length - length, null);
        if (read === 0) break;
        length += read;
      }
      return buffer.subarray(0, length);
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw unusable(file, `cannot be read${code}`, 'Check the path and its permissions.');
  }
}

function unusable(file: string, problem: string, todo: string): ConfigError {
  return new ConfigError([{ file, line: 1, column: 1, key: '', problem, todo, source: '' }]);
}

type ToolFile =
  | { readonly kind: 'read'; readonly definitions: readonly ToolDefinition[] }
  | { readonly kind: 'faulty'; readonly problem: string; readonly todo: string };

/** Files by the path in the configuration. */
export type ToolFiles = ReadonlyMap<string, ToolFile>;

export const toolFilesMax = 100;

/** `file`: path of the configuration. */
export function toolFiles(file: string, document: ConfigDocument): ToolFiles {
  const names = toolPaths(document);
  return new Map(
    names.map((name, nth) => [
      name,
      nth < toolFilesMax
        ? readToolFile(resolve(dirname(file), name))
        : { kind: 'faulty', problem: `exceeds the limit of ${toolFilesMax} files`, todo: 'Write more definitions into one file.' },
    ]),
  );
}

/** The paths in the configuration, each once. */
export function toolPaths(document: ConfigDocument): readonly string[] {
  return document.broken ? [] : [...new Set(entriesOf(document.value).flatMap(fileOf))];
}

/** Faulty files, and tools with two definitions. */
export function toolFindings(value: JsonValue, files: ToolFiles): readonly Finding[] {
  const seen = new Set<string>();
  return entriesOf(value).flatMap((entry, at): readonly Finding[] => {
    const [file] = fileOf(entry);
    const read = definitionsOf(entry, files);
    if (read.kind === 'faulty') return [finding(['tools', at, 'file'], 'value', `${JSON.stringify(file)} ${read.problem}`, read.todo)];
    return read.definitions.flatMap(({ name }): readonly Finding[] => {
      if (!seen.has(name)) {
        seen.add(name);
        return [];
      }
      return [
        finding(
          ['tools', at, file === undefined ? 'name' : 'file'],
          'value',
          `defines ${JSON.stringify(name)} a second time`,
          'Define every tool once.',
        ),
      ];
    });
  });
}

export function toolDefinitions(value: JsonValue, files: ToolFiles): readonly ToolDefinition[] {
  return entriesOf(value).flatMap((entry) => {
    const read = definitionsOf(entry, files);
    return read.kind === 'read' ? read.definitions : [];
  });
}

function definitionsOf(entry: JsonValue, files: ToolFiles): ToolFile {
  const [file] = fileOf(entry);
  if (file === undefined) return { kind: 'read', definitions: isJsonObject(entry) ? written(entry) : [] };
  return files.get(file) ?? { kind: 'faulty', problem: 'was not loaded', todo: 'Give the configuration as a file.' };
}

function written(entry: JsonObject): readonly ToolDefinition[] {
  const [name, description, inputSchema] = [member(entry, 'name'), member(entry, 'description'), member(entry, 'input_schema')];
  if (typeof name !== 'string') return [];
  return [
    {
      name,
      ...(typeof description === 'string' && description !== '' ? { description } : {}),
      ...(inputSchema === undefined ? {} : { inputSchema }),
    },
  ];
}

const formTodo = 'Write a JSON list of definitions: { "name", "description", "input_schema" }, or in the form for the model.';

function readToolFile(path: string): ToolFile {
  try {
    const value = parseJson(configFileText(path).replace(/^\uFEFF/, ''));
    if (value === undefined) return { kind: 'faulty', problem: 'is not JSON', todo: formTodo };
    if (!isJsonArray(value)) return { kind: 'faulty', problem: 'is not a list', todo: formTodo };
    if (value.length > definitionsMax)
      return { kind: 'faulty', problem: `has more than ${definitionsMax} definitions`, todo: 'Leave some out.' };
    const wrong = value.findIndex((item) => !isJsonObject(item) || readDefinitions([item]).length === 0);
    return wrong < 0
      ? { kind: 'read', definitions: readDefinitions(value) }
      : { kind: 'faulty', problem: `has an item that is not a definition (number ${wrong + 1})`, todo: formTodo };
  } catch (error) {
    const fault = error instanceof ConfigError ? error.faults[0] : undefined;
    if (fault === undefined) throw error;
    return { kind: 'faulty', problem: fault.problem, todo: fault.todo };
  }
}

function entriesOf(value: JsonValue): readonly JsonValue[] {
  return listAt(asObject(value), 'tools');
}

function fileOf(entry: JsonValue): readonly string[] {
  const file = isJsonObject(entry) ? member(entry, 'file') : undefined;
  return typeof file === 'string' ? [file] : [];
}
