/** E-mail addresses, in linear time: around each @, or %40 as URLs write it, as far as the characters of an address go. */
import type { Part } from './rule.ts';

const SIGN = /@|%40/g;
const LOCAL = /[\p{L}\p{M}\p{N}._%+-]/u;

export function emailParts(text: string): readonly Part[] {
  const parts: Part[] = [];
  // Labels with dots between them; the last one begins with a letter and has two characters at least. `y`: from where the search begins.
  const domain = /(?:[\p{L}\p{M}\p{N}-]+\.)+\p{L}[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}]/uy;
  let floor = 0;
  for (const { 0: sign, index } of text.matchAll(SIGN)) {
    const [start, behind] = [localStart(text, floor, index), index + sign.length];
    domain.lastIndex = behind;
    // No local part reaches over the sign before it, so each character is looked at once.
    floor = start < index && domain.test(text) ? domain.lastIndex : behind;
    if (floor > behind) parts.push({ start, end: floor });
  }
  return parts;
}

function localStart(text: string, floor: number, sign: number): number {
  let start = sign;
  while (start > floor) {
    const before = start - (start - 2 >= floor && isLowSurrogate(text.charCodeAt(start - 1)) ? 2 : 1);
    if (!LOCAL.test(text.slice(before, start))) return start;
    start = before;
  }
  return start;
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff;
}
