/** The messages and the answer of a request to a model, from any place in its span. */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Mutable } from '../../src/model/mutable.ts';
import { textAttribute, type AttributeValue, type Span } from '../../src/model/span.ts';
import type { Message, SpanFacts } from '../collector.ts';
import { first, inEvents, textOf } from './evidence-values.ts';
import { flattenedMessage } from './flattened-message.ts';
import { objectUnder, unflattened } from './flattened.ts';
import { unwrapped } from './framed-value.ts';
import { withoutFramework } from './instructions.ts';
import type { KeyEvidence } from './key-evidence.ts';
import { eventMessages, listedMessages } from './message-events.ts';
import { requestInRepr } from './message-reprs.ts';
import { answerIn, messagesIn, readMessages } from './messages.ts';
import { observedModel } from './observation.ts';
import { parseContainer } from './parsing.ts';

/** The input is a whole request of a model's API: its messages, each with a role, beside the model's name. */
export function isRequestAsked(span: Span, keys: KeyEvidence['keys']): boolean {
  const answer = textAttribute(span, keys.output?.[0] ?? '');
  // A span that runs a loop of requests takes one too, and gives a different object.
  if (answer === undefined || (answer.startsWith('{') && !answer.includes('"choices"'))) return false;
  if ((keys.kind ?? keys.nearKind ?? keys.operation ?? keys.agentName) !== undefined) return false;
  return (keys.input ?? []).some((key) => {
    const text = textAttribute(span, key) ?? '';
    const request = text.startsWith('{') && REQUEST_MEMBERS.every((name) => text.includes(name)) ? parseContainer(text) : undefined;
    const messages = isJsonObject(request) ? member(request, 'messages') : undefined;
    return (
      isJsonObject(request) &&
      isJsonArray(messages) &&
      messages.length > 0 &&
      messages.every((message) => isJsonObject(message) && typeof member(message, 'role') === 'string') &&
      typeof member(request, 'model') === 'string'
    );
  });
}

const REQUEST_MEMBERS = ['"messages"', '"model"', '"role"'] as const;

/** The request as a whole names its model beside the messages. */
export function requestedModel(span: Span, evidence: KeyEvidence): string | undefined {
  const text = textOf(first(span, evidence, ['input', 'inputMessages'])) ?? '';
  const request = text.startsWith('{') && text.includes('"model"') ? parseContainer(text) : undefined;
  const model = isJsonObject(request) ? member(request, 'model') : undefined;
  return typeof model === 'string' && MODEL_NAME.test(model) ? model : undefined;
}

const MODEL_NAME = /^[\w./:@-]{1,100}$/;

/** Finds the system prompt where only the list's own keys show that the first message is the system's: its only text. */
export function systemIn(span: Span, { lists }: KeyEvidence, { inputMessages = [] }: SpanFacts): string | undefined {
  if (inputMessages.length === 0 || inputMessages.some(({ role }) => role === 'system')) return undefined;
  for (const list of lists.inputMessages ?? []) {
    const [item] = unflattened(span, list);
    const texts = isJsonObject(item) ? leavesOf(item) : [];
    const [text, ...others] = texts.flatMap(([name, value]) => (ROLE.test(name) ? [] : [value]));
    if (others.length === 0 && texts.some(([name, value]) => ROLE.test(name) && value === 'system')) return text;
  }
  return undefined;
}

const ROLE = /(?:^|_)role$/;

/** The texts of an object, each with the last name that leads to it; a list in it has none. */
function leavesOf(item: JsonObject): readonly (readonly [name: string, value: string])[] {
  return Object.entries(item).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value] as const] : isJsonObject(value) ? leavesOf(value) : [],
  );
}

