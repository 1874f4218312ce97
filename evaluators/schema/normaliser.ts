/**
 * Makes a valid JSON Schema from the schema in a tool definition. It removes identifiers and remote references, rewrites types in capitals and
 * `nullable`, and drops a keyword of the wrong shape with a note. Everything else stays unchanged.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Pattern } from '../evaluator.ts';
import { patternSize, patternSizeMax } from './pattern-size.ts';

/** Subschemas of one schema. */
const subschemasMax = 2_000;
const depthMax = 48;
const faultsMax = 20;
const pathCharsMax = 300;
/** The patterns of one schema together: those beyond are left out. */
const patternSizesMax = 4_000;
/** Compiling is counted in the steps of checking: this many for a subschema, and for a part of a pattern. */
const stepsPerSubschema = 10;
const stepsPerPatternSize = 2;
/** The cost of a pattern besides its size. */
const patternCost = 20;

export interface NormalisedSchema {
  readonly schema: JsonObject | boolean;
  readonly draft: '2020-12' | 'draft-07';
  readonly faults: readonly string[];
  /** The cost of compiling it: subschemas, members, and patterns by their size. */
  readonly steps: number;
}

type Shape = (value: JsonValue) => boolean;
const isNumber: Shape = (value) => typeof value === 'number';
const isCount: Shape = (value) => typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isTextList: Shape = (value) => isJsonArray(value) && value.every((item) => typeof item === 'string');
const isSchema: Shape = (value) => isJsonObject(value) || typeof value === 'boolean';

/** Keywords whose value is not a schema, with the shape that it must have. */
const plainKeywords: { readonly [keyword: string]: Shape } = {
  required: isTextList,
  enum: isJsonArray,
  const: () => true,
  multipleOf: (value) => typeof value === 'number' && value > 0,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  uniqueItems: (value) => typeof value === 'boolean',
  dependentRequired: (value) => isJsonObject(value) && Object.values(value).every(isTextList),
  $ref: (value) => typeof value === 'string' && value.startsWith('#'),
};
const schemaKeywords: ReadonlySet<string> = new Set([
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'additionalItems',
  'contains',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
]);
const schemaListKeywords: ReadonlySet<string> = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const schemaMapKeywords: ReadonlySet<string> = new Set(['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions']);
/** References whose target depends on the way into a schema. */
const dynamicKeywords: ReadonlySet<string> = new Set(['$dynamicRef', '$recursiveRef']);
/** Keywords that the cases below distinguish. */
const otherKeywords: ReadonlySet<string> = new Set(['type', 'items', 'pattern', 'dependencies', 'nullable']);

const typeWords: ReadonlySet<string> = new Set(['string', 'number', 'integer', 'boolean', 'array', 'object', 'null']);
/** Types that a word outside JSON Schema admits: something is wanted, so anything but null. */
const anyButNull: readonly string[] = ['string', 'number', 'boolean', 'array', 'object'];

interface Walk {
  subschemas: number;
  patternSizes: number;
  /** Each is compiled once. */
  readonly patternSources: Set<string>;
  tooLarge: boolean;
  draft: '2020-12' | 'draft-07';
  readonly faults: string[];
  readonly pattern: (source: string) => Pattern;
}

/** Undefined when the schema is larger or deeper than the limits. */
export function normalisedSchema(schema: JsonValue, pattern: (source: string) => Pattern): NormalisedSchema | undefined {
  const walk: Walk = {
    subschemas: 0,
    patternSizes: 0,
    patternSources: new Set(),
    tooLarge: false,
    draft: declaredDraft(schema),
    faults: [],
    pattern,
  };
  const clean = subschema(schema, '', walk, 0);
  if (walk.tooLarge) return undefined;
  return {
    schema: clean,
    draft: walk.draft,
    faults: walk.faults,
    steps: stepsPerSubschema * walk.subschemas + stepsPerPatternSize * walk.patternSizes,
  };
}

