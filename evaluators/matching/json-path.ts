/**
 * JSONPath: child, bracket, index (also from the end), slice, wildcard, recursive descent, filter and length(). Paths are never executed as
 * code. The parser rejects invalid and oversized paths with position and reason.
 */
import { unreachable } from '../../src/model/ids.ts';
import { isJsonArray, isJsonObject, member, type JsonValue, parseJson } from '../../src/model/json.ts';
import { jsonEqual } from './equality.ts';
import { codePointLength } from './similarity.ts';

export interface JsonPath {
  readonly segments: readonly Segment[];
  /** True when the result is the length of the match. */
  readonly isLength: boolean;
}

interface Segment {
  /** When true, selects below every value. */
  readonly descends: boolean;
  readonly selectors: readonly Selector[];
}

type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined; readonly step: number }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly condition: Condition };

type Condition =
  | { readonly kind: 'or' | 'and'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | { readonly kind: 'exists'; readonly operand: PathOperand }
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Operand; readonly right: Operand };

type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
type Operand = PathOperand | { readonly kind: 'literal'; readonly value: JsonValue };

interface PathOperand {
  readonly kind: 'path';
  /** When true, starts at the root instead of the filtered value. */
  readonly fromRoot: boolean;
  readonly path: JsonPath;
}

type PathResult = { readonly kind: 'found'; readonly value: JsonValue } | { readonly kind: 'missing' } | { readonly kind: 'too_much' };

/** Limit of visited values per evaluation. */
export const pathStepsMax = 200_000;

/** True when the path matches at most one value. Other paths return a list, possibly empty. */
export function isDefinite({ segments }: JsonPath): boolean {
  return segments.every(
    ({ descends, selectors: [first, ...more] }) => !descends && more.length === 0 && (first?.kind === 'name' || first?.kind === 'index'),
  );
}

export function atPath(path: JsonPath, root: JsonValue): PathResult {
  const walk: Walk = { root, steps: 0 };
  try {
    const value = valueOf(path, root, walk);
    return value === undefined ? { kind: 'missing' } : { kind: 'found', value };
  } catch (error) {
    if (error instanceof TooManySteps) return { kind: 'too_much' };
    throw error;
  }
}

/** Order of two numbers, strings (by code unit) or booleans; `undefined` for different types. */
export function ordered(a: JsonValue, b: JsonValue): number | undefined {
  const isNumber = (value: JsonValue): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if ((typeof a === 'string' && typeof b === 'string') || (typeof a === 'boolean' && typeof b === 'boolean'))
    return a < b ? -1 : a > b ? 1 : 0;
  return undefined;
}

/** Number of items, members or code points; `undefined` for other values. */
export function lengthOf(value: JsonValue): number | undefined {
  if (isJsonArray(value)) return value.length;
  if (isJsonObject(value)) return Object.keys(value).length;
  return typeof value === 'string' ? codePointLength(value) : undefined;
}

interface Walk {
  readonly root: JsonValue;
  steps: number;
}

class TooManySteps extends Error {}

function step(walk: Walk, count = 1): void {
  walk.steps += count;
  if (walk.steps > pathStepsMax) throw new TooManySteps();
}

function valueOf(path: JsonPath, from: JsonValue, walk: Walk): JsonValue | undefined {
  let found: readonly JsonValue[] = [from];
  for (const segment of path.segments) found = found.flatMap((value) => selected(segment, value, walk));
  const value = isDefinite(path) ? found[0] : found;
  if (!path.isLength || value === undefined) return value;
  return lengthOf(value);
}

function selected({ descends, selectors }: Segment, value: JsonValue, walk: Walk): readonly JsonValue[] {
  const values = descends ? withDescendants(value, walk) : [value];
  return values.flatMap((one) => selectors.flatMap((selector) => select(selector, one, walk)));
}

/** The value and its descendants in document order. */
function withDescendants(value: JsonValue, walk: Walk): readonly JsonValue[] {
  const all: JsonValue[] = [];
  const open: JsonValue[] = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    all.push(next);
    const children = childrenOf(next);
    step(walk, children.length);
    for (let at = children.length - 1; at >= 0; at--) open.push(...present(children[at]));
  }
  return all;
}

