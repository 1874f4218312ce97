/** Finds faults of the list `datasets` that the schema cannot express. */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { isDatasetName } from '../../model/store/dataset-store.ts';
import { asObject, type Finding, finding, listAt } from '../diagnostic.ts';
import { expressionNames } from '../entries/evaluator-entry.ts';
import { expressionFindings } from './cross-checks-evaluators.ts';

export function datasetRuleFindings(value: JsonObject, members: readonly AnyEvaluator[]): readonly Finding[] {
  const names = expressionNames(value, members);
  return listAt(value, 'datasets').flatMap((item, index): readonly Finding[] => {
    const [name, when] = ['name', 'when'].map((key) => member(asObject(item), key));
    return [
      ...(typeof name === 'string' && !isDatasetName(name)
        ? [
            finding(
              ['datasets', index, 'name'],
              'value',
              `${JSON.stringify(name)} is no name of a dataset`,
              'Use 1 to 100 letters, digits, dots, underscores and hyphens, and not dots alone.',
            ),
          ]
        : []),
      ...(typeof when === 'string' ? expressionFindings(['datasets', index, 'when'], when, names) : []),
    ];
  });
}
