/** A fault of the schema in words: what is wrong, and what would be right. */
import type { ErrorObject } from 'ajv';
import { isJsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import { quantityExamples, quantityOf } from '../../model/quantities.ts';
import type { Path } from '../diagnostic.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { patternProblem } from './pattern.ts';

interface Sentence {
  readonly problem: string;
  readonly todo: string;
}

interface Place {
  readonly path: Path;
  /** The value is not to be repeated. */
  readonly hidden: boolean;
  readonly typesWanted: readonly string[];
}

/** Longest list of names that a message names in full. */
const namesMax = 40;
const shownLengthMax = 60;

export function sentence(error: ErrorObject, place: Place): Sentence {
  const params = error.params as { readonly [name: string]: unknown };
  const value = quoted(error.data, place.hidden);
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownKey(error, String(params['additionalProperty'] ?? params['unevaluatedProperty']));
    case 'false schema':
      return { problem: 'is not taken here', todo: 'Leave it out.' };
    case 'required':
      return {
        problem: `lacks ${String(params['missingProperty'])}`,
        todo: `Add ${String(params['missingProperty'])}${meaning(error, String(params['missingProperty']))}.`,
      };
    case 'type':
      return wrongType(error, value, place.typesWanted);
    case 'enum':
      return oneOf(error.data, value, params['allowedValues'], place);
    case 'const':
      return { problem: `${value} is not right here`, todo: `Write ${jsonText(params['allowedValue'] as JsonValue)}.` };
    case 'anyOf':
    case 'oneOf':
      return choice(error, value, place);
    case 'minimum':
    case 'maximum':
    case 'exclusiveMinimum':
    case 'exclusiveMaximum':
      return { problem: `${value} is out of range`, todo: `Write a number ${range(error.parentSchema)}.` };
    case 'minLength':
      return { problem: 'is empty', todo: 'Write a text.' };
    case 'maxLength':
      return { problem: 'is too long', todo: `Keep it within ${String(params['limit'])} characters.` };
    case 'minItems':
    case 'minProperties':
      return { problem: 'is empty', todo: 'Name at least one, or leave the key out.' };
    case 'maxItems':
    case 'maxProperties':
      return { problem: 'has too many entries', todo: `Keep at most ${String(params['limit'])}.` };
    case 'uniqueItems':
      return { problem: 'names something twice', todo: 'Keep one of each.' };
    case 'pattern':
      return { problem: `${value} is not written as it must be`, todo: wordsOf(error) ?? `It must match ${String(params['pattern'])}.` };
    case 'propertyNames':
      return { problem: 'is not a name that may stand here', todo: 'Use letters, digits, dots, dashes and underscores.' };
    case 'x-quantity':
    case 'x-address':
    case 'x-url':
      return writtenSentence(error, value) ?? { problem: `${value} does not fit`, todo: '' };
    case 'format':
    case 'x-pattern':
      return {
        problem: `is not a regular expression that can be used: ${patternProblem(String(error.data)) ?? ''}`,
        todo: 'Look-around and back references are not supported; quote it in single quotes so that YAML leaves it alone.',
      };
    default:
      return { problem: error.message ?? 'does not fit', todo: 'See the page of configuration keys.' };
  }
}

function unknownKey(error: ErrorObject, written: string): Sentence {
  const properties: unknown = error.parentSchema?.['properties'];
  const known = isJsonObject(properties) ? Object.keys(properties) : [];
  return { problem: 'is not a known key here', todo: suggestion(written, known, 'Known keys') };
}

function suggestion(written: string, known: readonly string[], title: string): string {
  const guess = didYouMean(written, known);
  if (guess !== undefined) return `Did you mean ${guess}?`;
  const rest = known.length > namesMax ? ', …' : '';
  return known.length === 0 ? 'Leave it out.' : `${title}: ${known.slice(0, namesMax).join(', ')}${rest}.`;
}

const typeNames: { readonly [type: string]: string } = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  null: 'null',
};

