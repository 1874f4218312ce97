/** Reads the list `datasets`: rules that keep runs as examples. */
import { isJsonArray, type JsonObject, member } from '../../model/json.ts';
import { parseRunExpression, type RunExpression } from '../../pipeline/evaluation/run-expression.ts';
import { asObject, listAt } from '../diagnostic.ts';

export interface DatasetRule {
  /** Of the dataset, and of the rule. */
  readonly name: string;
  readonly when: RunExpression;
  /** A share 0..1 of the traces. */
  readonly sample: number;
  /** Examples of the dataset, those of other origin included. */
  readonly max: number;
  readonly tags: readonly string[];
}

/** Leaves out entries that a check refuses. */
export function datasetRules(value: JsonObject): readonly DatasetRule[] {
  return listAt(value, 'datasets').flatMap((item): readonly DatasetRule[] => {
    const written = asObject(item);
    const [name, when, sample, max, tags] = ['name', 'when', 'sample', 'max', 'tags'].map((key) => member(written, key));
    const parsed = typeof when === 'string' ? parseRunExpression(when) : undefined;
    if (typeof name !== 'string' || parsed?.kind !== 'parsed' || typeof sample !== 'number' || typeof max !== 'number') return [];
    return [{ name, when: parsed.expression, sample, max, tags: tags !== undefined && isJsonArray(tags) ? tags.map(String) : [] }];
  });
}
