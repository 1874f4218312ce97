/** Reads and checks what rules share that choose runs while the service runs: those of `datasets` and of `queues`. */
import { type JsonObject, member } from '../../model/json.ts';
import { isDatasetName } from '../../model/store/dataset-store.ts';
import { type ExpressionNames, parseRunExpression, type RunExpression } from '../../pipeline/evaluation/run-expression.ts';
import { asObject, type Finding, finding, listAt, type Path } from '../diagnostic.ts';

export interface RunRule {
  readonly name: string;
  /** `undefined` when the entry has none. */
  readonly when: RunExpression | undefined;
  /** `when` as the file has it. */
  readonly whenText: string | undefined;
  /** A share 0..1 of the traces. */
  readonly sample: number;
  readonly max: number;
}

/** `undefined` for an entry that a check refuses. */
export function runRule(written: JsonObject): RunRule | undefined {
  const [name, when, sample, max] = ['name', 'when', 'sample', 'max'].map((key) => member(written, key));
  const parsed = typeof when === 'string' ? parseRunExpression(when) : undefined;
  if (typeof name !== 'string' || parsed?.kind === 'faulty' || typeof sample !== 'number' || typeof max !== 'number') return undefined;
  return { name, when: parsed?.expression, whenText: typeof when === 'string' ? when : undefined, sample, max };
}

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

/** The faults of an expression about scored runs; the first one, as a place of a file has one fault. */
export function expressionFindings(path: Path, when: string, names: ExpressionNames): readonly Finding[] {
  const parsed = parseRunExpression(when, names);
  const [first] = parsed.kind === 'faulty' ? parsed.faults : [];
  return first === undefined ? [] : [finding(path, 'value', `at character ${first.column}: ${first.problem}`, first.todo)];
}
