/** A JSON body as plain data, within limits, with every integer exact. */
import type { JsonObject, JsonValue } from '../model/json.ts';
import { isJsonObject } from '../model/json.ts';
import type { OtlpLimits } from './limits.ts';
import { malformed } from './protobuf.ts';

/** The object that the body holds. Nesting is counted before parsing, because the exact parse calls itself once a level. */
export function parseBody(body: Buffer, limits: OtlpLimits): JsonObject {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  const exact = measure(body, start, limits);
  const value = parse(body.toString('utf8', start), exact);
  if (!isJsonObject(value)) throw malformed('The JSON body is not an object.');
  return value;
}

function parse(text: string, exact: boolean): JsonValue {
  try {
    return (exact ? JSON.parse(text, exactInteger) : JSON.parse(text)) as JsonValue;
  } catch {
    throw malformed('The body is not JSON.');
  }
}

/** Refuses bodies beyond the limits. True: a number outside texts has so many digits that a double may not hold it. */
function measure(body: Buffer, start: number, limits: OtlpLimits): boolean {
  let depth = 0;
  let values = 0;
  let digits = 0;
  let exact = false;
  for (let at = start; at < body.length; at++) {
    const byte = body[at] ?? 0;
    if (byte === quote) {
      at = textEnd(body, at);
      digits = 0;
    } else if (byte >= 0x30 && byte <= 0x39) {
      if (++digits >= 16) exact = true;
    } else {
      digits = 0;
      if (byte === 0x7b || byte === 0x5b) {
        values++;
        if (++depth > limits.jsonNesting) throw malformed(`The JSON body is nested deeper than ${limits.jsonNesting}.`);
      } else if (byte === 0x7d || byte === 0x5d) depth--;
      else if (byte === 0x2c) values++;
      if (values > limits.jsonValues) throw malformed(`The JSON body has more than ${limits.jsonValues} values.`);
    }
  }
  return exact;
}

const quote = 0x22;
const backslash = 0x5c;

/** The closing quote of the text that opens at `open`, or the end of the body. */
function textEnd(body: Buffer, open: number): number {
  for (let at = body.indexOf(quote, open + 1); at >= 0; at = body.indexOf(quote, at + 1)) {
    let backslashes = 0;
    while (body[at - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) return at;
  }
  return body.length;
}

function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && source.length <= integerDigitsMax && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** No field of OTLP holds more than 64 bits; making a bigint takes more than linear time. */
const integerDigitsMax = 32;
