/** JSON Schemas of what one run has beyond its row in a list. */
import type { JsonObject } from '../../model/json.ts';
import { count, object, text, time } from './route.ts';

const orNull = (schema: JsonObject): JsonObject => ({ ...schema, type: [String(schema['type']), 'null'] });
const ofOne = (schema: JsonObject, description = ''): JsonObject => ({
  ...schema,
  description: `${description === '' ? '' : `${description} `}Of one run only.`,
});
const list = (items: JsonObject): JsonObject => ({ type: 'array', items });
const textOrNull = orNull(text);

/** Present when the store has the content of the run. */
export const runContentMembers: JsonObject = {
  error_message: ofOne(textOrNull, 'Of the error that ended the run.'),
  error_type: ofOne(textOrNull, 'Class of the error that ended the run.'),
  dialects: ofOne({ type: ['array', 'null'], items: text }, 'Collectors that read its spans.'),
  evidence: ofOne(
    { type: ['object', 'null'] },
    'How sure the reader by evidence is; null: collectors of SDKs or conventions read all of it.',
  ),
  parent: ofOne({ anyOf: [object({ trace_id: text, span_id: text }), { type: 'null' }] }, 'The run that called this agent.'),
  system_prompt: ofOne(textOrNull),
  input: ofOne(textOrNull),
  final_response: ofOne({}),
  tasks: ofOne({ type: ['array', 'null'], items: text }),
  constraints: ofOne(textOrNull),
  model_calls: ofOne(count, 'Number of its model calls.'),
  tokens: ofOne(object({ input: orNull(count), output: orNull(count) })),
  documents: ofOne(list(object({ id: textOrNull, content: textOrNull, score: { type: ['number', 'null'] }, span_id: textOrNull }))),
  truncated: ofOne(list(text), 'Parts that were cut before they came.'),
  tool_calls_carried: ofOne({ type: 'boolean' }, 'False: the spans carry no tool calls, so an empty list proves nothing.'),
  tool_calls: ofOne(list({ $ref: '#/components/schemas/ToolCall' })),
  tool_calls_left_out: ofOne(count, 'Tool calls beyond `list_max`. `/runs/{trace}/{span}/tool-calls` has them.'),
  tool_definitions: ofOne(list({ $ref: '#/components/schemas/ToolDefinition' }), 'What the models of the run were offered.'),
};

export const runContentSchemas: { readonly [name: string]: JsonObject } = {
  ToolCall: object({
    name: text,
    id: textOrNull,
    arguments: { description: 'An object, or the text of arguments that are none; null: not carried.' },
    result_carried: { type: 'boolean' },
    result: {},
    error: { anyOf: [object({ message: text, type: textOrNull, sign: text }), { type: 'null' }] },
    truncated: object({ arguments: textOrNull, result: textOrNull }),
    executed: { type: 'boolean', description: 'False: a model requested the call, and no span shows that it ran.' },
    stated_outcome: { enum: ['ok', 'failed', null] },
    outcome: {
      ...text,
      description: '`returned`, `failed`, `waiting` (for a person or another program), `refused` (by a person), or `not_executed`.',
    },
    span_id: textOrNull,
    started_at: orNull(time),
    ended_at: orNull(time),
    provenance: { type: 'object' },
  }),
  ToolDefinition: object({ name: text, description: textOrNull, input_schema: {}, truncated: { type: 'boolean' } }),
};
