/**
 * Reads what a judge answered. Structured output makes most answers plain JSON in the schema asked for; this reader forgives what
 * models do besides (fences, prose, a comma too many, "true" for true), but never guesses a verdict that is not there.
 */
import { isJsonArray, isJsonObject, member, parseJson } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import { balancedEnd } from './brackets.ts';
import type { JsonSchema, Question } from './evaluator.ts';
import { relaxedJson } from './relaxed-json.ts';

/** Longer answers are not read: no question of ours asks for that much. */
export const answerTextMax = 500_000;
/** Bracketed pieces of prose that are tried before giving up. */
const piecesMax = 50;

export type ReadAnswer =
  | {
      readonly kind: 'answered';
      readonly value: JsonValue;
      /** Usable, but not all that was asked for, in words: worth one more try while there are tries left. */
      readonly fault?: string;
    }
  | { readonly kind: 'failed'; readonly error: string };

/** The whole text, else the first fenced block, else the first bracketed piece that fits the schema. */
export function readAnswer(text: string, schema: JsonSchema, check?: Question['check']): ReadAnswer {
  if (text.trim() === '') return { kind: 'failed', error: 'the answer is empty' };
  if (text.length > answerTextMax) return { kind: 'failed', error: `the answer is longer than ${answerTextMax} characters` };
  let problem = 'the answer holds no JSON';
  for (const piece of pieces(text)) {
    if (piece === undefined) return { kind: 'failed', error: 'the answer is cut off' };
    const value = parseJson(piece) ?? relaxedJson(piece);
    if (value === undefined) continue;
    const fitted = fittedRoot(value, schema);
    if (fitted.kind === 'misfit') {
      problem = fitted.problem;
      continue;
    }
    const fault = fitted.faults[0] ?? check?.(fitted.value);
    return { kind: 'answered', value: fitted.value, ...(fault === undefined ? {} : { fault }) };
  }
  return { kind: 'failed', error: problem };
}

/** Undefined stands for a piece that is never closed: nothing after it can be trusted to be whole. */
function* pieces(text: string): Generator<string | undefined> {
  if (/^\s*[[{]/.test(text)) yield text;
  const fenced = /```[A-Za-z]*[ \t]*\r?\n?([\s\S]*?)```/.exec(text)?.[1];
  if (fenced !== undefined) yield fenced;
  let at = text.search(/[[{]/);
  for (let tried = 0; at !== -1 && tried < piecesMax; tried++) {
    const end = balancedEnd(text, at) ?? balancedEnd(text, at, true);
    if (end === undefined) {
      yield undefined;
      return;
    }
    yield text.slice(at, end);
    const next = text.slice(end).search(/[[{]/);
    at = next === -1 ? -1 : end + next;
  }
}

type Fitted = { readonly kind: 'fits'; readonly value: JsonValue; readonly faults: readonly string[] } | { readonly kind: 'misfit'; readonly problem: string };

/** A bare list where an object around a list was asked, another name for that list, or its only item without it, are accepted. */
function fittedRoot(value: JsonValue, schema: JsonSchema): Fitted {
  const list = soleList(schema);
  if (list === undefined || (isJsonObject(value) && Object.hasOwn(value, list.name))) return fitted(value, schema, 'the answer', true);
  if (isJsonArray(value)) return fitted({ [list.name]: value }, schema, 'the answer', true);
  if (!isJsonObject(value)) return { kind: 'misfit', problem: 'the answer is not an object' };
  const lists = Object.values(value).filter((item) => isJsonArray(item) && item.length > 0 && item.every((entry) => isItem(entry, list.items)));
  const [only] = lists;
  if (only !== undefined && lists.length === 1) return fitted({ ...value, [list.name]: only }, schema, 'the answer', true);
  return isItem(value, list.items) ? fitted({ [list.name]: [value] }, schema, 'the answer', true) : fitted(value, schema, 'the answer', true);
}

/** The member of an object schema that is its only list of objects. */
function soleList(schema: JsonSchema): { readonly name: string; readonly items: JsonObject } | undefined {
  const lists = Object.entries(propertiesOf(schema)).flatMap(([name, one]) => {
    const items = isJsonObject(one) && one['type'] === 'array' ? one['items'] : undefined;
    return isJsonObject(items) && items['type'] === 'object' ? [{ name, items }] : [];
  });
  return lists.length === 1 ? lists[0] : undefined;
}

/** An entry that holds a verdict: a yes or no, or a label, under the name asked for. */
function isItem(value: JsonValue, schema: JsonObject): boolean {
  if (!isJsonObject(value)) return false;
  return Object.entries(propertiesOf(schema)).some(([name, one]) => {
    const verdict = member(value, name);
    return verdict !== undefined && isJsonObject(one) && (one['type'] === 'boolean' || one['enum'] !== undefined) && coerced(verdict, one).kind === 'fits';
  });
}

function hasSeveralVerdicts(schema: JsonObject): boolean {
  return Object.values(propertiesOf(schema)).filter((one) => isJsonObject(one) && one['type'] === 'boolean').length > 1;
}

function propertiesOf(schema: JsonObject): JsonObject {
  const properties = member(schema, 'properties');
  return isJsonObject(properties) ? properties : {};
}

/**
 * At the root a missing or wrong member makes the answer unusable; inside a list, and among several verdicts at the root of which one
 * is there, it is a fault of that entry alone.
 */
function fitted(value: JsonValue, schema: JsonSchema, path: string, isRoot: boolean): Fitted {
  if (schema['type'] === 'object') return isJsonObject(value) ? fittedObject(value, schema, path, isRoot) : { kind: 'misfit', problem: `${path} is not an object` };
  if (schema['type'] === 'array') return isJsonArray(value) ? fittedList(value, schema, path) : { kind: 'misfit', problem: `${path} is not a list` };
  const scalar = coerced(value, schema);
  return scalar.kind === 'fits' ? scalar : { kind: 'misfit', problem: `${path} ${scalar.problem}` };
}

function fittedObject(value: JsonObject, schema: JsonSchema, path: string, isRoot: boolean): Fitted {
  const members: [string, JsonValue][] = Object.entries(value);
  const faults: string[] = [];
  const required = member(schema, 'required');
  const isWhole = isRoot && !(hasSeveralVerdicts(schema) && isItem(value, schema));
  for (const [name, one] of Object.entries(propertiesOf(schema))) {
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

/** true, 1, "1" and "true" are yes, their counterparts no; labels count without case and white space; a number may be written as text. Nothing is clamped. */
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
  const label = listed.find((one) => one === value || (typeof one === 'string' && one.toLowerCase() === word) || (typeof one === 'number' && typeof word === 'string' && word !== '' && Number(word) === one));
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
  if ((typeof least === 'number' && number < least) || (typeof most === 'number' && number > most)) return { kind: 'misfit', problem: 'is out of range' };
  return fits(number);
}

function fits(value: JsonValue): Fitted {
  return { kind: 'fits', value, faults: [] };
}
