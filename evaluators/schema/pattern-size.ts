/**
 * Limits of schemas, found without the work that they bound. The size of a pattern is its size with all repetitions written out, as an engine without
 * backtracking does: `(a{9}){9}` has 81 parts. It is estimated from above, before the pattern is compiled, since it bounds the compiling.
 */
import { isJsonArray, isJsonObject, jsonDepthMax, type JsonValue } from '../../src/model/json.ts';

/** Characters of a text in which a pattern is searched: results come from outside, and the search must stay cheap. */
export const searchedTextMax = 100_000;
/** Larger patterns of schemas are left out. */
export const patternSizeMax = 2_000;
/** The size of a class of characters by its Unicode name, which holds hundreds of ranges. */
const unicodeClassSize = 10;

export function patternSize(source: string): number {
  const open: number[] = [];
  let size = 0;
  let last = 0;
  const add = (part: number): void => {
    size += part;
    last = part;
  };
  for (let at = 0; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') {
      add(/[pP]/.test(source[at + 1] ?? '') ? unicodeClassSize : 1);
      at++;
    } else if (char === '[') {
      const end = classEnd(source, at);
      add(1 + unicodeClassSize * (source.slice(at, end).match(/\\[pP]/g)?.length ?? 0));
      at = end;
    } else if (char === '(') {
      open.push(size);
      size = 0;
    } else if (char === ')') {
      const inner = size + 2;
      size = open.pop() ?? 0;
      add(inner);
    } else if (char === '{') {
      const [all = '{', least = '0', most = ''] = /^\{(\d+)(?:,(\d*))?\}/.exec(source.slice(at, at + 24)) ?? [];
      if (all === '{') add(1);
      else {
        const times = Math.max(Number(least), Number(most), 1);
        size += last * (times - 1);
        last *= times;
      }
      at += all.length - 1;
    } else add(1);
  }
  return open.reduce((sum, before) => sum + before, size);
}

/** The bracket that closes a class; a first `]` is one of its characters. */
function classEnd(source: string, open: number): number {
  let at = open + (source[open + 1] === '^' ? 2 : 1);
  if (source[at] === ']') at++;
  for (; at < source.length && source[at] !== ']'; at++) if (source[at] === '\\') at++;
  return at;
}

/** True when the JSON text has more characters than `max`. False proves only that the text is at most six times as long. */
export function isSurelyLonger(value: JsonValue, max: number): boolean {
  return left(value, max, 0) < 0;
}

/** The remainder of a number of characters. Escapes are not counted, so it is too much rather than too little. */
function left(value: JsonValue, characters: number, depth: number): number {
  if (depth > jsonDepthMax) return -1;
  if (typeof value === 'string') return characters - value.length - 2;
  let rest = characters - 1;
  if (isJsonArray(value)) {
    for (const item of value) {
      if (rest < 0) break;
      rest = left(item, rest, depth + 1);
    }
  } else if (isJsonObject(value)) {
    // No list of the names: the walk ends where the characters do.
    for (const name in value) {
      if (rest < 0) break;
      if (Object.hasOwn(value, name)) rest = left(value[name] ?? null, rest - name.length - 3, depth + 1);
    }
  }
  return rest;
}
