/**
 * The contract of an evaluator: data plus one function. A rule is a pure function. Other evaluators are generators that yield requests,
 * receive parsed answers and return an outcome. The host handles retry, cost, cache and concurrency.
 */
import type { AgentTrace, Run } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { ProcessKnowledge } from '../src/model/process-model.ts';
import type { Outcome, ScoredVerdict } from '../src/model/verdict.ts';

/** A fault with its path in the input. */
export interface Fault {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/** The part that all verdicts of the same failure have in common. It names the fault and not the case. */
export interface Signature {
  /** Name of the tool; empty for a fault that is not of a tool. */
  readonly tool: string;
  /** In words, on one line. */
  readonly text: string;
}

/** Reads the signatures of a failed verdict from what the evaluator wrote. The trace is redacted, like the verdict. */
export type Signatures = (verdict: ScoredVerdict, trace: AgentTrace) => readonly Signature[];

/** JSON Schema (draft 2020-12) as data. */
export type JsonSchema = JsonObject;

export interface Subject {
  readonly trace: AgentTrace;
  readonly expected: Expectation;
  /** When the trace is a part of a run: the whole run. */
  readonly whole?: AgentTrace;
  /** The run of the trace; absent outside a stream of spans. */
  readonly run?: Run;
}

/** Data that an evaluator reads. The catalogue lists it, and `inspect` reports what is missing. */
export type Need =
  | 'tool_calls'
  | 'tool_definitions'
  | 'tool_results'
  | 'input'
  | 'final_response'
  | 'expected_tool_calls'
  | 'expected_tool_outputs'
  | 'expected_tool_counts'
  | 'expected_tool_order'
  | 'expected_messages'
  | 'expected_output'
  | 'expected_context'
  | 'search_text'
  | 'documents'
  | 'tokens'
  | 'times'
  | 'tasks';

/**
 * Parts of an expectation under their names in files. `tool_calls.arguments` and `tool_calls.result` are optional members of an expected
 * call.
 */
export type ExpectedPart =
  | 'tool_calls'
  | 'tool_calls.arguments'
  | 'tool_calls.result'
  | 'tool_outputs'
  | 'tool_calls_count'
  | 'tool_calls_order'
  | 'messages'
  | 'tasks'
  | 'constraints'
  | 'plan'
  | 'output'
  | 'context'
  | 'search_text'
  | 'by_turn';

/** A validator of one JSON Schema. Problems name their place by member names and indices. */
export interface CompiledSchema {
  /** `undefined` when the check exceeds the steps per value or those left in `work`. */
  readonly problems: (value: JsonValue, work?: Work) => readonly SchemaProblem[] | undefined;
  /** Certain problems, and parts without a check. A value satisfies the schema only if it has neither. */
  readonly check: (value: JsonValue, work?: Work) => CheckedValue;
  /** Parts of the schema that the compiler left out; empty for a valid schema. */
  readonly faults: readonly string[];
  /** Steps of compiling, in the unit of checking. */
  readonly steps: number;
}

export interface CheckedValue {
  readonly problems: readonly SchemaProblem[];
  /** Parts of the schema for this value that cannot be applied or take too much work, in words. */
  readonly gaps: readonly string[];
}

/** Steps that all checks of a run share. Counting steps instead of time gives every host the same result. */
export interface Work {
  steps: number;
}

export interface SchemaProblem {
  readonly path: readonly string[];
  readonly keyword: string;
  readonly params: JsonObject;
  readonly message: string;
}

/** A linear-time regular expression that matches anywhere in a text. */
export interface Pattern {
  readonly source: string;
  readonly test: (text: string) => boolean;
}

/** Caches across evaluations. The host passes them in, as evaluators have no state. */
export interface EvaluationContext {
  /** Compiles each distinct schema once. `undefined` when the schema exceeds the limits. */
  readonly schema: (schema: JsonValue) => CompiledSchema | undefined;
  /** Compiles each distinct source once. Throws when the source is invalid; options are validated at load time. */
  readonly pattern: (source: string) => Pattern;
  /**
   * The result of `make` for a value that many runs share, such as tool definitions, cached as long as the value lives. `by`: the options
   * that the result depends on. The result must be immutable.
   */
  readonly once: <Made extends object>(shared: object, by: object, make: () => Made) => Made;
  /**
   * Limit of tool calls for an evaluator that gives all of them to a judge; a run with more is `skipped: too_large`. An evaluator that
   * compares each call with each expectation skips a run with more pairs than its square. One pass takes any run.
   */
  readonly toolCallsMax: number;
  /** The learnt normal process of a run's agent and version; `undefined` when nothing learns it. Omitted when no host learns. */
  readonly processOf?: (run: Run) => ProcessKnowledge | undefined;
}

export interface EvaluatorData<Options> {
  readonly id: string;
  /** Increases whenever the verdict on any trace may change. */
  readonly version: number;
  readonly summary: string;
  readonly needs: readonly Need[];
  /** The target of verdicts. Defaults to each run. A session is one run that contains its turns. */
  readonly target?: 'session';
  /** The evaluator compares a run with the normal process of its agent, which the host learns. `options` are those of `process/learning.ts`. */
  readonly learns?: 'process';
  /** True when the evaluator guards against harm, so that webhooks report a run that is too large for it like a failure. */
  readonly guard?: true;
  /** False when it needs each of its items in full, or embeds texts, so that notes on the pieces of a long run do not suffice. */
  readonly mappable?: false;
  /** True when it is enabled without configuration. */
  readonly onByDefault: boolean;
  readonly defaultThreshold: number | null;
  /** The complete default options. */
  readonly defaults: Options;
  /** Schema of `options` in an entry, validated at load time. */
  readonly optionsSchema: JsonSchema;
  /** Paths of options that take functions from a program, with names as in code and `*` for any name. */
  readonly functions?: readonly string[];
  /** Schema of `expect` in an entry. Omitted when the evaluator takes no expectation. */
  readonly expectationSchema?: JsonSchema;
  /** The parts of an expectation that decide the verdict. Defaults to the members of `expectationSchema`. */
  checks?(options: Options, expected: Expectation): readonly ExpectedPart[];
  /**
   * Options by expectation part for which a dataset adds the evaluator when no other checks that part. A metric then has the threshold 1.
   */
  readonly switchedOnBy?: { readonly [part in ExpectedPart]?: JsonObject };
  /** Failures with the same signature are one issue. Defaults to the tools of the failed parts, or the label. */
  readonly signatures?: Signatures;
  /** Origin of the evaluator, for the reference page. */
  readonly source: string;
  /** Faults of the complete options beyond their schemas, with paths as in files. */
  optionFaults?(options: Options): readonly Fault[];
  /**
   * Faults of an entry's expectation beyond its schema, with paths below `expect`. A faulty expectation of a single run is skipped instead.
   */
  expectationFaults?(expected: Expectation, options: Options): readonly Fault[];
}

export interface RuleEvaluator<Options = never> extends EvaluatorData<Options> {
  readonly kind: 'rule';
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome;
  /**
   * Replaces `evaluate` when the entry names a judge. When the judge fails, the rule's result remains if the score is a share of checks;
   * the outcome is failed if the lower of two scores counts. The details hold `judge_error` in both cases.
   */
  evaluateWithJudge?(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

/** One block of untrusted data in a question. The prompt fences it, and it is never searched for placeholders. */
export interface DataBlock {
  readonly title: string;
  readonly text: string;
  /** The material of the text. It stays in the evaluation: no judge gets it, and no program with one either. */
  readonly full?: {
    /** True when the text leaves out a part. */
    readonly isCut: boolean;
    /** In full, one for each message or call. */
    readonly entries: () => readonly string[];
  };
  /** True for a text that is not of the run: it is never read in pieces. */
  readonly isApart?: true;
}

export interface Question {
  /** A request without a kind is a question. */
  readonly kind?: 'ask';
  /** Id of the question within its evaluator, and part of the cache key. */
  readonly id: string;
  readonly instruction: string;
  readonly data: readonly DataBlock[];
  /** Schema of the answer, with members in the order explanation, then label or score. */
  readonly answerSchema: JsonSchema;
  /** Checks beyond the schema, for example one verdict per task. Returns the fault in words; the retry names it. */
  readonly check?: (answer: JsonValue) => string | undefined;
  /** True when the answer is material for a later question, and not a verdict. */
  readonly notes?: true;
  /** Number of the vote, from 2 on, when several votes answer one question. Evaluators leave it out. */
  readonly vote?: number;
}

/** A request for embeddings of texts. */
export interface EmbeddingRequest {
  readonly kind: 'embed';
  /** Not blank. */
  readonly texts: readonly string[];
}

/** A document for an HTTP endpoint that evaluates. */
export interface HttpCall {
  readonly kind: 'call';
  readonly url: string;
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  /** Timeout of one whole answer. */
  readonly timeoutMs: number;
  /** A JSON text. */
  readonly body: string;
}

/** Requests that a generator may yield. Judges answer questions and embed texts; HTTP calls are for evaluators of kind `http`. */
export type EvaluatorRequest = Question | EmbeddingRequest | HttpCall;

/** An evaluation that waits for answers. */
export type Asking<Result> = Generator<EvaluatorRequest, Result, Answer>;

/** An evaluation that only asks a judge questions. */
export type Judging = Generator<Question, Outcome, Answer>;

/** `value`: satisfies the schema of a question; the vectors of the texts, in order; or any JSON value from an endpoint. */
export type Answer =
  | {
      readonly kind: 'answered';
      readonly value: JsonValue;
      readonly truncated: boolean;
      readonly model?: string;
      /** The answer came from the cache. */ readonly cached?: true;
      /** From a batch, which may have its own price. */ readonly batched?: true;
      readonly tokens?: { readonly input: number; readonly output: number };
    }
  | { readonly kind: 'failed'; readonly error: string; readonly tokens?: { readonly input: number; readonly output: number } };

export interface JudgeEvaluator<Options = never> extends EvaluatorData<Options> {
  readonly kind: 'judge';
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

/** An evaluation by an HTTP endpoint. Each entry has a separate name. */
export interface HttpEvaluator<Options = never> extends EvaluatorData<Options> {
  readonly kind: 'http';
  /** Limit of runs of one entry in progress at the endpoint. */
  concurrency(options: Options): number;
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

export type Evaluator<Options = never> = RuleEvaluator<Options> | JudgeEvaluator<Options> | HttpEvaluator<Options>;

/** Any evaluator. `configured.ts` validates the options, so tables need not know their type. */
export type AnyEvaluator = Evaluator<unknown>;
