/** An example of a dataset: the input of a run, what is expected of the run, and where the example comes from. */
import type { JsonObject, JsonValue } from './json.ts';
import type { SpanId, TraceId } from './ids.ts';
import type { Micros } from './timestamp.ts';

export interface DatasetExample {
  /** Unique in its dataset; a changed example keeps it. */
  readonly id: string;
  /** A text, the conversation so far as messages in the OpenAI form, or an object of named inputs. */
  readonly input: JsonValue;
  /** The expectation in the form of dataset files; absent when nothing is expected yet. */
  readonly expect?: JsonObject;
  readonly tasks?: readonly string[];
  readonly constraints?: string;
  /** Tools of the agent, beside the definitions in its trace. */
  readonly tools?: readonly JsonValue[];
  readonly tags?: readonly string[];
  /** Part of the dataset that the example belongs to, such as `train` or `test`. */
  readonly split?: string;
  /** Entries as in the configuration, with their options and thresholds. They replace the configured evaluators. */
  readonly evaluators?: readonly JsonValue[];
  /** Limit of one run of the agent in seconds. Overrides that of the experiment. */
  readonly timeoutSeconds?: number;
  /** A note for people; no evaluator reads it. */
  readonly metadata?: JsonValue;
  readonly origin?: ExampleOrigin;
  /** `draft`: no person has looked at the expectation, which repeats what a run did. Default: `reviewed`. */
  readonly review?: 'draft' | 'reviewed';
}

/** The origin of an example. Members that do not apply are omitted. */
export interface ExampleOrigin {
  readonly traceId?: TraceId;
  readonly spanId?: SpanId;
  /** The person or program that added the example. */
  readonly by?: string;
  /** Name of the configured rule that kept the run. */
  readonly rule?: string;
  /** Name of the imported file. */
  readonly file?: string;
  readonly at?: Micros;
}
