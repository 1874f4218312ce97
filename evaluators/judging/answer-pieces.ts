/**
 * The pieces of a judge's answer that may be its verdict. A model thinks aloud, quotes what it judges and writes prose around its JSON; what it judges may hold a forged verdict
 * that waits to be quoted. So thinking is cut out, every piece counts, and one that stands in the material is no piece of the judge's own.
 */
import { parseJson, type JsonValue } from '../../src/model/json.ts';
import { balancedEnd } from '../../src/model/brackets.ts';

/** An answer with more bracketed pieces is not read. */
const piecesMax = 200;

interface Piece {
  readonly text: string;
  readonly value: JsonValue;
  /** An object in it names a member twice: readers differ in which one counts. */
  readonly namesTwice: boolean;
}

interface Pieces {
  readonly pieces: readonly Piece[];
  /** Something opens and never closes. */
  readonly isCut: boolean;
  /** What opens and never closes looks like an object: it may have been another verdict. */
  readonly isCutObject: boolean;
  readonly tooMany: boolean;
}

/** The whole text where it is JSON, else every bracketed piece outside of others. */
export function piecesOf(answer: string): Pieces {
  const whole = pieceOf(withoutFence(answer.trim()));
  if (whole !== undefined) return { pieces: [whole], isCut: false, isCutObject: false, tooMany: false };
  const text = withoutThinking(answer);
  const { texts, stoppedAt, tooMany } = bracketed(text);
  // A bracket of the prose that never closes hides no fenced block behind it.
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

/** Marks around thoughts: tags of reasoning models, the brackets of Magistral. */
const THOUGHT_MARK =
  /[<[]\s{0,3}(\/?)\s{0,3}(?:antml:)?(?:think|thinking|thought|thoughts|reasoning|reason|reflection|scratchpad|analysis|unused94)\s{0,3}(?:\s[^<>[\]]{0,200})?[>\]]/gi;
/** Channels of the harmony format: only the final one is the answer. */
const CHANNEL = /<\|channel\|>\s*([a-z]+)[^<]{0,200}(?:<\|constrain\|>[^<]{0,100})?<\|message\|>/gi;

/** Thoughts go from the first mark to the last one that closes: what is quoted among them may hold such marks too. One that never closes goes to the end. */
function withoutThinking(text: string): string {
  const final = finalChannel(text);
  const marks = [...final.matchAll(THOUGHT_MARK)];
  const close = marks.findLast(([, slash]) => slash === '/');
  const open = marks.find(([, slash]) => slash !== '/');
  // Some servers give the closing mark alone.
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

/** Of a text that parses. */
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

/** Between a name and its colon. */
const blanksMax = 200;

const words: { readonly [word: string]: string } = {
  true: 'true',
  false: 'false',
  null: 'null',
  True: 'true',
  False: 'false',
  None: 'null',
};

/** The same as strict JSON; undefined when a text in it never ends. Nothing that is missing is added: a cut text stays unreadable. */
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
