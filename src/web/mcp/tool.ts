/** The contract of a tool. */
import type { JsonObject } from '../../model/json.ts';
import type { AskApi, InputSchema } from './api-request.ts';
import type { Answer } from './tool-answer.ts';

export interface Tool {
  readonly name: string;
  readonly title: string;
  /** Whole sentences for the model that chooses a tool. */
  readonly description: string;
  readonly input: InputSchema;
  /** True for a tool that changes something: the server lists it to callers that may annotate. */
  readonly isWriting?: true;
  /** `given` fits `input`. Rejects with an ApiFault when the API refuses. */
  readonly run: (ask: AskApi, given: JsonObject) => Promise<Answer>;
}
