/**
 * Conversations in span events: one event a message, as versions 1.28 to 1.36 of the GenAI conventions name them, or one event for the
 * prompt and one for the completion, as earlier versions do. SDKs differ in where an event holds its message.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { textAttribute, type AttributeValue, type Span, type SpanEvent } from '../../src/model/span.ts';
import type { Message } from '../collector.ts';
import { readMessages } from './messages.ts';
import { parseContainer, parseText } from './parsing.ts';

export interface MessageEvent {
  /** choice: the model's answer, by the name of the event. */
  readonly kind: 'history' | 'choice';
  readonly messages: readonly Message[];
  /** Number of the answer, from zero. */
  readonly index?: number;
}

/** In the order of the events; those that are not messages are left out. */
export function messageEvents(span: Span): readonly MessageEvent[] {
  return span.events.flatMap((event) => readEvent(event) ?? []);
}

/** Told apart by the events' names: a choice is an answer, anything else was there before it. */
export function eventMessages(span: Span): {
  readonly input: readonly Message[];
  readonly output: readonly Message[];
  readonly choices?: number;
} {
  const events = messageEvents(span);
  const of = (kind: MessageEvent['kind']): readonly Message[] => events.flatMap((event) => (event.kind === kind ? event.messages : []));
  return { input: of('history'), output: of('choice'), ...choicesIn(events.map(({ index }) => index)) };
}

/** Several numbers mean that the request asked for several answers. */
export function choicesIn(numbers: readonly (number | undefined)[]): { readonly choices?: number } {
  const choices = new Set(numbers.filter((number) => number !== undefined)).size;
  return choices > 1 ? { choices } : {};
}

/** The number of an answer in the body of its event. */
export function choiceIndex(body: JsonObject): number | undefined {
  const index = member(body, 'index');
  return typeof index === 'number' ? index : undefined;
}

/** Events that stand as a list in one attribute, each with its name in `event.name`. */
export function listedMessages(raw: AttributeValue | undefined): {
  readonly input: readonly Message[];
  readonly output: readonly Message[];
} {
  const events = typeof raw === 'string' ? parseContainer(raw) : undefined;
  const list: readonly JsonValue[] = isJsonArray(events) ? events : [];
  const isChoice = (event: JsonValue): boolean => isJsonObject(event) && event['event.name'] === 'gen_ai.choice';
  return {
    input: readMessages(
      list.filter((event) => !isChoice(event)),
      'user',
    ),
    output: readMessages(list.filter(isChoice), 'assistant'),
  };
}

function readEvent(event: SpanEvent): MessageEvent | undefined {
  const role = /^gen_ai\.(system|user|assistant|tool)\.message$/.exec(event.name)?.[1];
  if (role !== undefined) return { kind: 'history', messages: readMessages([{ role, ...bodyOf(event, 'content') }], 'user') };
  if (event.name === 'gen_ai.choice') {
    const body = bodyOf(event, 'message');
    const told = event.attribute('index');
    const index = typeof told === 'number' ? told : choiceIndex(body);
    return { kind: 'choice', messages: readMessages([choice(body)], 'assistant'), ...(index === undefined ? {} : { index }) };
  }
  if (event.name === 'gen_ai.content.prompt') return { kind: 'history', messages: readMessages(event.attribute('gen_ai.prompt'), 'user') };
  if (event.name === 'gen_ai.content.completion')
    return { kind: 'choice', messages: readMessages(event.attribute('gen_ai.completion'), 'assistant') };
  return roledMessage(event);
}

/** One message under keys of one prefix, in an event of any name: `gen_ai.prompt.1` with `gen_ai.prompt.role` and `gen_ai.prompt.content`. */
function roledMessage(event: SpanEvent): MessageEvent | undefined {
  const key = event.attributeKeys().find((name) => ROLE_KEY.test(name));
  const role = key === undefined ? undefined : textAttribute(event, key);
  const prefix = key?.slice(0, -'role'.length);
  const content = textAttribute(event, `${prefix}content`);
  if (role === undefined || !ROLE.test(role) || content === undefined) return undefined;
  const kind = ANSWER.test(event.name) ? 'choice' : 'history';
  // The value that some write for a message without content.
  if (content === '{}') return { kind, messages: [] };
  const parsed = parseText(content);
  return {
    kind,
    messages: readMessages([{ role, content: isJsonArray(parsed) ? parsed : content }], kind === 'choice' ? 'assistant' : 'user'),
  };
}

const ROLE_KEY = /(?:^|\.)role$/;
const ROLE = /^(?:system|developer|user|human|assistant|ai|model|tool|function)$/i;
const ANSWER = /(?:^|[._])(?:completions?|choices?|responses?|outputs?)(?:[._]|$)/i;

/** The message is one JSON text, or one attribute for each member, with lists as JSON texts. */
function bodyOf(event: SpanEvent, contentKey: 'content' | 'message'): JsonObject {
  const whole = parseText(textAttribute(event, 'gen_ai.event.content') ?? '');
  if (isJsonObject(whole)) return whole;
  const content = textAttribute(event, contentKey) ?? textAttribute(event, 'content');
  const parsed: JsonValue = parseText(content ?? '');
  const calls = parseText(textAttribute(event, 'tool_calls') ?? '');
  const id = textAttribute(event, 'id') ?? textAttribute(event, 'tool_call_id');
  return {
    ...(contentKey === 'message' && isJsonObject(parsed)
      ? parsed
      : // An event that carries no content shows that there was a message, but not its text.
        content === undefined
        ? {}
        : { content: isJsonArray(parsed) ? parsed : content }),
    ...(isJsonArray(calls) ? { tool_calls: calls } : {}),
    ...(id === undefined ? {} : { id }),
  };
}

/** `{index, finish_reason, message}`, or the message itself. */
function choice(body: JsonObject): JsonObject {
  const message = member(body, 'message');
  return { ...(isJsonObject(message) ? message : body), role: 'assistant' };
}
