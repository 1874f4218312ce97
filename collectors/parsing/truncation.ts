/** Values that an SDK or a length limit truncated on their way to us. The remainder must not be judged as if it were whole. */
import type { Attributed } from '../../src/model/span.ts';
import { parseContainer } from './parsing.ts';

/**
 * The end of a text that states that it is not whole: `...[truncated]`, `<truncated due to …>`, `[TRUNCATED - … limit]`, `(truncated)`, `… 1,200 more
 * characters`, `...truncated`, `--- truncated ---`.
 */
const MARKERS: readonly RegExp[] = [
  /\[(?:[^[\]<>\n]{0,40}[^\w[\]<>\n])?truncated\b[^[\]<>\n]{0,80}\]\s*$/i,
  /[<(]truncated\b[^[\]<>()\n]{0,80}[>)]\s*$/i,
  /(?:\.\.\.|…)\s?[[(]?\+?\d[\d,._]{0,15}\s?(?:more |other |remaining )?(?:chars?|characters|bytes|tokens)\b(?: (?:more|omitted|truncated|left))?[\])]?\s*$/i,
  /(?:\.\.\.|…|[-*=]{2,3} ?)truncated(?: ?[-*=]{2,3})?\s*$/i,
];
/** Longer markers do not occur. */
const markerCharsMax = 200;

/** Words of a marker; most texts have none. */
const MARKS = /truncated|chars?\b|characters|bytes|tokens/i;

/** True when the text states that its end is missing, or is JSON that breaks off in its middle. */
export function isCutShort(text: string): boolean {
  const end = text.slice(-markerCharsMax);
  return MARKS.test(end) && MARKERS.some((marker) => marker.test(end)) ? true : isCutContainer(text);
}

const dots = '...';

/** JSON, or a value in Python notation, that breaks off in its middle. A text in words never is one. A short one was broken by its model. */
export function isCutContainer(text: string): boolean {
  return text.length >= limitMin && isUnfinished(text);
}

/** The bracket of a container, and what may follow it there: `[INFO …` opens none. */
const OPENING = /^\s*(?:\{\s*(?:["']|$)|\[\s*(?:["'{[\d-]|true\b|false\b|null\b|True\b|False\b|None\b|$))/;

/** The same of any length, where no model writes the container. */
export function isUnfinished(text: string): boolean {
  if (!OPENING.test(text)) return false;
  // Some SDKs put an ellipsis behind the cut.
  const kept = text.endsWith(dots) ? text.slice(0, -dots.length) : text.endsWith('…') ? text.slice(0, -1) : text;
  return parseContainer(text) === undefined && isBeginning(kept);
}

/** The result of `isCutContainer` for the value under a key. Its first and last characters mostly answer, without decoding or parsing it. */
export function holdsCutContainer(from: Attributed, key: string): boolean {
  const text = from.writtenText?.(key);
  if (text !== undefined && isOther(text.bytes[text.start] ?? 0, text.bytes[text.end - 1] ?? 0, text.end - text.start)) return false;
  const value = from.attribute(key);
  if (typeof value !== 'string') return false;
  return !isOther(value.charCodeAt(0), value.charCodeAt(value.length - 1), value.length) && isUnfinished(value);
}

/** True when a text of this length with these ends is not a container, or is a whole one. */
function isOther(first: number, last: number, length: number): boolean {
  return length < limitMin || !mayOpen(first) || isClosed(first, last, length);
}

/** A text that begins with another byte or character holds no container, unless one outside ASCII is blank. */
function mayOpen(byte: number): boolean {
  return byte === 0x7b || byte === 0x5b || byte <= 0x20 || byte >= 0x80;
}

/** True when the last bracket of a text closes the first. Few limits fall behind such a bracket in the middle of a text. */
function isClosed(first: number, last: number, length: number): boolean {
  return ((first === 0x7b && last === 0x7d) || (first === 0x5b && last === 0x5d)) && !isLimit(length);
}

/** Lower limits do not occur. */
const limitMin = 100;

/** Lengths that people and SDKs set as limits: powers of two, one less, and multiples of 250 and 1024. */
function isLimit(length: number): boolean {
  return length % 250 === 0 || length % 1024 === 0 || (length & (length - 1)) === 0 || (length & (length + 1)) === 0;
}

interface Opening {
  /** Brackets that are open here, innermost last, as the ones that close them. */
  readonly closing: string;
  /** Up to here the text is whole. */
  readonly end: number;
}

/** Brackets nested deeper than this are not data. */
const depthMax = 128;

/** The text ends inside a bracket, and closing what is open behind its last whole part makes a value of it. */
function isBeginning(text: string): boolean {
  const last = lastOpening(text);
  return last !== undefined && parseContainer(text.slice(0, last.end) + last.closing) !== undefined;
}

function lastOpening(text: string): Opening | undefined {
  let closing = '';
  let found: Opening | undefined;
  for (let at = 0; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '"' || char === "'") at = quotedEnd(text, at, char);
    else if (char === '{' || char === '[') {
      if (closing.length >= depthMax) return undefined;
      closing = (char === '{' ? '}' : ']') + closing;
      found = { closing, end: at + 1 };
    } else if (char === '}' || char === ']') {
      if (!closing.startsWith(char)) return undefined;
      closing = closing.slice(1);
    } else if (char === ',') found = { closing, end: at };
  }
  return closing === '' ? undefined : found;
}

/** The place of the quote that closes, or the end of the text. */
function quotedEnd(text: string, open: number, quote: string): number {
  for (let at = open + 1; at < text.length; at++) {
    const char = text.charAt(at);
    if (char === '\\') at++;
    else if (char === quote) return at;
  }
  return text.length;
}
