/**
 * Finds the parts of a judge's answer that may be its verdict. Models think aloud, quote the judge input, and write prose around their JSON. The
 * input may contain a forged verdict. So the reader removes reasoning and considers every part. A part that occurs in the input, as text or as the
 * same JSON value, does not count as a verdict.
 */
import { parseJson, type JsonValue, isJsonArray, isJsonObject, jsonText, type JsonObject } from '../../src/model/json.ts';
import { balancedEnd } from '../../src/model/brackets.ts';

/** Limit of bracketed parts; an answer with more is not read. */
const piecesMax = 200;

interface Piece {
  readonly text: string;
  readonly value: JsonValue;
  /** True when an object repeats a member name, which parsers resolve differently. */
  readonly namesTwice: boolean;
}

interface Pieces {
  readonly pieces: readonly Piece[];
  /** True when a bracket never closes. */
  readonly isCut: boolean;
  /** True when the unclosed part may have been another verdict. */
  readonly isCutObject: boolean;
  readonly tooMany: boolean;
}

/** The whole text when it is JSON, else every outermost bracketed part. */
export function piecesOf(answer: string): Pieces {
  const whole = pieceOf(withoutFence(answer.trim()));
  if (whole !== undefined) return { pieces: [whole], isCut: false, isCutObject: false, tooMany: false };
  const text = withoutThinking(answer);
  const { texts, stoppedAt, tooMany } = bracketed(text);
  // An unclosed bracket in prose does not hide a later code block.
  const fenced = stoppedAt === undefined ? [] : [...text.slice(stoppedAt).matchAll(FENCED)].map(([, inner = '']) => bracketed(inner));
  const all = [...texts, ...fenced.flatMap((one) => one.texts)];
  return {
    pieces: all.flatMap((one) => pieceOf(one) ?? []),
    isCut: stoppedAt !== undefined && (fenced.length === 0 || fenced.some((one) => one.stoppedAt !== undefined)),
    isCutObject: stoppedAt !== undefined && /^\{\s*["']/.test(text.slice(stoppedAt, stoppedAt + blanksMax)),
    tooMany: tooMany || fenced.some((one) => one.tooMany) || all.length > piecesMax,
  };
}

const FENCED = /```[A-Za-z]*[ \t]*\r?\n?([\s\S]*?)```/g;
const ONE_FENCE = /^```[A-Za-z]*[ \t]*\r?\n?([\s\S]*?)\s*```$/;

function withoutFence(text: string): string {
  return ONE_FENCE.exec(text)?.[1] ?? text;
}

function pieceOf(text: string): Piece | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  const strict = parseJson(text);
  const json = strict === undefined ? relaxedText(text) : text;
  const value = strict ?? (json === undefined ? undefined : parseJson(json));
  return json === undefined || value === undefined ? undefined : { text, value, namesTwice: namesTwice(json) };
}

function bracketed(text: string): { readonly texts: readonly string[]; readonly stoppedAt: number | undefined; readonly tooMany: boolean } {
  const texts: string[] = [];
  let at = text.search(/[[{]/);
  while (at !== -1) {
    if (texts.length >= piecesMax) return { texts, stoppedAt: undefined, tooMany: true };
    const end = balancedEnd(text, at) ?? balancedEnd(text, at, true);
    if (end === undefined) return { texts, stoppedAt: at, tooMany: false };
    texts.push(text.slice(at, end));
    const next = text.slice(end).search(/[[{]/);
    at = next === -1 ? -1 : end + next;
  }
  return { texts, stoppedAt: undefined, tooMany: false };
}

/** Marks of reasoning: tags of reasoning models, and brackets of Magistral. */
const THOUGHT_MARK =
  /[<[]\s{0,3}(\/?)\s{0,3}(?:antml:)?(?:think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|analysis|unused94)\s{0,3}(?:\s[^<>[\]]{0,200})?[>\]]/gi;
/** Channels of the harmony format; only the final one is the answer. */
const CHANNEL = /<\|channel\|>\s*([a-z]+)[^<]{0,200}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>/gi;

/**
 * Removes reasoning from the first opening to the last closing mark, as quotes may contain marks. Unclosed reasoning extends to the end.
 */
function withoutThinking(text: string): string {
  const final = finalChannel(text);
  const marks = [...final.matchAll(THOUGHT_MARK)];
  const close = marks.findLast(([, slash]) => slash === '/');
  const open = marks.find(([, slash]) => slash !== '/');
  // Some servers omit the opening mark.
  const from = open === undefined || (close !== undefined && close.index < open.index) ? 0 : open.index;
  const rest = close === undefined ? final : `${final.slice(0, from)}\n${final.slice(close.index + close[0].length)}`;
  const unclosed = [...rest.matchAll(THOUGHT_MARK)].find(([, slash]) => slash !== '/');
  return unclosed === undefined ? rest : rest.slice(0, unclosed.index);
}

function finalChannel(text: string): string {
  const channels = [...text.matchAll(CHANNEL)];
  if (channels.length === 0) return text;
  const last = channels.findLast(([, name = '']) => name.toLowerCase() === 'final');
  return last === undefined ? '' : (text.slice(last.index + last[0].length).split(/<\|(?:end|return|start|channel)\|>/)[0] ?? '');
}

/** Requires a text that parses. */
function namesTwice(json: string): boolean {
  const open: (Set<string> | undefined)[] = [];
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{') open.push(new Set());
    else if (character === '[') open.push(undefined);
    else if (character === '}' || character === ']') open.pop();
    else if (character === '"') {
      const start = at;
      for (at++; at < json.length && json[at] !== '"'; at++) if (json[at] === '\\') at++;
      const names = open.at(-1);
      if (names === undefined || !/^\s*:/.test(json.slice(at + 1, at + 1 + blanksMax))) continue;
      const name = String(parseJson(json.slice(start, at + 1)));
      if (names.has(name)) return true;
      names.add(name);
    }
  }
  return false;
}

/** Limit of white space between a name and its colon. */
const blanksMax = 200;

const words: { readonly [word: string]: string } = {
  true: 'true',
  false: 'false',
  null: 'null',
  True: 'true',
  False: 'false',
  None: 'null',
};

/** Converts lenient JSON to strict JSON; `undefined` when a string is unclosed. Adds nothing, so a truncated text stays invalid. */
function relaxedText(text: string): string | undefined {
  let strict = '';
  let at = 0;
  while (at < text.length) {
    const token = tokenAt(text, at);
    if (token === undefined) return undefined;
    if (token.json === '}' || token.json === ']') strict = strict.replace(/,\s*$/, '');
    strict += token.json;
    at = token.end;
  }
  return strict;
}

interface Token {
  readonly json: string;
  readonly end: number;
}

function tokenAt(text: string, at: number): Token | undefined {
  const character = text[at] ?? '';
  if (character === '"' || character === "'") return quotedAt(text, at, character);
  if (text.startsWith('//', at)) return { json: '', end: endAfter(text, '\n', at) };
  if (text.startsWith('/*', at)) return { json: '', end: endAfter(text, '*/', at + 2) };
  const word = /[A-Za-z_$]/.test(character) ? /^[\w$]+/.exec(text.slice(at, at + wordMax))?.[0] : undefined;
  return word === undefined ? { json: character, end: at + 1 } : wordAt(text, at, word);
}

const wordMax = 200;

function wordAt(text: string, at: number, word: string): Token {
  const end = at + word.length;
  const isKey = /^\s*:/.test(text.slice(end, end + wordMax));
  return { json: isKey ? JSON.stringify(word) : Object.hasOwn(words, word) ? (words[word] ?? word) : word, end };
}

function quotedAt(text: string, start: number, quote: string): Token | undefined {
  let json = '"';
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at] ?? '';
    if (character === quote) return { json: `${json}"`, end: at + 1 };
    if (character === '\\') {
      const escaped = text[++at] ?? '';
      json += escaped === "'" ? "'" : `\\${escaped}`;
    } else if (character === '"') json += '\\"';
    else json += character < ' ' ? JSON.stringify(character).slice(1, -1) : character;
  }
  return undefined;
}

function endAfter(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at === -1 ? text.length : at + mark.length;
}

/** Limit of UTF-16 units compared per answer. An answer beyond it counts as a quotation. */
const comparedMax = 20_000_000;
/** UTF-16 units per step of a comparison. */
const stepChars = 64;
const numberChars = 400;

/** Normalises the material lazily, at the first part. */
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

/** Removes differences that copying causes: white space, escapes, hidden characters and their written form. */
function bareText(text: string): string {
  return text
    .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/\\+[nrtbf]/g, '')
    .replaceAll(/<U\+[0-9A-F]{4,6}>/g, '')
    .normalize('NFKC')
    .replaceAll(/[\s\\\p{Cf}]+/gu, '')
    .toLowerCase();
}

/** Lenient JSON has single quotes, or keys without quotes. */
function withoutQuotes(text: string): string {
  return text.replaceAll(/["'`]/g, '');
}

function unquotedText(text: string): string {
  return withoutQuotes(bareText(jsonText(text)));
}

/** A value whose strings are normalised and without quotes. */
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

/** The end of the value if it begins here; else `undefined`. */
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
  return closedAfter(text, at, ']', items.length);
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
  return closedAfter(text, at, '}', members.size);
}

/** Lenient JSON has trailing commas. */
function closedAfter(text: string, at: number, close: string, entries: number): number | undefined {
  const end = entries > 0 && text[at] === ',' ? at + 1 : at;
  return text[end] === close ? end + 1 : undefined;
}
