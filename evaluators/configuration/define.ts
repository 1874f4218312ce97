/**
 * Builders that complete the declaration of an evaluator to the contract in `evaluator.ts`, and its option table. A row holds the key that
 * a user writes, the schema and the default. The type of the options follows from the table.
 */
import type { Expectation } from '../../src/model/expectation.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import type {
  Asking,
  EvaluationContext,
  EvaluatorData,
  ExpectedPart,
  Fault,
  HttpEvaluator,
  JsonSchema,
  JudgeEvaluator,
  RuleEvaluator,
  Subject,
} from '../evaluator.ts';
import type { JsonValue, JsonObject } from '../../src/model/json.ts';

/** The declaration of an evaluator. */
export type Described<Table extends OptionTable> = Pick<
  EvaluatorData<unknown>,
  | 'id'
  | 'summary'
  | 'needs'
  | 'target'
  | 'learns'
  | 'guard'
  | 'mappable'
  | 'defaultThreshold'
  | 'expectationSchema'
  | 'switchedOnBy'
  | 'signatures'
  | 'source'
> & {
  /** Default: 1. */
  readonly version?: number;
  /** Default: off. */
  readonly onByDefault?: true;
  /** Default: no options. */
  readonly options?: Table;
  /** Schema keywords about several options together. */
  readonly conditions?: JsonSchema;
  checks?(options: OptionsOf<Table>, expected: Expectation): readonly ExpectedPart[];
  optionFaults?(options: OptionsOf<Table>): readonly Fault[];
  expectationFaults?(expected: Expectation, options: OptionsOf<Table>): readonly Fault[];
};

/** The function of an evaluator. */
interface Evaluates<Options, Result> {
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Result;
}

export interface AsksMore<Options> {
  evaluateWithJudge(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

/** A rule. */
export function rule<Table extends OptionTable = {}>(
  described: Described<Table> & Evaluates<OptionsOf<Table>, Outcome>,
): RuleEvaluator<OptionsOf<Table>> {
  return { kind: 'rule', ...completed(described) };
}

/** A rule that a judge can complement. */
export function ruleWithJudge<Table extends OptionTable = {}>(
  described: Described<Table> & Evaluates<OptionsOf<Table>, Outcome> & AsksMore<OptionsOf<Table>>,
): RuleEvaluator<OptionsOf<Table>> & AsksMore<OptionsOf<Table>> {
  return { kind: 'rule', ...completed(described) };
}

/** An evaluator that asks a judge in its own steps. */
export function judge<Table extends OptionTable = {}>(
  described: Described<Table> & Evaluates<OptionsOf<Table>, Asking<Outcome>>,
): JudgeEvaluator<OptionsOf<Table>> {
  return { kind: 'judge', ...completed(described) };
}

export function endpoint<Table extends OptionTable = {}>(
  described: Described<Table> & Pick<HttpEvaluator<OptionsOf<Table>>, 'concurrency' | 'evaluate'>,
): HttpEvaluator<OptionsOf<Table>> {
  return { kind: 'http', ...completed(described) };
}

function completed<Table extends OptionTable, More extends Described<Table>>(described: More & { readonly options?: Table }) {
  const { options, conditions, version = 1, onByDefault = false, ...rest } = described;
  // Without options the table is empty, which is the type parameter's default.
  const { defaults, required, properties, functions } = optionData(options ?? ({} as Table));
  return {
    ...rest,
    version,
    onByDefault,
    defaults,
    optionsSchema: {
      type: 'object',
      additionalProperties: false,
      ...(required.length === 0 ? {} : { required }),
      properties,
      ...conditions,
    },
    ...(functions.length === 0 ? {} : { functions }),
  };
}

/** An option with a default. */
export interface Option<Value> {
  readonly schema: JsonSchema;
  readonly preset: Value;
  /** The user must set it; the default then only completes the type. */
  readonly isRequired?: true;
  /** Paths below the option where a program may pass functions. */
  readonly functions?: readonly string[];
}

/** An option without a default; `undefined` when the user omits it. */
export interface OptionalOption<Value> {
  readonly schema: JsonSchema;
  readonly preset?: Value;
}

/** A function that only a program can pass. */
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

/** The complete options under their names in code. */
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

/** One of several words; the default is the first unless another is given. */
export function choice<const Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
  preset: NoInfer<Word> = words[0],
): Option<Word> {
  return { schema: { enum: [...words], description }, preset };
}

/** A list of non-empty texts. */
export function texts(
  description: string,
  { maxItems, maxLength }: { readonly maxItems: number; readonly maxLength?: number },
  preset: readonly string[] = [],
): Option<readonly string[]> {
  const items = { type: 'string', minLength: 1, ...(maxLength === undefined ? {} : { maxLength }) };
  return { schema: { type: 'array', maxItems, items, description }, preset };
}

/** The members of the contract that describe the options. */
function optionData<Table extends OptionTable>(
  table: Table,
): {
  readonly defaults: OptionsOf<Table>;
  readonly required: readonly string[];
  readonly properties: { readonly [key: string]: JsonValue };
  readonly functions: readonly string[];
} {
  const rows = Object.entries<Row>(table);
  return {
    // Only rows with a preset have a default.
    defaults: Object.fromEntries(rows.flatMap(([key, row]) => ('preset' in row ? [[camelCase(key), row.preset]] : []))) as OptionsOf<Table>,
    required: rows.flatMap(([key, row]) => ('isRequired' in row ? [key] : [])),
    properties: Object.fromEntries(rows.flatMap(([key, row]) => ('schema' in row ? [[key, row.schema]] : []))),
    functions: rows.flatMap(([key, row]) =>
      'functions' in row ? (row.functions ?? []).map((path) => (path === '' ? camelCase(key) : `${camelCase(key)}.${path}`)) : [],
    ),
  };
}

/** The name of an option in code. */
export function camelCase(key: string): string {
  return key.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

export function expecting(properties: JsonObject, ...required: readonly string[]): JsonSchema {
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
}

/** Tasks, or the steps of a plan. */
export function textList(description: string): JsonObject {
  return { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1 }, description };
}

export const constraints: JsonObject = { type: 'string', description: 'Constraints that the agent must keep.' };

/** One text or several. */
export function contextTexts(description: string): JsonObject {
  return {
    description,
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', maxItems: 1000, items: { type: 'string', minLength: 1 } },
    ],
  };
}

/** The name of an option in files. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
