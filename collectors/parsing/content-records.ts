/**
 * Log records with the content of one span each: `{input: {messages}, output: {messages}}`, named after the instrumentation whose spans had the
 * content. The AWS Distro for OpenTelemetry moves it there.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { LogRecord } from '../../src/model/span.ts';
import type { Message, SpanFacts } from '../collector.ts';
import { readMessages } from './messages.ts';
import { jsonOf, parseContainer } from './parsing.ts';
import { readArguments, readOutcome } from './values.ts';

const LIBRARY = /^(?:strands\.telemetry|openinference\.instrumentation|opentelemetry\.instrumentation|openlit)\b/;

export function namesLibrary(eventName: string): boolean {
  return LIBRARY.test(eventName);
}

/** Reads the content of one record. A body in another form gives no facts. */
export function readContentRecord(record: LogRecord): SpanFacts {
  const body = record.body();
  const value = body === undefined ? undefined : jsonOf(body);
  const [input, output] = ['input', 'output'].map((side) => messagesIn(value, side));
  if (input === undefined || output === undefined || input.length + output.length === 0) return {};
  // A tool is given the content of its only message.
  if (input.length > 0 && input.every((message) => member(message, 'role') === 'tool'))
    return { tool: { ...readArguments(contentOf(input[0])), ...readOutcome(contentOf(output[0])) } };
  const [inputMessages, outputMessages] = [read(input, 'user'), read(output, 'assistant')];
  return {
    ...(inputMessages.length === 0 ? {} : { inputMessages }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
  };
}

function messagesIn(body: JsonValue | undefined, side: string): readonly JsonObject[] {
  const held = isJsonObject(body) ? member(body, side) : undefined;
  const messages = isJsonObject(held) ? member(held, 'messages') : undefined;
  return isJsonArray(messages) ? messages.filter(isJsonObject) : [];
}

/** The content is a text, or nested once more under `content` or `message`. */
function contentOf(message: JsonObject | undefined): JsonValue | undefined {
  const content = message === undefined ? undefined : member(message, 'content');
  return isJsonObject(content) ? (member(content, 'content') ?? member(content, 'message') ?? content) : content;
}

function read(messages: readonly JsonObject[], role: 'user' | 'assistant'): readonly Message[] {
  return readMessages(
    messages.map((message) => {
      const content = contentOf(message) ?? null;
      return { ...message, content: typeof content === 'string' ? (parseContainer(content) ?? content) : content };
    }),
    role,
  );
}
