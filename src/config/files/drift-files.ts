/** Reads the datasets of drift measurements: JSON lines with one run a line, as `tracejury judge check` reads them. */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { givenTraces, runOfTrace } from '../../library/given-traces.ts';
import type { Run } from '../../model/agent-trace.ts';
import { JuryError } from '../../model/errors.ts';
import { isJsonArray, isJsonObject, member, parseJson, type JsonValue } from '../../model/json.ts';
import type { ConfigDocument } from '../document.ts';
import { entryOf } from '../entries/evaluator-entry.ts';
import { asObject, type ConfigFault, listAt, type Path, pathText } from '../diagnostic.ts';

/** A fault of a line, or of the whole file. */
interface LineFault {
  /** Line number from 1. */
  readonly line: number;
  readonly problem: string;
  readonly todo: string;
}

type DriftFile =
  | { readonly kind: 'read'; readonly runs: readonly Run[]; readonly print: string }
  | { readonly kind: 'faulty'; readonly path: string; readonly faults: readonly LineFault[] };

/** Files by the path in the configuration. */
export type DriftFiles = ReadonlyMap<string, DriftFile>;

/** Each measurement asks about each run. */
export const driftRunsMax = 500;
const fileBytesMax = 16 * 1024 * 1024;
export const driftFilesMax = 50;
/** In one report of a file. */
const faultsMax = 20;
const formTodo =
  'Write one run a line, as tracejury judge check reads them: {"input": …, "final_response": …}, with tool_calls or messages.';

/** `file`: path of the configuration. */
export function driftFiles(file: string, document: ConfigDocument): DriftFiles {
  const names = document.broken ? [] : driftPaths(document.value);
  return new Map(
    names.map((name, nth) => [
      name,
      nth < driftFilesMax
        ? readDriftFile(resolve(dirname(file), name))
        : faulty(name, [{ line: 1, problem: `exceeds the limit of ${driftFilesMax} datasets`, todo: 'Let evaluators share some.' }]),
    ]),
  );
}

/** The paths in the configuration, each once. */
export function driftPaths(value: JsonValue): readonly string[] {
  return [...new Set(driftEntries(value).map(({ dataset }) => dataset))];
}

/** Messages never quote lines of datasets, which contain text of runs. */
export function driftFaults(value: JsonValue, files: DriftFiles): readonly ConfigFault[] {
  const seen = new Set<string>();
  return driftEntries(value).flatMap(({ path, dataset }) => {
    const read = files.get(dataset) ?? faulty(dataset, [{ line: 1, problem: 'was not loaded', todo: 'Give the configuration as a file.' }]);
    if (read.kind === 'read' || seen.has(dataset)) return [];
    seen.add(dataset);
    return read.faults.map(({ line, problem, todo }) => ({
      file: read.path,
      line,
      column: 1,
      key: pathText(path),
      problem,
      todo,
      source: '',
    }));
  });
}

interface DriftEntry {
  readonly path: Path;
  readonly dataset: string;
}

function driftEntries(value: JsonValue): readonly DriftEntry[] {
  return listAt(asObject(value), 'evaluators').flatMap((entry, at) => {
    const drift = member(entryOf(entry), 'drift');
    const dataset = isJsonObject(drift) ? member(drift, 'dataset') : undefined;
    return typeof dataset === 'string' ? [{ path: ['evaluators', at, 'drift', 'dataset'], dataset }] : [];
  });
}

function readDriftFile(path: string): DriftFile {
  const text = textOf(path);
  return typeof text === 'string' ? readRuns(path, text) : faulty(path, [{ line: 1, ...text }]);
}

function readRuns(path: string, text: string): DriftFile {
  const runs = new Map<string, { readonly run: Run; readonly line: number }>();
  const faults: LineFault[] = [];
  for (const [at, own] of text
    .replace(/^\uFEFF/, '')
    .split('\n')
    .entries()) {
    if (own.trim() === '' || faults.length >= faultsMax) continue;
    const line = at + 1;
    const read = readLine(own);
    const before = 'run' in read ? runs.get(read.run.contentHash) : undefined;
    if ('problem' in read) faults.push({ line, ...read });
    else if (before !== undefined)
      faults.push({ line, problem: `has the same run as line ${before.line}`, todo: 'Leave one of them out: it would count twice.' });
    else if (runs.size >= driftRunsMax)
      faults.push({
        line,
        problem: `exceeds the limit of ${driftRunsMax} runs`,
        todo: 'Leave some out: each measurement asks about each run.',
      });
    else runs.set(read.run.contentHash, { run: read.run, line });
    if (runs.size >= driftRunsMax && faults.length > 0) break;
  }
  if (faults.length > 0) return faulty(path, faults);
  if (runs.size === 0) return faulty(path, [{ line: 1, problem: 'has no run', todo: formTodo }]);
  return { kind: 'read', runs: [...runs.values()].map(({ run }) => run), print: createHash('sha256').update(text).digest('base64') };
}

function readLine(text: string): { readonly run: Run } | Omit<LineFault, 'line'> {
  const value = parseJson(text);
  if (value === undefined) return { problem: 'is not JSON', todo: formTodo };
  if (isJsonArray(value) && !value.some((item) => isJsonObject(item) && member(item, 'role') !== undefined))
    return { problem: 'has a list of runs', todo: formTodo };
  try {
    const [given] = givenTraces('the line', value);
    return given === undefined ? { problem: 'has no run', todo: formTodo } : { run: runOfTrace(given.trace, given.expected) };
  } catch (error) {
    if (!(error instanceof JuryError)) throw error;
    return { problem: `is not a run: ${error.why.replace(/^the line(\[\d+\])?:? ?/, '')}`, todo: formTodo };
  }
}

function textOf(path: string): string | Omit<LineFault, 'line'> {
  try {
    const descriptor = openSync(path, 'r');
    try {
      const { size } = fstatSync(descriptor);
      if (size > fileBytesMax) return { problem: `is larger than ${fileBytesMax} bytes`, todo: 'Leave some runs out.' };
      const bytes = Buffer.alloc(size);
      const length = size === 0 ? 0 : readSync(descriptor, bytes, 0, size, 0);
      return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length));
    } finally {
      closeSync(descriptor);
    }
  } catch (error) {
    if (error instanceof TypeError) return { problem: 'is not UTF-8 text', todo: 'Save it as UTF-8.' };
    return {
      problem: `cannot be read${error instanceof Error && 'code' in error ? ` (${String(error.code)})` : ''}`,
      todo: 'Check the path, which is relative to the folder of the configuration, and its permissions.',
    };
  }
}

function faulty(path: string, faults: readonly LineFault[]): DriftFile {
  return { kind: 'faulty', path, faults };
}
