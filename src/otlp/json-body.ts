/** A JSON body as plain data, within limits, with every integer exact. */
import type { JsonObject, JsonValue } from '../model/json.ts';
import { isJsonObject } from '../model/json.ts';
import type { OtlpLimits } from './limits.ts';
import { malformed } from './protobuf.ts';

/**
 * The object that the body holds. Nesting is counted before parsing. Integers of so many digits that a double may not hold them become
 * texts, which every number of OTLP/JSON may be written as: a reviver that keeps them exact takes ten times as long as the parse.
 */
export function parseBody(body: Buffer, limits: OtlpLimits): JsonObject {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  const longIntegers = measure(body, start, limits);
  const value = parse(longIntegers.length === 0 ? body.toString('utf8', start) : quoted(body, start, longIntegers));
  if (!isJsonObject(value)) throw malformed('The JSON body is not an object.');
  return value;
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw malformed('The body is not JSON.');
  }
}

/** Refuses bodies beyond the limits. Gives where long integers outside texts start and end: start, end, start, end, … */
function measure(body: Buffer, start: number, limits: OtlpLimits): readonly number[] {
  const longIntegers: number[] = [];
  let depth = 0;
  let values = 0;
  for (let at = start; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (byte === quote) at = textEnd(body, at);
    else if (byte === openBrace || byte === openBracket) {
      values++;
      if (++depth > limits.jsonNesting) throw malformed(`The JSON body is nested deeper than ${limits.jsonNesting}.`);
    } else if (byte === closeBrace || byte === closeBracket) depth--;
    else if (byte === comma) values++;
    else if (byte === minus || (byte >= digit0 && byte <= digit9)) {
      const end = numberEnd(body, at);
      if (end - at >= longDigits && isInteger(body, at, end)) longIntegers.push(at, end);
      at = end - 1;
    }
    if (values > limits.jsonValues) throw malformed(`The JSON body has more than ${limits.jsonValues} values.`);
  }
  return longIntegers;
}

/** Below 16 digits every integer is exact in a double. */
const longDigits = 16;
const quote = 0x22;
const comma = 0x2c;
const minus = 0x2d;
const dot = 0x2e;
const digit0 = 0x30;
const digit1 = 0x31;
const digit9 = 0x39;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

/** The closing quote of the text that opens at `open`, or the end of the body. */
function textEnd(body: Buffer, open: number): number {
  for (let at = body.indexOf(quote, open + 1); at >= 0; at = body.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (body[at - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return body.length;
}

/** Behind the last byte that a number may have. Whether it is one, the parse decides. */
function numberEnd(body: Buffer, start: number): number {
  let at = start + 1;
  while (at < body.length && isNumberByte(body[at] ?? 0)) at++;
  return at;
}

function isNumberByte(byte: number): boolean {
  return (byte >= digit0 && byte <= digit9) || byte === dot || byte === minus || byte === 0x2b || byte === 0x45 || byte === 0x65;
}

/** As JSON writes one: a minus or a digit other than 0, then digits only. */
function isInteger(body: Buffer, start: number, end: number): boolean {
  const first = body[start] === minus ? start + 1 : start;
  if ((body[first] ?? 0) < digit1) return false;
  for (let at = first; at < end; at++) {
    const byte = body[at] ?? 0;
    if (byte < digit0 || byte > digit9) return false;
  }
  return true;
}

/** The text of the body with quotes around the ranges given. */
function quoted(body: Buffer, start: number, ranges: readonly number[]): string {
  const copy = Buffer.allocUnsafe(body.length - start + ranges.length);
  let from = start;
  let to = 0;
  for (const place of ranges) {
    to += body.copy(copy, to, from, place);
    copy[to++] = quote;
    from = place;
  }
  to += body.copy(copy, to, from);
  return copy.toString('utf8', 0, to);
}
