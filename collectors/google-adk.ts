/** Google's Agent Development Kit for Python (1.x) and JavaScript: requests and answers in Gemini's form under `gcp.vertex.agent.*`. */
import { isJsonArray, isJsonObject, member, type JsonObject, objectAt } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, SpanFacts, ToolFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { readMessages } from './parsing/messages.ts';
import { textOfParts } from './parsing/parsing.ts';
import { withoutFramework } from './parsing/instructions.ts';
import { readArguments, readOutcome } from './parsing/values.ts';
import { objectIn } from './parsing/members.ts';

export const googleAdk: Collector = {
  id: 'google_adk',
  summary: 'Google ADK (gcp.vertex.agent.*).',
  recognisedBy: { scopes: ['gcp.vertex.agent'] },
  wants: {
    keys: [
      'gcp.vertex.agent.session_id',
      'gcp.vertex.agent.llm_request',
      'gcp.vertex.agent.llm_response',
      'gcp.vertex.agent.tool_call_args',
      'gcp.vertex.agent.tool_response',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'gen_ai.request.model',
    ],
    prefixes: [],
  },
  captureHints: {
    content:
      'Version 1 for Python and the JavaScript version send content by default; version 2 for Python needs OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT and OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental.',
    tools: 'Definitions come by default; version 2 for Python sends their schemas only with the two settings for content.',
  },
  carriedBy: {
    input: ['gcp.vertex.agent.llm_request'],
    final_response: ['gcp.vertex.agent.llm_response'],
    tool_calls: ['gcp.vertex.agent.llm_response', 'gcp.vertex.agent.llm_request'],
    tool_arguments: ['gcp.vertex.agent.tool_call_args', 'gcp.vertex.agent.llm_response', 'gcp.vertex.agent.llm_request'],
    tool_results: ['gcp.vertex.agent.tool_response', 'gcp.vertex.agent.llm_request'],
    tool_definitions: ['gcp.vertex.agent.llm_request'],
    tokens: ['gcp.vertex.agent.llm_response'],
  },
  read,
};

function read(span: Span): SpanFacts {
  const sessionId = idAttribute(span, 'gcp.vertex.agent.session_id');
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byName(span) };
}

/** Spans have no kind: their names say what they are. */
const AGENT = /^agent_run \[(.+)\]$/;

function byName(span: Span): SpanFacts {
  if (span.name === 'invocation') return { role: 'workflow' };
  // Parallel calls add one span for all of them.
  if (span.name === 'execute_tool (merged)') return { role: 'noise' };
  if (span.name.startsWith('execute_tool ')) return { role: 'tool', tool: tool(span) };
  if (span.attribute('gcp.vertex.agent.llm_request') !== undefined) return modelFacts(span);
  const agentName = AGENT.exec(span.name)?.[1];
  return agentName === undefined ? {} : { role: 'agent', agentName };
}

/** A tool that throws leaves a span without a single attribute. */
function tool(span: Span): ToolFacts {
  const id = textAttribute(span, 'gen_ai.tool.call.id');
  return {
    name: textAttribute(span, 'gen_ai.tool.name') ?? span.name.slice('execute_tool '.length),
    ...(id === undefined ? {} : { id }),
    ...readArguments(span.attribute('gcp.vertex.agent.tool_call_args')),
    ...readOutcome(span.attribute('gcp.vertex.agent.tool_response')),
  };
}

function modelFacts(span: Span): SpanFacts {
  const request = objectIn(span, 'gcp.vertex.agent.llm_request');
  const response = objectIn(span, 'gcp.vertex.agent.llm_response');
  const config = objectAt(request, 'config');
  const model = textAttribute(span, 'gen_ai.request.model');
  const system = instructions(config);
  const usage = { ...objectAt(response, 'usage_metadata'), ...objectAt(response, 'usageMetadata') };
  const input = usage['prompt_token_count'] ?? usage['promptTokenCount'];
  const output = usage['candidates_token_count'] ?? usage['candidatesTokenCount'];
  const cached = usage['cached_content_token_count'] ?? usage['cachedContentTokenCount'];
  const reasoning = usage['thoughts_token_count'] ?? usage['thoughtsTokenCount'];
  const content = member(response, 'content');
  const tools = member(config, 'tools');
  return {
    role: 'model',
    inputMessages: readMessages(member(request, 'contents'), 'user'),
    ...(content === undefined ? {} : { outputMessages: readMessages(content, 'assistant') }),
    ...(isJsonArray(tools) ? { toolDefinitions: readDefinitions(tools) } : {}),
    ...(model === undefined ? {} : { model }),
    ...(system === undefined ? {} : { systemPrompt: system }),
    ...(typeof input === 'number' ? { inputTokens: input } : {}),
    ...(typeof output === 'number' ? { outputTokens: output } : {}),
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
    ...(typeof reasoning === 'number' ? { reasoningTokens: reasoning } : {}),
  };
}

function instructions(config: JsonObject): string | undefined {
  const written = member(config, 'systemInstruction') ?? member(config, 'system_instruction');
  const parts = isJsonObject(written) ? member(written, 'parts') : undefined;
  const raw = isJsonArray(parts) ? textOfParts(parts)?.result : written;
  return typeof raw === 'string' ? withoutFramework(raw) : undefined;
}