function select(selector: Selector, value: JsonValue, walk: Walk): readonly JsonValue[] {
  step(walk);
  switch (selector.kind) {
    case 'name':
      return present(isJsonObject(value) ? member(value, selector.name) : undefined);
    case 'index':
      return present(isJsonArray(value) ? value.at(selector.index) : undefined);
    case 'slice':
      return isJsonArray(value) ? sliced(value, selector, walk) : [];
    case 'wildcard': {
      const children = childrenOf(value);
      step(walk, children.length);
      return children;
    }
    case 'filter':
      return childrenOf(value).filter((child) => holds(selector.condition, child, walk));
    default:
      return unreachable(selector);
  }
}

function childrenOf(value: JsonValue): readonly JsonValue[] {
  if (isJsonArray(value)) return value;
  return isJsonObject(value) ? Object.values(value) : [];
}

function present(value: JsonValue | undefined): readonly JsonValue[] {
  return value === undefined ? [] : [value];
}

/** RFC 9535: negative indices count from the end, and a step of 0 selects nothing. */
function sliced(
  list: readonly JsonValue[],
  { from, to, step: stride }: Extract<Selector, { kind: 'slice' }>,
  walk: Walk,
): readonly JsonValue[] {
  const { length } = list;
  const place = (at: number): number => (at >= 0 ? at : length + at);
  const within = (at: number, least: number, most: number): number => Math.min(Math.max(at, least), most);
  if (stride === 0) return [];
  const back = stride < 0;
  const first = back ? within(place(from ?? length - 1), -1, length - 1) : within(place(from ?? 0), 0, length);
  const end = back ? (to === undefined ? -1 : within(place(to), -1, length - 1)) : within(place(to ?? length), 0, length);
  const picked: JsonValue[] = [];
  for (let at = first; back ? at > end : at < end; at += stride) {
    step(walk);
    picked.push(...present(list[at]));
  }
  return picked;
}

function holds(condition: Condition, value: JsonValue, walk: Walk): boolean {
  step(walk);
  switch (condition.kind) {
    case 'or':
      return condition.parts.some((part) => holds(part, value, walk));
    case 'and':
      return condition.parts.every((part) => holds(part, value, walk));
    case 'not':
      return !holds(condition.part, value, walk);
    case 'exists': {
      const found = operandValue(condition.operand, value, walk);
      return found !== undefined && (isDefinite(condition.operand.path) || !isJsonArray(found) || found.length > 0);
    }
    case 'compare':
      return compares(condition.operator, operandValue(condition.left, value, walk), operandValue(condition.right, value, walk));
    default:
      return unreachable(condition);
  }
}

function operandValue(operand: Operand, value: JsonValue, walk: Walk): JsonValue | undefined {
  return operand.kind === 'literal' ? operand.value : valueOf(operand.path, operand.fromRoot ? walk.root : value, walk);
}

/** RFC 9535: two missing values are equal; a missing value is neither equal to nor ordered with any other. */
function compares(operator: Comparison, left: JsonValue | undefined, right: JsonValue | undefined): boolean {
  const equal = left === undefined || right === undefined ? left === right : jsonEqual(left, right);
  if (operator === '==' || operator === '!=') return equal === (operator === '==');
  const order = left === undefined || right === undefined ? undefined : ordered(left, right);
  if (order === undefined) return false;
  switch (operator) {
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    case '>=':
      return order >= 0;
    default:
      return unreachable(operator);
  }
}

type ReadPath =
  | { readonly kind: 'path'; readonly path: JsonPath }
  | { readonly kind: 'broken'; readonly at: number; readonly problem: string };

const pathCharsMax = 1_000;
const segmentsMax = 64;
/** Limit of nested brackets and filters. */
const nestingMax = 16;

/** The leading `$` is optional. */
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

/** A string in single or double quotes with JSON escapes. */
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
