/** Checks what a user wrote against an evaluator's own schema, and fills in the rest from its defaults. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ErrorObject } from 'ajv';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { quantityExamples, quantityOf, type QuantityKind } from '../../src/model/quantities.ts';
import { compilePattern } from './context.ts';
import type { JsonSchema, Fault } from '../evaluator.ts';
import { camelCase } from './option-table.ts';
import { readJsonPath } from '../matching/json-path-reader.ts';
import { pointerSteps } from '../schema/schemas.ts';

/** Every fault, at the key that is faulty. */
export function schemaFaults(schema: JsonSchema, value: JsonValue): readonly Fault[] {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: false,
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
  if (validate(value)) return [];
  const errors = (validate.errors ?? []).filter(({ keyword }) => keyword !== 'if');
  const unions = errors.filter(({ keyword }) => keyword === 'anyOf');
  return errors
    .filter((error) => !unions.some((union) => error !== union && error.schemaPath.startsWith(`${union.schemaPath}/`)))
    .map((error) => faultOf(error, value));
}

/** The options as the evaluator's code names them: keys that the schema names in camel case, keys of free maps as they are. */
export function filledOptions(schema: JsonSchema, defaults: unknown, given: JsonObject): unknown {
  const filled: { [key: string]: unknown } = typeof defaults === 'object' && defaults !== null ? { ...defaults } : {};
  for (const [key, value] of Object.entries(given)) {
    const name = camelCase(key);
    filled[name] = read(propertySchema(schema, key), Object.hasOwn(filled, name) ? filled[name] : undefined, value);
  }
  return filled;
}

function read(schema: JsonSchema | undefined, defaults: unknown, value: JsonValue): unknown {
  if (schema === undefined || !isJsonObject(value)) return value;
  const branches = member(schema, 'anyOf');
  const described = isJsonArray(branches)
    ? (branches.filter(isJsonObject).find((branch) => branch['type'] === 'object') ?? schema)
    : schema;
  if (isJsonObject(member(described, 'properties'))) return filledOptions(described, defaults, value);
  const inner = member(described, 'additionalProperties');
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, read(isJsonObject(inner) ? inner : undefined, undefined, item)]),
  );
}

function propertySchema(schema: JsonSchema, key: string): JsonSchema | undefined {
  const properties = member(schema, 'properties');
  const found = isJsonObject(properties) ? member(properties, key) : undefined;
  return isJsonObject(found) ? found : undefined;
}

function pathProblem(given: unknown): string {
  const read = typeof given === 'string' ? readJsonPath(given) : undefined;
  return read?.kind === 'broken' ? `is no JSONPath: at character ${read.at + 1} it ${read.problem}` : 'is no JSONPath';
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

/** Steps into lists as numbers. */
function typedPath(steps: readonly string[], value: JsonValue): readonly (string | number)[] {
  let at: JsonValue | undefined = value;
  return steps.map((step) => {
    const index = isJsonArray(at) ? Number(step) : undefined;
    at = index !== undefined && isJsonArray(at) ? at[index] : isJsonObject(at) ? member(at, step) : undefined;
    return index ?? step;
  });
}
