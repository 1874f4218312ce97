/** Builders of evaluators: they complete what an evaluator says of itself to the contract in `evaluator.ts`. */
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
import { optionData, type OptionsOf, type OptionTable } from './option-table.ts';

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
