/**
 * The contract of an evaluator: data plus one function. A rule evaluator is a pure function. One that needs the world is a generator: it
 * yields requests, receives the parsed answers and returns its outcome. The host handles retry, cost, cache and concurrency.
 */
import type { AgentTrace, Run } from '../src/model/agent-trace.ts';
import type { Expectation } from '../src/model/expectation.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';

/** Where in what was read, and what is wrong there. */
export interface Fault {
  readonly path: readonly (string | number)[];
  readonly problem: string;
}

/** JSON Schema (draft 2020-12) as data. */
export type JsonSchema = JsonObject;

export interface Subject {
  readonly trace: AgentTrace;
  readonly expected: Expectation;
  /** The trace with its place in the stream of spans; absent where there is none. */
  readonly run?: Run;
}

/** What an evaluator reads. The catalogue prints it, and `inspect` names what is missing. */
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
 * What an expectation may state, under the name that files use. `tool_calls.arguments` and `tool_calls.result` are what an expected call
 * may name besides its tool.
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

/** A validator of one JSON Schema. Problems name the place in the value by member names and indexes. */
export interface CompiledSchema {
  /** `undefined` when the check takes more steps than one value may take, or than are left of `work`. */
  readonly problems: (value: JsonValue, work?: Work) => readonly SchemaProblem[] | undefined;
  /** What is certainly wrong with the value, and which parts were not checked. Only a value with neither satisfies the schema. */
  readonly check: (value: JsonValue, work?: Work) => CheckedValue;
  /** Parts of the schema that the compiler dropped; empty for a valid schema. */
  readonly faults: readonly string[];
  /** What compiling it costs, in the steps that checking is counted in. */
  readonly steps: number;
}

export interface CheckedValue {
  readonly problems: readonly SchemaProblem[];
  /** In words: a part of the schema that concerns this value cannot be applied, or the check takes too much work. */
  readonly gaps: readonly string[];
}

/** Steps that the checks of one run share. They are counted, not timed, so that every host reaches the same result. */
export interface Work {
  steps: number;
}

export interface SchemaProblem {
  readonly path: readonly string[];
  readonly keyword: string;
  readonly params: JsonObject;
  readonly message: string;
}

/** A linear-time regular expression, searched anywhere in the text. */
export interface Pattern {
  readonly source: string;
  readonly test: (text: string) => boolean;
}

/** Caches that outlive one evaluation. The host passes them in: no evaluator keeps state. */
export interface EvaluationContext {
  /** Compiles once per distinct schema. `undefined` when the schema is beyond the limits. */
  readonly schema: (schema: JsonValue) => CompiledSchema | undefined;
  /** Compiles once per distinct source. Throws when the source is not a valid pattern: options are checked when loaded. */
  readonly pattern: (source: string) => Pattern;
  /**
   * What `make` returns for a value that many runs share, such as their tool definitions. It is made once while the value lives. `by` is
   * the options that it depends on. The result is immutable.
   */
  readonly once: <Made extends object>(shared: object, by: object, make: () => Made) => Made;
  /**
   * Limit of tool calls for an evaluator that gives all of them to a judge; a run with more is `skipped: too_large`. An evaluator that
   * compares each call with each expectation skips a run with more pairs than its square. One pass takes any run.
   */
  readonly toolCallsMax: number;
}

export interface EvaluatorData<Options> {
  readonly id: string;
  /** Rises whenever the same trace could get another verdict. */
  readonly version: number;
  readonly summary: string;
  readonly needs: readonly Need[];
  /** What it gives verdicts on; each run when left out. A session is one run, with its turns one after the other. */
  readonly target?: 'session';
  /** It guards against harm: webhooks report a run that is too large for it like one that fails. */
  readonly guard?: true;
  /** On without any configuration. */
  readonly onByDefault: boolean;
  readonly defaultThreshold: number | null;
  /** The complete options; what a user leaves out is filled from here. */
  readonly defaults: Options;
  /** Schema of what a user may write under `options`; checked when the configuration is loaded. */
  readonly optionsSchema: JsonSchema;
  /** Options that are functions, which a program can give and no file: paths of names as the code has them, `*` for any name. */
  readonly functions?: readonly string[];
  /** Schema of what a user may write under `expect`; absent: it takes no expectation. */
  readonly expectationSchema?: JsonSchema;
  /** The parts of an expectation that decide its verdict; absent: the members of `expectationSchema`. */
  checks?(options: Options, expected: Expectation): readonly ExpectedPart[];
  /** Parts that no other evaluator checks switch it on where a dataset is scored, each with these options. A raw metric then has the threshold 1. */
  readonly switchedOnBy?: { readonly [part in ExpectedPart]?: JsonObject };
  /** Where the rule comes from, for the reference page. */
  readonly source: string;
  /** What no schema can say about the complete options: every fault, with its path among the options as a user writes them. */
  optionFaults?(options: Options): readonly Fault[];
  /** What no schema can say about the expectation of an entry under these options, with its path below `expect`. The expectation of one run is not refused: it is skipped. */
  expectationFaults?(expected: Expectation, options: Options): readonly Fault[];
}

