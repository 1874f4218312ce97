/** Finds faults of rules that choose runs which the schema cannot express. */
import { type JsonObject, member } from '../../model/json.ts';
import { isDatasetName } from '../../model/store/dataset-store.ts';
import type { ExpressionNames } from '../../pipeline/evaluation/run-expression.ts';
import { asObject, type Finding, finding, listAt } from '../diagnostic.ts';
import { expressionFindings } from './cross-checks-evaluators.ts';

/** Faults of `name` and `when`. `noun`: what the name names. */
export function runRuleFindings(
  value: JsonObject,
  { section, noun, names }: { readonly section: string; readonly noun: string; readonly names: ExpressionNames },
): readonly Finding[] {
  return listAt(value, section).flatMap((item, index): readonly Finding[] => {
    const [name, when] = ['name', 'when'].map((key) => member(asObject(item), key));
    return [
      ...(typeof name === 'string' && !isDatasetName(name)
        ? [
            finding(
              [section, index, 'name'],
              'value',
              `${JSON.stringify(name)} is no name of a ${noun}`,
              'Use 1 to 100 letters, digits, dots, underscores and hyphens, and not dots alone.',
            ),
          ]
        : []),
      ...(typeof when === 'string' ? expressionFindings([section, index, 'when'], when, names) : []),
    ];
  });
}
