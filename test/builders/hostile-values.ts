/** Unexpected attribute values: every type, texts that hold JSON or Python, wrappers cut short, names of the object prototype. */
import fc from 'fast-check';
import type { AttributeValue } from '../../src/model/span.ts';

/** Names that readers look for, and names that every object inherits. */
export const memberNames = [
  '__proto__',
  'constructor',
  'toString',
  'valueOf',
  'hasOwnProperty',
  '',
  '0',
  'id',
  'name',
  'role',
  'type',
  'content',
  'parts',
  'text',
  'value',
  'messages',
  'contents',
  'message',
  'data',
  'lc',
  'kwargs',
  'args',
  'input_str',
  'output',
  'response',
  'result',
  'status',
  'blocks',
  'tool_name',
  'isError',
  'tool_calls',
  'toolCalls',
  'function',
  'functions',
  'functionCall',
  'functionResponse',
  'toolUse',
  'toolResult',
  'arguments',
  'input',
  'parameters',
  'tool_call_id',
  'call_id',
  'functionDeclarations',
  'description',
  'inputSchema',
  'properties',
  'metadata',
  'session_id',
  'raw',
  'task',
  'expected_output',
  'answer',
  'tool_call',
  'document',
  'score',
  'ref',
  'toolRequest',
  'toolResponse',
  'inputs',
  'outputs',
  'documents',
  'page_content',
  'choices',
  'generations',
  'candidates',
  'usage',
  'usage_metadata',
  'total',
  'prompt_tokens_details',
  'function_tools',
  'event.name',
  'mcp_tool_name',
  'config',
  'tools',
] as const;
const words = [
  ...memberNames,
  'user',
  'assistant',
  'tool',
  'system',
  'tool_use',
  'tool-result',
  'error-text',
  'reasoning',
  'AIMessage',
  'final_answer',
  'TOOL',
  'LLM',
  'AGENT',
  'CHAIN',
  'chat',
  'invoke_agent',
  'execute_tool',
  'ai.toolCall',
  'ai.generateText.doGenerate',
  'ResponseFunctionToolCall(',
  'agent',
  'generation',
  'llm',
  'model',
  'flow',
  'tool.v2',
  '"CHAT_MODEL"',
  '"TOOL"',
  'workflow',
  'chain',
  'retriever',
  'interaction',
  'llm_request',
  'tool_call',
  'gen_ai.choice',
  'agent_run',
  "content='x' status='error'",
  "[TaskOutput(messages=[{'role': 'tool'}])]",
] as const;

const scalar: fc.Arbitrary<AttributeValue> = fc.oneof(
  fc.constantFrom<AttributeValue>(...words),
  fc.string({ maxLength: 20 }),
  fc.constantFrom<AttributeValue>(null, true, false, 0, -1, 1e300, Number.NaN, Infinity, 2n ** 63n, -(2n ** 63n), new Uint8Array([0, 255])),
);

const { tree } = fc.letrec<{ tree: AttributeValue }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    scalar,
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom<string>(...memberNames), tie('tree')), { maxLength: 5 }).map(mapOf),
  ),
}));

/** Objects in the form of the wire: without a prototype, and with any names. */
function mapOf(members: readonly (readonly [string, AttributeValue])[]): AttributeValue {
  const map: { [key: string]: AttributeValue } = Object.create(null) as { [key: string]: AttributeValue };
  for (const [key, value] of members) map[key] = value;
  return map;
}

const jsonTexts = fc.oneof(
  tree.map(textOf),
  fc.tuple(tree.map(textOf), fc.nat(60)).map(([text, end]) => text.slice(0, end)),
  tree.map((value) => textOf(textOf(value))),
);
const deep = fc.constantFrom(
  '['.repeat(200),
  '{"a":'.repeat(200),
  `${'['.repeat(120)}${']'.repeat(120)}`,
  `${'{"message":'.repeat(100)}1${'}'.repeat(100)}`,
  `${'{"output":'.repeat(100)}{}${'}'.repeat(100)}`,
);
const pythonTexts = fc.oneof(
  tree.map((value) => textOf(value).replaceAll('"', "'").replaceAll('null', 'None').replaceAll('true', 'True')),
  fc.constantFrom(
    "{1: 2, 'a'",
    '{12345678901234567890: 1}',
    '(1,)',
    '{None: {}, (1, 2): 3}',
    "ResponseFunctionToolCall(name='f', arguments='{",
    "ResponseFunctionToolCall(name='f', call_id=\"c\", arguments='{}')",
  ),
);

export const hostileValue: fc.Arbitrary<AttributeValue> = fc.oneof(
  { weight: 3, arbitrary: tree },
  { weight: 3, arbitrary: jsonTexts },
  { weight: 1, arbitrary: pythonTexts },
  { weight: 1, arbitrary: deep },
);

function textOf(value: AttributeValue): string {
  return JSON.stringify(value, (_key, inner: unknown) => (typeof inner === 'bigint' ? Number(inner) : inner)) ?? '';
}
