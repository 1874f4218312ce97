/** Reads the list `datasets`: rules that keep runs as examples. */
import { isJsonArray, type JsonObject, member } from '../../model/json.ts';
import type { RunExpression } from '../../pipeline/evaluation/run-expression.ts';
import { asObject, listAt } from '../diagnostic.ts';
import { runRule } from './run-rule.ts';

export interface DatasetRule {
  /** Name of the dataset and of the rule. */
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
    const [written, rule] = [asObject(item), runRule(asObject(item))];
    if (rule?.when === undefined) return [];
    const tags = member(written, 'tags');
    const { name, when, sample, max } = rule;
    return [{ name, when, sample, max, tags: tags !== undefined && isJsonArray(tags) ? tags.map(String) : [] }];
  });
}
