/** Google ADK: spans are recognised by their names, content is in Gemini's form. */
import { describe } from 'vitest';
import { googleAdk } from '../../collectors/google-adk.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { Attributes } from '../builders/spans.ts';
import { testCases, type Case } from './cases.ts';

const own = 'gcp.vertex.agent.';

function exchange(request: JsonValue, response?: JsonValue, others: Attributes = {}): Attributes {
  return {
    [`${own}llm_request`]: JSON.stringify(request),
    ...(response === undefined ? {} : { [`${own}llm_response`]: JSON.stringify(response) }),
    ...others,
  };
}

const ownParagraph = 'You are an agent. Your internal name is "travel".';
const contents = [{ role: 'user', parts: [{ text: 'q' }] }];

const cases: readonly Case[] = [
  { name: 'an invocation encloses the agents', span: { name: 'invocation' }, facts: { role: 'workflow' }, absent: ['input', 'agentName'] },
  {
    name: 'version 1 names the agent in the span’s name only',
    span: { name: 'agent_run [travel [eu]]' },
    facts: { role: 'agent', agentName: 'travel [eu]' },
  },
  {
    name: 'agents of other versions are left to the conventions',
    span: { name: 'invoke_agent travel' },
    attributes: { [`${own}session_id`]: 's' },
    facts: { sessionId: 's' },
    absent: ['role', 'agentName'],
  },
  {
    name: 'the span that merges parallel calls is noise',
    span: { name: 'execute_tool (merged)' },
    facts: { role: 'noise' },
    absent: ['tool'],
  },

  {
    name: 'a tool',
    span: { name: 'execute_tool t' },
    attributes: {
      'gen_ai.tool.name': 't',
      'gen_ai.tool.call.id': 'c1',
      [`${own}tool_call_args`]: '{"x":1}',
      [`${own}tool_response`]: '{"r":1}',
      [`${own}llm_request`]: '{}',
      [`${own}llm_response`]: '{}',
    },
    facts: { role: 'tool', tool: { name: 't', id: 'c1', arguments: { x: 1 }, result: { r: 1 } } },
    absent: ['inputMessages', 'tool.failed'],
  },
  {
    name: 'a tool that threw leaves its name and nothing else',
    span: { name: 'execute_tool broken_tool' },
    facts: { role: 'tool', tool: { name: 'broken_tool' } },
    absent: ['tool.id', 'tool.arguments', 'tool.result', 'tool.failed'],
  },
  {
    name: 'a response in its frame has the result',
    span: { name: 'execute_tool t' },
    attributes: { [`${own}tool_response`]: '{"id":"c1","name":"t","response":{"r":1}}' },
    facts: { tool: { result: { r: 1 } } },
  },
  {
    name: 'a hand-over is a tool of the agent’s',
    span: { name: 'execute_tool transfer_to_agent' },
    attributes: { 'gen_ai.tool.name': 'transfer_to_agent', [`${own}tool_call_args`]: '{"agent_name":"hotel"}' },
    facts: { role: 'tool', tool: { name: 'transfer_to_agent', arguments: { agent_name: 'hotel' } } },
  },

  {
    name: 'a request and an answer in snake case',
    span: { name: 'call_llm' },
    attributes: exchange(
      {
        contents,
        config: {
          system_instruction: 'be kind',
          tools: [{ function_declarations: [{ name: 't', description: 'd', parameters: { type: 'OBJECT' } }] }],
        },
      },
      {
        content: { role: 'model', parts: [{ function_call: { id: 'c1', name: 't', args: { x: 1 } } }] },
        usage_metadata: {
          prompt_token_count: 120,
          candidates_token_count: 27,
          cached_content_token_count: 16,
          thoughts_token_count: 7,
          total_token_count: 154,
        },
      },
      { 'gen_ai.request.model': 'm', 'gen_ai.usage.output_tokens': 147, [`${own}session_id`]: 's' },
    ),
    facts: {
      role: 'model',
      model: 'm',
      sessionId: 's',
      systemPrompt: 'be kind',
      inputMessages: [{ role: 'user', text: 'q' }],
      outputMessages: [{ role: 'assistant', requested: [{ id: 'c1', name: 't', arguments: { x: 1 } }] }],
      toolDefinitions: [{ name: 't', description: 'd', inputSchema: { type: 'OBJECT' } }],
      inputTokens: 120,
      outputTokens: 27,
      cachedInputTokens: 16,
      reasoningTokens: 7,
    },
  },
  {
    name: 'a request and an answer in camel case',
    span: { name: 'call_llm' },
    attributes: exchange(
      {
        contents: [
          ...contents,
          { role: 'model', parts: [{ functionCall: { id: 'c1', name: 't', args: {} } }] },
          { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 't', response: { result: 'r' } } }] },
        ],
        config: { systemInstruction: 'be kind', tools: [{ functionDeclarations: [{ name: 't' }] }] },
      },
      { content: { role: 'model', parts: [{ text: 'a' }] }, usageMetadata: { promptTokenCount: 120, candidatesTokenCount: 30 } },
    ),
    facts: {
      systemPrompt: 'be kind',
      inputMessages: [
        { role: 'user', text: 'q' },
        { requested: [{ id: 'c1', name: 't' }] },
        { role: 'tool', results: [{ id: 'c1', name: 't', result: 'r' }] },
      ],
      outputMessages: [{ text: 'a' }],
      toolDefinitions: [{ name: 't' }],
      inputTokens: 120,
      outputTokens: 30,
    },
    absent: ['cachedInputTokens', 'reasoningTokens'],
  },
  {
    name: 'what the framework adds behind the instruction is taken away',
    attributes: exchange({ config: { system_instruction: `be kind\n\n${ownParagraph} The description about you is "x".` } }),
    facts: { systemPrompt: 'be kind' },
  },
  {
    name: 'what the framework adds before it, too',
    attributes: exchange({ config: { systemInstruction: `${ownParagraph}\n\nbe kind` } }),
    facts: { systemPrompt: 'be kind' },
  },
  {
    name: 'an instruction that is not a text is left out',
    attributes: exchange({ config: { system_instruction: { parts: [] } } }),
    facts: { role: 'model' },
    absent: ['systemPrompt', 'outputMessages', 'toolDefinitions', 'inputTokens', 'model'],
  },
  {
    name: 'a request that is cut short is still a model’s',
    attributes: { [`${own}llm_request`]: '{"contents":[{"ro', [`${own}llm_response`]: 7 },
    facts: { role: 'model', inputMessages: [] },
    absent: ['outputMessages', 'inputTokens'],
  },
  {
    name: 'a request that is a list',
    attributes: exchange([1, 2], []),
    facts: { role: 'model', inputMessages: [] },
    absent: ['outputMessages'],
  },
];

describe('google_adk', () => {
  testCases(googleAdk, cases, { scope: 'gcp.vertex.agent' });
});
