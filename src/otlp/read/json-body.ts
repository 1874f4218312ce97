/** A JSON body as plain data, within limits, with every integer exact: first all that stands around its items, then each item by itself. */
import { type JsonObject, type JsonValue, isJsonObject } from '../../model/json.ts';
import type { OtlpLimits } from './limits.ts';
import { malformed } from './protobuf.ts';
import { type Fault, stepBytes } from './decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { utf8Text } from './utf8.ts';

interface JsonBody {
  /** Lists of items in it hold stand-ins, to be given to `itemsOf`. */
  readonly envelope: JsonObject;
  /** Numbers of the items in a list; `undefined` for values that are not objects. */
  itemsOf(list: readonly JsonValue[]): Iterable<number | undefined>;
  item(number: number): ParsedItem;
}

/** A fault: it was not even parsed. */
export type ParsedItem = { readonly bytes: number } & ({ readonly value: JsonObject } | { readonly fault: Fault });

/**
 * An item is parsed when it is asked for: only the envelope of a request is parsed in one go. Integers with more digits than a double holds become
 * texts, which every number of OTLP/JSON may be written as: a reviver that keeps them exact takes ten times as long as the parse.
 */
export function* parseBody(body: Buffer, itemsMax: number, limits: OtlpLimits): Steps<JsonBody> {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  const { items, replacements } = yield* outlineOf(body, { start, itemsMax, limits });
  const envelope = parse(textOf(body, { start, end: body.length, replacements }));
  if (!isJsonObject(envelope)) throw malformed('The JSON body is not an object.');
  return { envelope, itemsOf, item: (number) => parsedItem(body, items[number]) };
}

/** The unparsed items of a body. */
export interface JsonItems {
  /** Items with nothing but commas between them. */
  readonly runs: readonly { readonly start: number; readonly end: number; readonly items: readonly JsonItem[] }[];
  /** True when each run is the whole of its list, so that a list stays valid with fewer items. */
  readonly areWholeLists: boolean;
}

export interface JsonItem {
  readonly start: number;
  readonly end: number;
  /** `undefined` when it is not parsed because it exceeds a limit. Throws OTLP_MALFORMED. */
  value(): JsonObject | undefined;
}

/** Throws OTLP_MALFORMED when a limit of the body as a whole is exceeded. */
export function* itemsInBody(body: Buffer, itemsMax: number, limits: OtlpLimits): Steps<JsonItems> {
  const { items, replacements } = yield* outlineOf(body, { start: 0, itemsMax: Infinity, limits });
  const runs = replacements.flatMap(({ start, end, items: own }) => {
    if (own === undefined) return [];
    const inRun = items.slice(own.first, own.first + own.count).map((item, at) => ({
      start: item.start,
      end: item.end,
      value: () => (own.first + at < itemsMax && item.fault === undefined ? objectOf(body, item) : undefined),
    }));
    return [{ start, end, items: inRun }];
  });
  return { runs, areWholeLists: runs.every(({ start, end }) => isWholeList(body, start, end)) };
}

function isWholeList(body: Buffer, start: number, end: number): boolean {
  return (
    /\[[ \t\r\n]*$/.test(body.toString('latin1', Math.max(0, start - blanksMax), start)) &&
    /^[ \t\r\n]*\]/.test(body.toString('latin1', end, end + blanksMax))
  );
}

function objectOf(body: Buffer, item: OutlinedItem): JsonObject {
  const value = parse(textOf(body, item));
  if (!isJsonObject(value)) throw malformed('The body is not JSON.');
  return value;
}

function* itemsOf(list: readonly JsonValue[]): Iterable<number | undefined> {
  for (const standIn of list) {
    // The members here replaced every object of such a list, so only the outline can have written them.
    const { first, count } = isJsonObject(standIn) ? standIn : {};
    if (typeof first !== 'number' || typeof count !== 'number') yield undefined;
    else for (let at = 0; at < count; at++) yield first + at;
  }
}

