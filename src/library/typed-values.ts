/** Arguments and results read back as typed values: the schema is checked, and the type follows from it. */
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { EvaluationContext } from '../../evaluators/evaluator.ts';
import type { ToolCall } from '../model/agent-trace.ts';
import { parseJson, type JsonObject, type JsonValue } from '../model/json.ts';

/** The type of the values that a JSON Schema accepts, as far as its keywords determine it, else `JsonValue`. */
export type FromSchema<Schema> = Schema extends { readonly const: infer Value }
  ? Value
  : Schema extends { readonly enum: readonly (infer Value)[] }
    ? Value
    : Schema extends { readonly type: infer Type }
      ? OfType<Type, Schema>
      : JsonValue;

type OfType<Type, Schema> = Type extends readonly (infer One)[]
  ? OfType<One, Schema>
  : Type extends 'string'
    ? string
    : Type extends 'number' | 'integer'
      ? number
      : Type extends 'boolean'
        ? boolean
        : Type extends 'null'
          ? null
          : Type extends 'array'
            ? ListOf<Schema>
            : Type extends 'object'
              ? ObjectOf<Schema>
              : JsonValue;

type ListOf<Schema> = Schema extends { readonly items: infer Items } ? readonly FromSchema<Items>[] : readonly JsonValue[];

type ObjectOf<Schema> = Schema extends { readonly properties: infer Properties }
  ? { readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? Key : never]: FromSchema<Properties[Key]> } & {
      readonly [Key in keyof Properties as Key extends RequiredOf<Schema> ? never : Key]?: FromSchema<Properties[Key]>;
    }
  : JsonObject;

type RequiredOf<Schema> = Schema extends { readonly required: readonly (infer Name)[] } ? Name : never;

/**
 * What the tool returned; null where it returned nothing: null, a blank text or the text `null`, unless the schema takes such a text. A text is also tried as the JSON that it
 * holds. Throws a TypeError where the result is not known, and one that says where it does not fit.
 */
export function readResult<const Schema extends object>(
  call: ToolCall,
  schema: Schema,
  context: EvaluationContext = evaluationContext(),
): FromSchema<Schema> | null {
  const { name, result } = call;
  if (result === undefined) throw new TypeError(`${name}: the result is not known.`);
  if (result === null) return null;
  const inside = typeof result === 'string' ? parseJson(result) : undefined;
  const asIs = misfit(result, schema, context);
  if (asIs === undefined) return result as FromSchema<Schema>;
  if (inside === null || (typeof result === 'string' && result.trim() === '')) return null;
  if (inside !== undefined && misfit(inside, schema, context) === undefined) return inside as FromSchema<Schema>;
  throw new TypeError(
    `${name}: the result does not fit the schema${inside === undefined ? asIs : (misfit(inside, schema, context) ?? asIs)}.`,
  );
}

/** The arguments of a call. Throws a TypeError that says where they do not fit. */
export function readArguments<const Schema extends object>(
  call: ToolCall,
  schema: Schema,
  context: EvaluationContext = evaluationContext(),
): FromSchema<Schema> {
  const { name, arguments: sent } = call;
  if (sent === undefined || sent === null)
    throw new TypeError(`${name}: the arguments ${sent === null ? 'are not an object' : 'are not known'}.`);
  const fault = misfit(sent, schema, context);
  if (fault !== undefined) throw new TypeError(`${name}: the arguments do not fit the schema${fault}.`);
  return sent as FromSchema<Schema>;
}

/** The place and what is wrong there, to follow `does not fit the schema`; undefined: it fits. */
function misfit(value: JsonValue, schema: object, context: EvaluationContext): string | undefined {
  const compiled = context.schema(schema as JsonObject);
  if (compiled === undefined || compiled.faults.length > 0)
    throw new TypeError(`The schema cannot be used${compiled === undefined ? '' : `: ${compiled.faults.join('; ')}`}.`);
  const problems = compiled.problems(value);
  if (problems === undefined) return ': the schema asks for too much work to be checked to the end';
  const [first] = problems;
  if (first === undefined) return undefined;
  return `${first.path.length === 0 ? '' : ` at ${first.path.join('.')}`}: ${first.message}`;
}