function declaredDraft(schema: JsonValue): '2020-12' | 'draft-07' {
  const declared = isJsonObject(schema) ? member(schema, '$schema') : undefined;
  return typeof declared === 'string' && /draft-0[3467]/.test(declared) ? 'draft-07' : '2020-12';
}

function subschema(value: JsonValue, path: string, walk: Walk, depth: number): JsonObject | boolean {
  if (typeof value === 'boolean') return value;
  if (!isJsonObject(value)) return { unapplied: fault(walk, path, 'is not a schema') };
  if (++walk.subschemas > subschemasMax || depth > depthMax) {
    walk.tooLarge = true;
    return true;
  }
  const members = Object.keys(value).flatMap((keyword) => clean(keyword, value[keyword] ?? null, `${path}/${keyword}`, walk, depth));
  const kept = Object.fromEntries(members);
  return value['nullable'] === true ? nullable(kept) : kept;
}

function isKeyword(word: string): boolean {
  return (
    Object.hasOwn(plainKeywords, word) ||
    schemaKeywords.has(word) ||
    schemaListKeywords.has(word) ||
    schemaMapKeywords.has(word) ||
    (otherKeywords.has(word) && word !== 'nullable')
  );
}

type Member = readonly [string, JsonValue];

/** The member of a clean schema that a keyword becomes, or none. Keywords that say nothing about values are left out. */
function clean(keyword: string, value: JsonValue, path: string, walk: Walk, depth: number): readonly Member[] {
  // Some writers have every keyword in every schema, null where it is not used.
  if (value === null && isKeyword(keyword)) return keyword === 'const' ? [[keyword, null]] : dropped(walk, path);
  if (Object.hasOwn(plainKeywords, keyword)) return plain(keyword, value, path, walk);
  if (dynamicKeywords.has(keyword)) return marked('unapplied', walk, path, 'is a reference that is not followed');
  if (schemaKeywords.has(keyword))
    return isSchema(value) ? [[keyword, subschema(value, path, walk, depth + 1)]] : marked('unapplied', walk, path, wrongShape);
  if (schemaListKeywords.has(keyword)) return schemaList(keyword, value, path, walk, depth);
  if (schemaMapKeywords.has(keyword)) return schemaMap(keyword, value, path, walk, depth);
  return otherKeywords.has(keyword) ? other(keyword, value, path, walk, depth) : [];
}

/** Replaces a part that restricts values and cannot be applied. `unappliedText`: about texts; `unappliedNames`: about the members of objects. */
type Mark = 'unapplied' | 'unappliedText' | 'unappliedNames';

function marked(mark: Mark, walk: Walk, path: string, problem: string): readonly Member[] {
  return [[mark, fault(walk, path, problem)]];
}

function plain(keyword: string, value: JsonValue, path: string, walk: Walk): readonly Member[] {
  if (keyword === '$ref' && typeof value === 'string' && plainKeywords['$ref']?.(value) !== true)
    return marked('unapplied', walk, path, 'leads elsewhere, and is not followed');
  if (plainKeywords[keyword]?.(value) !== true) return dropped(walk, path);
  return [[keyword, keyword === 'required' && isJsonArray(value) ? [...new Set(value)] : value]];
}

function schemaList(keyword: string, value: JsonValue, path: string, walk: Walk, depth: number): readonly Member[] {
  if (!isJsonArray(value) || value.length === 0) return marked('unapplied', walk, path, wrongShape);
  return [[keyword, value.map((item, at) => subschema(item, `${path}/${at}`, walk, depth + 1))]];
}

function schemaMap(keyword: string, value: JsonValue, path: string, walk: Walk, depth: number): readonly Member[] {
  if (!isJsonObject(value))
    return keyword === '$defs' || keyword === 'definitions' ? dropped(walk, path) : marked('unappliedNames', walk, path, wrongShape);
  const refused: Member[] = [];
  const kept = Object.keys(value).filter((key) => {
    const problem = keyword === 'patternProperties' ? patternProblem(key, walk) : undefined;
    if (problem !== undefined) refused.push(...marked('unappliedNames', walk, `${path}/${key}`, problem));
    return problem === undefined;
  });
  return [
    ...refused.slice(0, 1),
    [keyword, Object.fromEntries(kept.map((key) => [key, subschema(value[key] ?? null, `${path}/${key}`, walk, depth + 1)]))],
  ];
}

