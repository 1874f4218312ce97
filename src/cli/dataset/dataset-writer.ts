/** Imported examples as a dataset file: YAML, JSON or JSON lines by the ending of the file's name. */
import { stringify } from 'yaml';
import { jsonText, type JsonObject } from '../../model/json.ts';
import { filled } from './entries.ts';
import type { ImportedExample } from './set-format.ts';

export interface ImportedFiles {
  readonly examples: readonly JsonObject[];
  /** Runs of the test set, each with the id of its example. */
  readonly runs: readonly JsonObject[];
}

/** Ids are made unique: runs are matched to examples by them. */
export function importedFiles(imported: readonly ImportedExample[]): ImportedFiles {
  const ids = uniqueIds(imported);
  const examples = imported.map(({ run: _run, id: _id, ...example }, at) => filled({ id: ids[at], ...example }) ?? {});
  const runs = imported.flatMap(({ run }, at) => (run === undefined ? [] : [filled({ id: ids[at], ...run }) ?? {}]));
  return { examples, runs };
}

/** JSON lines unless the name of the file asks for another form. */
export function datasetText(values: readonly JsonObject[], file: string | undefined): string {
  if (file !== undefined && /\.ya?ml$/i.test(file)) return stringify(values, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd();
  const lines = values.map((value) => jsonText(value));
  return file !== undefined && /\.json$/i.test(file) ? `[\n${lines.map((line) => `  ${line}`).join(',\n')}\n]` : lines.join('\n');
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
