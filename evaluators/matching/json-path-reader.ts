/** Reads the text of a JSONPath. A path that is broken, or larger than the limits, is refused with the place and the reason. */
import { parseJson, type JsonValue } from '../../src/model/json.ts';
import {
  isDefinite,
  type Comparison,
  type Condition,
  type JsonPath,
  type Operand,
  type PathOperand,
  type Segment,
  type Selector,
} from './json-path.ts';

export type ReadPath =
  | { readonly kind: 'path'; readonly path: JsonPath }
  | { readonly kind: 'broken'; readonly at: number; readonly problem: string };

export const pathCharsMax = 1_000;
const segmentsMax = 64;
/** Brackets and filters inside one another. */
const nestingMax = 16;

/** A path may leave out the `$` at its beginning. */
export function readJsonPath(text: string): ReadPath {
  if (text.length > pathCharsMax) return { kind: 'broken', at: pathCharsMax, problem: `is longer than ${pathCharsMax} characters` };
  const cursor: Cursor = { text, at: 0, depth: 0 };
  try {
    spaces(cursor);
    if (isAtEnd(cursor)) fault('is empty');
    const path = takes(cursor, '$') ? pathFrom(cursor) : bareFrom(cursor);
    spaces(cursor);
    if (!isAtEnd(cursor)) fault('has something after its end');
    return { kind: 'path', path };
  } catch (error) {
    if (error instanceof PathFault) return { kind: 'broken', at: Math.min(cursor.at, text.length), problem: error.message };
    throw error;
  }
}

interface Cursor {
  readonly text: string;
  at: number;
  depth: number;
}

class PathFault extends Error {}

function fault(problem: string): never {
  throw new PathFault(problem);
}

function bareFrom(cursor: Cursor): JsonPath {
  if ('.['.includes(peek(cursor))) return pathFrom(cursor);
  const first: Segment = { descends: false, selectors: [dotSelector(cursor)] };
  const rest = pathFrom(cursor);
  return { ...rest, segments: [first, ...rest.segments] };
}

function pathFrom(cursor: Cursor): JsonPath {
  const segments: Segment[] = [];
  while (!isAtEnd(cursor)) {
    if (segments.length >= segmentsMax) fault(`has more than ${segmentsMax} steps`);
    if (takes(cursor, '..')) segments.push({ descends: true, selectors: peek(cursor) === '[' ? brackets(cursor) : [dotSelector(cursor)] });
    else if (takes(cursor, '.')) {
      if (takes(cursor, 'length()')) return { segments, isLength: true };
      segments.push({ descends: false, selectors: [dotSelector(cursor)] });
    } else if (peek(cursor) === '[') segments.push({ descends: false, selectors: brackets(cursor) });
    else break;
  }
  return { segments, isLength: false };
}

function dotSelector(cursor: Cursor): Selector {
  if (takes(cursor, '*')) return { kind: 'wildcard' };
  const start = cursor.at;
  for (const point of cursor.text.slice(start)) {
    if (!/[\p{L}\p{N}\p{M}_$-]/u.test(point)) break;
    cursor.at += point.length;
  }
  if (cursor.at === start) fault('lacks a name');
  return { kind: 'name', name: cursor.text.slice(start, cursor.at) };
}

function brackets(cursor: Cursor): readonly Selector[] {
  cursor.at++;
  const selectors: Selector[] = [];
  do {
    spaces(cursor);
    selectors.push(bracketSelector(cursor));
    spaces(cursor);
  } while (takes(cursor, ','));
  if (!takes(cursor, ']')) fault('lacks a closing bracket');
  return selectors;
}

function bracketSelector(cursor: Cursor): Selector {
  if (takes(cursor, '*')) return { kind: 'wildcard' };
  if (takes(cursor, '?')) return { kind: 'filter', condition: nested(cursor, disjunction) };
  if (isQuote(peek(cursor))) return { kind: 'name', name: quotedText(cursor) };
  return placeSelector(cursor);
}

function placeSelector(cursor: Cursor): Selector {
  const from = wholeNumber(cursor);
  spaces(cursor);
  if (!takes(cursor, ':')) return from === undefined ? fault('lacks an index, a quoted name, * or ?') : { kind: 'index', index: from };
  spaces(cursor);
  const to = wholeNumber(cursor);
  spaces(cursor);
  if (!takes(cursor, ':')) return { kind: 'slice', from, to, step: 1 };
  spaces(cursor);
  return { kind: 'slice', from, to, step: wholeNumber(cursor) ?? 1 };
}

