/**
 * Reads a judge's answer. Structured output makes most answers plain JSON. The reader tolerates code fences, prose, trailing commas, and
 * "true" for true. It never invents a verdict.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue, objectAt } from '../../src/model/json.ts';
import { piecesOf, quotedIn } from './answer-pieces.ts';
import type { JsonSchema, Question } from '../evaluator.ts';
import { canonicalText } from '../matching/equality.ts';

/** Longer answers are not read. */
export const answerTextMax = 500_000;

export type ReadAnswer =
  | {
      readonly kind: 'answered';
      readonly value: JsonValue;
      /** The value is usable but incomplete, which justifies a retry. In words. */
      readonly fault?: string;
    }
  | { readonly kind: 'failed'; readonly error: string };

/** Strictness of reading; absent members require nothing. */
interface Strictness {
  /** Rejects members that the schema does not name. */
  readonly membersOfSchema?: true;
  /** Texts of the judge input; a verdict that occurs in them is a quote. */
  readonly material?: readonly string[];
}

/** The only verdict: the whole text or a part of it. Two different verdicts count as none. */
export function readAnswer(
  text: string,
  schema: JsonSchema,
  check?: Question['check'],
  { membersOfSchema, material = [] }: Strictness = {},
): ReadAnswer {
  if (text.trim() === '') return { kind: 'failed', error: 'the answer is empty' };
  if (text.length > answerTextMax) return { kind: 'failed', error: `the answer is longer than ${answerTextMax} characters` };
  const { pieces, isCut, isCutObject, tooMany } = piecesOf(text);
  if (tooMany) return { kind: 'failed', error: 'the answer holds too many pieces of JSON' };
  let problem = 'the answer holds no JSON';
  const isQuoted = quotedIn(material);
  let found: Extract<Fitted, { readonly kind: 'fits' }> | undefined;
  for (const piece of pieces) {
    const one = fittedRoot(piece.value, schema);
    if (one.kind === 'misfit') {
      problem = one.problem;
      continue;
    }
    if (isQuoted(piece.text, piece.value)) {
      problem = 'the answer only repeats a verdict from the material';
      continue;
    }
    if (piece.namesTwice) return { kind: 'failed', error: 'the answer names a member twice' };
    const surplus = membersOfSchema === true ? surplusMember(piece.value, schema) : undefined;
    if (surplus !== undefined) return { kind: 'failed', error: surplus };
    if (found !== undefined && canonicalText(found.value) !== canonicalText(one.value))
      return { kind: 'failed', error: 'the answer holds two verdicts that differ' };
    found ??= one;
  }
  if (found === undefined) return { kind: 'failed', error: isCut ? 'the answer is cut off' : problem };
  if (isCutObject) return { kind: 'failed', error: 'the answer is cut off' };
  const fault = found.faults[0] ?? check?.(found.value);
  return { kind: 'answered', value: found.value, ...(fault === undefined ? {} : { fault }) };
}

/** Follows `fittedRoot`: a bare list or entry represents its object, and the list may have another name. */
function surplusMember(value: JsonValue, schema: JsonSchema): string | undefined {
  const list = soleList(schema);
  if (list === undefined || (isJsonObject(value) && Object.hasOwn(value, list.name))) return surplusIn(value, schema, 'the answer');
  if (!isJsonObject(value)) return surplusIn(value, { type: 'array', items: list.items }, 'the answer');
  const other = otherNames(value, list.items);
  const [name] = other;
  if (name === undefined || other.length > 1) return surplusIn(value, list.items, 'the answer');
  return surplusIn(
    Object.fromEntries(Object.entries(value).map(([key, one]) => [key === name ? list.name : key, one])),
    schema,
    'the answer',
  );
}

/** Names of members that hold a list of such entries. */
function otherNames(value: JsonObject, items: JsonObject): readonly string[] {
  return Object.keys(value).filter((name) => {
    const one = member(value, name);
    return isJsonArray(one) && one.length > 0 && one.every((entry) => isItem(entry, items));
  });
}

