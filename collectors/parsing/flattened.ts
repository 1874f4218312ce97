/** Lists that were flattened into attribute keys: `llm.input_messages.0.message.role` and the like. */
import type { JsonValue } from '../../src/model/json.ts';
import type { Attributed, KeyShape } from '../../src/model/span.ts';
import type { Flattened } from '../collector.ts';
import { jsonOf } from './parsing.ts';

/** Longer lists and deeper paths are cut: no SDK writes them. */
export const flattenedItemsMax = 5_000;
export const flattenedDepthMax = 12;

/** The shape of a list by its keys: the same for all spans with these keys. */
interface Outline {
  /** In the order of their indexes; gaps are closed up. */
  readonly items: readonly Shape[];
  /** The keys of each item. */
  readonly keys: readonly (readonly string[])[];
  /** `undefined` when the items are not adjacent, or their places are unknown. */
  readonly row: Row | undefined;
}

/** Places of attributes. */
export interface Row {
  readonly first: number;
  /** The last place of each item. */
  readonly lasts: readonly number[];
}

/** A value by the keys that hold it. */
type Shape = { readonly key: string } | { readonly list: readonly Shape[] } | { readonly members: readonly (readonly [string, Shape])[] };

export function flattened(prefix: string): Flattened {
  return { prefix };
}

/** The items under a prefix. */
export function unflattened(from: Attributed, list: Flattened): readonly JsonValue[] {
  const { items } = outlineOf(from, list);
  return items.length === 0 ? none : items.map((item) => valueOf(item, from));
}

const none: readonly JsonValue[] = [];

/** The object whose members are under a prefix without a dot at its end: `args.title`, `message.content`. */
export function objectUnder(from: Attributed, prefix: string): JsonValue {
  const root: Branch = new Map();
  for (const key of from.attributeKeys()) {
    if (!key.startsWith(`${prefix}.`)) continue;
    const path = key.slice(prefix.length + 1).split('.');
    if (path.length <= flattenedDepthMax) graft(root, path, key);
  }
  return valueOf(shapeOf(root), from);
}

export function outlineOf(from: Attributed, list: Flattened): Outline {
  const shape = from.keyShape?.();
  return shape === undefined ? outline(from.attributeKeys(), list) : shape.keep(list, outlineIn);
}

function outlineIn({ keys, place }: KeyShape, list: Flattened): Outline {
  return outline(keys, list, place);
}

export function valueOf(shape: Shape, from: Attributed): JsonValue {
  if ('key' in shape) return jsonOf(from.attribute(shape.key) ?? null);
  if ('list' in shape)
    return shape.list.length === 1 ? [valueOf(shape.list[0] ?? noMembers, from)] : shape.list.map((item) => valueOf(item, from));
  const object: { [name: string]: JsonValue } = {};
  for (const [name, inner] of shape.members) {
    // An ordinary name here, and not in JavaScript.
    if (name === '__proto__')
      Object.defineProperty(object, name, { value: valueOf(inner, from), configurable: true, enumerable: true, writable: true });
    else object[name] = valueOf(inner, from);
  }
  return object;
}

function keysOf(shape: Shape): readonly string[] {
  if ('key' in shape) return [shape.key];
  return 'list' in shape ? shape.list.flatMap(keysOf) : shape.members.flatMap(([, inner]) => keysOf(inner));
}

const noMembers: Shape = { members: [] };

type Branch = Map<string, Branch | { readonly key: string }>;

function outline(keys: readonly string[], { prefix }: Flattened, placeOf?: (key: string) => number | undefined): Outline {
  const root: Branch = new Map();
  const firsts: { readonly index: string; readonly key: string }[] = [];
  for (const key of keys) {
    if (!key.startsWith(prefix)) continue;
    const path = key.slice(prefix.length).split('.');
    const index = path[0] ?? '';
    if (path.length > flattenedDepthMax || !isIndex(index)) continue;
    graft(root, path, key);
    firsts.push({ index, key });
  }
  const grown = shapeOf(root);
  const items = 'list' in grown ? grown.list : [];
  return {
    items,
    keys: items.map(keysOf),
    row: placeOf === undefined || items.length === 0 ? undefined : rowOf(firsts, items.length, placeOf),
  };
}

/** When keys are equal, the last one counts, so the places must follow each other. */
function rowOf(
  keys: readonly { readonly index: string; readonly key: string }[],
  items: number,
  placeOf: (key: string) => number | undefined,
): Row | undefined {
  const first = placeOf(keys[0]?.key ?? '');
  if (first === undefined) return undefined;
  const lasts: number[] = [];
  for (const [at, { index, key }] of keys.entries()) {
    if (placeOf(key) !== first + at) return undefined;
    if (index === String(lasts.length)) lasts.push(first + at);
    else if (index === String(lasts.length - 1)) lasts[lasts.length - 1] = first + at;
    else return undefined;
  }
  return lasts.length === items ? { first, lasts } : undefined;
}

/** True when the list under the prefix is read without this key. */
export function exceedsFlattened(key: string, prefix: string): boolean {
  const path = key.slice(prefix.length).split('.');
  return /^\d+$/.test(path[0] ?? '') && (path.length > flattenedDepthMax || !isIndex(path[0] ?? ''));
}

function isIndex(segment: string): boolean {
  return /^\d{1,4}$/.test(segment) && Number(segment) < flattenedItemsMax;
}

/** When a value and a list or object share a place, the latter counts. */
function graft(root: Branch, path: readonly string[], key: string): void {
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
  if (!(at.get(last) instanceof Map)) at.set(last, { key });
}

function shapeOf(branch: Branch | { readonly key: string }): Shape {
  if (!(branch instanceof Map)) return branch;
  const grown = [...branch].map(([name, inner]) => [name, shapeOf(inner)] as const);
  if (grown.length === 0 || !grown.every(([name]) => isIndex(name))) return { members: grown };
  return { list: grown.sort(([a], [b]) => Number(a) - Number(b)).map(([, item]) => item) };
}
