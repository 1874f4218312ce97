/** The Claude Agent SDK and Claude Code: `claude_code.*` spans; arguments and the final answer travel in log records. */
import { jsonText } from '../src/model/json.ts';
import { idAttribute, textAttribute, type Attributed, type LogRecord, type Span } from '../src/model/span.ts';
import type { RequestedCall, Collector, SpanFacts, ReportedResult } from './collector.ts';
import { isPlaceholder } from './parsing/parsing.ts';
import { readArguments, readOutcome, type ReadArguments } from './parsing/values.ts';

export const claudeAgent: Collector = {
  id: 'claude_agent',
  summary: 'Claude Agent SDK and Claude Code (claude_code.*).',
  recognisedBy: { scopePrefixes: ['com.anthropic.claude_code'] },
  wants: {
    keys: [
      'span.type',
      'user_prompt',
      'model',
      'input_tokens',
      'output_tokens',
      'cache_read_tokens',
      'gen_ai.tool.name',
      'tool_name',
      'tool_use_id',
      'session.id',
      'error',
      'error_class',
    ],
    prefixes: [],
  },
  captureHints: {
    content:
      'Set OTEL_LOG_USER_PROMPTS=1, OTEL_LOG_TOOL_DETAILS=1, OTEL_LOG_TOOL_CONTENT=1 and OTEL_LOGS_EXPORTER=otlp: arguments and answers are in log records only.',
    tools: 'The list of tools is sent nowhere; name the tools under tools in the configuration.',
  },
  carriedBy: {
    input: ['user_prompt', 'record user_prompt'],
    final_response: ['record assistant_response'],
    tool_calls: ['span.type', 'record tool_result'],
    tool_arguments: ['record tool_result'],
    tool_results: ['event tool.output', 'record tool_result'],
    tokens: ['input_tokens', 'output_tokens'],
  },
  read,
  logs: {
    events: ['user_prompt', 'tool_result', 'assistant_response'],
    wants: { keys: ['prompt', 'response', 'tool_name', 'tool_parameters', 'tool_use_id', 'tool_input', 'error', 'success'], prefixes: [] },
    read: readRecords,
  },
};

function read(span: Span): SpanFacts {
  const sessionId = idAttribute(span, 'session.id');
  return { ...(sessionId === undefined ? {} : { sessionId }), ...byType(span) };
}

function byType(span: Span): SpanFacts {
  switch (textAttribute(span, 'span.type')) {
    case 'interaction': {
      const input = writtenText(span, 'user_prompt');
      return { role: 'agent', agentName: 'claude', agentNameIsGuess: true, contentInLogs: true, ...(input === undefined ? {} : { input }) };
    }
    case 'llm_request':
      return { role: 'model', ...modelFacts(span) };
    case 'tool':
    case 'tool.execution':
      return toolFacts(span);
    default:
      return { role: 'step' };
  }
}

function modelFacts(span: Span): SpanFacts {
  const model = textAttribute(span, 'model');
  const [input, output, cached] = ['input_tokens', 'output_tokens', 'cache_read_tokens'].map((key) => span.attribute(key));
  return {
    ...(model === undefined ? {} : { model }),
    ...(typeof input === 'number' ? { inputTokens: input } : {}),
    ...(typeof output === 'number' ? { outputTokens: output } : {}),
    ...(typeof cached === 'number' ? { cachedInputTokens: cached } : {}),
  };
}

/** The result is an event of the tool's span; a failure shows on the span of the execution below it, under the same call id. */
function toolFacts(span: Span): SpanFacts {
  const name = textAttribute(span, 'gen_ai.tool.name') ?? textAttribute(span, 'tool_name');
  const id = textAttribute(span, 'tool_use_id');
  const event = span.events.find((one) => one.name === 'tool.output');
  const output = event === undefined ? undefined : textAttribute(event, 'output');
  const error = textAttribute(span, 'error');
  const type = textAttribute(span, 'error_class');
  const failed = error === undefined ? {} : { failed: { message: error, ...(type === undefined ? {} : { type }) } };
  return {
    role: 'tool',
    tool: { ...(name === undefined ? {} : { name }), ...(id === undefined ? {} : { id }), ...readOutcome(output), ...failed },
  };
}

function readRecords(records: readonly LogRecord[]): SpanFacts {
  const requested: RequestedCall[] = [];
  const results: ReportedResult[] = [];
  let input: string | undefined;
  let output: string | undefined;
  for (const record of records) {
    if (record.eventName === 'user_prompt') input = writtenText(record, 'prompt') ?? input;
    else if (record.eventName === 'assistant_response') output = writtenText(record, 'response') ?? output;
    else {
      const id = textAttribute(record, 'tool_use_id');
      const error = textAttribute(record, 'error');
      requested.push({
        name: toolName(record),
        ...(id === undefined ? {} : { id }),
        ...wholeArguments(readArguments(record.attribute('tool_input'))),
      });
      const success = record.attribute('success');
      const failed = error !== undefined || success === false || success === 'false';
      results.push({
        ...(id === undefined ? {} : { id }),
        ...(error === undefined ? {} : { result: error }),
        ...(failed ? { isError: true } : {}),
      });
    }
  }
  const outputMessages = requested.length === 0 ? [] : [{ role: 'assistant' as const, requested, results }];
  return {
    ...(input === undefined ? {} : { input }),
    ...(output === undefined ? {} : { output }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
  };
}

/** Without the settings for content, a placeholder replaces a text. */
function writtenText(from: Attributed, key: string): string | undefined {
  const text = textAttribute(from, key);
  return isPlaceholder(text) ? undefined : text;
}

/** Long values of arguments are cut one by one, inside JSON that stays whole. */
const CUT_VALUE = /…\[\d+ chars\]"|"<nested>"/;

function wholeArguments(read: ReadArguments): ReadArguments {
  const text = read.arguments === undefined || read.arguments === null ? '' : jsonText(read.arguments);
  return CUT_VALUE.test(text) ? { argumentsPart: text } : read;
}

function toolName(record: LogRecord): string {
  const parameters = readArguments(record.attribute('tool_parameters')).arguments;
  const name = parameters?.['mcp_tool_name'];
  return typeof name === 'string' ? name : (textAttribute(record, 'tool_name') ?? '');
}
