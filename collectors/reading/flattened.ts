/** Lists that were flattened into attribute keys: `llm.input_messages.0.message.role` and the like. */
import type { JsonValue } from '../../src/model/json.ts';
import type { Attributed } from '../../src/model/span.ts';
import type { Flattened } from '../collector.ts';
import { jsonOf } from './parsing.ts';

/** Longer lists and deeper paths are cut: no SDK writes them. */
export const flattenedItemsMax = 5_000;
export const flattenedDepthMax = 12;

/** What the keys say of a list: the same for all spans with these keys. */
export interface Outline {
  /** In the order of their indexes; gaps are closed up. */
  readonly items: readonly Shape[];
  /** The keys of each item lie together and the items in order, so this is what each has of them. Undefined: they do not. */
  readonly keysOf: readonly (readonly string[])[] | undefined;
}

/** A value as the keys tell it. */
type Shape = { readonly key: string } | { readonly list: readonly Shape[] } | { readonly members: readonly (readonly [string, Shape])[] };

export function flattened(prefix: string): Flattened {
  return { prefix };
}

/** The items under a prefix. */
export function unflattened(from: Attributed, list: Flattened): readonly JsonValue[] {
  return outlineOf(from, list).items.map((item) => valueOf(item, from));
}

export function outlineOf(from: Attributed, list: Flattened): Outline {
  const shape = from.written?.().shape;
  return shape === undefined ? outline(from.attributeKeys(), list) : shape.keep(list, (keys) => outline(keys, list));
}

export function valueOf(shape: Shape, from: Attributed): JsonValue {
  if ('key' in shape) return jsonOf(from.attribute(shape.key) ?? null);
  if ('list' in shape) return shape.list.map((item) => valueOf(item, from));
  return Object.fromEntries(shape.members.map(([name, inner]) => [name, valueOf(inner, from)]));
}

type Branch = Map<string, Branch | { readonly key: string }>;

function outline(keys: readonly string[], { prefix }: Flattened): Outline {
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
  return { items, keysOf: keysInOrder(firsts, items.length) };
}

/** Undefined unless the items come one after the other, from the first to the last. */
function keysInOrder(keys: readonly { readonly index: string; readonly key: string }[], items: number): Outline['keysOf'] {
  const found: string[][] = [];
  for (const { index, key } of keys) {
    if (index === String(found.length)) found.push([]);
    else if (index !== String(found.length - 1)) return undefined;
    found.at(-1)?.push(key);
  }
  return found.length === items ? found : undefined;
}

function isIndex(segment: string): boolean {
  return /^\d{1,4}$/.test(segment) && Number(segment) < flattenedItemsMax;
}

/** Of a value and a list or object at one place the latter counts. */
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
