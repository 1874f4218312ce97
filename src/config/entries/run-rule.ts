/** Checks what rules share that choose runs while the service runs: those of `datasets` and of `queues`. */
import { isDatasetName } from '../../model/store/dataset-store.ts';
import { type ExpressionNames, parseRunExpression } from '../../pipeline/evaluation/run-expression.ts';
import { type Finding, finding, type Path } from '../diagnostic.ts';

interface WrittenRule {
  readonly name?: string | undefined;
  readonly when?: string | undefined;
}

/** Faults of `name` and `when`. `noun`: what the name names. */
export function runRuleFindings(
  list: readonly WrittenRule[],
  { section, noun, names }: { readonly section: string; readonly noun: string; readonly names: ExpressionNames },
): readonly Finding[] {
  return list.flatMap(({ name, when }, index): readonly Finding[] => [
    ...(name !== undefined && !isDatasetName(name)
      ? [
          finding(
            [section, index, 'name'],
            'value',
            `${JSON.stringify(name)} is not a valid name of a ${noun}`,
            'Use 1 to 100 letters, digits, dots, underscores and hyphens, and not only dots.',
          ),
        ]
      : []),
    ...(when === undefined ? [] : expressionFindings([section, index, 'when'], when, names)),
  ]);
}

/** The faults of an expression about scored runs; the first one, as a place of a file has one fault. */
export function expressionFindings(path: Path, when: string, names: ExpressionNames): readonly Finding[] {
  const parsed = parseRunExpression(when, names);
  const [first] = parsed.kind === 'faulty' ? parsed.faults : [];
  return first === undefined ? [] : [finding(path, 'value', `at character ${first.column}: ${first.problem}`, first.todo)];
}
