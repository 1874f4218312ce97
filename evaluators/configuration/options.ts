/**
 * Options in all their forms. The schema of the evaluator checks what a user writes, and the defaults fill in the rest. Code names options
 * in camelCase and may give functions, files hold data in snake_case, and secrets never leave the process. Names that are data stay as they
 * are.
 */
import type { ErrorObject } from 'ajv';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { quantityExamples, quantityOf, type QuantityKind } from '../../src/model/quantities.ts';
import * as packages from '../../src/runtime/packages.cjs';
import { compilePattern } from './context.ts';
import type { JsonSchema, Fault } from '../evaluator.ts';
import { camelCase, snakeCase } from './define.ts';
import { readJsonPath } from '../matching/json-path.ts';
import { pointerSteps } from '../schema/check.ts';

/** All faults, each at its key. */
export function schemaFaults(schema: JsonSchema, value: JsonValue): readonly Fault[] {
  return allowsNoMembers(schema, value) ? [] : schemaChecker(schema)(value);
}

/** As `schemaFaults`, for many values: compiling takes thousands of times as long as checking. */
export function schemaChecker(schema: JsonSchema): (value: JsonValue) => readonly Fault[] {
  const { Ajv2020 } = packages.ajv();
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
    strictNumbers: true,
    verbose: true,
    logger: false,
    meta: false,
    validateSchema: false,
    ownProperties: true,
    code: { optimize: false },
    formats: { re2: isPattern, 'json-path': (text: string) => readJsonPath(text).kind === 'path' },
  });
  ajv.addKeyword({ keyword: 'x-url', type: 'string', validate: (_: unknown, text: string) => isHttpUrl(text) });
  ajv.addKeyword({ keyword: 'x-quantity', type: 'string', validate: quantityFits });
  const validate = ajv.compile(schema);
  return (value) => {
    if (validate(value)) return [];
    const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
    const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
    return errors
      .filter((error) => !unions.some((union) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`)))
      .map((error) => faultOf(error, value));
  };
}

/** True where an object without members clearly fits: compiling a schema takes milliseconds, and most entries give no options. */
function allowsNoMembers(schema: JsonSchema, value: JsonValue): boolean {
  return (
    isJsonObject(value) &&
    Object.keys(value).length === 0 &&
    schema['type'] === 'object' &&
    Object.keys(schema).every((keyword) => keyword === 'type' || keyword === 'properties' || keyword === 'additionalProperties')
  );
}

/** The options for the evaluator's code: schema keys in camelCase, keys of free maps unchanged. */
export function filledOptions(schema: JsonSchema, defaults: unknown, given: JsonObject): unknown {
  const filled: { [key: string]: unknown } = typeof defaults === 'object' && defaults !== null ? { ...defaults } : {};
  for (const [key, value] of Object.entries(given)) {
    const name = camelCase(key);
    filled[name] = codeMembers(propertySchema(schema, key), Object.hasOwn(filled, name) ? filled[name] : undefined, value);
  }
  return filled;
}

/** A value under its names in code. */
export function codeMembers(schema: JsonSchema | undefined, defaults: unknown, value: JsonValue): unknown {
  if (schema === undefined || !isJsonObject(value)) return value;
  const branches = member(schema, 'anyOf');
  const described = isJsonArray(branches)
    ? (branches.filter(isJsonObject).find((branch) => branch['type'] === 'object') ?? schema)
    : schema;
  if (isJsonObject(member(described, 'properties'))) return filledOptions(described, defaults, value);
  const inner = member(described, 'additionalProperties');
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, codeMembers(isJsonObject(inner) ? inner : undefined, undefined, item)]),
  );
}

function propertySchema(schema: JsonSchema, key: string): JsonSchema | undefined {
  const properties = member(schema, 'properties');
  const found = isJsonObject(properties) ? member(properties, key) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function pathProblem(given: unknown): string {
  const read = typeof given === 'string' ? readJsonPath(given) : undefined;
  return read?.kind === 'broken' ? `is not a JSONPath: at character ${read.at + 1} it ${read.problem}` : 'is not a JSONPath';
}

function isHttpUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol);
}

interface QuantityRule {
  readonly kind: QuantityKind;
  readonly minimum: string;
  readonly maximum: string;
}

function quantityFits({ kind, minimum, maximum }: QuantityRule, text: string): boolean {
  const [amount, least, most] = [text, minimum, maximum].map((one) => quantityOf(kind, one));
  return amount !== undefined && amount >= (least ?? 0) && amount <= (most ?? Infinity);
}

function isPattern(source: string): boolean {
  try {
    compilePattern(source);
    return true;
  } catch {
    return false;
  }
}

function faultOf(error: ErrorObject, value: JsonValue): Fault {
  const params = error.params as JsonObject;
  const path = typedPath(pointerSteps(error.instancePath), value);
  const extra = member(params, 'additionalProperty') ?? member(params, 'unevaluatedProperty');
  if (typeof extra === 'string') return { path: [...path, extra], problem: `is not known; known are ${knownKeys(error)}` };
  const missing = member(params, 'missingProperty');
  if (typeof missing === 'string') return { path: [...path, missing], problem: 'is missing' };
  const allowed = member(params, 'allowedValues');
  if (isJsonArray(allowed)) return { path, problem: `must be one of ${allowed.map(String).join(', ')}` };
  if (error.keyword === 'format' && member(params, 'format') === 'json-path') return { path, problem: pathProblem(error.data) };
  if (error.keyword === 'format')
    return { path, problem: 'is not a regular expression of a linear-time engine (RE2 syntax: no look-around, no back references)' };
  if (error.keyword === 'x-url') return { path, problem: 'is not a URL: write http://… or https://…' };
  if (error.keyword === 'x-quantity') return { path, problem: `must be ${quantityRange(error.schema as QuantityRule)}` };
  if (error.keyword === 'anyOf') return { path, problem: 'has none of the forms that it may have' };
  return { path, problem: error.message ?? `fails ${error.keyword}` };
}

function quantityRange({ kind, minimum, maximum }: QuantityRule): string {
  return `${quantityExamples[kind]}, from ${minimum} to ${maximum}`;
}

function knownKeys(error: ErrorObject): string {
  const properties: unknown = (error.parentSchema ?? {})['properties'];
  const keys = typeof properties === 'object' && properties !== null ? Object.keys(properties) : [];
  return keys.length === 0 ? 'none' : keys.join(', ');
}

/** Converts list indices to numbers. */
function typedPath(steps: readonly string[], value: JsonValue): readonly (string | number)[] {
  let at: JsonValue | undefined = value;
  return steps.map((step) => {
    const index = isJsonArray(at) ? Number(step) : undefined;
    at = index !== undefined && isJsonArray(at) ? at[index] : isJsonObject(at) ? member(at, step) : undefined;
    return index ?? step;
  });
}

/** Limit of nested references, as a schema may refer to itself. */
const depthMax = 32;

/** The complete options under their names in files. */
export function snakeMembers(schema: JsonObject, value: JsonValue): JsonValue {
  return translated(schema, [schema], value, 0);
}

function translated(root: JsonObject, schemas: readonly JsonObject[], value: JsonValue, depth: number): JsonValue {
  if (depth > depthMax) return value;
  const all = schemas.flatMap((schema) => branches(root, schema, 0));
  if (isJsonArray(value)) return value.map((item) => translated(root, below(all, 'items'), item, depth + 1));
  if (!isJsonObject(value)) return value;
  // Without a prototype: `__proto__` is a legal name in foreign data.
  const written = Object.create(null) as { [key: string]: JsonValue };
  for (const [name, item] of Object.entries(value)) {
    const listed = below(below(all, 'properties'), snakeCase(name));
    written[listed.length > 0 ? snakeCase(name) : name] = translated(
      root,
      listed.length > 0 ? listed : below(all, 'additionalProperties'),
      item,
      depth + 1,
    );
  }
  return written;
}

/** The schema and all schemas that it combines. */
function branches(root: JsonObject, schema: JsonObject, depth: number): readonly JsonObject[] {
  if (depth > depthMax) return [];
  const parts = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => {
    const list = member(schema, keyword);
    return isJsonArray(list) ? list.filter(isJsonObject) : [];
  });
  const reference = member(schema, '$ref');
  const target = typeof reference === 'string' ? referenced(root, reference) : undefined;
  return [schema, ...[...parts, ...(target === undefined ? [] : [target])].flatMap((part) => branches(root, part, depth + 1))];
}

function referenced(root: JsonObject, reference: string): JsonObject | undefined {
  let at: JsonValue | undefined = root;
  for (const part of reference.split('/').slice(1)) at = isJsonObject(at) ? member(at, part) : undefined;
  return reference.startsWith('#') && isJsonObject(at) ? at : undefined;
}

function below(schemas: readonly JsonObject[], name: string): readonly JsonObject[] {
  return schemas.map((schema) => member(schema, name)).filter((value) => isJsonObject(value));
}

export interface GivenFunction {
  /** Names as in code. */
  readonly path: readonly string[];
  readonly given: (...given: never[]) => unknown;
}

/** Separates functions at these paths from the options. Functions elsewhere remain, and the schema rejects them. */
export function partedOptions(
  options: object,
  paths: readonly string[],
): { readonly data: object; readonly functions: readonly GivenFunction[] } {
  const functions: GivenFunction[] = [];
  return {
    data: parted(
      options,
      [],
      paths.map((path) => path.split('.')),
      functions,
    ),
    functions,
  };
}

function parted(options: object, path: readonly string[], paths: readonly (readonly string[])[], functions: GivenFunction[]): object {
  const entries = Object.entries(options).flatMap(([name, value]: [string, unknown]): [string, unknown][] => {
    const own = [...path, name];
    const open = paths.filter((one) => own.every((step, at) => one[at] === '*' || one[at] === step));
    if (isFunction(value) && open.some(({ length }) => length === own.length)) {
      functions.push({ path: own, given: value });
      return [];
    }
    return [
      [
        name,
        typeof value === 'object' && value !== null && !Array.isArray(value) && open.length > 0
          ? parted(value, own, paths, functions)
          : value,
      ],
    ];
  });
  return Object.fromEntries(entries);
}

export function withFunctions(options: unknown, functions: readonly GivenFunction[]): unknown {
  return functions.reduce((all, { path, given }) => placed(all, path, given), options);
}

function placed(options: unknown, [name, ...rest]: readonly string[], given: GivenFunction['given']): unknown {
  if (name === undefined) return given;
  const members = new Map<string, unknown>(typeof options === 'object' && options !== null ? Object.entries(options) : []);
  return Object.fromEntries([...members, [name, placed(members.get(name), rest, given)]]);
}

function isFunction(value: unknown): value is GivenFunction['given'] {
  return typeof value === 'function';
}

/** Options without secrets, and URLs without user and query, for use outside the process. */
export function withoutSecrets(schema: JsonObject, value: JsonValue): JsonValue {
  if (member(schema, 'x-secret') === 'url' && typeof value === 'string')
    return value.replace(/(:\/\/)[^/\s"'@]*@/, '$1').replace(/\?.*$/, '');
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => {
      const below = schemaOf(schema, name);
      return below !== undefined && member(below, 'x-secret') === true
        ? []
        : [[name, below === undefined ? item : withoutSecrets(below, item)] as const];
    }),
  );
}

function schemaOf(schema: JsonObject, name: string): JsonObject | undefined {
  const properties = member(schema, 'properties');
  const own = isJsonObject(properties) ? member(properties, name) : undefined;
  const found = own ?? member(schema, 'additionalProperties');
  return isJsonObject(found) ? found : undefined;
}
