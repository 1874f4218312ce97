/**
 * JSONPath, the documented part of it: child, bracket, index (also from the end), slice, wildcard, recursive descent, filter and
 * length(). Read by `json-path-reader.ts`; nothing in a path is ever run as code.
 */
import { unreachable } from '../../src/model/ids.ts';
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import { jsonEqual } from './equality.ts';
import { codePointLength } from './similarity.ts';

export interface JsonPath {
  readonly segments: readonly Segment[];
  /** The length of what is found instead of it. */
  readonly isLength: boolean;
}

export interface Segment {
  /** Selects below every value, not only in it. */
  readonly descends: boolean;
  readonly selectors: readonly Selector[];
}

export type Selector =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'index'; readonly index: number }
  | { readonly kind: 'slice'; readonly from: number | undefined; readonly to: number | undefined; readonly step: number }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'filter'; readonly condition: Condition };

export type Condition =
  | { readonly kind: 'or' | 'and'; readonly parts: readonly Condition[] }
  | { readonly kind: 'not'; readonly part: Condition }
  | { readonly kind: 'exists'; readonly operand: PathOperand }
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Operand; readonly right: Operand };

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';
export type Operand = PathOperand | { readonly kind: 'literal'; readonly value: JsonValue };

export interface PathOperand {
  readonly kind: 'path';
  /** From the root of the document instead of from the value that is filtered. */
  readonly fromRoot: boolean;
  readonly path: JsonPath;
}

export type PathResult =
  | { readonly kind: 'found'; readonly value: JsonValue }
  | { readonly kind: 'missing' }
  | { readonly kind: 'too_much' };

/** Values that one evaluation may visit. */
export const pathStepsMax = 200_000;

/** A path that can find one value at most. Any other gives a list, empty when nothing is found. */
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

/** Numbers, texts (by code unit) and booleans have an order among their own kind; undefined: these two have none. */
export function ordered(a: JsonValue, b: JsonValue): number | undefined {
  const isNumber = (value: JsonValue): value is number | bigint => typeof value === 'number' || typeof value === 'bigint';
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  if ((typeof a === 'string' && typeof b === 'string') || (typeof a === 'boolean' && typeof b === 'boolean'))
    return a < b ? -1 : a > b ? 1 : 0;
  return undefined;
}

/** Items of a list, members of an object, code points of a text; undefined: it has no length. */
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

/** The value itself, then what is in it, in the order of a document. */
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

/** As RFC 9535 has it: places from the end are negative, and a step of 0 selects nothing. */
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

/** Two missing values are equal, as in RFC 9535; nothing else is equal to a missing one or has an order with it. */
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
