/** Tool definitions of the configuration: those that stand in it, and those of JSON files that it names, relative to its own folder. */
import { dirname, resolve } from 'node:path';
import { definitionsMax, readDefinitions } from '../../../collectors/parsing/definitions.ts';
import type { ToolDefinition } from '../../model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { ConfigDocument } from '../document.ts';
import { ConfigError, type Finding } from '../diagnostic.ts';
import { configFileText } from './file.ts';
import { asObject, listAt } from '../partial-value.ts';

type ToolFile =
  | { readonly kind: 'read'; readonly definitions: readonly ToolDefinition[] }
  | { readonly kind: 'faulty'; readonly problem: string; readonly todo: string };

/** What each file gave, by its path as it is written in the configuration. */
export type ToolFiles = ReadonlyMap<string, ToolFile>;

export const toolFilesMax = 100;

/** `file` is the configuration's own path. */
export function toolFiles(file: string, document: ConfigDocument): ToolFiles {
  const names = toolPaths(document);
  return new Map(
    names.map((name, nth) => [
      name,
      nth < toolFilesMax
        ? readToolFile(resolve(dirname(file), name))
        : { kind: 'faulty', problem: `is one file too many: there may be ${toolFilesMax}`, todo: 'Write more definitions into one file.' },
    ]),
  );
}

/** As they are written, each once. */
export function toolPaths(document: ConfigDocument): readonly string[] {
  return document.broken ? [] : [...new Set(entriesOf(document.value).flatMap(fileOf))];
}

/** Files that cannot be used, and tools that are defined twice. */
export function toolFindings(value: JsonValue, files: ToolFiles): readonly Finding[] {
  const seen = new Set<string>();
  return entriesOf(value).flatMap((entry, at): readonly Finding[] => {
    const [file] = fileOf(entry);
    const read = definitionsOf(entry, files);
    if (read.kind === 'faulty')
      return [{ path: ['tools', at, 'file'], at: 'value', problem: `${JSON.stringify(file)} ${read.problem}`, todo: read.todo }];
    return read.definitions.flatMap(({ name }): readonly Finding[] => {
      if (!seen.has(name)) {
        seen.add(name);
        return [];
      }
      return [
        {
          path: ['tools', at, file === undefined ? 'name' : 'file'],
          at: 'value',
          problem: `defines ${JSON.stringify(name)} a second time`,
          todo: 'Define every tool once.',
        },
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

const formTodo = 'Write a JSON list of definitions: { "name", "description", "input_schema" }, or as they are sent to the model.';

function readToolFile(path: string): ToolFile {
  try {
    const value = parseJson(configFileText(path).replace(/^\uFEFF/, ''));
    if (value === undefined) return { kind: 'faulty', problem: 'is not JSON', todo: formTodo };
    if (!isJsonArray(value)) return { kind: 'faulty', problem: 'holds no list', todo: formTodo };
    if (value.length > definitionsMax)
      return { kind: 'faulty', problem: `holds more than ${definitionsMax} definitions`, todo: 'Leave some out.' };
    const wrong = value.findIndex((item) => !isJsonObject(item) || readDefinitions([item]).length === 0);
    return wrong < 0
      ? { kind: 'read', definitions: readDefinitions(value) }
      : { kind: 'faulty', problem: `holds something else than a definition as item ${wrong + 1}`, todo: formTodo };
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