function other(keyword: string, value: JsonValue, path: string, walk: Walk, depth: number): readonly Member[] {
  switch (keyword) {
    case 'type':
      return type(value, path, walk);
    case 'items':
      if (isJsonArray(value)) walk.draft = 'draft-07';
      return isJsonArray(value)
        ? schemaList(keyword, value, path, walk, depth)
        : isSchema(value)
          ? [[keyword, subschema(value, path, walk, depth + 1)]]
          : marked('unapplied', walk, path, wrongShape);
    case 'pattern':
      return pattern(value, path, walk);
    case 'dependencies':
      return dependencies(value, path, walk, depth);
    default:
      return [];
  }
}

function pattern(value: JsonValue, path: string, walk: Walk): readonly Member[] {
  if (typeof value !== 'string') return dropped(walk, path);
  const problem = patternProblem(value, walk);
  return problem === undefined ? [['pattern', value]] : marked('unappliedText', walk, path, problem);
}

function type(value: JsonValue, path: string, walk: Walk): readonly Member[] {
  const words = isJsonArray(value) ? value : [value];
  if (words.length === 0 || !words.every((word) => typeof word === 'string')) return dropped(walk, path);
  const lower = words.map((word) => String(word).toLowerCase());
  const unknown = lower.filter((word) => !typeWords.has(word));
  if (unknown.length > 0) fault(walk, path, `names no JSON type: ${unknown.join(', ')}`);
  if (unknown.includes('any')) return [];
  const known = [...new Set(lower.flatMap((word) => (typeWords.has(word) ? [word] : anyButNull)))];
  return [['type', known.length === 1 ? (known[0] ?? 'object') : known]];
}

function dependencies(value: JsonValue, path: string, walk: Walk, depth: number): readonly Member[] {
  if (!isJsonObject(value)) return dropped(walk, path);
  const entries = Object.entries(value).filter(([, item]) => isTextList(item) || isSchema(item));
  walk.draft = 'draft-07';
  return [
    [
      'dependencies',
      Object.fromEntries(entries.map(([key, item]) => [key, isTextList(item) ? item : subschema(item, `${path}/${key}`, walk, depth + 1)])),
    ],
  ];
}

/** OpenAPI's `nullable`: null passes besides the values of the schema. */
function nullable(schema: JsonObject): JsonObject {
  const type = member(schema, 'type');
  if (type === undefined) return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: 'null' }] };
  const listed = member(schema, 'enum');
  const words = isJsonArray(type) ? type : [type];
  return { ...schema, type: [...new Set([...words, 'null'])], ...(isJsonArray(listed) ? { enum: [...listed, null] } : {}) };
}

/** Undefined: it can be searched. */
function patternProblem(source: string, walk: Walk): string | undefined {
  if (walk.patternSources.has(source)) return undefined;
  const size = patternCost + patternSize(source);
  if (size - patternCost > patternSizeMax || walk.patternSizes + size > patternSizesMax) return 'is a pattern beyond the limits';
  walk.patternSizes += size;
  try {
    walk.pattern(source);
    walk.patternSources.add(source);
    return undefined;
  } catch {
    return 'is not a pattern of a linear-time engine';
  }
}

const wrongShape = 'has the wrong shape';

/** An assertion of the wrong shape has no effect: the original systems pass over it, and so does this one. */
function dropped(walk: Walk, path: string): readonly Member[] {
  fault(walk, path, wrongShape);
  return [];
}

function fault(walk: Walk, path: string, problem: string): string {
  const text = `${path === '' ? 'the schema' : path.slice(0, pathCharsMax)} ${problem}`;
  if (walk.faults.length < faultsMax) walk.faults.push(text);
  return text;
}