/** Unknown member names may come from the run, so the fault does not repeat them. */
function surplusIn(value: JsonValue, schema: JsonObject, path: string): string | undefined {
  const items = member(schema, 'items');
  if (isJsonArray(value) && isJsonObject(items)) return firstOf(value.entries(), ([at, item]) => surplusIn(item, items, `${path}[${at}]`));
  const properties = member(schema, 'properties');
  if (!isJsonObject(value) || !isJsonObject(properties)) return undefined;
  const others = member(schema, 'additionalProperties');
  const isOpen = others === true || isJsonObject(others) || Object.hasOwn(schema, 'patternProperties');
  return firstOf(Object.entries(value), ([name, one]) => {
    const inner = member(properties, name);
    if (inner === undefined) return isOpen ? undefined : `${path} has a member that its schema does not name`;
    return isJsonObject(inner) ? surplusIn(one, inner, name) : undefined;
  });
}

function firstOf<Item>(items: Iterable<Item>, find: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Fitted =
  | { readonly kind: 'fits'; readonly value: JsonValue; readonly faults: readonly string[] }
  | { readonly kind: 'misfit'; readonly problem: string };

/** Accepts a bare list, another name for the list, or its only entry in place of an object with one list. */
function fittedRoot(value: JsonValue, schema: JsonSchema): Fitted {
  const list = soleList(schema);
  if (list === undefined || (isJsonObject(value) && Object.hasOwn(value, list.name))) return fitted(value, schema, 'the answer', true);
  if (isJsonArray(value)) return fitted({ [list.name]: value }, schema, 'the answer', true);
  if (!isJsonObject(value)) return { kind: 'misfit', problem: 'the answer is not an object' };
  const lists = otherNames(value, list.items);
  const [only] = lists;
  if (only !== undefined && lists.length === 1)
    return fitted({ ...value, [list.name]: member(value, only) ?? null }, schema, 'the answer', true);
  return isItem(value, list.items)
    ? fitted({ [list.name]: [value] }, schema, 'the answer', true)
    : fitted(value, schema, 'the answer', true);
}

/** The only member of an object schema that is a list of objects. */
function soleList(schema: JsonSchema): { readonly name: string; readonly items: JsonObject } | undefined {
  const lists = Object.entries(objectAt(schema, 'properties')).flatMap(([name, one]) => {
    const items = isJsonObject(one) && one['type'] === 'array' ? one['items'] : undefined;
    return isJsonObject(items) && items['type'] === 'object' ? [{ name, items }] : [];
  });
  return lists.length === 1 ? lists[0] : undefined;
}

/** An entry with a yes/no value or a label under the required name. */
function isItem(value: JsonValue, schema: JsonObject): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(objectAt(schema, 'properties')).some(([name, one]) => {
    const verdict = member(value, name);
    return (
      verdict !== undefined &&
      isJsonObject(one) &&
      (one['type'] === 'boolean' || one['enum'] !== undefined) &&
      coerced(verdict, one).kind === 'fits'
    );
  });
}

function hasSeveralVerdicts(schema: JsonObject): boolean {
  return Object.values(objectAt(schema, 'properties')).filter((one) => isJsonObject(one) && one['type'] === 'boolean').length > 1;
}

/**
 * A missing or wrong member at the root makes the answer unusable. Inside a list it is a fault of only that entry; likewise among several verdicts at
 * the root when one of them is present.
 */
function fitted(value: JsonValue, schema: JsonSchema, path: string, isRoot: boolean): Fitted {
  if (schema['type'] === 'object')
    return isJsonObject(value) ? fittedObject(value, schema, path, isRoot) : { kind: 'misfit', problem: `${path} is not an object` };
  if (schema['type'] === 'array')
    return isJsonArray(value) ? fittedList(value, schema, path) : { kind: 'misfit', problem: `${path} is not a list` };
  const scalar = coerced(value, schema);
  return scalar.kind === 'fits' ? scalar : { kind: 'misfit', problem: `${path} ${scalar.problem}` };
}

