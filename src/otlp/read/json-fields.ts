/**
 * Fields of OTLP/JSON objects. Both spellings of a name are read (`traceId`, `trace_id`), null counts as absent, unknown names are
 * ignored. A field of a wrong type is a fault of the item at hand.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { malformed } from './protobuf.ts';
import { note, type Scan } from './decode-state.ts';

/** The value under the first name that is present and not null. */
export function field(object: JsonObject, ...names: readonly string[]): JsonValue | undefined {
  for (const name of names) {
    const value = member(object, name);
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** A list of objects of the envelope. Anything else there means that the body is not an OTLP request. */
export function blocks(object: JsonObject, ...names: readonly string[]): readonly JsonObject[] {
  const value = list(object, ...names);
  if (!value.every(isJsonObject)) throw malformed(`${names[0]} is not a list of objects.`);
  return value;
}

/** A list of the envelope, likewise. */
export function list(object: JsonObject, ...names: readonly string[]): readonly JsonValue[] {
  const value = field(object, ...names) ?? [];
  if (!isJsonArray(value)) throw malformed(`${names[0]} is not a list.`);
  return value;
}

/** A list of objects inside an item. */
export function objects(scan: Scan, object: JsonObject, ...names: readonly string[]): readonly JsonObject[] {
  const value = field(object, ...names) ?? [];
  if (isJsonArray(value) && value.every(isJsonObject)) return value;
  wrongType(scan, names, 'a list of objects');
  return [];
}

export function object(scan: Scan, from: JsonObject, ...names: readonly string[]): JsonObject | undefined {
  const value = field(from, ...names);
  if (value === undefined || isJsonObject(value)) return value;
  wrongType(scan, names, 'an object');
  return undefined;
}

export function text(scan: Scan, from: JsonObject, ...names: readonly string[]): string {
  const value = field(from, ...names) ?? '';
  if (typeof value === 'string') {
    scan.bytes += value.length;
    return value.toWellFormed();
  }
  wrongType(scan, names, 'a text');
  return '';
}

/** Nanoseconds since the epoch, as a number or as text. */
export function time(scan: Scan, from: JsonObject, ...names: readonly string[]): bigint {
  const value = field(from, ...names) ?? 0;
  const nanos = integer(value);
  if (nanos !== undefined && nanos >= 0n && nanos < 2n ** 64n) return nanos;
  note(scan, 'invalid_time', `${names[0]} is not a count of nanoseconds since 1970`);
  return 0n;
}

/** An enumeration: its number, or its name, which the specification forbids and some exporters write all the same. */
export function enumeration(scan: Scan, from: JsonObject, prefix: string, values: readonly string[], name: string): number {
  const value = field(from, name) ?? 0;
  if (typeof value === 'number') return value;
  if (typeof value === 'string' && value.startsWith(prefix)) return Math.max(0, values.indexOf(value.slice(prefix.length)));
  wrongType(scan, [name], 'a number');
  return 0;
}

export function uint32(scan: Scan, from: JsonObject, name: string): number {
  const value = integer(field(from, name) ?? 0);
  if (value !== undefined && value >= 0n && value < 2n ** 32n) return Number(value);
  wrongType(scan, [name], 'an unsigned number of 32 bits');
  return 0;
}

/** The integer that a JSON number or text holds, if it is one. Long ones are always texts: see `parseBody`. */
export function integer(value: JsonValue): bigint | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined;
  return typeof value === 'string' && INTEGER.test(value) ? BigInt(value) : undefined;
}

/** 64 bits have at most 20 digits. */
const INTEGER = /^-?\d{1,20}$/;

function wrongType(scan: Scan, names: readonly string[], wanted: string): void {
  note(scan, 'invalid_field', `${names[0]} is not ${wanted}`);
}