function parsedItem(body: Buffer, item: OutlinedItem | undefined): ParsedItem {
  if (item === undefined) throw malformed('The JSON body names its items twice.');
  const bytes = item.end - item.start;
  if (item.fault !== undefined) return { bytes, fault: item.fault };
  return { bytes, value: objectOf(body, item) };
}

function parse(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    throw malformed('The body is not JSON.');
  }
}

/** A part of the body with its replacements made. */
function textOf(
  body: Buffer,
  { start, end, replacements }: { readonly start: number; readonly end: number; readonly replacements: readonly Replacement[] | undefined },
): string {
  if (replacements === undefined) return utf8Text(body, start, end);
  const parts: string[] = [];
  let from = start;
  for (const { start: at, end: behind, items } of replacements) {
    parts.push(utf8Text(body, from, at), items === undefined ? `"${body.toString('latin1', at, behind)}"` : JSON.stringify(items));
    from = behind;
  }
  parts.push(utf8Text(body, from, end));
  return parts.join('');
}

/**
 * A walk over the bytes of a JSON body, before it is parsed, that finds its depth, the number of its values, and the places of its items and
 * of its long integers. The parse decides whether it is JSON at all.
 *
 *     { resource blocks [ { scope blocks [ { items [ {
 */

/** A part of the body that is replaced before parsing: an integer, or items with nothing but commas between them. */
interface Replacement {
  readonly start: number;
  end: number;
  readonly items: { readonly first: number; count: number } | undefined;
}

interface OutlinedItem {
  readonly start: number;
  end: number;
  /** Long integers in it. */
  replacements: Replacement[] | undefined;
  /** It may not be parsed. */
  fault: Fault | undefined;
}

interface Outline {
  /** Objects in the places of items, up to the limit. Some may be under a name that no reader uses; those are never parsed. */
  readonly items: readonly OutlinedItem[];
  /** Items, and long integers outside of them. */
  readonly replacements: readonly Replacement[];
}

interface Walk {
  readonly body: Buffer;
  readonly limits: OtlpLimits;
  at: number;
  depth: number;
  /** The brackets around this place, from the outermost on, that are those around an item. */
  aligned: number;
  isInText: boolean;
  /** Limit of the values that are parsed. */
  valuesLeft: number;
  envelopeValuesLeft: number;
  itemValues: number;
  /** The item that is open. */
  item: OutlinedItem | undefined;
  itemsSeen: number;
  readonly itemsMax: number;
  readonly items: OutlinedItem[];
  readonly replacements: Replacement[];
}

/** Objects and lists in turn; the item itself is the last. */
const itemDepth = 7;

function* outlineOf(
  body: Buffer,
  { start, itemsMax, limits }: { readonly start: number; readonly itemsMax: number; readonly limits: OtlpLimits },
): Steps<Outline> {
  const walk: Walk = {
    body,
    limits,
    at: start,
    depth: 0,
    aligned: 0,
    isInText: false,
    valuesLeft: limits.jsonValues,
    envelopeValuesLeft: limits.jsonEnvelopeValues,
    itemValues: 0,
    item: undefined,
    itemsSeen: 0,
    itemsMax,
    items: [],
    replacements: [],
  };
  while (walk.at < body.length) {
    walkTo(walk, Math.min(body.length, walk.at + stepBytes));
    if (walk.at < body.length) yield;
  }
  return walk;
}

/** Goes on to a place in the body, or a little behind it. */
function walkTo(walk: Walk, end: number): void {
  const { body } = walk;
  while (walk.at < end) {
    const byte = body[walk.at] ?? 0;
    if (walk.isInText || byte === quote) {
      walk.isInText = true;
      leaveText(walk, end);
      continue;
    }
    if (byte === openBrace || byte === openBracket) open(walk, byte);
    else if (byte === closeBrace || byte === closeBracket) close(walk);
    else if (byte === comma) countValue(walk);
    else if (byte === minus || (byte >= digit0 && byte <= digit9)) {
      passNumber(walk);
      continue;
    }
    walk.at++;
  }
}

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

