/**
 * Attribute keys repeat: all spans of one kind and instrumentation have the same keys in the same order. Each such order is a shape. A tree of
 * keys finds it without making a text of each key: along the way that was taken last the bytes only have to be compared.
 */
import type { KeyShape } from '../../model/span.ts';
import type { AttributeTable } from './attribute-table.ts';

export interface KeyShapes {
  /** The shape of this many attributes of a table. */
  of(table: AttributeTable, from: number, count: number): KeyShape;
  /** The shape of attributes outside a table, whose keys are known as texts. */
  ofKeys(keys: readonly string[]): KeyShape;
}

interface Node {
  readonly key: string;
  /** Bytes of the key by fours, then the remaining ones; `undefined` when it is not ASCII. */
  readonly words: readonly number[] | undefined;
  readonly parent: Node | undefined;
  children: Map<string, Node> | undefined;
  /** The child that was taken last. */
  last: Node | undefined;
  shape: KeyShape | undefined;
}

/** Keys that all shapes together may hold. Beyond it everything is forgotten and learned anew: spans keep the shapes that they have. */
export const shapeKeysMax = 262_144;
/** Spans with more attributes than this seldom resemble another: their shape is their own. */
const sharedKeysMax = 512;

/** Two spans have one shape only when it came from the same table; the table grows up to its bound and then starts again. */
export function keyShapes(keysMax = shapeKeysMax): KeyShapes {
  let root = newNode('', undefined);
  let keys = 0;

  function child(parent: Node, key: string): Node {
    parent.children ??= new Map();
    let node = parent.children.get(key);
    if (node === undefined) {
      node = newNode(key, parent);
      parent.children.set(key, node);
      keys++;
    }
    parent.last = node;
    return node;
  }

  function start(): Node {
    if (keys > keysMax) {
      root = newNode('', undefined);
      keys = 0;
    }
    return root;
  }

  function shapeAt(node: Node, count: number): KeyShape {
    if (node.shape === undefined) {
      node.shape = shapeOf(keysTo(node, count));
      keys += count;
    }
    return node.shape;
  }

  return {
    of({ body: { bytes, view }, ranges }, from, count) {
      const to = from + count * 4;
      if (count > sharedKeysMax) return ownShape(bytes, ranges.subarray(from, to));
      let at = start();
      for (let place = from; place < to; place += 4) {
        const start = ranges[place] ?? 0;
        const end = ranges[place + 1] ?? 0;
        const { last } = at;
        at = last !== undefined && isWritten(last, view, start, end) ? last : child(at, bytes.toString('utf8', start, end));
      }
      return shapeAt(at, count);
    },
    ofKeys(list) {
      if (list.length > sharedKeysMax) return shapeOf(list);
      let at = start();
      for (const key of list) at = at.last?.key === key ? at.last : child(at, key);
      return shapeAt(at, list.length);
    },
  };
}

function newNode(key: string, parent: Node | undefined): Node {
  return { key, words: wordsOf(Buffer.from(key)), parent, children: undefined, last: undefined, shape: undefined };
}

const wordBytes = 4;

function wordsOf(key: Buffer): readonly number[] | undefined {
  if (key.some((byte) => byte >= 0x80)) return undefined;
  const words: number[] = [];
  let at = 0;
  for (; at + wordBytes <= key.length; at += wordBytes) words.push(key.readInt32LE(at));
  for (; at < key.length; at++) words.push(key[at] ?? 0);
  return words;
}

/** True when these bytes are the node's key. False for every key beyond ASCII, which is then compared as a text. */
function isWritten({ key, words }: Node, view: DataView, start: number, end: number): boolean {
  if (key.length !== end - start || words === undefined) return false;
  let at = start;
  let word = 0;
  for (const last = end - wordBytes; at <= last; at += wordBytes) if (view.getInt32(at, true) !== words[word++]) return false;
  for (; at < end; at++) if (view.getUint8(at) !== words[word++]) return false;
  return true;
}

function keysTo(node: Node, count: number): readonly string[] {
  const keys = Array.from<string>({ length: count });
  let at: Node | undefined = node;
  for (let place = count - 1; place >= 0; place--) {
    keys[place] = at?.key ?? '';
    at = at?.parent;
  }
  return keys;
}

function ownShape(bytes: Buffer, ranges: Int32Array): KeyShape {
  const keys: string[] = [];
  for (let at = 0; at < ranges.length; at += 4) keys.push(bytes.toString('utf8', ranges[at], ranges[at + 1]));
  return shapeOf(keys);
}

function shapeOf(written: readonly string[]): KeyShape {
  const places = new Map(written.map((key, place) => [key, place] as const));
  const keys = [...places.keys()];
  const kept = new Map<object, unknown>();
  const shape: KeyShape = {
    keys,
    place: (key) => places.get(key),
    keep<By extends object, Kept>(by: By, make: (of: KeyShape, by: By) => Kept): Kept {
      const known = kept.get(by);
      if (known !== undefined) return known as Kept;
      const made = make(shape, by);
      kept.set(by, made);
      return made;
    },
  };
  return shape;
}
