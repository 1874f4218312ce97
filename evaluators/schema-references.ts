/**
 * Puts what local references lead to in their place, as most generators use them for nested types: failures then name the branch that
 * they are in. References that recurse stay, and count how often a value passes them.
 */
import { isJsonArray, isJsonObject, member } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';

/** A keyword of ours: a value that passes the reference beside it makes a step. */
export const stepKeyword = 'x-tracejury-step';

/** Subschemas after inlining; nested references double quickly, and a schema that would pass this keeps its references. */
const inlinedMax = 3_000;

interface Walk {
  readonly root: JsonObject;
  nodes: number;
}

export function inlinedReferences(schema: JsonObject | boolean): JsonObject | boolean {
  if (typeof schema === 'boolean') return schema;
  const walk: Walk = { root: schema, nodes: 0 };
  const inlined = inline(schema, [], walk);
  const kept = walk.nodes > inlinedMax || !isJsonObject(inlined) ? schema : inlined;
  return withSteps(kept) as JsonObject;
}

/** `open` are the references on the way down: one that is met again recurses. */
function inline(value: JsonValue, open: readonly string[], walk: Walk): JsonValue {
  if (walk.nodes > inlinedMax) return value;
  if (isJsonArray(value)) return value.map((item) => inline(item, open, walk));
  if (!isJsonObject(value)) return value;
  walk.nodes++;
  const { $ref: reference, ...beside } = value;
  const rest = Object.fromEntries(Object.entries(beside).map(([key, item]) => [key, key === 'enum' || key === 'const' || isDefinitions(key) ? item : inline(item, open, walk)]));
  if (typeof reference !== 'string') return rest;
  const target = open.includes(reference) || reference === '#' ? undefined : referenced(walk.root, reference);
  if (target === undefined) return { ...rest, $ref: reference };
  const found = inline(target, [...open, reference], walk);
  return Object.keys(rest).length === 0 ? found : { ...rest, allOf: [...(isJsonArray(rest['allOf']) ? rest['allOf'] : []), found] };
}

/** Definitions stay as they are: what is left of references leads there. */
function isDefinitions(key: string): boolean {
  return key === '$defs' || key === 'definitions';
}

/** Every reference that is left counts when a value passes it. */
function withSteps(value: JsonValue): JsonValue {
  if (isJsonArray(value)) return value.map(withSteps);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([key, item]) => [key, key === 'enum' || key === 'const' ? item : withSteps(item)] as const);
  return Object.fromEntries(typeof value['$ref'] === 'string' ? [...members, [stepKeyword, true] as const] : members);
}

function referenced(root: JsonValue, reference: string): JsonValue | undefined {
  let at: JsonValue | undefined = root;
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~');
    at = isJsonObject(at) ? member(at, key) : isJsonArray(at) ? at[Number(key)] : undefined;
  }
  return isJsonObject(at) || typeof at === 'boolean' ? at : undefined;
}

function decoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
