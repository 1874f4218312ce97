/** What rules share that choose runs while the service runs: those of `datasets` and of `queues`. */
import { type JsonObject, member } from '../../model/json.ts';
import { parseRunExpression, type RunExpression } from '../../pipeline/evaluation/run-expression.ts';

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