function fittedObject(value: JsonObject, schema: JsonSchema, path: string, isRoot: boolean): Fitted {
  const members: [string, JsonValue][] = Object.entries(value);
  const faults: string[] = [];
  const required = member(schema, 'required');
  const isWhole = isRoot && !(hasSeveralVerdicts(schema) && isItem(value, schema));
  for (const [name, one] of Object.entries(objectAt(schema, 'properties'))) {
    if (!isJsonObject(one)) continue;
    const given = member(value, name);
    const inner: Fitted = given === undefined ? { kind: 'misfit', problem: `${path} has no ${name}` } : fitted(given, one, name, isRoot);
    if (inner.kind === 'fits') {
      members.push([name, inner.value]);
      faults.push(...inner.faults);
    } else if (given !== undefined || (isJsonArray(required) && required.includes(name))) {
      if (isWhole) return inner;
      faults.push(inner.problem);
    }
  }
  return { kind: 'fits', value: Object.fromEntries(members), faults };
}

function fittedList(value: readonly JsonValue[], schema: JsonSchema, path: string): Fitted {
  const items = member(schema, 'items');
  if (!isJsonObject(items)) return { kind: 'fits', value, faults: [] };
  const kept: JsonValue[] = [];
  const faults: string[] = [];
  for (const [at, item] of value.entries()) {
    const inner = fitted(item, items, `${path}[${at}]`, false);
    if (inner.kind === 'misfit') return inner;
    kept.push(inner.value);
    faults.push(...inner.faults);
  }
  return { kind: 'fits', value: kept, faults };
}

/**
 * Accepts 1, "1" and "true" as yes, and their opposites as no; labels ignore case and white space; numbers may be strings. Clamps nothing.
 */
function coerced(value: JsonValue, schema: JsonObject): Fitted {
  const listed = member(schema, 'enum');
  if (isJsonArray(listed)) return labelled(value, listed);
  switch (schema['type']) {
    case 'boolean':
      return yesOrNo(value);
    case 'number':
    case 'integer':
      return numeric(value, schema);
    case 'string':
      return typeof value === 'string' ? fits(value) : { kind: 'misfit', problem: 'is not a text' };
    default:
      return fits(value);
  }
}

function labelled(value: JsonValue, listed: readonly JsonValue[]): Fitted {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  const label = listed.find(
    (one) =>
      one === value ||
      (typeof one === 'string' && one.toLowerCase() === word) ||
      (typeof one === 'number' && typeof word === 'string' && word !== '' && Number(word) === one),
  );
  return label === undefined ? { kind: 'misfit', problem: `is none of ${listed.map(String).join(', ')}` } : fits(label);
}

function yesOrNo(value: JsonValue): Fitted {
  const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
  if (word === true || word === 1 || word === '1' || word === 'true') return fits(true);
  if (word === false || word === 0 || word === '0' || word === 'false') return fits(false);
  return { kind: 'misfit', problem: 'is neither true nor false' };
}

function numeric(value: JsonValue, schema: JsonObject): Fitted {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof number !== 'number' || !Number.isFinite(number)) return { kind: 'misfit', problem: 'is not a number' };
  if (schema['type'] === 'integer' && !Number.isInteger(number)) return { kind: 'misfit', problem: 'is not a whole number' };
  const [least, most] = [schema['minimum'], schema['maximum']];
  if ((typeof least === 'number' && number < least) || (typeof most === 'number' && number > most))
    return { kind: 'misfit', problem: 'is out of range' };
  return fits(number);
}

function fits(value: JsonValue): Fitted {
  return { kind: 'fits', value, faults: [] };
}