/** The text form of objects does not count as words: `ChatMessage(role=…)`. */
const OBJECT = /^[A-Z]\w{0,100}\(\w{1,100}=/;

function isInWords(messages: readonly Message[] | undefined): boolean {
  return messages?.some(({ text }) => text !== undefined && OBJECT.test(text)) !== true;
}

function withOwnInstructions(message: Message): Message {
  return message.role === 'system' && message.text !== undefined ? { ...message, text: withoutFramework(message.text) } : message;
}

/** Messages where at least one has content; `undefined` when there are none. */
export function saying(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages?.some(
    ({ text, reasoning, requested, results }) => (text ?? reasoning) !== undefined || requested.length > 0 || results.length > 0,
  ) === true
    ? messages
    : undefined;
}

/** A key that names text holds only the words of the model: `gen_ai.response.text`. */
const IN_WORDS = /\btext$/i;

export function addMessages(span: Span, evidence: KeyEvidence, known: SpanFacts, facts: Mutable<SpanFacts>): void {
  // A request in words may hold several messages run together: where a convention reads the span, its reading counts.
  const isSaid = (raw: AttributeValue | undefined): boolean =>
    known.role === undefined || typeof raw !== 'string' || (parseContainer(raw) ?? requestInRepr(raw)) !== undefined;
  const isAnswer = (raw: AttributeValue | undefined): boolean =>
    (evidence.keys.output ?? []).some(
      (key) => (IN_WORDS.test(key) || textAttribute(span, `${key}.type`) === 'text') && span.attribute(key) === raw,
    );
  const given = first(span, evidence, ['inputMessages', 'input']) ?? inEvents(span, ['inputMessages', 'input']);
  const returned = first(span, evidence, ['output', 'outputMessages']) ?? inEvents(span, ['output', 'outputMessages']);
  const observed = observedModel({
    name: span.name,
    input: isSaid(given) ? unwrapped(given) : undefined,
    output: isSaid(returned) || isAnswer(returned) ? unwrapped(returned) : undefined,
  });
  const events = eventMessages(span);
  const listed = listedMessages(first(span, evidence, ['events']));
  const answers = [
    flattenedMessages(span, evidence, 'outputMessages', 'assistant'),
    messagesIn(
      (evidence.objects.answer ?? []).map((prefix) => objectUnder(span, prefix)),
      'assistant',
    ),
    observed.outputMessages,
    ...outputLists(span, evidence),
    events.output,
    listed.output,
  ];
  const inputMessages = longest(
    [
      flattenedMessages(span, evidence, 'inputMessages', 'user'),
      observed.inputMessages,
      events.input,
      listed.input,
      ...answers.filter(isConversation),
    ].filter(isInWords),
  );
  const outputMessages = mostTelling(answers.map(answerAlone));
  if (saying(known.inputMessages) === undefined && saying(inputMessages) !== undefined)
    facts.inputMessages = inputMessages.map(withOwnInstructions);
  if (saying(known.outputMessages) === undefined && outputMessages.length > 0) facts.outputMessages = outputMessages;
  if (known.toolDefinitions === undefined && observed.toolDefinitions !== undefined) facts.toolDefinitions ??= observed.toolDefinitions;
}

function outputLists(span: Span, evidence: KeyEvidence): readonly (readonly Message[])[] {
  const written = (evidence.keys.outputMessages ?? []).map((key) => span.attribute(key));
  return (written.length === 0 ? [inEvents(span, ['outputMessages'])] : written).map((raw) => readMessages(raw, 'assistant'));
}

/** Some report the whole conversation with the answer: the messages of others in it are not the answer. */
function isConversation(messages: readonly Message[] | undefined): boolean {
  return messages?.some(({ role, results }) => role === 'system' || (role === 'user' && results.length === 0)) === true;
}

function answerAlone(messages: readonly Message[] | undefined): readonly Message[] | undefined {
  return messages === undefined || !isConversation(messages) ? messages : answerIn(messages);
}

function flattenedMessages(
  span: Span,
  { lists }: KeyEvidence,
  field: 'inputMessages' | 'outputMessages',
  role: Message['role'],
): readonly Message[] {
  return longest(
    (lists[field] ?? []).map((list) =>
      messagesIn(
        unflattened(span, list).map((item) => (isJsonObject(item) ? plainMessage(withoutPrefix(item)) : item)),
        role,
      ),
    ),
  );
}

function plainMessage(item: JsonObject): JsonValue {
  return isJsonObject(member(item, 'message')) ? flattenedMessage(item) : item;
}

/** `message_role` and `message_content`, as some write them, are role and content. */
function withoutPrefix(item: JsonObject): JsonObject {
  const prefixed = Object.keys(item).filter((key) => key.startsWith('message_'));
  return prefixed.length === 0
    ? item
    : { ...item, ...Object.fromEntries(prefixed.map((key) => [key.slice('message_'.length), member(item, key) ?? null])) };
}

function longest(lists: readonly (readonly Message[] | undefined)[]): readonly Message[] {
  let found: readonly Message[] = [];
  for (const list of lists) if (list !== undefined && list.length > found.length) found = list;
  return found;
}

/** An answer that asks for tools before one in words, and that before an empty one. */
function mostTelling(lists: readonly (readonly Message[] | undefined)[]): readonly Message[] {
  const known = lists.filter((list) => list !== undefined && list.length > 0) as readonly (readonly Message[])[];
  return (
    known.find((list) => list.some(({ requested }) => requested.length > 0)) ??
    known.find((list) => list.some(({ text }) => text !== undefined && text !== '')) ??
    known[0] ??
    []
  );
}
