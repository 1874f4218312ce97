/** The names of the GenAI conventions for the content and the tokens of a request to a model, for the collectors whose spans use these names too. */
import type { Mutable } from '../../src/model/mutable.ts';
import { isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import type { Attributed, Span } from '../../src/model/span.ts';
import type { Message, Repeats, SpanFacts, RequestedCall } from '../collector.ts';
import { readDefinitions } from './definitions.ts';
import { readMessages } from './messages.ts';
import { jsonOf, parseText, textOfParts, isPlaceholder, placeholderBytesMax } from './parsing.ts';
import { noRepeats } from './repeats.ts';
import { pythonLiteralCharsMax, readQuoted } from './python-literal.ts';
import { readArguments } from './values.ts';

export const contentKeys = [
  'gen_ai.input.messages',
  'gen_ai.output.messages',
  'gen_ai.system_instructions',
  'gen_ai.tool.definitions',
] as const;

/** The names of each number, the present one first. */
const tokenNames = {
  inputTokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens'],
  outputTokens: ['gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens'],
  cachedInputTokens: [
    'gen_ai.usage.cache_read.input_tokens',
    'gen_ai.usage.cache_read_input_tokens',
    'gen_ai.usage.details.cache_read_tokens',
  ],
  reasoningTokens: [
    'gen_ai.usage.reasoning.output_tokens',
    'gen_ai.usage.reasoning_tokens',
    'gen_ai.usage.reasoning_output_tokens',
    'gen_ai.usage.details.reasoning_tokens',
  ],
} as const;

export const tokenKeys: readonly string[] = Object.values(tokenNames).flat();

export function readTokens(span: Span): Pick<SpanFacts, keyof typeof tokenNames> {
  return addTokens(span, {});
}

type Tokens = Mutable<Pick<SpanFacts, keyof typeof tokenNames>>;

/** Sets the numbers that a span has. `texts`: numbers written as texts count too, as spans of the JVM have them. */
export function addTokens<Facts extends Tokens>(span: Span, facts: Facts, texts = false): Facts {
  for (const [name, keys] of tokenEntries) {
    const value = firstNumber(span, keys, texts);
    if (value !== undefined) facts[name] = value;
  }
  return facts;
}

const tokenEntries = Object.entries(tokenNames) as readonly [keyof Tokens, readonly string[]][];

function firstNumber(span: Span, keys: readonly string[], texts: boolean): number | undefined {
  for (const key of keys) {
    const value = span.attribute(key);
    if (typeof value === 'number') return value;
    if (texts && typeof value === 'string' && /^\d{1,15}$/.test(value)) return Number(value);
  }
  return undefined;
}

/** Content that spans, their events and log records carry under the same names. */
export function readContent(from: Attributed, repeats: Repeats = noRepeats): Mutable<SpanFacts> {
  const facts: Mutable<SpanFacts> = {};
  if (isCarried(from, 'gen_ai.input.messages')) facts.inputMessages = repeats.conversation(from, 'gen_ai.input.messages', 'user');
  const output = from.attribute('gen_ai.output.messages');
  if (output !== undefined && !isPlaceholder(output)) facts.outputMessages = withPythonCalls(readMessages(output, 'assistant', repeats));
  const system = repeats.same(from, 'gen_ai.system_instructions', systemPromptUnder);
  if (system !== undefined) facts.systemPrompt = system;
  const toolDefinitions = repeats.value(from, 'gen_ai.tool.definitions', () => readDefinitions(from.attribute('gen_ai.tool.definitions')));
  if (toolDefinitions.length > 0) facts.toolDefinitions = toolDefinitions;
  return facts;
}

function isCarried(from: Attributed, key: string): boolean {
  const text = from.writtenText?.(key);
  if (text !== undefined && text.end - text.start > placeholderBytesMax) return true;
  const value = from.attribute(key);
  return value !== undefined && !isPlaceholder(value);
}

function systemPromptUnder(from: Attributed, key: string): string | undefined {
  return readSystemPrompt(from.attribute(key));
}

/** Parts `{type, content}`, or plain text. */
export function readSystemPrompt(raw: ReturnType<Attributed['attribute']>): string | undefined {
  if (raw === undefined || raw === null || raw === '' || isPlaceholder(raw)) return undefined;
  const value = typeof raw === 'string' ? parseText(raw) : jsonOf(raw);
  if (!Array.isArray(value)) return typeof value === 'string' ? value : undefined;
  const parts = value.map((part: JsonValue) =>
    isJsonObject(part) && Object.hasOwn(part, 'content') ? { type: 'text', text: member(part, 'content') ?? '' } : part,
  );
  const text = textOfParts(parts)?.result;
  return typeof text === 'string' ? text : undefined;
}

/** The OpenAI Agents instrumentation writes calls as the text form of Python objects. */
function withPythonCalls(messages: readonly Message[]): readonly Message[] {
  return messages.some(hasPythonCalls) ? messages.map(withItsCalls) : messages;
}

function hasPythonCalls({ text }: Message): boolean {
  return text !== undefined && isPythonCalls(text);
}

function withItsCalls(message: Message): Message {
  const calls = message.text === undefined ? undefined : readPythonCalls(message.text);
  if (calls === undefined) return message;
  const { text: _calls, ...rest } = message;
  return { ...rest, requested: [...message.requested, ...calls] };
}

const beginning = 'ResponseFunctionToolCall(';

/** True when the text consists of such calls. */
function isPythonCalls(text: string): boolean {
  return text.startsWith(beginning) && text.length <= pythonLiteralCharsMax;
}

/** The calls that a text consists of; undefined for any other text. A call that is cut short is left out. */
export function readPythonCalls(text: string): readonly RequestedCall[] | undefined {
  if (!isPythonCalls(text)) return undefined;
  const calls: RequestedCall[] = [];
  for (let at = 0; at !== -1; at = text.indexOf(beginning, at)) {
    const { members, end } = membersFrom(text, at + beginning.length);
    if (end === undefined) break;
    at = end;
    const name = members.get('name');
    const id = members.get('call_id');
    if (name !== undefined) calls.push({ name, ...(id === undefined ? {} : { id }), ...readArguments(members.get('arguments')) });
  }
  return calls;
}

/** The members with a quoted value, up to the closing bracket. Every character is looked at once. */
function membersFrom(text: string, from: number): { readonly members: ReadonlyMap<string, string>; readonly end: number | undefined } {
  const members = new Map<string, string>();
  let word = '';
  for (let at = from; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === ')') return { members, end: at };
    if (char === '"' || char === "'") {
      const quoted = readQuoted(text, at);
      if (quoted === undefined) break;
      if (word.endsWith('=')) members.set(word.slice(0, -1), quoted.value);
      at = quoted.end - 1;
      word = '';
    } else if (char === '=' || /\w/.test(char)) word += char;
    else word = '';
  }
  return { members, end: undefined };
}
