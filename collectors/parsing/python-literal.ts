/** Reads the text form of Python's values (`{'x': 1, 'ok': True, 'v': None}`) and objects (`Tool(id='x')`), which several SDKs send instead of JSON. */
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { isJsonObject, jsonDepthMax, jsonText } from '../../src/model/json.ts';

/** Longer texts are left as texts: arguments of this size are not compared. */
export const pythonLiteralCharsMax = 1_000_000;

interface Cursor {
  readonly text: string;
  at: number;
  /** When true, calls such as `Tool(id='x')` and enum members such as `<State.ERROR: 'error'>` are values too. */
  readonly takesObjects: boolean;
}

class NotALiteral extends Error {}

/** The value of a Python dict, list, tuple or set literal; undefined when the text is anything else. */
export function parsePythonLiteral(text: string): JsonValue | undefined {
  const cursor: Cursor = { text, at: 0, takesObjects: false };
  skipBlanks(cursor);
  if (text.length > pythonLiteralCharsMax || !'{[('.includes(text[cursor.at] ?? ' ')) return undefined;
  return whole(cursor, () => value(cursor, 0));
}

/** As `parsePythonLiteral`, of a dict or list that holds objects: `{'messages': [ChatMessage(role='user')]}`. */
export function parsePythonDump(text: string): JsonValue | undefined {
  const cursor: Cursor = { text, at: 0, takesObjects: true };
  return text.length > pythonLiteralCharsMax || !'{['.includes(text[0] ?? ' ') ? undefined : whole(cursor, () => value(cursor, 0));
}

/** The result of `read` for all of the text; `undefined` when the text is anything else. */
function whole<T>(cursor: Cursor, read: () => T): T | undefined {
  try {
    const result = read();
    skipBlanks(cursor);
    return cursor.at === cursor.text.length ? result : undefined;
  } catch (error) {
    if (error instanceof NotALiteral) return undefined;
    throw error;
  }
}

const CALL = /^\s*[A-Za-z_][\w.]{0,200}\(/;
const MEMBERS = /^\s*[A-Za-z_]\w{0,200}=['"[{]/;

/**
 * The members of a Python object's text form: `ToolMessage(content='x', id='y')`, or bare as pydantic's `str` writes it: `content='x' id='y'`.
 * The name of a class becomes the member `type`, unless the object has one. Undefined when the text is anything else.
 */
export function parsePythonObject(text: string): JsonObject | undefined {
  if (text.length > pythonLiteralCharsMax) return undefined;
  const cursor: Cursor = { text, at: 0, takesObjects: true };
  if (MEMBERS.test(text)) return whole(cursor, () => members(cursor, undefined, 0));
  if (!CALL.test(text)) return undefined;
  const found = whole(cursor, () => value(cursor, 0));
  return isJsonObject(found) ? found : undefined;
}

/** `name=value` parted by commas and closed by a bracket, or parted by blanks up to the end. Values without a name are left out. */
function members(cursor: Cursor, type: string | undefined, depth: number): JsonObject {
  const found: [string, JsonValue][] = [];
  const end = type === undefined ? undefined : ')';
  for (;;) {
    skipBlanks(cursor);
    if (end === undefined ? cursor.at === cursor.text.length : closes(cursor, end)) break;
    const name = /[A-Za-z_]\w{0,200}(?==)/y;
    name.lastIndex = cursor.at;
    const key = name.exec(cursor.text)?.[0];
    if (key !== undefined) cursor.at += key.length + 1;
    else if (end === undefined) throw new NotALiteral();
    const inner = value(cursor, depth + 1);
    if (key !== undefined && !found.some(([name]) => name === key)) found.push([key, inner]);
    if (end !== undefined) comma(cursor, end);
  }
  const object = Object.fromEntries(found);
  return type === undefined || Object.hasOwn(object, 'type') ? object : { type, ...object };
}

/** The end of objects without a text form: the text replaces a value that is not carried. */
const UNREADABLE = / at 0x[0-9a-f]{4,16}>$/;

/** Behind the bracket that closes the one at `start`: names of functions hold brackets too, `<function run.<locals>.inner at 0x7f>`. */
function angleEnd(text: string, start: number): number {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === '<') depth++;
    else if (text[at] === '>' && --depth === 0) return at + 1;
  }
  throw new NotALiteral();
}

/** `<State.ERROR: 'error'>` is its value; of any other text in angle brackets nothing is known. */
function enumMember(cursor: Cursor): JsonValue {
  const member = /<[\w.]{1,200}: /y;
  member.lastIndex = cursor.at;
  const opening = member.exec(cursor.text)?.[0];
  if (opening === undefined) {
    const start = cursor.at;
    cursor.at = angleEnd(cursor.text, start);
    const text = cursor.text.slice(start, cursor.at);
    return UNREADABLE.test(text) ? text : null;
  }
  cursor.at += opening.length;
  const inner = value(cursor, jsonDepthMax);
  if (!closes(cursor, '>')) throw new NotALiteral();
  return inner;
}

