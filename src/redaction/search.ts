/** Searches texts and JSON values by rules, and replaces the matches. No rule matches the result. */
import { isJsonArray, isJsonObject, jsonDepthMax, type JsonObject, jsonText, type JsonValue, parseJsonContainer } from '../model/json.ts';

/** A range of a text in UTF-16 units; `end` is exclusive. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export interface RedactionRule {
  /** Name in metrics; it does not reveal the pattern. */
  readonly name: string;
  readonly replacement: string;
  /**
   * The matches in a text, from left to right, not empty and not overlapping. The rule calls `spend` before each search, and returns
   * `undefined` when that returns false.
   */
  readonly parts: (text: string, spend: Spend) => readonly Part[] | undefined;
}

/** Counts searched UTF-16 units. False when the limit is reached. */
export type Spend = (chars: number) => boolean;

/** Replaces a text that was not searched to the end. */
export const notSearched = '[not searched]';
/** Name in metrics. */
const notSearchedName = 'not_searched';

/** Limit per run, and per verdict, for all rules together: one or two seconds of work. */
const searchedCharsMax = 8_000_000;
/** A replacement and its surroundings may match again. The last pass must find nothing, or the text is given up. */
const passesMax = 4;
/** Nesting of JSON texts within JSON values; deeper ones are plain text. */
const textsWithinMax = 4;

export interface Search {
  readonly text: (text: string) => string;
  /** Redacts member names and values; a matched number becomes a text. Returns the same value when nothing matches. */
  readonly json: (value: JsonValue) => JsonValue;
}

interface SearchOptions {
  readonly rules: readonly RedactionRule[];
  /** Called with the name of the rule for each replacement, and with `notSearchedName` for each text that was given up. */
  readonly onRedacted: (rule: string) => void;
  /** Called with each match and its replacement. */
  readonly onFound?: (original: string, replacement: string) => void;
  /** Prepares each text for the search; `undefined` gives the text up. */
  readonly prepared?: (text: string) => string | undefined;
  readonly charsMax?: number;
}

interface Found extends Part {
  /** Index of the rule. */
  readonly rule: number;
}

export function search({ rules, onRedacted, onFound, prepared = (text) => text, charsMax = searchedCharsMax }: SearchOptions): Search {
  let left = charsMax;
  const spend = (chars: number): boolean => (left -= chars) >= 0;

  /** Matches of all rules, sorted; `undefined` when the text was not searched to the end. */
  function found(text: string): readonly Found[] | undefined {
    const all: Found[] = [];
    for (const [rule, { parts }] of rules.entries()) {
      const own = parts(text, spend);
      if (own === undefined) return undefined;
      for (const part of own) all.push({ ...part, rule });
    }
    return all.length < 2 ? all : all.sort((a, b) => a.start - b.start);
  }

  /** Merges overlapping matches; the first of their rules gives the replacement. */
  function replaced(text: string, matches: readonly Found[]): string {
    const pieces: string[] = [];
    let end = 0;
    for (const { start, end: until, rule } of clusters(matches)) {
      const { name = '', replacement = '' } = rules[rule] ?? {};
      onFound?.(text.slice(start, until), replacement);
      onRedacted(name);
      pieces.push(text.slice(end, start), replacement);
      end = until;
    }
    return pieces.join('') + text.slice(end);
  }

  function searched(original: string, within: number): string {
    if (original === '' || original === notSearched) return original;
    let text = prepared(original);
    for (let pass = 0; text !== undefined && pass < passesMax; pass++) {
      const values = within < textsWithinMax ? withinJson(text, within) : text;
      const matches = found(values);
      if (matches === undefined) break;
      if (matches.length === 0 && values === text) return text;
      text = replaced(values, matches);
    }
    onRedacted(notSearchedName);
    return notSearched;
  }

  /** Redacts the values of a JSON text first, so that it stays valid. */
  function withinJson(text: string, within: number): string {
    const value = parseJsonContainer(text);
    if (value === undefined) return text;
    const without = json(value, within + 1);
    return without === value ? text : jsonText(without);
  }

  function json(value: JsonValue, within: number): JsonValue {
    return rewrittenJson(value, {
      text: (text) => searched(text, within),
      name: (name) => searched(name, textsWithinMax),
      tooDeep: notSearched,
    });
  }

  return { text: (text) => searched(text, 0), json: (value) => json(value, 0) };
}

/** Sorted by start; overlapping matches are merged. */
function clusters(matches: readonly Found[]): readonly Found[] {
  const all: Found[] = [];
  for (const match of matches) {
    const last = all.at(-1);
    if (last === undefined || match.start >= last.end) all.push(match);
    else all[all.length - 1] = { start: last.start, end: Math.max(last.end, match.end), rule: Math.min(last.rule, match.rule) };
  }
  return all;
}

/** Changes to the texts, numbers and member names within a JSON value. */
interface Rewriting {
  readonly text: (text: string) => string;
  readonly name: (name: string) => string;
  /** Replaces values below the depth limit of parsed JSON. */
  readonly tooDeep: JsonValue;
}

/** Keeps unchanged values, and unchanged parts of them, by identity. */
function rewrittenJson(value: JsonValue, changes: Rewriting, depth = 0): JsonValue {
  switch (typeof value) {
    case 'string':
      return changes.text(value);
    case 'number':
    case 'bigint': {
      const text = String(value);
      const changed = changes.text(text);
      return changed === text ? value : changed;
    }
    default:
      if (!isJsonArray(value) && !isJsonObject(value)) return value;
      if (depth > jsonDepthMax) return changes.tooDeep;
      return isJsonArray(value) ? rewrittenList(value, changes, depth) : rewrittenObject(value, changes, depth);
  }
}

function rewrittenList(list: readonly JsonValue[], changes: Rewriting, depth: number): readonly JsonValue[] {
  const items = list.map((item) => rewrittenJson(item, changes, depth + 1));
  return items.every((item, at) => item === list[at]) ? list : items;
}

function rewrittenObject(object: JsonObject, changes: Rewriting, depth: number): JsonObject {
  let changed = false;
  const members = Object.entries(object).map(([name, value]) => {
    const member = { name, newName: changes.name(name), value: rewrittenJson(value, changes, depth + 1) };
    changed ||= member.newName !== name || member.value !== value;
    return member;
  });
  if (!changed) return object;
  const taken = new Map<string, number>(members.filter(({ name, newName }) => name === newName).map(({ name }) => [name, 1]));
  return Object.fromEntries(members.map(({ name, newName, value }) => [name === newName ? name : freeName(newName, taken), value]));
}

/** Numbers names that have become equal, so that no member is lost. `taken`: the last number of each name. */
function freeName(name: string, taken: Map<string, number>): string {
  let number = taken.get(name) ?? 0;
  let free = name;
  while (taken.has(free)) free = `${name} (${++number})`;
  taken.set(name, Math.max(number, 1));
  taken.set(free, taken.get(free) ?? 1);
  return free;
}
