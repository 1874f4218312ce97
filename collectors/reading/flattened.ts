/** Lists that were flattened into attribute keys: `llm.input_messages.0.message.role` and the like. */
import { isJsonArray, type JsonValue } from '../../src/model/json.ts';
import type { Attributed } from '../../src/model/span.ts';
import { jsonOf } from './parsing.ts';

/** Longer lists and deeper paths are cut: no SDK writes them. */
export const flattenedItemsMax = 5_000;
export const flattenedDepthMax = 12;

type Branch = Map<string, Branch | JsonValue>;

/** The items under `prefix` (with its trailing dot) in the order of their indexes. Gaps are closed up. */
export function unflattened(from: Attributed, prefix: string): readonly JsonValue[] {
  const root: Branch = new Map();
  for (const key of from.attributeKeys()) {
    if (!key.startsWith(prefix)) continue;
    const path = key.slice(prefix.length).split('.');
    if (path.length > flattenedDepthMax || !isIndex(path[0] ?? '')) continue;
    const value = from.attribute(key);
    if (value !== undefined) graft(root, path, jsonOf(value));
  }
  const grown = valueOf(root);
  return isJsonArray(grown) ? grown : [];
}

function isIndex(segment: string): boolean {
  return /^\d{1,4}$/.test(segment) && Number(segment) < flattenedItemsMax;
}

function graft(root: Branch, path: readonly string[], value: JsonValue): void {
  let at = root;
  for (const segment of path.slice(0, -1)) {
    let next = at.get(segment);
    if (!(next instanceof Map)) {
      next = new Map();
      at.set(segment, next);
    }
    at = next;
  }
  const last = path.at(-1) ?? '';
  if (!(at.get(last) instanceof Map)) at.set(last, value);
}

function valueOf(branch: Branch | JsonValue): JsonValue {
  if (!(branch instanceof Map)) return branch;
  const keys = [...branch.keys()];
  if (keys.length > 0 && keys.every(isIndex)) return keys.sort((a, b) => Number(a) - Number(b)).map((key) => valueOf(branch.get(key) ?? null));
  return Object.fromEntries(keys.map((key) => [key, valueOf(branch.get(key) ?? null)]));
}
