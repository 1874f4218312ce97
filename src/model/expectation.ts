/** The expectation of a run. An absent member expects nothing in that respect; an empty list expects that there is none. */
import type { JsonObject, JsonValue } from './json.ts';

/** An absent `arguments` or `result` matches any. */
export interface ExpectedToolCall {
  readonly name: string;
  readonly arguments?: JsonObject;
  readonly result?: JsonValue;
  readonly toolId?: string;
}

export interface ExpectedToolOutput {
  readonly name: string;
  readonly output: JsonValue;
  readonly toolId?: string;
}

/** Expected number of calls of a tool. Both bounds are inclusive; `not` is a number that is not allowed. */
export interface ExpectedCount {
  readonly name: string;
  readonly least?: number;
  readonly most?: number;
  readonly not?: number;
}

/** A message of a reference conversation: its role, and the calls that it requests. */
export interface ExpectedMessage {
  readonly role: string;
  readonly toolCalls: readonly ExpectedToolCall[];
}

export interface Expectation {
  readonly toolCalls?: readonly ExpectedToolCall[];
  readonly toolOutputs?: readonly ExpectedToolOutput[];
  readonly toolCallsCount?: readonly ExpectedCount[];
  /** Names of tools in the order of their calls. */
  readonly toolCallsOrder?: readonly string[];
  readonly messages?: readonly ExpectedMessage[];
  readonly tasks?: readonly string[];
  readonly constraints?: string;
  /** The expected steps of the plan, in order. */
  readonly plan?: readonly string[];
  readonly output?: JsonValue;
  /** Reference texts, against which statements of the agent are checked. */
  readonly context?: readonly string[];
  /** Texts to search for. */
  readonly searchText?: string | readonly string[];
  /** Expectations of the turns, in order, for evaluators that compare turn by turn. */
  readonly byTurn?: readonly Expectation[];
}
