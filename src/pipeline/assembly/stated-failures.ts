/**
 * Failures that a tool message states outside the requests to models, as in the state of a graph's step: `{"tool_call_id": …, "status": "error"}`,
 * as JSON or in the text form of Python's objects.
 */
import { isJsonArray, isJsonObject, type JsonValue } from '../../model/json.ts';
import type { Attributed } from '../../model/span.ts';
import { parseContainer } from '../../../collectors/parsing/parsing.ts';
import { parsePythonObject } from '../../../collectors/parsing/python-literal.ts';
import { readResult } from '../../../collectors/parsing/values.ts';
import type { Node } from './span-tree.ts';

/** Values of one text that are looked at. */
const valuesMax = 2_000;
/** Longer texts are left unread. */
const textCharsMax = 200_000;

/** True when a message in the steps states that the call failed. The steps are read when the first call is asked about. */
export function statedFailures(...parts: readonly (readonly Node[])[]): (callId: string) => boolean {
  let found: Set<string> | undefined;
  return (callId) => {
    if (found === undefined) {
      found = new Set();
      for (const nodes of parts) addFailuresIn(nodes, found);
    }
    return found.has(callId);
  };
}

function addFailuresIn(nodes: readonly Node[], found: Set<string>): void {
  for (const { span, reading } of nodes) {
    const { role } = reading.facts;
    if (role !== undefined && role !== 'step' && role !== 'agent' && role !== 'workflow') continue;
    for (const key of span.attributeKeys()) {
      const text = mayState(span, key) ? span.attribute(key) : undefined;
      if (typeof text === 'string' && text.length <= textCharsMax && hasMessage(text)) addFailures(parseContainer(text) ?? text, found);
    }
  }
}

function hasMessage(text: string): boolean {
  return text.includes('error') && (text.includes('tool_call_id') || text.includes('tool_use_id'));
}

/** The least that such a message takes. */
const messageBytesMin = 40;

/** Most texts lie undecoded in a body and have no such word. */
function mayState(from: Attributed, key: string): boolean {
  const text = from.writtenText?.(key);
  if (text === undefined) return true;
  return text.end - text.start >= messageBytesMin && text.bytes.subarray(text.start, text.end).includes('error');
}

function addFailures(value: JsonValue, found: Set<string>): void {
  const waiting: JsonValue[] = [value];
  for (let seen = 0; seen < valuesMax; seen++) {
    const next = waiting.pop();
    if (next === undefined) return;
    const message = typeof next === 'string' ? messageIn(next) : next;
    if (isJsonArray(message)) waiting.push(...message);
    else if (isJsonObject(message)) {
      const { callId, failed } = readResult(message);
      if (callId !== undefined && failed === true) found.add(callId);
      else waiting.push(...Object.values(message));
    }
  }
}

/** A message in a text, in JSON or as Python writes it. */
function messageIn(text: string): JsonValue | undefined {
  return hasMessage(text) ? (parseContainer(text) ?? parsePythonObject(text)) : undefined;
}
