/** For every evaluator: whether it could score this run, and otherwise what is missing and which setting brings it. */
import { configuredEvaluator, type ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { AnyEvaluator, EvaluationContext, Need, Fault } from '../../../evaluators/evaluator.ts';
import { readExpectation } from '../../../evaluators/expectation/expectation.ts';
import { evaluators } from '../../../evaluators/index.ts';
import type { EvaluatorConfig } from '../../config/config.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Expectation } from '../../model/expectation.ts';
import type { Verdict } from '../../model/verdict.ts';
import { lackOf, missingDataOf, type Lack } from '../../pipeline/reporting/missing-data.ts';

export interface Evaluability {
  readonly name: string;
  readonly evaluator: AnyEvaluator;
  /** It is part of the plan: on by default, or named in the configuration. */
  readonly on: boolean;
  readonly outcome: Verdict | { readonly kind: 'would_ask' } | { readonly kind: 'filtered' } | Unconfigured;
  /** What it needs and this run does not have. */
  readonly missing: readonly Need[];
  /** What kept it from scoring; absent where nothing is missing. */
  readonly lack?: Lack | 'options';
  /** What to switch on so that it could score; empty when nothing is missing that could be switched on. */
  readonly hints: readonly string[];
}

/** It does not run without options or an expectation that only a configuration can give. */
export interface Unconfigured {
  readonly kind: 'needs_configuration';
  readonly explanation: string;
}

export interface Catalogue {
  readonly plan: readonly EvaluatorConfig[];
  readonly context: EvaluationContext;
}

export function evaluability(run: Run, { plan, context }: Catalogue): readonly Evaluability[] {
  const expected = run.expected === undefined ? {} : readExpectation(run.expected).expectation;
  // Behind those of the table come those of files.
  return [...new Set([...evaluators, ...plan.map(({ configured }) => configured.evaluator)])].flatMap((evaluator) => {
    const planned = plan.filter(({ configured }) => configured.evaluator.id === evaluator.id);
    if (planned.length > 0)
      return planned.map(({ configured, when }) =>
        ofConfigured(run, configured, {
          on: true,
          outcome: when !== undefined && !when(run) ? { kind: 'filtered' } : outcomeOf(run, configured, expected, context),
          expected,
        }),
      );
    const made = configuredEvaluator({ use: evaluator.id }, evaluators);
    if (made.kind === 'ready')
      return [ofConfigured(run, made.evaluator, { on: false, outcome: outcomeOf(run, made.evaluator, expected, context), expected })];
    return [
      {
        name: evaluator.id,
        evaluator,
        on: false,
        outcome: unconfigured(made.faults),
        missing: missingOf(run, evaluator, expected),
        hints: [],
      },
    ];
  });
}

function ofConfigured(
  run: Run,
  { name, evaluator, expect }: ConfiguredEvaluator,
  { on, outcome, expected }: Pick<Evaluability, 'on' | 'outcome'> & { readonly expected: Expectation },
): Evaluability {
  const lacking = lackIn(outcome, evaluator);
  return {
    name,
    evaluator,
    on,
    outcome,
    missing: missingOf(run, evaluator, { ...expect, ...expected }),
    ...lacking,
    hints: hintsFor(lacking.lack, run),
  };
}

function missingOf(run: Run, { needs }: AnyEvaluator, expected: Expectation): readonly Need[] {
  return needs.filter((need) => !has[need](run, expected));
}

function unconfigured(faults: readonly Fault[]): Unconfigured {
  return {
    kind: 'needs_configuration',
    explanation: `It runs only as a configuration says: ${faults.map(({ path, problem }) => [path.join('.'), problem].join(' ').trim()).join('; ')}.`,
  };
}

/** A judge is not asked: where its evaluator gets as far as a question, it could score. */
function outcomeOf(run: Run, configured: ConfiguredEvaluator, expected: Expectation, context: EvaluationContext): Evaluability['outcome'] {
  if (configured.kind === 'rule') return configured.evaluate(run.trace, expected, context);
  const questions = configured.judge(run.trace, expected, context, run);
  const first = questions.next();
  if (first.done === true) return first.value;
  questions.return({ kind: 'failed', error: 'not_asked', explanation: '', details: {} });
  return { kind: 'would_ask' };
}

const has: { readonly [need in Need]: (run: Run, expected: Expectation) => boolean } = {
  tool_calls: ({ trace }) => trace.toolCalls.length > 0,
  tool_definitions: ({ trace }) => trace.toolDefinitions.length > 0,
  tool_results: ({ trace }) => trace.toolCalls.some((call) => call.result !== undefined || call.error !== undefined),
  input: ({ trace }) => trace.input !== undefined,
  final_response: ({ trace }) => trace.finalResponse !== undefined,
  expected_tool_calls: (_run, expected) => expected.toolCalls !== undefined,
  expected_tool_outputs: (_run, expected) => expected.toolOutputs !== undefined,
  expected_tool_counts: (_run, expected) => expected.toolCallsCount !== undefined,
  expected_tool_order: (_run, expected) => expected.toolCallsOrder !== undefined,
  expected_messages: (_run, expected) => expected.messages !== undefined,
  expected_output: (_run, expected) => expected.output !== undefined,
  expected_context: (_run, expected) => expected.context !== undefined,
  documents: ({ trace }) => trace.documents.some(({ content }) => content !== undefined),
  search_text: (_run, expected) => expected.searchText !== undefined,
  tokens: ({ trace }) => trace.tokens !== undefined,
  times: ({ trace }) => trace.startUnixNano !== undefined && trace.endUnixNano !== undefined,
  tasks: ({ trace }, expected) => (expected.tasks ?? trace.tasks) !== undefined,
};

/** An evaluator without an expectation takes its settings from its options. */
function lackIn(outcome: Evaluability['outcome'], { expectationSchema }: AnyEvaluator): Pick<Evaluability, 'lack'> {
  const lack = outcome.kind === 'skipped' ? lackOf(outcome.reason) : undefined;
  if (lack === undefined) return {};
  return { lack: lack === 'expectation' && expectationSchema === undefined ? 'options' : lack };
}

function hintsFor(lack: Evaluability['lack'], run: Run): readonly string[] {
  if (lack === undefined) return [];
  const remedy =
    lack === 'options' ? 'Set its options in the configuration; tracejury evaluators NAME lists them.' : missingDataOf(lack, run.dialects);
  return remedy === undefined ? [] : [remedy];
}