export interface RuleEvaluator<Options = never> extends EvaluatorData<Options> {
  readonly kind: 'rule';
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Outcome;
  /**
   * For rules of which a judge finds more: replaces `evaluate` when the entry names a judge. Without a usable answer the findings of the
   * rule remain when the score is a share of checks. The outcome is failed when the lower of two scores counts. The details hold
   * `judge_error` in both cases.
   */
  evaluateWithJudge?(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

/** One block of foreign data in a question. It is fenced when the prompt is written and never scanned for placeholders. */
export interface DataBlock {
  readonly title: string;
  readonly text: string;
}

export interface Question {
  /** May be left out: a request without a kind is a question. */
  readonly kind?: 'ask';
  /** Name of the question within its evaluator, and part of the verdict cache's key. */
  readonly id: string;
  readonly instruction: string;
  readonly data: readonly DataBlock[];
  /** The answer must satisfy it; with fields in the order explanation, then label or score. */
  readonly answerSchema: JsonSchema;
  /** Checks beyond the schema, for example one verdict per task. Returns the fault in words; the retry names it. */
  readonly check?: (answer: JsonValue) => string | undefined;
  /** The number of the vote among several on one question, from 2 on; evaluators leave it out. Each vote has an answer of its own. */
  readonly vote?: number;
}

/** Texts whose vectors in an embedding model are wanted. */
export interface EmbeddingRequest {
  readonly kind: 'embed';
  /** None is blank. */
  readonly texts: readonly string[];
}

/** One document for an endpoint that evaluates elsewhere. */
export interface HttpCall {
  readonly kind: 'call';
  readonly url: string;
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  /** Longest wait for one whole answer. */
  readonly timeoutMs: number;
  /** A JSON text. */
  readonly body: string;
}

/** What a generator may yield. Judges answer questions and embed texts; HTTP calls are for evaluators of kind `http`. */
export type EvaluatorRequest = Question | EmbeddingRequest | HttpCall;

/** An evaluation that waits for answers. */
export type Asking<Result> = Generator<EvaluatorRequest, Result, Answer>;

/** An evaluation that only asks a judge questions. */
export type Judging = Generator<Question, Outcome, Answer>;

/** `value` satisfies the schema of the question. For an embedding request it is a list of vectors, one per text, in order; for a call any JSON value. */
export type Answer =
  | {
      readonly kind: 'answered';
      readonly value: JsonValue;
      readonly truncated: boolean;
      readonly model?: string;
      /** It was given before, to the same question. */ readonly cached?: true;
      /** It came in a batch, which may have a price of its own. */ readonly batched?: true;
      readonly tokens?: { readonly input: number; readonly output: number };
    }
  | { readonly kind: 'failed'; readonly error: string; readonly tokens?: { readonly input: number; readonly output: number } };

export interface JudgeEvaluator<Options = never> extends EvaluatorData<Options> {
  readonly kind: 'judge';
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

/** An evaluation that an HTTP endpoint makes. Each entry is another one, so each has a name of its own. */
export interface HttpEvaluator<Options = never> extends EvaluatorData<Options> {
  readonly kind: 'http';
  /** Runs of one entry that the endpoint is asked about at the same time. */
  concurrency(options: Options): number;
  evaluate(subject: Subject, options: Options, context: EvaluationContext): Asking<Outcome>;
}

export type Evaluator<Options = never> = RuleEvaluator<Options> | JudgeEvaluator<Options> | HttpEvaluator<Options>;

/** Any evaluator of a table. Its options are what `configured.ts` has checked against its schema, so the table need not know them. */
export type AnyEvaluator = Evaluator<unknown>;
