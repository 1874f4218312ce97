/** What the checks between keys are given. */
import type { AnyEvaluator } from '../../../evaluators/evaluator.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Path } from '../diagnostic.ts';
import type { Environment } from '../substitution.ts';

export interface CrossCheck {
  /** With its defaults filled in; parts may be faulty. */
  readonly value: JsonObject;
  readonly members: readonly AnyEvaluator[];
  readonly env: Environment;
  /** What the schema has found fault with. */
  readonly refused: readonly Path[];
}
