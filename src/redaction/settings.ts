/** The redaction rules of the configuration: own patterns, e-mail addresses and payment card numbers. */
import { decoded, type Decoded } from './decoded.ts';
import * as packages from '../runtime/packages.cjs';
import { notSearched, type Part, type RedactionRule, type Spend } from './search.ts';

const SIGN = /@|%40/g;
const LOCAL = /[\p{L}\p{M}\p{N}._%+-]/u;

/** E-mail addresses, in linear time: extends around each @, or %40 as in URLs. */
export function emailParts(text: string): readonly Part[] {
  const parts: Part[] = [];
  // Labels with dots between them; the last one begins with a letter and has two characters at least.
  const domain = /(?:[\p{L}\p{M}\p{N}-]+\.)+\p{L}[\p{L}\p{M}\p{N}-]*[\p{L}\p{M}\p{N}]/uy;
  let floor = 0;
  for (const { 0: sign, index } of text.matchAll(SIGN)) {
    const [start, behind] = [localStart(text, floor, index), index + sign.length];
    domain.lastIndex = behind;
    // A local part does not extend across the previous sign, so each character is read once.
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

const digitsMin = 13;
const digitsMax = 19;
/** Digits of every group except the last: a list of small numbers is not a card number. */
const groupMin = 4;
const GROUP = /\d+/g;
/** A single separator: a space or a hyphen of any kind. */
const SEPARATOR = /^[ \u00a0\u2007\u2009\u202f\u2010-\u2013-]$/;

/** Payment card numbers: 13 to 19 digits (ISO/IEC 7812), the first one 2 to 9, with a valid check digit (Luhn). */
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

/** The longest card number from each group on, also beside other numbers. */
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

/** The Luhn test: every second digit from the right counts as the digit sum of its double; the total is a multiple of ten. */
function hasCheckDigit(digits: string): boolean {
  let sum = 0;
  for (let at = 0; at < digits.length; at++) {
    const digit = digits.charCodeAt(digits.length - 1 - at) - 0x30;
    const twice = digit * 2;
    sum += at % 2 === 0 ? digit : twice > 9 ? twice - 9 : twice;
  }
  return sum % 10 === 0;
}

export type RedactionSettings =
  | { readonly match: ReadyPattern; readonly replace: string }
  /** `place`: index in the list. */
  | { readonly pattern: string; readonly replace: string; readonly place: number };

export const readyPatterns = ['email', 'credit_card'] as const;
type ReadyPattern = (typeof readyPatterns)[number];

export const replacementDefault = '[redacted]';

const ready: { readonly [name in ReadyPattern]: (text: string) => readonly Part[] } = { email: emailParts, credit_card: creditCardParts };

/** Compiles the rules. */
export function redactionRules(settings: readonly RedactionSettings[]): readonly RedactionRule[] {
  // Several ready patterns search the same text, so its decoded form is kept.
  let last: { readonly text: string; readonly decoded: Decoded | undefined } = { text: '', decoded: undefined };
  const decodedOnce = (text: string): Decoded | undefined => (last = last.text === text ? last : { text, decoded: decoded(text) }).decoded;
  return settings.map((one) => {
    if ('pattern' in one) return { name: `redact[${one.place}]`, replacement: one.replace, parts: patternParts(one.pattern) };
    return {
      name: one.match,
      replacement: one.replace,
      parts: (text, spend) => readyParts(ready[one.match], text, { spend, decoded: decodedOnce(text) }),
    };
  });
}

/** Matches in the text and in its decoded form. Where both match, the decoded match gives the range. */
function readyParts(
  parts: (text: string) => readonly Part[],
  text: string,
  { spend, decoded: read }: { readonly spend: Spend; readonly decoded: Decoded | undefined },
): readonly Part[] | undefined {
  if (!spend(text.length + (read?.text.length ?? 0))) return undefined;
  const plain = parts(text);
  if (read === undefined) return plain;
  const hidden = parts(read.text).map((part) => read.original(part));
  if (hidden.length === 0) return plain;
  let at = 0;
  const alone = plain.filter(({ start, end }) => {
    while ((hidden[at]?.end ?? Infinity) <= start) at++;
    return (hidden[at]?.start ?? Infinity) >= end;
  });
  return [...alone, ...hidden].sort((a, b) => a.start - b.start);
}

/** Throws when the source is invalid; the configuration has validated it. */
function patternParts(source: string): (text: string, spend: Spend) => readonly Part[] | undefined {
  const pattern = packages.re2js().RE2JS.compile(source);
  return (text, spend) => {
    if (!spend(text.length)) return undefined;
    if (!pattern.test(text)) return [];
    const parts: Part[] = [];
    const matcher = pattern.matcher(text);
    while (matcher.find()) {
      const part = { start: matcher.start(), end: matcher.end() };
      // An empty match removes nothing.
      if (part.end > part.start) parts.push(part);
      // A search may read to the end of the text, so the rest counts for each match.
      if (!spend(text.length - part.end)) return undefined;
    }
    return parts;
  };
}

/** True when a text may have been redacted under these settings: a replacement that is empty leaves no sign. */
export function mayBeRedacted(settings: readonly Pick<RedactionSettings, 'replace'>[]): (text: string) => boolean {
  const signs = settings.length === 0 ? [] : [...settings.map(({ replace }) => replace), notSearched];
  return (text) => signs.some((sign) => text.includes(sign));
}