function wholeNumber(cursor: Cursor): number | undefined {
  const digits = /^-?\d{1,15}/.exec(cursor.text.slice(cursor.at))?.[0];
  if (digits === undefined) return undefined;
  cursor.at += digits.length;
  return Number(digits);
}

function disjunction(cursor: Cursor): Condition {
  return joined(cursor, '||', 'or', (at) => joined(at, '&&', 'and', negation));
}

function joined(cursor: Cursor, sign: string, kind: 'or' | 'and', part: (cursor: Cursor) => Condition): Condition {
  const first = part(cursor);
  const parts = [first];
  for (spaces(cursor); takes(cursor, sign); spaces(cursor)) parts.push(part(cursor));
  return parts.length === 1 ? first : { kind, parts };
}

function negation(cursor: Cursor): Condition {
  spaces(cursor);
  if (takes(cursor, '!')) return { kind: 'not', part: nested(cursor, negation) };
  if (!takes(cursor, '(')) return comparison(cursor);
  const inner = nested(cursor, disjunction);
  spaces(cursor);
  if (!takes(cursor, ')')) fault('lacks a closing parenthesis');
  return inner;
}

function comparison(cursor: Cursor): Condition {
  const left = operand(cursor);
  spaces(cursor);
  const operator = (['==', '!=', '<=', '>=', '<', '>'] as const satisfies readonly Comparison[]).find((sign) => takes(cursor, sign));
  if (operator === undefined) return left.kind === 'path' ? { kind: 'exists', operand: left } : fault('lacks a comparison');
  spaces(cursor);
  const right = operand(cursor);
  for (const side of [left, right])
    if (side.kind === 'path' && !isDefinite(side.path) && !side.path.isLength) fault('compares a path that may find several values');
  return { kind: 'compare', operator, left, right };
}

function operand(cursor: Cursor): Operand {
  if (takes(cursor, '@')) return pathOperand(cursor, false);
  if (takes(cursor, '$')) return pathOperand(cursor, true);
  if (isQuote(peek(cursor))) return { kind: 'literal', value: quotedText(cursor) };
  const word = /^(?:true|false|null|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w.])/.exec(cursor.text.slice(cursor.at))?.[0];
  const value: JsonValue | undefined = word === undefined ? undefined : parseJson(word);
  if (word === undefined || value === undefined) return fault('lacks a path that begins with @ or $, or a value');
  cursor.at += word.length;
  return { kind: 'literal', value };
}

function pathOperand(cursor: Cursor, fromRoot: boolean): PathOperand {
  return { kind: 'path', fromRoot, path: nested(cursor, pathFrom) };
}

/** Single or double quotes, with the escapes of JSON. */
function quotedText(cursor: Cursor): string {
  const quote = peek(cursor);
  let json = '';
  for (cursor.at++; peek(cursor) !== quote; cursor.at++) {
    const point = peek(cursor);
    if (point === '') fault('lacks a closing quote');
    if (point !== '\\') json += point === '"' ? '\\"' : point;
    else {
      cursor.at++;
      json += peek(cursor) === "'" ? "'" : `\\${peek(cursor)}`;
    }
  }
  cursor.at++;
  const text = parseJson(`"${json}"`);
  return typeof text === 'string' ? text : fault('has a quoted text with an unknown escape');
}

function nested<Read>(cursor: Cursor, read: (cursor: Cursor) => Read): Read {
  if (++cursor.depth > nestingMax) fault(`nests deeper than ${nestingMax}`);
  const result = read(cursor);
  cursor.depth--;
  return result;
}

function isQuote(point: string): boolean {
  return point === '"' || point === "'";
}

function peek(cursor: Cursor): string {
  return cursor.text.charAt(cursor.at);
}

function isAtEnd(cursor: Cursor): boolean {
  return cursor.at >= cursor.text.length;
}

function takes(cursor: Cursor, sign: string): boolean {
  if (!cursor.text.startsWith(sign, cursor.at)) return false;
  cursor.at += sign.length;
  return true;
}

function spaces(cursor: Cursor): void {
  while (/^[ \t]$/.test(peek(cursor))) cursor.at++;
}
