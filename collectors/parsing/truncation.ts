/** Values that an SDK or a length limit cut short on their way to us. What is left of one must not be judged as if it were whole. */
import { isAscii } from 'node:buffer';
import type { Attributed, WrittenBytes } from '../../src/model/span.ts';
import { parseContainer } from './parsing.ts';

/** The end of a text that says itself that it is not whole: `...[truncated]`, `<truncated due to …>`, `[TRUNCATED - … limit]`. */
const MARKER = /(?:\[(?:[^[\]<>\n]{0,40}[^\w[\]<>\n])?truncated\b[^[\]<>\n]{0,80}\]|<truncated\b[^[\]<>\n]{0,80}>)\s*$/i;
/** Longer markers are nobody's. */
const markerCharsMax = 200;

/** True: the text says that its end is missing, or it is JSON that breaks off in its middle exactly where a limit would cut it. */
export function isCutShort(text: string): boolean {
  return endsInBracket(text) && MARKER.test(text.slice(-markerCharsMax)) ? true : isCutContainer(text);
}

/** As a marker does; most texts do not. */
function endsInBracket(text: string): boolean {
  const end = text.trimEnd();
  return end.endsWith(']') || end.endsWith('>');
}

const dots = '...';

/** JSON, or a value in Python notation, that breaks off in its middle at the length of a limit. A text in words never is one. */
export function isCutContainer(text: string): boolean {
  const first = text.trimStart()[0];
  if (first !== '{' && first !== '[') return false;
  // Some SDKs put an ellipsis behind the cut.
  const kept = text.endsWith(dots) ? text.slice(0, -dots.length) : text.endsWith('…') ? text.slice(0, -1) : text;
  return hasLimitLength(kept) && parseContainer(text) === undefined && isBeginning(kept);
}

/** As `isCutContainer` of the value under a key. Where it lies in a body, its first byte and its length mostly answer, without decoding it. */
export function holdsCutContainer(from: Attributed, key: string): boolean {
  const text = from.writtenText?.(key);
  if (text !== undefined && (!mayOpen(text.bytes[text.start] ?? 0) || hasOtherLength(text))) return false;
  const value = from.attribute(key);
  return typeof value === 'string' && isCutContainer(value);
}

/** A text that begins with another byte holds no container, unless a character outside ASCII is blank. */
function mayOpen(byte: number): boolean {
  return byte === 0x7b || byte === 0x5b || byte <= 0x20 || byte >= 0x80;
}

/** Whether no limit cuts a text there. In ASCII, all counts of a text are its bytes, and otherwise they are smaller. */
function hasOtherLength({ bytes, start, end }: WrittenBytes): boolean {
  const length = end - start;
  if (length < limitMin) return true;
  return !isLimit(length) && !isLimit(length - dots.length) && isAscii(bytes.subarray(start, end));
}

/** SDKs count UTF-16 units, characters or bytes. */
function hasLimitLength(text: string): boolean {
  const bytes = Buffer.byteLength(text);
  if (isLimit(text.length)) return true;
  // As many bytes as units: all of it is ASCII.
  return bytes !== text.length && (isLimit(bytes) || (/[\ud800-\udbff]/.test(text) && isLimit([...text].length)));
}

/** Nobody sets a lower limit. */
const limitMin = 100;

/** Lengths that people and SDKs set as limits: powers of two, one less, and multiples of 250 and 1024. */
function isLimit(length: number): boolean {
  if (length < limitMin) return false;
  return length % 250 === 0 || length % 1024 === 0 || (length & (length - 1)) === 0 || (length & (length + 1)) === 0;
}

interface Opening {
  /** Brackets that are open here, innermost last, as the ones that close them. */
  readonly closing: string;
  /** Up to here the text is whole. */
  readonly end: number;
}

/** Brackets nested deeper than this are no data. */
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
