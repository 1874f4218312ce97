/** Checks a configuration against its schema, and describes each fault. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Finding, Path } from '../diagnostic.ts';
import { addressOf } from '../entries/address.ts';
import { didYouMean } from '../../model/did-you-mean.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, member } from '../../model/json.ts';
import { quantityExamples, type QuantityKind, quantityOf } from '../../model/quantities.ts';
import * as packages from '../../runtime/packages.cjs';

/** The fault of a regular expression; `undefined` when it is valid. */
export function patternProblem(source: string): string | undefined {
  try {
    packages.re2js().RE2JS.compile(source);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Makes a linear-time search for a valid regular expression. */
export function linearPattern(source: string): (text: string) => boolean {
  const pattern = packages.re2js().RE2JS.compile(source);
  return (text) => pattern.matcher(text).find();
}

/** In one report. */
const findingsMax = 200;
/** Errors of the validator; the removal of branches takes quadratic time. */
const errorsMax = 2000;

export interface SchemaCheck {
  readonly findings: readonly Finding[];
  /** Paths with another type in place of a text. */
  readonly wantText: readonly Path[];
}

interface Checked {
  readonly schema: JsonObject;
  readonly value: JsonValue;
  /** `true` for paths whose values no message may quote. */
  readonly hidden: (path: Path) => boolean;
  readonly validators: Validators;
}

export function checkedBySchema({ schema, value, hidden, validators }: Checked): SchemaCheck {
  const errors = withoutBranches(errorsOf(schema, value, validators).slice(0, errorsMax)).slice(0, findingsMax);
  const located = errors.map((error) => ({ error, path: pathOf(error.instancePath, value) }));
  return {
    findings: onePerPlace(located.map(({ error, path }) => finding(error, path, hidden(path)))),
    wantText: located.filter(({ error }) => error.keyword === 'type' && typesOf(error).includes('string')).map(({ path }) => path),
  };
}

/** Errors of the keys, then those of each section. Sections are compiled one by one, because each is used in many configurations. */
function errorsOf(schema: JsonObject, value: JsonValue, validators: Validators): readonly ErrorObject[] {
  // No section is required, so the defaults fit without a compiler of schemas.
  if (isJsonObject(value) && Object.keys(value).length === 0) return [];
  const sections = Object.entries((member(schema, 'properties') ?? {}) as JsonObject);
  const keys = { ...schema, properties: Object.fromEntries(sections.map(([name]) => [name, true])) };
  return [
    ...validators.errorsOf(keys, value),
    ...sections.flatMap(([name, section]) => {
      const written = isJsonObject(value) ? member(value, name) : undefined;
      if (written === undefined || !isJsonObject(section)) return [];
      return validators
        .errorsOf(section, written)
        .map((error) => ({ ...error, instancePath: `/${name}${error.instancePath}`, schemaPath: `${name}/${error.schemaPath}` }));
    }),
  ];
}

export interface Validators {
  errorsOf(schema: JsonObject, value: JsonValue): readonly ErrorObject[];
}

/** Compiled schemas that are kept: some versions of every section. */
const validatorsMax = 200;

/** Compiles each schema once, for configurations that are read again. Compiling takes thousands of times as long as validating. */
export function schemaValidators(): Validators {
  let ajv: Ajv2020 | undefined;
  const known = new Map<string, { readonly schema: JsonObject; readonly validate: ValidateFunction }>();
  return {
    errorsOf(schema, value) {
      const text = JSON.stringify(schema);
      ajv ??= validator({ validateSchema: false });
      const found = known.get(text) ?? { schema, validate: ajv.compile(schema) };
      known.delete(text);
      known.set(text, found);
      const [oldest] = known;
      if (oldest !== undefined && known.size > validatorsMax) {
        known.delete(oldest[0]);
        ajv.removeSchema(oldest[1].schema);
      }
      return found.validate(value) === true ? [] : (found.validate.errors ?? []);
    },
  };
}

/** The fault of a schema with foreign parts; `undefined` when it compiles. A test checks the built-in schemas. */
export function schemaProblem(schema: JsonObject): string | undefined {
  try {
    validator({ validateSchema: true }).compile(schema);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : 'an error';
  }
}

/** `ownProperties`, so that `constructor` in a file is an unknown key. */
function validator({ validateSchema }: { readonly validateSchema: boolean }): Ajv2020 {
  const ajv = new (packages.ajv().Ajv2020)({
    allErrors: true,
    strict: false,
    verbose: true,
    ownProperties: true,
    logger: false,
    validateSchema,
    // The optimization takes longer than the single run of the code.
    code: { optimize: false },
  });
  for (const format of ['re2', 'regex'])
    ajv.addFormat(format, { type: 'string', validate: (text: string) => patternProblem(text) === undefined });
  ajv.addKeyword({ keyword: 'x-quantity', type: ['string', 'number'], validate: quantityFits });
  ajv.addKeyword({ keyword: 'x-address', type: 'string', validate: (_: unknown, text: string) => addressOf(text) !== undefined });
  ajv.addKeyword({ keyword: 'x-url', type: 'string', validate: (_: unknown, text: string) => isHttpUrl(text) });
  ajv.addKeyword({ keyword: 'x-pattern', type: 'string', validate: (_: unknown, text: string) => patternProblem(text) === undefined });
  return ajv;
}

interface QuantityRule {
  readonly kind: QuantityKind;
  readonly minimum: string;
  readonly maximum: string;
}

function quantityFits(rule: QuantityRule, value: unknown): boolean {
  const [amount, minimum, maximum] = [value, rule.minimum, rule.maximum].map((text) => quantityOf(rule.kind, text));
  return amount !== undefined && amount >= (minimum ?? 0) && amount <= (maximum ?? 0);
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return (url?.protocol === 'http:' || url?.protocol === 'https:') && url.hostname !== '';
}

/** Keeps one error of a failed `if`, `anyOf` or `oneOf`: that of the matching branch, otherwise that of the choice. */
function withoutBranches(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const choices = errors.filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf');
  const dropped = new Set<ErrorObject>();
  for (const choice of choices) {
    const branches = errors.filter((error) => error !== choice && error.schemaPath.startsWith(`${choice.schemaPath}/`));
    const below = branches.filter(({ instancePath }) => instancePath.length > choice.instancePath.length);
    // A fault inside a value of the right shape is more precise.
    const reported = below.length > 0 ? new Set(below) : new Set([choice]);
    for (const error of [choice, ...branches]) if (!reported.has(error)) dropped.add(error);
  }
  return errors.filter((error) => error.keyword !== 'if' && !dropped.has(error));
}

function finding(error: ErrorObject, path: Path, hidden: boolean): Finding {
  const named = namedMember(error);
  const { problem, todo } = sentence(error, { path, hidden, typesWanted: typesOf(error) });
  return { path: named === undefined ? path : [...path, named], at: named === undefined ? 'value' : 'key', problem, todo };
}

/** The member behind an error of its object. */
function namedMember(error: ErrorObject): string | undefined {
  const params = error.params as {
    readonly additionalProperty?: string;
    readonly unevaluatedProperty?: string;
    readonly propertyName?: string;
  };
  return (
    params.additionalProperty ??
    params.unevaluatedProperty ??
    (error.keyword === 'propertyNames' ? params.propertyName : error.propertyName)
  );
}

function typesOf(error: ErrorObject): readonly string[] {
  const { type } = error.params as { readonly type?: string | readonly string[] };
  return type === undefined ? [] : typeof type === 'string' ? [type] : type;
}

/** Keeps the first fault of each place. */
function onePerPlace(findings: readonly Finding[]): readonly Finding[] {
  const seen = new Set<string>();
  const meant = new Set(findings.filter(({ at }) => at === 'key').map(({ path, todo }) => JSON.stringify([path.slice(0, -1), todo])));
  return findings.filter(({ path, at, problem }) => {
    // A missing key follows from the fault of its misspelt one.
    if (problem.startsWith('lacks ') && meant.has(JSON.stringify([path, `Did you mean ${problem.slice('lacks '.length)}?`]))) return false;
    const place = JSON.stringify([path, problem.startsWith('lacks') ? problem : at]);
    if (seen.has(place)) return false;
    seen.add(place);
    return true;
  });
}

function pathOf(pointer: string, value: JsonValue): Path {
  const path: (string | number)[] = [];
  let at: JsonValue | undefined = value;
  for (const escaped of pointer.split('/').slice(1)) {
    const part = escaped.replaceAll('~1', '/').replaceAll('~0', '~');
    path.push(isJsonArray(at) ? Number(part) : part);
    at = isJsonArray(at) ? at[Number(part)] : isJsonObject(at) ? member(at, part) : undefined;
  }
  return path;
}

interface Sentence {
  readonly problem: string;
  readonly todo: string;
}

interface Place {
  readonly path: Path;
  /** No message may quote the value. */
  readonly hidden: boolean;
  readonly typesWanted: readonly string[];
}

/** Names in one message. */
const namesMax = 40;
const quotedLengthMax = 60;

function sentence(error: ErrorObject, place: Place): Sentence {
  const params = error.params as { readonly [name: string]: unknown };
  const value = quoted(error.data, place.hidden);
  switch (error.keyword) {
    case 'additionalProperties':
    case 'unevaluatedProperties':
      return unknownKey(error, String(params['additionalProperty'] ?? params['unevaluatedProperty']));
    case 'false schema':
      return { problem: 'is not allowed here', todo: 'Leave it out.' };
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
      return { problem: 'has duplicate entries', todo: 'Keep one of each.' };
    case 'pattern':
      return { problem: `${value} has the wrong form`, todo: wordsOf(error) ?? `It must match ${String(params['pattern'])}.` };
    case 'propertyNames':
      return { problem: 'is not a valid name here', todo: 'Use letters, digits, dots, dashes and underscores.' };
    case 'x-quantity':
    case 'x-address':
    case 'x-url':
      return writtenSentence(error, value) ?? { problem: `${value} does not fit`, todo: '' };
    case 'format':
    case 'x-pattern':
      return {
        problem: `is not a valid regular expression: ${patternProblem(String(error.data)) ?? ''}`,
        todo: 'Do not use look-around and back references, and write it in single quotes.',
      };
    default:
      return { problem: error.message ?? 'does not fit', todo: 'See the page of configuration keys.' };
  }
}

/** Sections of former releases. */
const formerSections: { readonly [key: string]: string } = {
  shards: 'Leave it out, and run several processes for more cores: docs/guides/several-machines.md.',
};

function unknownKey(error: ErrorObject, written: string): Sentence {
  const instead = error.instancePath === '' && Object.hasOwn(formerSections, written) ? formerSections[written] : undefined;
  if (instead !== undefined) return { problem: 'is not a section any more', todo: instead };
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
  // A value in place of a list or a mapping may contain a secret.
  const subject = isScalar(error.data) && wanted.some((type) => type !== 'array' && type !== 'object') ? `${value} ` : '';
  const quoted = wanted.includes('string') && ['number', 'boolean', 'bigint'].includes(typeof error.data) ? ' Quote it.' : '';
  return { problem: `${subject}is ${typeName(error.data)}, not ${words}`, todo: `Write ${words}.${quoted}` };
}

/** The fault of a size, a duration, an address or a URL. */
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
  return {
    problem,
    todo: suggestion(place.hidden || typeof written === 'object' ? '' : String(written), names, isUse ? 'Evaluators' : 'Write one of'),
  };
}

/** Describes a choice by its list of names. */
function choice(error: ErrorObject, value: string, place: Place): Sentence {
  const branches: unknown = error.parentSchema?.[error.keyword];
  const list = Array.isArray(branches) ? branches.filter(isJsonObject).find((branch) => Array.isArray(branch['enum'])) : undefined;
  if (list !== undefined && typeof error.data === 'string') return oneOf(error.data, value, list['enum'], place);
  return { problem: `${value} fits none of the allowed forms`, todo: `See the page of configuration keys.` };
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

/** Quotes scalars only: a list or a mapping may contain a secret. */
function quoted(value: unknown, hidden: boolean): string {
  if (hidden || !isScalar(value)) return 'the value';
  const text = jsonText(value as JsonValue);
  return text.length > quotedLengthMax ? `${text.slice(0, quotedLengthMax)}…` : text;
}
