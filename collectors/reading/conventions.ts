/** What the GenAI conventions call the content and the tokens of a request to a model, for the collectors whose spans use these names too. */
import { isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import type { Attributed, Span } from '../../src/model/span.ts';
import type { Message, Repeats, SpanFacts } from '../collector.ts';
import { readDefinitions } from './definitions.ts';
import { readMessages } from './messages.ts';
import { jsonOf, parseText, textOfParts } from './parsing.ts';
import { isPlaceholder, placeholderBytesMax } from './placeholders.ts';
import { readPythonCalls } from './python-calls.ts';
import { noRepeats } from './repeats.ts';

export const contentKeys = ['gen_ai.input.messages', 'gen_ai.output.messages', 'gen_ai.system_instructions', 'gen_ai.tool.definitions'] as const;

/** The names of each number, the present one first. */
const tokenNames = {
  inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  cachedInputTokens: ['gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens', 'gen_ai.usage.details.cache_read_tokens'],
  reasoningTokens: ['gen_ai.usage.reasoning.output_tokens', 'gen_ai.usage.reasoning_tokens', 'gen_ai.usage.reasoning_output_tokens', 'gen_ai.usage.details.reasoning_tokens'],
} as const;

export const tokenKeys: readonly string[] = Object.values(tokenNames).flat();

export function readTokens(span: Span): Pick<SpanFacts, keyof typeof tokenNames> {
  const found: { -readonly [key in keyof typeof tokenNames]?: number } = {};
  for (const name of Object.keys(tokenNames) as (keyof typeof tokenNames)[]) {
    const value = tokenNames[name].map((key) => span.attribute(key)).find((one) => typeof one === 'number');
    if (typeof value === 'number') found[name] = value;
  }
  return found;
}

/** What spans, their events and log records carry under the same names. */
export function readContent(from: Attributed, repeats: Repeats = noRepeats): SpanFacts {
  const inputMessages = isCarried(from, 'gen_ai.input.messages') ? repeats.conversation(from, 'gen_ai.input.messages', 'user') : undefined;
  const output = from.attribute('gen_ai.output.messages');
  const system = readSystemPrompt(from.attribute('gen_ai.system_instructions'));
  const toolDefinitions = repeats.value(from, 'gen_ai.tool.definitions', () => readDefinitions(from.attribute('gen_ai.tool.definitions')));
  return {
    ...(inputMessages === undefined ? {} : { inputMessages }),
    ...(output === undefined || isPlaceholder(output) ? {} : { outputMessages: readMessages(output, 'assistant').map(withPythonCalls) }),
    ...(system === undefined ? {} : { systemPrompt: system }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

function isCarried(from: Attributed, key: string): boolean {
  const text = from.writtenText?.(key);
  if (text !== undefined && text.end - text.start > placeholderBytesMax) return true;
  const value = from.attribute(key);
  return value !== undefined && !isPlaceholder(value);
}

/** Parts `{type, content}`, or plain text. */
export function readSystemPrompt(raw: ReturnType<Attributed['attribute']>): string | undefined {
  if (raw === undefined || raw === null || raw === '' || isPlaceholder(raw)) return undefined;
  const value = typeof raw === 'string' ? parseText(raw) : jsonOf(raw);
  if (!Array.isArray(value)) return typeof value === 'string' ? value : undefined;
  const parts = value.map((part: JsonValue) => (isJsonObject(part) && Object.hasOwn(part, 'content') ? { type: 'text', text: member(part, 'content') ?? '' } : part));
  const text = textOfParts(parts)?.result;
  return typeof text === 'string' ? text : undefined;
}

/** The OpenAI Agents instrumentation writes calls as the text form of Python objects. */
function withPythonCalls(message: Message): Message {
  const calls = message.text === undefined ? undefined : readPythonCalls(message.text);
  if (calls === undefined) return message;
  const { text: _calls, ...rest } = message;
  return { ...rest, asked: [...message.asked, ...calls] };
}
