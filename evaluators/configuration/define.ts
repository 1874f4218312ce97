/**
 * The declaration of an evaluator: builders that complete it to the contract in `evaluator.ts`, and the table of its options. A row has
 * the key that a user writes, the schema of the value and the default. The type of the options follows from the table.
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

/** What an evaluator says of itself. */
export type Described<Table extends OptionTable> = Pick<
  EvaluatorData<unknown>,
  'id' | 'summary' | 'needs' | 'target' | 'guard' | 'defaultThreshold' | 'expectationSchema' | 'switchedOnBy' | 'source'
> & {
  /** 1 when left out. */
  readonly version?: number;
  /** Off when left out. */
  readonly onByDefault?: true;
  /** No options when left out. */
  readonly options?: Table;
  /** What the schema of the options says beside the options one by one. */
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

/** A rule of which a judge can find more. */
export function ruleWithJudge<Table extends OptionTable = {}>(
  described: Described<Table> & Evaluates<OptionsOf<Table>, Outcome> & AsksMore<OptionsOf<Table>>,
): RuleEvaluator<OptionsOf<Table>> & AsksMore<OptionsOf<Table>> {
  return { kind: 'rule', ...completed(described) };
}

/** An evaluator that asks a judge in steps of its own. */
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
  // Without options the table is the empty one, whose type is the default of the parameter.
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

export function expecting(properties: JsonObject, ...required: readonly string[]): JsonSchema {
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
}

/** Tasks, or the steps of a plan. */
export function textList(description: string): JsonObject {
  return { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1 }, description };
}

export const constraints: JsonObject = { type: 'string', description: 'What the agent has to keep to meanwhile.' };

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

/** The name in files of a name in code. */
export function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
