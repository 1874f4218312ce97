/**
 * The contract of a section: one top-level key of the configuration, as JSON Schema (draft 2020-12). Defaults stand in the schema,
 * beside the words of the reference page. Our own annotations:
 * `x-quantity` { kind, minimum, maximum } a duration or a size; `x-address` host:port; `x-pattern` a linear-time regular expression;
 * `x-secret` true = the value is always masked, 'url' = its password and query are always masked; `x-unit` the unit of a plain number;
 * `x-words` the `pattern` beside it in words; `x-as` one word for a form that another place describes. `x-from`, in an evaluator's
 * schema: the section that gives an option where an entry leaves it out. `x-restart`: a new
 * value holds only after a restart; 'presence' = whether there is one does. `x-planned`: the feature is not there yet.
 */
import type { JsonSchema } from '../../../evaluators/evaluator.ts';

export interface Section {
  readonly key: string;
  readonly schema: JsonSchema;
}
