/** What is blotted out, and what stands in its place. */
import { isJsonArray, isJsonObject, jsonDepthMax, type JsonObject, jsonText, type JsonValue, parseJsonContainer } from '../model/json.ts';

/** A part of a text, in UTF-16 code units; `end` is behind it. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export interface RedactionRule {
  /** As the metrics name it; never what it looks for. */
  readonly name: string;
  readonly replacement: string;
  /**
   * The parts of a text that it matches, from left to right, none empty and none overlapping. `spend` is asked for each search through so
   * many characters; once it says no, the rule gives up: undefined.
   */
  readonly parts: (text: string, spend: Spend) => readonly Part[] | undefined;
}

/** False: the run has been searched for long enough. */
export type Spend = (chars: number) => boolean;

// Texts without what the rules match: what comes out is matched by none of them.

/** Stands for a text that was not searched to the end. */
export const notSearched = '[not searched]';
/** As the metrics name it. */
const notSearchedName = 'not_searched';

/** Of one run, and of each verdict on it, by each rule: a second or two of work at the worst. */
const searchedCharsMax = 8_000_000;
/** A replacement and what stands beside it may match once more. The last pass finds nothing, or the text is given up. */
const passesMax = 4;
/** JSON texts within texts of JSON values; deeper ones are plain text. */
const textsWithinMax = 4;

export interface Search {
  readonly text: (text: string) => string;
  /** Names of members as well as values; a number that is matched becomes a text. The same value when nothing is matched. */
  readonly json: (value: JsonValue) => JsonValue;
}

interface SearchOptions {
  readonly rules: readonly RedactionRule[];
  /** Told the name of the rule for each replacement, and `notSearchedName` for each text that was given up. */
  readonly onRedacted: (rule: string) => void;
  /** Told what was taken away, and what stands in its place. */
  readonly onFound?: (original: string, replacement: string) => void;
  /** Done to each text before it is searched; undefined: the text is given up. */
  readonly prepared?: (text: string) => string | undefined;
  readonly charsMax?: number;
}

interface Found extends Part {
  /** Its place among the rules. */
  readonly rule: number;
}

export function search({ rules, onRedacted, onFound, prepared = (text) => text, charsMax = searchedCharsMax }: SearchOptions): Search {
  let left = charsMax;
  const spend = (chars: number): boolean => (left -= chars) >= 0;

  /** All matches of all rules in the text as it stands; undefined: it was not searched to the end. */
  function found(text: string): readonly Found[] | undefined {
    const all: Found[] = [];
    for (const [rule, { parts }] of rules.entries()) {
      const own = parts(text, spend);
      if (own === undefined) return undefined;
      for (const part of own) all.push({ ...part, rule });
    }
    return all.length < 2 ? all : all.sort((a, b) => a.start - b.start);
  }

  /** Matches that overlap go together, and the first of their rules says what stands there. */
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

  /** A JSON text stays one: its values are searched before what stands between them. */
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

/** In order of their starts; what overlaps is one. */
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
  /** In the place of what is nested deeper than any JSON text that is read. */
  readonly tooDeep: JsonValue;
}

/** The same value, and within it the same parts, where nothing changes. */
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

/** Names that have become the same are numbered, so that each member stays. `taken`: the last number of each name. */
function freeName(name: string, taken: Map<string, number>): string {
  let number = taken.get(name) ?? 0;
  let free = name;
  while (taken.has(free)) free = `${name} (${++number})`;
  taken.set(name, Math.max(number, 1));
  taken.set(free, taken.get(free) ?? 1);
  return free;
}
