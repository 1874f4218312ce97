/** Resources of the API: each member has its JSON Schema and its value in one place, so an answer and its documentation cannot differ. */
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { timeText } from '../../model/timestamp.ts';
import { object } from './route.ts';

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

/** A schema alone stands for the field of the row with the same name in camelCase: times become RFC 3339, and `undefined` becomes null. */
type Field = JsonObject | Shape;
type Reading<Row> = readonly [JsonObject | Shape, (row: Row) => unknown];
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : Name;
type Members<Row, Name extends string> = {
  readonly [Key in Name]: CamelCase<Key> extends keyof Row ? Field | Reading<Row> : Reading<Row>;
};
type Writer<Row> = (row: Row) => JsonValue;

/** Members of rows of one kind, for several resources that share them. */
export interface Part<Row> {
  readonly properties: JsonObject;
  readonly write: (row: Row) => JsonObject;
}

/** Call it with the type of the row first, as in `part<StoredDataset>()({ name: text })`. */
export function part<Row>() {
  return <Name extends string>(members: Members<Row, Name>): Part<Row> => {
    const known = Object.entries(members) as [string, Field | Reading<Row>][];
    const writers = known.map(([name, member]) => [name, writerOf<Row>(name, member)] as const);
    return {
      properties: Object.fromEntries(
        known.map(([name, member]) => [name, schemaOf(Array.isArray(member) ? member[0] : (member as Field))]),
      ),
      write(row) {
        const json: { [name: string]: JsonValue } = {};
        for (const [name, write] of writers) json[name] = write(row);
        return json;
      },
    };
  };
}

/** Call it with the type of the row first, as in `resource<StoredDataset>()('Dataset', { name: text })`. */
export function resource<Row>() {
  return <Name extends string>(name: string, members: Members<Row, Name>): Resource<Row> => resourceOf(name, part<Row>()(members));
}

/** `optionally`: properties that only some answers have; whoever writes those adds them. */
export function resourceOf<Row>(name: string, { properties, write }: Part<Row>, optionally: JsonObject = {}): Resource<Row> {
  return { name, schema: { $ref: `#/components/schemas/${name}` }, whole: object(properties, optionally), write };
}

/** An object without a name of its own in the document. */
export function inline<Row>() {
  return <Name extends string>(members: Members<Row, Name>): Shape<Row> => {
    const { properties, write } = part<Row>()(members);
    return { schema: object(properties), write };
  };
}

export function schemasOf(...resources: readonly Pick<Resource<never>, 'name' | 'whole'>[]): { readonly [name: string]: JsonObject } {
  return Object.fromEntries(resources.map(({ name, whole }) => [name, whole]));
}

/** A list of them. */
export function many<Value>({ schema, write }: Shape<Value>, description?: string): Shape<readonly Value[]> {
  return {
    schema: { type: 'array', items: schema, ...(description === undefined ? {} : { description }) },
    write: (values) => values.map(write),
  };
}

/** Null for `undefined`. */
export function optional<Value>({ schema, write }: Shape<Value>, description?: string): Shape<Value | undefined> {
  return {
    schema: { anyOf: [schema, { type: 'null' }], ...(description === undefined ? {} : { description }) },
    write: (value) => (value === undefined ? null : write(value)),
  };
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

function isShape(member: Field): member is Shape {
  return 'write' in member;
}

function schemaOf(member: Field): JsonObject {
  return isShape(member) ? member.schema : member;
}

/** Microseconds since 1970 as RFC 3339. */
export function timeOf(micros: number): string {
  return timeText(BigInt(Math.max(0, Math.floor(micros))) * 1_000n);
}
