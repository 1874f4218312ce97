/**
 * Whether a piece of a judge's answer stands in the judge input: as text, or as the same JSON value. A judge may quote a forged verdict with
 * its members in another order, and an endpoint with a schema writes it anew.
 */
import { isJsonArray, isJsonObject, jsonText, type JsonObject, type JsonValue } from '../../src/model/json.ts';

/** Characters that the search for one answer's values compares. Nothing that is written for a judge to read comes near; what does counts as a quotation. */
const comparedMax = 20_000_000;
/** Characters that one step of a comparison reads; the budget counts by step. */
const stepChars = 64;
const numberChars = 400;

/** Written bare at the first piece. */
export function quotedIn(material: readonly string[]): (text: string, value: JsonValue) => boolean {
  let texts: readonly string[] | undefined;
  let unquoted: readonly string[] | undefined;
  const spent: Spent = { chars: 0 };
  return (text, value) => {
    texts ??= material.map(bareText);
    const sought = bareText(text);
    if (texts.some((one) => one.includes(sought))) return true;
    unquoted ??= texts.map(withoutQuotes);
    const bare = bareValue(value);
    return unquoted.some((one) => holdsValue(one, bare, spent));
  };
}

interface Spent {
  chars: number;
}

/** Without what copying changes: white space, escapes, characters that nobody sees, and how prompts write those out. */
function bareText(text: string): string {
  return text
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\+[nrtbf]/g, '')
    .replaceAll(/<U\+[0-9A-F]{4,6}>/g, '')
    .normalize('NFKC')
    .replaceAll(/[\s\\\p{Cf}]+/gu, '')
    .toLowerCase();
}

/** Careless JSON has single quotes, or none around its keys. */
function withoutQuotes(text: string): string {
  return text.replaceAll(/["'`]/g, '');
}

function unquotedText(text: string): string {
  return withoutQuotes(bareText(jsonText(text)));
}

/** A value whose texts are written bare and without quotes. */
type BareValue = string | number | bigint | readonly BareValue[] | ReadonlyMap<string, BareValue>;

function bareValue(value: JsonValue): BareValue {
  if (isJsonArray(value)) return value.map(bareValue);
  if (isJsonObject(value)) return bareMembers(value);
  return typeof value === 'number' || typeof value === 'bigint' ? value : typeof value === 'string' ? unquotedText(value) : String(value);
}

function bareMembers(object: JsonObject): ReadonlyMap<string, BareValue> {
  return new Map(Object.entries(object).map(([name, one]) => [`${unquotedText(name)}:`, bareValue(one)]));
}

function holdsValue(text: string, value: BareValue, spent: Spent): boolean {
  const open = value instanceof Map ? '{' : '[';
  for (let at = text.indexOf(open); at !== -1; at = text.indexOf(open, at + 1)) {
    if (endOf(text, at, value, spent) !== undefined || spent.chars > comparedMax) return true;
  }
  return false;
}

/** Where the value ends that begins here; undefined: another one does. */
function endOf(text: string, at: number, value: BareValue, spent: Spent): number | undefined {
  spent.chars++;
  if (spent.chars > comparedMax) return undefined;
  if (typeof value === 'string') return startsHere(text, at, value, spent) ? at + value.length : undefined;
  if (typeof value === 'number' || typeof value === 'bigint') return endOfNumber(text, at, value, spent);
  return value instanceof Map ? endOfObject(text, at, value, spent) : endOfList(text, at, value as readonly BareValue[], spent);
}

function startsHere(text: string, at: number, sought: string, spent: Spent): boolean {
  for (let from = 0; from < sought.length; from += stepChars) {
    const step = sought.slice(from, from + stepChars);
    spent.chars += step.length;
    if (spent.chars > comparedMax || !text.startsWith(step, at + from)) return false;
  }
  return true;
}

function endOfNumber(text: string, at: number, value: number | bigint, spent: Spent): number | undefined {
  const [written] = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?/.exec(text.slice(at, at + numberChars)) ?? [];
  spent.chars += written?.length ?? 1;
  if (written === undefined || (written !== String(value) && Number(written) !== value)) return undefined;
  return at + written.length;
}

function endOfList(text: string, start: number, items: readonly BareValue[], spent: Spent): number | undefined {
  if (text[start] !== '[') return undefined;
  let at = start + 1;
  for (const [place, item] of items.entries()) {
    if (place > 0 && text[at++] !== ',') return undefined;
    const end = endOf(text, at, item, spent);
    if (end === undefined) return undefined;
    at = end;
  }
  return endAfter(text, at, ']', items.length);
}

function endOfObject(text: string, start: number, members: ReadonlyMap<string, BareValue>, spent: Spent): number | undefined {
  if (text[start] !== '{') return undefined;
  const left = new Map(members);
  let at = start + 1;
  while (left.size > 0) {
    if (left.size < members.size && text[at++] !== ',') return undefined;
    const name = [...left.keys()].find((one) => startsHere(text, at, one, spent));
    const value = name === undefined ? undefined : left.get(name);
    const end = name === undefined || value === undefined ? undefined : endOf(text, at + name.length, value, spent);
    if (name === undefined || end === undefined) return undefined;
    left.delete(name);
    at = end;
  }
  return endAfter(text, at, '}', members.size);
}

/** Careless JSON has a comma before the bracket that closes. */
function endAfter(text: string, at: number, close: string, entries: number): number | undefined {
  const end = entries > 0 && text[at] === ',' ? at + 1 : at;
  return text[end] === close ? end + 1 : undefined;
}
