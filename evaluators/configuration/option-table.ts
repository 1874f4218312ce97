/**
 * The options of an evaluator as one table: a row has the key that a user writes, the schema of the value and the default. The type of the
 * options follows from the table.
 */
import type { JsonValue } from '../../src/model/json.ts';
import type { JsonSchema } from '../evaluator.ts';

/** An option with a default. */
export interface Option<Value> {
  readonly schema: JsonSchema;
  readonly preset: Value;
  /** The user must write it. The default then only completes the type. */
  readonly isRequired?: true;
  /** Where a program may put functions, as paths below the option. */
  readonly functions?: readonly string[];
}

/** An option without a default. It is `undefined` when the user leaves it out. */
export interface OptionalOption<Value> {
  readonly schema: JsonSchema;
  readonly preset?: Value;
}

/** A function that only a program can give. */
export interface ProgramOption<Value> {
  readonly functions: readonly string[];
  readonly preset?: Value;
}

type Row = Option<unknown> | OptionalOption<unknown> | ProgramOption<unknown>;

export interface OptionTable {
  readonly [key: string]: Row;
}

type CamelCase<Key extends string> = Key extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<CamelCase<Tail>>}` : Key;
type HasPreset = { readonly preset: unknown };
type ValueOf<One> = One extends { readonly preset?: infer Value } ? Value : never;
type Flat<Type> = { readonly [Key in keyof Type]: Type[Key] };

/** The complete options, under the names that code uses. */
export type OptionsOf<Table> = Flat<
  {
    readonly [Key in keyof Table as Table[Key] extends HasPreset ? CamelCase<Key & string> : never]: ValueOf<Table[Key]>;
  } & { readonly [Key in keyof Table as Table[Key] extends HasPreset ? never : CamelCase<Key & string>]?: ValueOf<Table[Key]> }
>;

export function option<Value>(schema: JsonSchema, preset: Value): Option<Value> {
  return { schema, preset };
}

export function required<Value>(schema: JsonSchema, preset: Value): Option<Value> {
  return { schema, preset, isRequired: true };
}

export function optional<Value>(schema: JsonSchema): OptionalOption<Value> {
  return { schema };
}

export function programOption<Value>(): ProgramOption<Value> {
  return { functions: [''] };
}

export function flag(description: string, preset = false): Option<boolean> {
  return { schema: { type: 'boolean', description }, preset };
}

/** One of several words; the first is the default unless another is named. */
export function choice<const Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
  preset: NoInfer<Word> = words[0],
): Option<Word> {
  return { schema: { enum: [...words], description }, preset };
}

/** A list of texts that are not empty. */
export function texts(
  description: string,
  { maxItems, maxLength }: { readonly maxItems: number; readonly maxLength?: number },
  preset: readonly string[] = [],
): Option<readonly string[]> {
  const items = { type: 'string', minLength: 1, ...(maxLength === undefined ? {} : { maxLength }) };
  return { schema: { type: 'array', maxItems, items, description }, preset };
}

/** What the contract of an evaluator holds of its options. */
export function optionData<Table extends OptionTable>(
  table: Table,
): {
  readonly defaults: OptionsOf<Table>;
  readonly required: readonly string[];
  readonly properties: { readonly [key: string]: JsonValue };
  readonly functions: readonly string[];
} {
  const rows = Object.entries<Row>(table);
  return {
    // The type of the options is made of the rows with a preset.
    defaults: Object.fromEntries(rows.flatMap(([key, row]) => ('preset' in row ? [[camelCase(key), row.preset]] : []))) as OptionsOf<Table>,
    required: rows.flatMap(([key, row]) => ('isRequired' in row ? [key] : [])),
    properties: Object.fromEntries(rows.flatMap(([key, row]) => ('schema' in row ? [[key, row.schema]] : []))),
    functions: rows.flatMap(([key, row]) =>
      'functions' in row ? (row.functions ?? []).map((path) => (path === '' ? camelCase(key) : `${camelCase(key)}.${path}`)) : [],
    ),
  };
}

/** The name of a key in code. */
export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
