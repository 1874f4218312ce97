/** Numbers of payment cards: 13 to 19 digits (ISO/IEC 7812), the first of them 2 to 9, whose check digit is right (Luhn). */
import type { Part } from './rule.ts';

const digitsMin = 13;
const digitsMax = 19;
/** Of every group but the last: lists of small numbers are no card. */
const groupMin = 4;
const GROUP = /\d+/g;
/** One between two groups: a space or a hyphen of any kind. */
const SEPARATOR = /^[ \u00a0\u2007\u2009\u202f\u2010-\u2013-]$/;

export function creditCardParts(text: string): readonly Part[] {
  const parts: Part[] = [];
  let chain: Part[] = [];
  for (const { 0: digits, index } of text.matchAll(GROUP)) {
    const last = chain.at(-1);
    if (last !== undefined && !(index - last.end === 1 && SEPARATOR.test(text.slice(last.end, index)))) {
      parts.push(...cardsIn(text, chain));
      chain = [];
    }
    chain.push({ start: index, end: index + digits.length });
  }
  return [...parts, ...cardsIn(text, chain)];
}

/** The longest card from each group on; a number that stands before or behind a card does not hide it. */
function cardsIn(text: string, chain: readonly Part[]): readonly Part[] {
  const cards: Part[] = [];
  for (let first = 0; first < chain.length; first++) {
    const last = lastGroup(text, chain, first);
    if (last === undefined) continue;
    cards.push({ start: chain[first]?.start ?? 0, end: chain[last]?.end ?? 0 });
    first = last;
  }
  return cards;
}

function lastGroup(text: string, chain: readonly Part[], first: number): number | undefined {
  let digits = '';
  let found: number | undefined;
  for (let at = first; at < chain.length; at++) {
    const group = chain[at];
    const size = group === undefined ? 0 : group.end - group.start;
    if (group === undefined || digits.length + size > digitsMax) break;
    digits += text.slice(group.start, group.end);
    if (digits.length >= digitsMin && digits.charCodeAt(0) >= 0x32 && hasCheckDigit(digits)) found = at;
    if (size < groupMin) break;
  }
  return found;
}

/** Every second digit from the right counts twice, as the sum of its digits; the whole is a multiple of ten. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 0x30;
    const twice = digit * 2;
    sum += at % 2 === 0 ? digit : twice > 9 ? twice - 9 : twice;
  }
  return sum % 10 === 0;
}
