/**
 * Keys of the configuration: each has its JSON Schema (draft 2020-12) and the reading of its value in one place. Annotations of tracejury:
 * `x-quantity` { kind, minimum, maximum } a duration or a size; `x-address` host:port; `x-pattern` a linear-time regular expression;
 * `x-secret` true = the value is always masked, 'url' = its password and query are always masked; `x-unit` the unit of a plain number;
 * `x-words` the `pattern` in words; `x-as` one word for a form with its own description. `x-from`, in an evaluator's schema: the section with
 * the default of an option. `x-restart`: a new value takes effect after a restart; 'presence' = only its presence does.
 */
import { camelCase } from '../../evaluators/configuration/define.ts';
import type { JsonSchema } from '../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';
import { quantityOf } from '../model/quantities.ts';
import type { CamelCase } from '../model/resource.ts';
import { type Address, addressOf } from './entries/address.ts';

export interface Field<Value, Ending extends string = ''> {
  readonly schema: JsonSchema;
  /** Reads a value that fits the schema and has all defaults. In another value, parts of a wrong type become `undefined`: see `Draft`. */
  readonly read: (value: JsonValue | undefined) => Value;
  /** Ends the name in code: `quiet` is `quietMs`. */
  readonly ending: Ending;
}

export type ValueOf<One> = One extends Field<infer Value, string> ? Exclude<Value, undefined> : never;

/** A value that may have faults. */
export type Draft<Value> = Value extends string | number | bigint | boolean | null | undefined | Address
  ? Value
  : Value extends readonly (infer Item)[]
    ? readonly Draft<Item>[]
    : { readonly [Key in keyof Value]?: Draft<Value[Key]> | undefined };

interface Fields {
  readonly [key: string]: Field<unknown, string>;
}
type Name<Key extends string, One> = One extends Field<unknown, infer Ending> ? `${CamelCase<Key>}${Ending}` : never;
type Absent<Of extends Fields, Needed> = {
  [Key in keyof Of]: undefined extends ReturnType<Of[Key]['read']> ? Exclude<Key, Needed> : never;
}[keyof Of];
type Flat<Of> = { [Key in keyof Of]: Of[Key] };
type Values<Of extends Fields, Needed> = Flat<
  { readonly [Key in Exclude<keyof Of, Absent<Of, Needed>> & string as Name<Key, Of[Key]>]: ValueOf<Of[Key]> } & {
    readonly [Key in Absent<Of, Needed> & string as Name<Key, Of[Key]>]?: ValueOf<Of[Key]>;
  }
>;
type NeededOf<Rules> = Rules extends { readonly required: readonly (infer Key)[] } ? Key : never;
/** Without a default a key may be absent. */
type Given<Rules, Value> = Rules extends { readonly default: JsonValue } ? Value : Value | undefined;
type Preset<Default, Value> = Default extends undefined ? Value | undefined : Value;

/** A field of any schema. Without `read` its value is that of the file. */
export function field<Value>(schema: JsonSchema, read: (value: JsonValue) => unknown = (value) => value): Field<Value> {
  const preset = member(schema, 'default');
  return {
    schema,
    read(written) {
      const value = written === undefined ? preset : written;
      return (value === undefined ? undefined : read(value)) as Value;
    },
    ending: '',
  };
}

/** The field with its value in another form; `undefined` has a fault. */
export function as<Value, Read, Ending extends string>(
  one: Field<Value, Ending>,
  convert: (value: Exclude<Value, undefined>) => Read | undefined,
): Field<Read | Extract<Value, undefined>, Ending> {
  const read = (value: JsonValue | undefined) => {
    const found = one.read(value);
    return found === undefined ? undefined : convert(found as Exclude<Value, undefined>);
  };
  return { ...one, read: read as Field<Read | Extract<Value, undefined>>['read'] };
}

/** The field with more keywords in its schema. */
export function annotated<Value, Ending extends string>(one: Field<Value, Ending>, keywords: JsonObject): Field<Value, Ending> {
  return { ...one, schema: { ...one.schema, ...keywords } };
}

/** A new value takes effect after a restart. */
export function restarts<Value, Ending extends string>(one: Field<Value, Ending>): Field<Value, Ending> {
  return annotated(one, { 'x-restart': true });
}

export function text<const Rules extends JsonObject>(rules: Rules, description?: string): Field<Given<Rules, string>> {
  return field({ type: 'string', ...rules, ...described(description) }, textOf);
}

