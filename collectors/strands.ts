/** Strands Agents: the GenAI conventions with all content in span events, arguments and results of tools too. */
import { textAttribute, type Span } from '../src/model/span.ts';
import type { Collector, Message, SpanFacts, ToolFacts } from './collector.ts';
import { readDefinitions } from './parsing/definitions.ts';
import { eventMessages } from './parsing/message-events.ts';
import { lastText, readMessages, systemText } from './parsing/messages.ts';
import { parseText } from './parsing/parsing.ts';
import { readArguments, readOutcome } from './parsing/values.ts';

export const strands: Collector = {
  id: 'strands',
  summary: 'Strands Agents (scope strands.telemetry.tracer), content in span events.',
  recognisedBy: { scopes: ['strands.telemetry.tracer'] },
  wants: {
    keys: [
      'gen_ai.operation.name',
      'gen_ai.agent.name',
      'gen_ai.agent.tools',
      'gen_ai.tool.status',
      'tool.status',
      'gen_ai.tool.json_schema',
      'system_prompt',
    ],
    prefixes: [],
  },
  captureHints: {
    content: 'Content is on by default.',
    tools:
      'Newer versions send the schemas of tools that were called, older ones names only; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['event gen_ai.user.message', 'event gen_ai.client.inference.operation.details'],
    final_response: ['event gen_ai.choice', 'event gen_ai.client.inference.operation.details'],
    tool_calls: ['event gen_ai.choice', 'event gen_ai.assistant.message', 'event gen_ai.client.inference.operation.details'],
    tool_arguments: [
      'event gen_ai.tool.message',
      'event gen_ai.choice',
      'event gen_ai.assistant.message',
      'event gen_ai.client.inference.operation.details',
    ],
    tool_results: ['event gen_ai.choice', 'event gen_ai.tool.message', 'event gen_ai.client.inference.operation.details'],
    tool_definitions: ['gen_ai.tool.json_schema', 'gen_ai.agent.tools'],
  },
  read,
};

function read(span: Span): SpanFacts {
  switch (textAttribute(span, 'gen_ai.operation.name')) {
    case 'execute_tool':
      return { role: 'tool', tool: tool(span) };
    case 'invoke_agent':
      return runFacts(span);
    case 'invoke_swarm':
    case 'invoke_graph':
      // A span around several agents is named only by its kind.
      return {
        ...runFacts(span),
        role: 'workflow',
        agentName: textAttribute(span, 'gen_ai.agent.name') ?? span.name,
        agentNameIsGuess: true,
      };
    case 'chat': {
      const { input, output } = messagesOf(span);
      return { ...(input.length === 0 ? {} : { inputMessages: input }), ...(output.length === 0 ? {} : { outputMessages: output }) };
    }
    default:
      return {};
  }
}

function runFacts(span: Span): SpanFacts {
  const messages = messagesOf(span);
  const input = lastText(messages.input, 'user');
  const system = systemText(messages.input) ?? textAttribute(span, 'system_prompt');
  const output = lastText(messages.output, 'assistant');
  const toolDefinitions = readDefinitions(span.attribute('gen_ai.agent.tools'));
  return {
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
    ...(input === undefined ? {} : { input }),
    ...(system === undefined ? {} : { systemPrompt: system }),
    ...(output === undefined ? {} : { output: output.trimEnd() }),
  };
}

function tool(span: Span): ToolFacts {
  const event = (name: string, key: string): string | undefined => {
    const found = span.events.find((one) => one.name === name);
    return found === undefined ? undefined : textAttribute(found, key);
  };
  const outcome = readOutcome(event('gen_ai.choice', 'message'));
  const schema = textAttribute(span, 'gen_ai.tool.json_schema');
  // Version 1.0 named it without the prefix.
  const status = textAttribute(span, 'gen_ai.tool.status') ?? textAttribute(span, 'tool.status');
  return {
    ...readArguments(event('gen_ai.tool.message', 'content')),
    ...outcome,
    ...(schema === undefined ? {} : { inputSchema: parseText(schema) }),
    ...(status === 'error' ? { failed: { message: typeof outcome.result === 'string' ? outcome.result : '' } } : {}),
  };
}

/** One event a message; with the newer option one event for all of them, in the conventions' own form. */
function messagesOf(span: Span): { readonly input: readonly Message[]; readonly output: readonly Message[] } {
  const { input, output } = eventMessages(span);
  const details = span.events.filter((event) => event.name === 'gen_ai.client.inference.operation.details');
  return {
    input: [...input, ...details.flatMap((event) => readMessages(event.attribute('gen_ai.input.messages'), 'user'))],
    output: [...output, ...details.flatMap((event) => readMessages(event.attribute('gen_ai.output.messages'), 'assistant'))],
  };
}
