/** Calls in the text form of Python objects: `ResponseFunctionToolCall(arguments='{"x":1}', call_id='c1', name='search')`. */
import type { RequestedCall } from '../collector.ts';
import { pythonLiteralCharsMax, readQuoted } from './python-literal.ts';
import { readArguments } from './values.ts';

const beginning = 'ResponseFunctionToolCall(';

/** True: the text consists of such calls. */
export function isPythonCalls(text: string): boolean {
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
