/** What is expected of a run. An absent member means that nothing is expected in that respect; an empty list expects nothing. */
import type { JsonObject, JsonValue } from './json.ts';

/** An absent `arguments` or `result` accepts any. */
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

/** How often a tool is to be called: both bounds count as allowed; `not` is a number of calls that is not allowed. */
export interface ExpectedCount {
  readonly name: string;
  readonly least?: number;
  readonly most?: number;
  readonly not?: number;
}

/** A message of a reference conversation: who speaks, and which calls it asks for. */
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
  /** The steps that the agent is to plan and take, in order. */
  readonly plan?: readonly string[];
  readonly output?: JsonValue;
  /** Texts that hold what is true: what the agent says is checked against them. */
  readonly context?: readonly string[];
  /** Texts to search for. */
  readonly searchText?: string | readonly string[];
  /** What is expected of each turn, in order; for evaluators that look at a run turn by turn. */
  readonly byTurn?: readonly Expectation[];
}