function value(cursor: Cursor, depth: number): JsonValue {
  if (depth > jsonDepthMax) throw new NotALiteral();
  skipBlanks(cursor);
  const first = cursor.text[cursor.at] ?? '';
  if (first === '{') return dictOrSet(cursor, depth);
  if (first === '[') return list(cursor, ']', depth);
  if (first === '(') return list(cursor, ')', depth);
  if (first === "'" || first === '"') return quoted(cursor);
  if (first === '<' && cursor.takesObjects) return enumMember(cursor);
  return word(cursor, depth);
}

function dictOrSet(cursor: Cursor, depth: number): JsonValue {
  cursor.at++;
  const members: [string, JsonValue][] = [];
  const items: JsonValue[] = [];
  while (!closes(cursor, '}')) {
    const key = value(cursor, depth + 1);
    skipBlanks(cursor);
    if (cursor.text[cursor.at] === ':') {
      cursor.at++;
      members.push([typeof key === 'string' ? key : jsonText(key), value(cursor, depth + 1)]);
    } else items.push(key);
    comma(cursor, '}');
  }
  if (items.length > 0 && members.length > 0) throw new NotALiteral();
  return items.length > 0 ? items : Object.fromEntries(members);
}

function list(cursor: Cursor, end: string, depth: number): JsonValue {
  cursor.at++;
  const items: JsonValue[] = [];
  while (!closes(cursor, end)) {
    items.push(value(cursor, depth + 1));
    comma(cursor, end);
  }
  return items;
}

function closes(cursor: Cursor, end: string): boolean {
  skipBlanks(cursor);
  if (cursor.text[cursor.at] !== end) return false;
  cursor.at++;
  return true;
}

function comma(cursor: Cursor, end: string): void {
  skipBlanks(cursor);
  const next = cursor.text[cursor.at];
  if (next === ',') cursor.at++;
  else if (next !== end) throw new NotALiteral();
}

/** The text in quotes that begins at `at`, and where it ends; undefined when the quotes are not closed. */
export function readQuoted(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  const cursor: Cursor = { text, at, takesObjects: false };
  try {
    return { value: quoted(cursor), end: cursor.at };
  } catch (error) {
    if (error instanceof NotALiteral) return undefined;
    throw error;
  }
}

const escapes: { readonly [letter: string]: string } = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '0': '\0',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
  '\n': '',
};
const hexDigits: { readonly [letter: string]: number } = { x: 2, u: 4, U: 8 };

function quoted(cursor: Cursor): string {
  const quote = cursor.text[cursor.at++];
  let result = '';
  for (;;) {
    const char = cursor.text[cursor.at++];
    if (char === undefined) throw new NotALiteral();
    // Two escapes in a row may be the halves of one character.
    if (char === quote) return result.toWellFormed();
    result += char === '\\' ? escaped(cursor) : char;
  }
}

function escaped(cursor: Cursor): string {
  const letter = cursor.text[cursor.at++] ?? '';
  const digits = hexDigits[letter];
  if (digits === undefined) return escapes[letter] ?? `\\${letter}`;
  const hex = cursor.text.slice(cursor.at, cursor.at + digits);
  const code = Number.parseInt(hex, 16);
  if (!/^[0-9a-fA-F]+$/.test(hex) || hex.length !== digits || code > 0x10ffff) throw new NotALiteral();
  cursor.at += digits;
  return String.fromCodePoint(code);
}

const WORD_CHARACTER = /[A-Za-z0-9_.+-]/;
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
/** Reading an integer takes longer the longer it is, and real numbers are shorter. */
const integerDigitsMax = 1_000;

function word(cursor: Cursor, depth: number): JsonValue {
  const start = cursor.at;
  while (WORD_CHARACTER.test(cursor.text.charAt(cursor.at))) cursor.at++;
  if (cursor.at === start) throw new NotALiteral();
  const found = cursor.text.slice(start, cursor.at);
  if (found === 'True') return true;
  if (found === 'False') return false;
  if (found === 'None') return null;
  if (cursor.takesObjects && cursor.text[cursor.at] === '(') {
    cursor.at++;
    return members(cursor, found.slice(found.lastIndexOf('.') + 1), depth);
  }
  if (!NUMBER.test(found)) throw new NotALiteral();
  const number = Number(found);
  if (!/^[+-]?\d+$/.test(found) || Number.isSafeInteger(number)) return number;
  if (found.length > integerDigitsMax) throw new NotALiteral();
  return BigInt(found.replace('+', ''));
}

function skipBlanks(cursor: Cursor): void {
  while (cursor.at < cursor.text.length && ' \t\r\n'.includes(cursor.text[cursor.at] ?? 'x')) cursor.at++;
}

/** Where the literal that begins at `start` ends: behind the bracket that closes it, or at the end of the text. Brackets inside quotes do not count. */
export function pythonLiteralEnd(text: string, start: number): number {
  let depth = 0;
  let quote = '';
  for (let at = start; at < text.length; at++) {
    const char = text[at] ?? '';
    if (quote !== '') {
      if (char === '\\') at++;
      else if (char === quote) quote = '';
    } else if (char === "'" || char === '"') quote = char;
    else if ('([{'.includes(char)) depth++;
    else if (')]}'.includes(char) && --depth === 0) return at + 1;
  }
  return text.length;
}