function wrongType(error: ErrorObject, value: string, wanted: readonly string[]): Sentence {
  const words = wanted.map((type) => typeNames[type] ?? type).join(' or ');
  if (error.data === null) return { problem: 'is empty', todo: `Write ${words}, or leave the key out.` };
  const written = writtenSentence(error, value);
  if (written !== undefined) return written;
  // What stands in place of a list or a mapping may hold anything, and is not repeated.
  const subject = isScalar(error.data) && wanted.some((type) => type !== 'array' && type !== 'object') ? `${value} ` : '';
  const quoted = wanted.includes('string') && ['number', 'boolean', 'bigint'].includes(typeof error.data) ? ' Quote it.' : '';
  return { problem: `${subject}is ${typeName(error.data)}, not ${words}`, todo: `Write ${words}.${quoted}` };
}

/** For values with a notation of their own, with any value in their place. */
function writtenSentence(error: ErrorObject, value: string): Sentence | undefined {
  const schema = error.parentSchema ?? {};
  const subject = isScalar(error.data) ? value : `${typeName(error.data)}`;
  const quantity: unknown = schema['x-quantity'];
  if (isJsonObject(quantity)) {
    const kind = quantity['kind'] === 'bytes' ? 'bytes' : 'duration';
    if (quantityOf(kind, error.data) !== undefined)
      return {
        problem: `${subject} is out of range`,
        todo: `Write something from ${String(quantity['minimum'])} to ${String(quantity['maximum'])}.`,
      };
    return { problem: `${subject} is not a ${kind === 'bytes' ? 'size' : 'duration'}`, todo: `Write ${quantityExamples[kind]}.` };
  }
  if (schema['x-address'] === true)
    return { problem: `${subject} is not an address`, todo: 'Write host:port, for example 127.0.0.1:4318 or [::1]:4318.' };
  if (schema['x-url'] === true) return { problem: `${subject} is not a URL`, todo: 'Write http://… or https://….' };
  return undefined;
}

function wordsOf(error: ErrorObject): string | undefined {
  const words: unknown = error.parentSchema?.['x-words'];
  return typeof words === 'string' ? words : undefined;
}

function isScalar(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

function typeName(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  const names: { readonly [type: string]: string } = { string: 'a text', number: 'a number', bigint: 'a number', boolean: 'a boolean' };
  return names[typeof value] ?? 'a mapping';
}

function oneOf(written: unknown, value: string, allowed: unknown, place: Place): Sentence {
  const names = Array.isArray(allowed) ? allowed.map(String) : [];
  const isUse = place.path.at(-1) === 'use' || (place.path.length === 2 && place.path[0] === 'evaluators');
  const problem = isUse ? `${value} is not an evaluator` : `${value} is not one of the values here`;
  return { problem, todo: suggestion(place.hidden ? '' : String(written), names, isUse ? 'Evaluators' : 'Write one of') };
}

/** A message names a choice by its list of names. */
function choice(error: ErrorObject, value: string, place: Place): Sentence {
  const branches: unknown = error.parentSchema?.[error.keyword];
  const list = Array.isArray(branches) ? branches.filter(isJsonObject).find((branch) => Array.isArray(branch['enum'])) : undefined;
  if (list !== undefined && typeof error.data === 'string') return oneOf(error.data, value, list['enum'], place);
  return { problem: `${value} fits none of the forms that may stand here`, todo: `See the page of configuration keys.` };
}

function range(schema: object | undefined): string {
  const { minimum, maximum } = (schema ?? {}) as { readonly minimum?: number; readonly maximum?: number };
  if (minimum !== undefined && maximum !== undefined) return `from ${minimum} to ${maximum}`;
  return minimum === undefined ? `up to ${maximum ?? '…'}` : `from ${minimum}`;
}

function meaning(error: ErrorObject, name: string): string {
  const properties: unknown = error.parentSchema?.['properties'];
  const described = isJsonObject(properties) ? properties[name] : undefined;
  const description = isJsonObject(described) ? described['description'] : undefined;
  return typeof description === 'string' ? `: ${description.replace(/\.$/, '')}` : '';
}

/** Scalars only: what is inside a list or mapping may be secret. */
function quoted(value: unknown, hidden: boolean): string {
  if (hidden || !isScalar(value)) return 'the value';
  const text = jsonText(value as JsonValue);
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
}
