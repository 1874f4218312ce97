/** A JSON body as plain data, within limits, with every integer exact: first all that stands around its items, then each item by itself. */
import type { JsonObject, JsonValue } from '../../model/json.ts';
import { isJsonObject } from '../../model/json.ts';
import { outlineOf, type OutlinedItem, type Replacement } from './json-prescan.ts';
import type { OtlpLimits } from './limits.ts';
import { malformed } from './protobuf.ts';
import type { Fault } from './decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { utf8Text } from './utf8.ts';

export interface JsonBody {
  /** Lists of items in it hold stand-ins, to be given to `itemsOf`. */
  readonly envelope: JsonObject;
  /** Numbers of the items that stand in a list; undefined for what is no object. */
  itemsOf(list: readonly JsonValue[]): Iterable<number | undefined>;
  item(number: number): ParsedItem;
}

/** A fault: it was not even parsed. */
export type ParsedItem = { readonly bytes: number } & ({ readonly value: JsonObject } | { readonly fault: Fault });

/**
 * An item is parsed when it is asked for: nothing that a request holds is parsed in one go but its envelope. Integers of so many digits that
 * a double may not hold them become texts, which every number of OTLP/JSON may be written as: a reviver that keeps them exact takes ten
 * times as long as the parse.
 */
export function* parseBody(body: Buffer, itemsMax: number, limits: OtlpLimits): Steps<JsonBody> {
  const start = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? 3 : 0;
  const { items, replacements } = yield* outlineOf(body, { start, itemsMax, limits });
  const envelope = parse(textOf(body, { start, end: body.length, replacements }));
  if (!isJsonObject(envelope)) throw malformed('The JSON body is not an object.');
  return { envelope, itemsOf, item: (number) => parsedItem(body, items[number]) };
}

function* itemsOf(list: readonly JsonValue[]): Iterable<number | undefined> {
  for (const standIn of list) {
    // Every object of such a list was replaced by the members here, so nobody but the outline can have written them.
    const { first, count } = isJsonObject(standIn) ? standIn : {};
    if (typeof first !== 'number' || typeof count !== 'number') yield undefined;
    else for (let at = 0; at < count; at++) yield first + at;
  }
}

function parsedItem(body: Buffer, item: OutlinedItem | undefined): ParsedItem {
  if (item === undefined) throw malformed('The JSON body names its items twice.');
  const bytes = item.end - item.start;
  if (item.fault !== undefined) return { bytes, fault: item.fault };
  const value = parse(textOf(body, item));
  if (!isJsonObject(value)) throw malformed('The body is not JSON.');
  return { bytes, value };
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
