/** JSON Schemas of what one run has beyond its row in a list. */
import type { JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';

const ofOne = (schema: JsonObject, description = ''): JsonObject => ({
  ...schema,
  description: `${description === '' ? '' : `${description} `}Only for a single run.`,
});

/** Present when the store has the content of the run. */
export const runContentMembers: JsonObject = {
  error_message: ofOne(api.textOrNull(), 'Message of the error that ended the run.'),
  error_type: ofOne(api.textOrNull(), 'Class of the error that ended the run.'),
  dialects: ofOne({ type: ['array', 'null'], items: api.text }, 'Collectors that read its spans.'),
  evidence: ofOne(
    { type: ['object', 'null'] },
    'Confidence of the reader by evidence. Null when collectors of SDKs or conventions read all of it.',
  ),
  parent: ofOne(api.optional(api.object({ trace_id: api.text, span_id: api.text })), 'The run that called this agent.'),
  system_prompt: ofOne(api.textOrNull()),
  input: ofOne(api.textOrNull()),
  final_response: ofOne({}),
  tasks: ofOne({ type: ['array', 'null'], items: api.text }),
  constraints: ofOne(api.textOrNull()),
  model_calls: ofOne(api.count, 'Number of its model calls.'),
  tokens: ofOne(api.object({ input: api.countOrNull(), output: api.countOrNull() })),
  documents: ofOne(
    api.many(api.object({ id: api.textOrNull(), content: api.textOrNull(), score: api.numberOrNull(), span_id: api.textOrNull() })),
  ),
  truncated: ofOne(api.many(api.text), 'Parts that were cut before they came.'),
  tool_calls_carried: ofOne(api.flag, 'False when the spans carry no tool calls, so an empty list proves nothing.'),
  tool_calls: ofOne(api.many(api.reference('ToolCall'))),
  tool_calls_left_out: ofOne(api.count, 'Tool calls beyond `list_max`. `/runs/{trace}/{span}/tool-calls` has them.'),
  tool_definitions: ofOne(api.many(api.reference('ToolDefinition')), 'Tools that the models of the run were offered.'),
};

export const runContentSchemas: { readonly [name: string]: JsonObject } = {
  ToolCall: api.object({
    name: api.text,
    id: api.textOrNull(),
    arguments: { description: 'An object, or the text of arguments that are none; null: not carried.' },
    result_carried: api.flag,
    result: {},
    error: api.optional(api.object({ message: api.text, type: api.textOrNull(), sign: api.text })),
    truncated: api.object({ arguments: api.textOrNull(), result: api.textOrNull() }),
    executed: { ...api.flag, description: 'False when a model requested the call but no span shows that it ran.' },
    stated_outcome: { enum: ['ok', 'failed', null] },
    outcome: {
      ...api.text,
      description: '`returned`, `failed`, `waiting` (for a person or another program), `refused` (by a person), or `not_executed`.',
    },
    span_id: api.textOrNull(),
    started_at: api.orNull(api.time),
    ended_at: api.orNull(api.time),
    provenance: { type: 'object' },
  }),
  ToolDefinition: api.object({ name: api.text, description: api.textOrNull(), input_schema: {}, truncated: api.flag }),
};
