/** JSON Schemas of what one run has beyond its row in a list. */
import type { JsonObject } from '../../model/json.ts';
import {
  count,
  countOrNull,
  flag,
  many,
  numberOrNull,
  object,
  optional,
  orNull,
  reference,
  text,
  textOrNull,
  time,
} from '../../model/resource.ts';

const ofOne = (schema: JsonObject, description = ''): JsonObject => ({
  ...schema,
  description: `${description === '' ? '' : `${description} `}Of one run only.`,
});

/** Present when the store has the content of the run. */
export const runContentMembers: JsonObject = {
  error_message: ofOne(textOrNull(), 'Of the error that ended the run.'),
  error_type: ofOne(textOrNull(), 'Class of the error that ended the run.'),
  dialects: ofOne({ type: ['array', 'null'], items: text }, 'Collectors that read its spans.'),
  evidence: ofOne(
    { type: ['object', 'null'] },
    'How sure the reader by evidence is; null: collectors of SDKs or conventions read all of it.',
  ),
  parent: ofOne(optional(object({ trace_id: text, span_id: text })), 'The run that called this agent.'),
  system_prompt: ofOne(textOrNull()),
  input: ofOne(textOrNull()),
  final_response: ofOne({}),
  tasks: ofOne({ type: ['array', 'null'], items: text }),
  constraints: ofOne(textOrNull()),
  model_calls: ofOne(count, 'Number of its model calls.'),
  tokens: ofOne(object({ input: countOrNull(), output: countOrNull() })),
  documents: ofOne(many(object({ id: textOrNull(), content: textOrNull(), score: numberOrNull(), span_id: textOrNull() }))),
  truncated: ofOne(many(text), 'Parts that were cut before they came.'),
  tool_calls_carried: ofOne(flag, 'False: the spans carry no tool calls, so an empty list proves nothing.'),
  tool_calls: ofOne(many(reference('ToolCall'))),
  tool_calls_left_out: ofOne(count, 'Tool calls beyond `list_max`. `/runs/{trace}/{span}/tool-calls` has them.'),
  tool_definitions: ofOne(many(reference('ToolDefinition')), 'What the models of the run were offered.'),
};

export const runContentSchemas: { readonly [name: string]: JsonObject } = {
  ToolCall: object({
    name: text,
    id: textOrNull(),
    arguments: { description: 'An object, or the text of arguments that are none; null: not carried.' },
    result_carried: flag,
    result: {},
    error: optional(object({ message: text, type: textOrNull(), sign: text })),
    truncated: object({ arguments: textOrNull(), result: textOrNull() }),
    executed: { ...flag, description: 'False: a model requested the call, and no span shows that it ran.' },
    stated_outcome: { enum: ['ok', 'failed', null] },
    outcome: {
      ...text,
      description: '`returned`, `failed`, `waiting` (for a person or another program), `refused` (by a person), or `not_executed`.',
    },
    span_id: textOrNull(),
    started_at: orNull(time),
    ended_at: orNull(time),
    provenance: { type: 'object' },
  }),
  ToolDefinition: object({ name: text, description: textOrNull(), input_schema: {}, truncated: flag }),
};
