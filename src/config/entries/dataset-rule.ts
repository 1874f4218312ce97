/** Reads the list `datasets`: rules that keep runs as examples. */
import { parseRunExpression, type RunExpression } from '../../pipeline/evaluation/run-expression.ts';
import type { Written } from '../sections/index.ts';

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

export function datasetRules(list: Written['datasets']): readonly DatasetRule[] {
  return list.flatMap(({ when, ...rule }) => {
    const parsed = parseRunExpression(when);
    return parsed.kind === 'parsed' ? [{ ...rule, when: parsed.expression }] : [];
  });
}
