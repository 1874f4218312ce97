/** Calls in the text form of Python's objects: `ToolCallResult(tool_name='find_book', tool_kwargs={…}, tool_id='c-1', tool_output=…)`. Source: LlamaIndex. */
import { isJsonObject, member, type JsonObject } from '../../src/model/json.ts';
import type { Mutable } from '../../src/model/mutable.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { ToolFacts } from '../collector.ts';
import { plainObject } from './message-reprs.ts';
import { parsePythonObject } from './python-literal.ts';
import { addArguments, addOutcome, readArguments, readResult } from './values.ts';

const CALL = /^[A-Z]\w{0,100}\((?:[^]{0,200}, )?tool_name='/;

export function isCallRepr(value: AttributeValue | undefined): value is string {
  return typeof value === 'string' && CALL.test(value);
}

/** The call that a text holds; undefined for any other text. */
export function callInRepr(value: AttributeValue | undefined): ToolFacts | undefined {
  const object = isCallRepr(value) ? parsePythonObject(value) : undefined;
  const name = object === undefined ? undefined : member(object, 'tool_name');
  if (object === undefined || typeof name !== 'string') return undefined;
  const facts: Mutable<ToolFacts> = { name };
  const id = member(object, 'tool_id') ?? member(object, 'tool_call_id');
  if (typeof id === 'string') facts.id = id;
  const given = member(object, 'tool_kwargs');
  if (isJsonObject(given)) addArguments(readArguments(given, name), facts);
  const output = member(object, 'tool_output');
  if (isJsonObject(output)) addOutcome(readResult(plainOutput(output)), facts);
  return facts;
}

/** An output in parts is what its texts say. */
function plainOutput(output: JsonObject): JsonObject {
  const plain = plainObject(output);
  const parts = member(plain, 'parts');
  return parts === undefined ? plain : { content: parts, is_error: member(plain, 'is_error') ?? false };
}
