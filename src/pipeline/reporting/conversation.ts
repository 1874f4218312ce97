/**
 * The conversation of a run, as it grew from one model call to the next. Every request repeats the conversation so far, and a message
 * stands here once: at the first call that shows it.
 */
import type { Message, RequestedCall } from '../../../collectors/collector.ts';
import { type JsonValue, jsonText, parseJsonContainer } from '../../model/json.ts';
import type { Span } from '../../model/span.ts';
import type { ReadSpan } from './span-readings.ts';

export interface ConversationMessage {
  readonly message: Message;
  /** The model call that shows it first. */
  readonly span: Span;
  /** True for the answer of that model call. */
  readonly isAnswer: boolean;
}

/** A fingerprint of a longer text holds its beginning, its end and its length. */
const printedCharsMax = 2_000;

/** `calls`: model calls by start. A message that one call has twice stands twice. */
export function conversationOf(calls: readonly ReadSpan[]): readonly ConversationMessage[] {
  const conversation: ConversationMessage[] = [];
  /** Number of times that a message is in the conversation. */
  const listed = new Map<string, number>();
  /** The last call that gave an answer. */
  const answeredBy = new Map<string, Span>();
  for (const { span, reading } of calls) {
    const { inputMessages = [], outputMessages = [] } = reading.facts;
    const inCall = new Map<string, number>();
    for (const message of inputMessages) {
      const print = printOf(message);
      const count = (inCall.get(print) ?? 0) + 1;
      inCall.set(print, count);
      if (count <= (listed.get(print) ?? 0)) continue;
      listed.set(print, count);
      conversation.push({ message, span, isAnswer: false });
    }
    for (const message of outputMessages) {
      const print = printOf(message);
      const other = answeredBy.get(print);
      answeredBy.set(print, span);
      // Two instrumentations may report one request.
      if (other !== undefined && overlap(other, span)) continue;
      // An output that holds the whole conversation repeats the input.
      if (outputMessages.length > 1 && inCall.has(print)) continue;
      listed.set(print, Math.max(listed.get(print) ?? 0, inCall.get(print) ?? 0) + 1);
      conversation.push({ message, span, isAnswer: true });
    }
  }
  return conversation;
}

/** The number of leading messages of a call that the call before it had or gave. */
export function repeatedMessages(messages: readonly Message[], before: readonly Message[]): number {
  const known = new Set(before.map(printOf));
  const first = messages.findIndex((message) => !known.has(printOf(message)));
  return first === -1 ? messages.length : first;
}

function overlap(one: Span, other: Span): boolean {
  return one !== other && one.startUnixNano < other.endUnixNano && other.startUnixNano < one.endUnixNano;
}

/** The same for a message as an answer and in later requests, which may leave out its reasoning and the ids of calls. */
function printOf({ role, text = '', requested, results }: Message): string {
  return jsonText([
    role,
    shortened(text.trim()),
    requested.map(callPrint),
    results.map(({ result, resultPart }) => shortened(resultPart ?? (result === undefined ? '' : jsonText(result, { sortKeys: true })))),
  ]);
}

function callPrint({ name, arguments: sent, argumentsText, argumentsPart }: RequestedCall): JsonValue {
  const parsed = sent ?? (argumentsText === undefined ? undefined : parseJsonContainer(argumentsText));
  return [name, shortened(parsed === undefined ? (argumentsText ?? argumentsPart ?? '') : jsonText(parsed, { sortKeys: true }))];
}

function shortened(text: string): string {
  return text.length <= printedCharsMax ? text : `${text.slice(0, printedCharsMax / 2)}…${text.length}…${text.slice(-printedCharsMax / 2)}`;
}
