/** Reads test sets of other programs and the own form: the text of a file, its entries, and examples with unique ids. */
import { unreadable } from '../../model/errors.ts';
import { datasetForms } from '../example-json.ts';
import { type JsonObject, type JsonValue, parseJson } from '../../model/json.ts';
import { adk } from './adk.ts';
import { agentevals } from './agentevals.ts';
import { braintrust } from './braintrust.ts';
import { csvRows } from './csv.ts';
import { deepeval } from './deepeval.ts';
import { dokimos } from './dokimos.ts';
import { filled, type ImportedExample, type SetFormat } from './entries.ts';
import { langsmith } from './langsmith.ts';
import { ownForm } from './own-form.ts';
import { phoenix } from './phoenix.ts';
import type { YamlRead } from './yaml-value.ts';

export const setFormats: readonly SetFormat[] = [ownForm, deepeval, agentevals, adk, dokimos, langsmith, braintrust, phoenix];

/** A text of the own form as a value. `where` names the file in errors. */
export type OwnText<Own extends { readonly value: JsonValue }> = (where: string, text: string) => Own;

/**
 * JSON, a JSON value a line, or, where the format has one, YAML or a CSV table. Throws INPUT_UNREADABLE for any other text. Only a text of
 * the own form has what `own` returns beside the value, for its examples stand where they are read.
 */
export function setValue<Own extends { readonly value: JsonValue }>(
  { where, text: given, format }: { readonly where: string; readonly text: string; readonly format: SetFormat },
  own: OwnText<Own>,
): Own | { readonly value: JsonValue } {
  const text = given.replace(/^\uFEFF/, '');
  if (format.isTable === true && /\.csv(\.gz)?$/i.test(where)) return { value: csvRows(where, text) };
  if (format === ownForm) return looksLikeTable(text) ? { value: csvRows(where, text) } : own(where, text);
  const whole = parseJson(text);
  if (whole !== undefined) return { value: whole };
  if (format.isTable === true && !/^\s*[[{]/.test(text)) return { value: csvRows(where, text) };
  return { value: jsonLines(where, text) };
}

function jsonLines(where: string, text: string): readonly JsonValue[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return [];
    const value = parseJson(line);
    if (value === undefined) throw unreadable(where, `line ${at + 1} is not JSON, and neither is the whole file.`, datasetForms);
    return [value];
  });
}

/** A header line has a comma or a tab between names, and YAML has a colon or a hyphen before any. */
function looksLikeTable(text: string): boolean {
  return /^"?[A-Za-z_][\w.]*"?[ ]*[,;\t][^:{[]*(?:\r?\n|$)/.test(text);
}

/** More makes a mistake more likely than a test set. */
const yamlCharsMax = 2 * 1024 * 1024;

/** The own form as JSON, JSON lines or YAML, without places of its values. `undefined`: it is neither JSON nor JSON lines. */
function jsonOwnText(where: string, text: string): { readonly value: JsonValue } | undefined {
  const whole = parseJson(text);
  if (whole !== undefined) return { value: whole };
  return /^\s*\{.*\}[ \t\r]*(?:\n|$)/.test(text) ? { value: jsonLines(where, text) } : undefined;
}

/** As `setValue`, for a text from outside, without the places of its values. `yaml` reads it within bounds of work. */
export async function outsideValue(
  { where, text, format }: { readonly where: string; readonly text: string; readonly format: SetFormat },
  yaml: (text: string) => Promise<YamlRead>,
): Promise<JsonValue> {
  const read = setValue({ where, text, format }, (_, own) => jsonOwnText(where, own) ?? { value: null, yaml: own });
  if (!('yaml' in read)) return read.value;
  if (read.yaml.length > yamlCharsMax)
    throw unreadable(
      where,
      `it is not JSON, and larger than YAML may be (${yamlCharsMax} characters). Write it as JSON lines.`,
      datasetForms,
    );
  const found = await yaml(read.yaml);
  if (found.kind === 'fault') throw unreadable(where, found.why, datasetForms);
  return found.value;
}

export interface ImportedFiles {
  readonly examples: readonly JsonObject[];
  /** Runs of the test set, each with the id of its example. */
  readonly runs: readonly JsonObject[];
}

/** Makes ids unique: `eval` matches runs to examples by them. */
export function importedFiles(imported: readonly ImportedExample[]): ImportedFiles {
  const ids = uniqueIds(imported);
  const examples = imported.map(({ run: _run, id: _id, own = {}, ...example }, at) => filled({ id: ids[at], ...example, ...own }) ?? {});
  const runs = imported.flatMap(({ run }, at) => (run === undefined ? [] : [filled({ id: ids[at], ...run }) ?? {}]));
  return { examples, runs };
}

function uniqueIds(imported: readonly ImportedExample[]): readonly string[] {
  const seen = new Set<string>();
  const copies = new Map<string, number>();
  return imported.map(({ id }, at) => {
    const wanted = id ?? String(at + 1);
    let copy = copies.get(wanted) ?? 1;
    let free = wanted;
    while (seen.has(free)) free = `${wanted} (${++copy})`;
    copies.set(wanted, copy);
    seen.add(free);
    return free;
  });
}
