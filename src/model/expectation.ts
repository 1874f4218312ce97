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

export interface Expectation {
  readonly toolCalls?: readonly ExpectedToolCall[];
  readonly toolOutputs?: readonly ExpectedToolOutput[];
  readonly tasks?: readonly string[];
  readonly constraints?: string;
  readonly output?: JsonValue;
}