function open(walk: Walk, byte: number): void {
  walk.depth++;
  if (walk.aligned === walk.depth - 1 && walk.depth <= itemDepth && byte === (walk.depth % 2 === 1 ? openBrace : openBracket))
    walk.aligned++;
  if (walk.depth === itemDepth && walk.aligned === itemDepth) {
    walk.item = { start: walk.at, end: walk.at, replacements: undefined, fault: undefined };
    walk.itemValues = 0;
  }
  countValue(walk);
  if (walk.depth <= walk.limits.jsonNesting) return;
  const detail = `nested deeper than ${walk.limits.jsonNesting}`;
  if (walk.item === undefined) throw malformed(`The JSON body is ${detail}.`);
  walk.item.fault ??= { reason: 'nesting_too_deep', detail };
}

function close(walk: Walk): void {
  const { item } = walk;
  if (walk.depth === itemDepth && item !== undefined) endItem(walk, item);
  walk.depth--;
  walk.aligned = Math.min(walk.aligned, Math.max(0, walk.depth));
}

function endItem(walk: Walk, item: OutlinedItem): void {
  const { bytesPerSpan } = walk.limits;
  item.end = walk.at + 1;
  walk.item = undefined;
  if (item.fault === undefined) walk.valuesLeft -= walk.itemValues;
  if (item.end - item.start > bytesPerSpan) item.fault ??= { reason: 'too_large', detail: `more than ${bytesPerSpan} bytes` };
  const last = walk.replacements.at(-1);
  if (last?.items !== undefined && isComma(walk.body, last.end, item.start)) {
    last.end = item.end;
    last.items.count++;
  } else walk.replacements.push({ start: item.start, end: item.end, items: { first: walk.itemsSeen, count: 1 } });
  walk.itemsSeen++;
  if (walk.items.length < walk.itemsMax) walk.items.push(item);
}

/** True for one comma, with or without blanks; it may be counted on to be valid between two items. */
function isComma(body: Buffer, start: number, end: number): boolean {
  if (end - start === 1) return body[start] === comma;
  return end - start <= blanksMax && /^[ \t\r\n]*,[ \t\r\n]*$/.test(body.toString('latin1', start, end));
}

/** Blanks of indented text in a row. */
const blanksMax = 100;

/** An item with too many values is left out by itself; too many around items refuse the body. */
function countValue(walk: Walk): void {
  const { item, limits } = walk;
  if (item === undefined) {
    if (--walk.envelopeValuesLeft < 0) throw malformed(`The JSON body has more than ${limits.jsonEnvelopeValues} values around its items.`);
  } else if (++walk.itemValues > limits.valuesPerSpan)
    item.fault ??= { reason: 'too_many_items', detail: `more than ${limits.valuesPerSpan} values` };
  else if (walk.itemValues > walk.valuesLeft)
    item.fault ??= { reason: 'too_many_items', detail: `more than ${limits.jsonValues} values in one request` };
}

/** Behind the closing quote, or to `end`. */
function leaveText(walk: Walk, end: number): void {
  const { body } = walk;
  while (walk.at < end) {
    // The walk is at the opening quote, or at one that is part of the text.
    const at = body.indexOf(quote, walk.at + 1);
    if (at < 0) {
      walk.at = body.length;
      return;
    }
    walk.at = at;
    let backslashes = 0;
    while (body[at - 1 - backslashes] === backslash) backslashes++;
    if (backslashes % 2 === 0) {
      walk.isInText = false;
      walk.at++;
      return;
    }
  }
}

function passNumber(walk: Walk): void {
  const start = walk.at;
  const end = numberEnd(walk.body, start);
  walk.at = end;
  if (end - start >= longDigits && isInteger(walk.body, start, end)) {
    const { item } = walk;
    const replacements = item === undefined ? walk.replacements : (item.replacements ??= []);
    replacements.push({ start, end, items: undefined });
  }
}

/** Below 16 digits every integer is exact in a double. */
const longDigits = 16;

/** The end of the bytes that a number may have. The parse decides whether they are one. */
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
