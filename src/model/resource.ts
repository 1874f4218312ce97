/** Resources of the API: each member has its JSON Schema and its value in one place, so an answer and its documentation cannot differ. */
import type { JsonObject, JsonValue } from './json.ts';
import { type Micros, timeText } from './timestamp.ts';

export const text: JsonObject = { type: 'string' };
export const number: JsonObject = { type: 'number' };
export const flag: JsonObject = { type: 'boolean' };
export const integer: JsonObject = { type: 'integer' };
export const count: JsonObject = { type: 'integer', minimum: 0 };
/** Between 0 and 1. */
export const share: JsonObject = { type: 'number', minimum: 0, maximum: 1 };
/** RFC 3339. A resource writes microseconds since 1970 so. */
export const time: JsonObject = { type: 'string', format: 'date-time' };

/** Its type, or null. */
export function orNull(schema: JsonObject, description?: string): JsonObject {
  return { ...schema, type: [String(schema['type']), 'null'], ...(description === undefined ? {} : { description }) };
}

export const textOrNull = (description?: string): JsonObject => orNull(text, description);
export const numberOrNull = (description?: string): JsonObject => orNull(number, description);
export const countOrNull = (description?: string): JsonObject => orNull(count, description);

/** `optional`: properties that only some objects have. */
export function object(properties: JsonObject, optional: JsonObject = {}): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } };
}

/** The schema of a named resource. */
export function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

export interface Resource<Row> extends Shape<Row> {
  readonly name: string;
  /** Schema with all members. `schema` refers to it. */
  readonly whole: JsonObject;
  readonly write: (row: Row) => JsonObject;
}

/** A value of the API: its schema, and how it is written. */
export interface Shape<Value = never> {
  readonly schema: JsonObject;
  readonly write: (value: Value) => JsonValue;
}

/** A schema without a value writes the field of the row with the same name in camelCase: times become RFC 3339, and `undefined` becomes null. */
type Field = JsonObject | Shape;
type Reading<Row> = readonly [JsonObject | Shape, (row: Row) => unknown];
export type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
type Members<Row, Name extends string> = {
  readonly [Key in Name]: CamelCase<Key> extends keyof Row ? Field | Reading<Row> : Reading<Row>;
};
type Writer<Row> = (row: Row) => JsonValue;

/** Members of rows of one kind, for several resources that share them. */
export interface Part<Row, Name extends string = string> {
  readonly properties: { readonly [Key in Name]: JsonObject };
  readonly write: (row: Row) => JsonObject;
}

/** Call it with the type of the row first, as in `part<StoredDataset>()({ name: text })`. */
export function part<Row>() {
  return <Name extends string>(members: Members<Row, Name>): Part<Row, Name> => {
    const known = Object.entries(members) as [string, Field | Reading<Row>][];
    const writers = known.map(([name, member]) => [name, writerOf<Row>(name, member)] as const);
    return {
      properties: Object.fromEntries(
        known.map(([name, member]) => [name, schemaOf(Array.isArray(member) ? (member as Reading<Row>)[0] : (member as Field))]),
      ) as { readonly [Key in Name]: JsonObject },
      write(row) {
        const json: { [name: string]: JsonValue } = {};
        for (const [name, write] of writers) json[name] = write(row);
        return json;
      },
    };
  };
}

/** Members of several parts, in their order. */
export function joined<Row>(...parts: readonly Part<Row>[]): Part<Row> {
  return {
    properties: Object.assign({}, ...parts.map(({ properties }) => properties)) as { readonly [name: string]: JsonObject },
    write: (row) => Object.assign({}, ...parts.map(({ write }) => write(row))) as JsonObject,
  };
}

/** Call it with the type of the row first, as in `resource<StoredDataset>()('Dataset', { name: text })`. */
export function resource<Row>() {
  return <Name extends string>(name: string, members: Members<Row, Name>): Resource<Row> => resourceOf(name, part<Row>()(members));
}

/** `optionally`: properties that only some answers have. The caller writes those. */
export function resourceOf<Row>(name: string, { properties, write }: Part<Row>, optionally: JsonObject = {}): Resource<Row> {
  return { name, schema: reference(name), whole: object(properties, optionally), write };
}

/** An object that the document does not name. */
export function inline<Row>() {
  return <Name extends string>(members: Members<Row, Name>): Shape<Row> => shapeOf(part<Row>()(members));
}

export function shapeOf<Row>({ properties, write }: Part<Row>): Shape<Row> {
  return { schema: object(properties), write };
}

export function schemasOf(...resources: readonly Pick<Resource<never>, 'name' | 'whole'>[]): { readonly [name: string]: JsonObject } {
  return Object.fromEntries(resources.map(({ name, whole }) => [name, whole]));
}

/** A list of them. */
export function many(items: JsonObject, description?: string): JsonObject;
export function many<Value>(items: Shape<Value>, description?: string): Shape<readonly Value[]>;
export function many<Value>(items: JsonObject | Shape<Value>, description?: string): JsonObject | Shape<readonly Value[]> {
  const schema = { type: 'array', items: schemaOf(items), ...(description === undefined ? {} : { description }) };
  return isShape(items) ? { schema, write: (values) => values.map(items.write) } : schema;
}

/** Null for `undefined`. */
export function optional(one: JsonObject, description?: string): JsonObject;
export function optional<Value>(one: Shape<Value>, description?: string): Shape<Value | undefined>;
export function optional<Value>(one: JsonObject | Shape<Value>, description?: string): JsonObject | Shape<Value | undefined> {
  const schema = { anyOf: [schemaOf(one), { type: 'null' }], ...(description === undefined ? {} : { description }) };
  return isShape(one) ? { schema, write: (value) => (value === undefined ? null : one.write(value)) } : schema;
}

/** Microseconds as seconds; null for `undefined`. */
export function inSeconds(schema: JsonObject): Shape<Micros | undefined> {
  return { schema, write: (micros) => (micros === undefined ? null : micros / 1_000_000) };
}

export function described<Value>({ schema, write }: Shape<Value>, description: string): Shape<Value> {
  return { schema: { ...schema, description }, write };
}

function writerOf<Row>(name: string, member: Field | Reading<Row>): Writer<Row> {
  const [shape, read] = Array.isArray(member) ? (member as Reading<Row>) : [member as Field, fieldOf<Row>(name)];
  if (isShape(shape)) return (row) => shape.write(read(row) as never);
  const isTime = JSON.stringify(shape).includes('"format":"date-time"');
  return (row) => {
    const value = (read(row) ?? null) as JsonValue;
    return isTime && typeof value === 'number' ? timeOf(value) : value;
  };
}

function fieldOf<Row>(name: string): (row: Row) => unknown {
  const key = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase()) as keyof Row;
  return (row) => row[key];
}

function isShape<Value>(member: JsonObject | Shape<Value>): member is Shape<Value> {
  return 'write' in member;
}

function schemaOf<Value>(member: JsonObject | Shape<Value>): JsonObject {
  return isShape(member) ? member.schema : member;
}

/** Microseconds since 1970 as RFC 3339. */
export function timeOf(micros: number): string {
  return timeText(BigInt(Math.max(0, Math.floor(micros))) * 1_000n);
}

/** Milliseconds as microseconds, for members that are times. */
export function ofMs(ms: number): Micros;
export function ofMs(ms: number | undefined): Micros | undefined;
export function ofMs(ms: number | undefined): Micros | undefined {
  return ms === undefined ? undefined : Math.floor(ms * 1_000);
}