export function oneOf<const Word extends string, const Default extends Word | undefined>(
  words: readonly Word[],
  preset: Default,
  description?: string,
): Field<Preset<Default, Word>> {
  return field({ enum: words, ...presetOf(preset), ...described(description) }, textOf);
}

export function flag(preset: boolean, description: string): Field<boolean> {
  return field({ type: 'boolean', default: preset, description }, (value) => (typeof value === 'boolean' ? value : undefined));
}

export function number<const Rules extends JsonObject>(rules: Rules, description: string): Field<Given<Rules, number>> {
  return field({ type: 'number', ...rules, description }, numberOf);
}

/** A number from 0 to 1. */
export function share<const Default extends number | undefined>(
  preset: Default,
  description: string,
  unit = 'share',
): Field<Preset<Default, number>> {
  return field({ type: 'number', minimum: 0, maximum: 1, ...presetOf(preset), 'x-unit': unit, description }, numberOf);
}

export function integer<const Default extends number | undefined>(
  preset: Default,
  minimum: number,
  maximum: number,
  unit: string,
  description: string,
): Field<Preset<Default, number>> {
  return field({ type: 'integer', minimum, maximum, ...presetOf(preset), 'x-unit': unit, description }, numberOf);
}

/** A time in milliseconds. */
export function duration<const Default extends string | undefined>(
  preset: Default,
  minimum: string,
  maximum: string,
  description: string,
): Field<Preset<Default, number>, 'Ms'> {
  const schema = { type: 'string', 'x-quantity': { kind: 'duration', minimum, maximum }, ...presetOf(preset), description };
  return { ...field<Preset<Default, number>>(schema, (value) => quantityOf('duration', value)), ending: 'Ms' };
}

export function bytes(preset: string, minimum: string, maximum: string, description: string): Field<number> {
  return field({ type: ['string', 'integer'], 'x-quantity': { kind: 'bytes', minimum, maximum }, default: preset, description }, (value) =>
    quantityOf('bytes', value),
  );
}

export function address(preset: string, description: string): Field<Address> {
  return field({ type: 'string', 'x-address': true, default: preset, description }, (value) =>
    typeof value === 'string' ? addressOf(value) : undefined,
  );
}

export function list<Value, const Rules extends JsonObject>(
  rules: Rules,
  items: Field<Value, string>,
  description?: string,
): Field<Given<Rules, readonly Exclude<Value, undefined>[]>> {
  return field({ type: 'array', ...rules, items: items.schema, ...described(description) }, (value) =>
    isJsonArray(value) ? value.map((item) => items.read(item)) : undefined,
  );
}

/** Values by names that the user chooses. */
export function mapping<Value, const Rules extends JsonObject>(
  rules: Rules,
  values: Field<Value, string>,
  description?: string,
): Field<Given<Rules, { readonly [name: string]: Exclude<Value, undefined> }>> {
  return field({ type: 'object', ...rules, additionalProperties: values.schema, ...described(description) }, (value) =>
    Object.fromEntries(Object.entries(isJsonObject(value) ? value : {}).map(([name, item]) => [name, values.read(item)])),
  );
}

/** A mapping of these keys. */
export function object<Of extends Fields, const Rules extends JsonObject & { readonly required?: readonly (keyof Of & string)[] }>(
  rules: Rules,
  fields: Of,
  description?: string,
): Field<Given<Rules, Values<Of, NeededOf<Rules>>>> {
  const known = Object.entries(fields);
  const names = known.map(([key, { ending }]) => `${camelCase(key)}${ending}`);
  return field(
    {
      type: 'object',
      ...described(description),
      additionalProperties: false,
      ...rules,
      properties: Object.fromEntries(known.map(([key, { schema }]) => [key, schema])),
    },
    (value) => {
      const written = isJsonObject(value) ? value : {};
      const read: { [name: string]: unknown } = {};
      for (const [at, [key, one]] of known.entries()) {
        const found = one.read(member(written, key));
        if (found !== undefined) read[names[at] ?? key] = found;
      }
      return read;
    },
  );
}

/** A mapping of optional keys. */
export function settings<Of extends Fields>(description: string, fields: Of): Field<Values<Of, never>> {
  return object({ default: {} }, fields, description);
}

function textOf(value: JsonValue): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: JsonValue): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function presetOf(preset: JsonValue | undefined): JsonObject {
  return preset === undefined ? {} : { default: preset };
}

function described(description: string | undefined): JsonObject {
  return description === undefined ? {} : { description };
}
