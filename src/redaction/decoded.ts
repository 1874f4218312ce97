/**
 * Decodes a text to what a person or program finally reads: JSON and source escapes, percent-escapes and HTML entities; invisible
 * characters removed; compatibility forms as ASCII. Each position maps back to the original text.
 */
import type { Part } from './search.ts';
import { percentDecoded } from '../model/percent-decoded.ts';

/** Nested escapes. */
const passesMax = 4;

const BACKSLASH = /(?<!\\)\\+(?:u[0-9a-fA-F]{4}|u\{[0-9a-fA-F]{1,6}\}|x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}|[@._+-])/u.source;
/** Escapes of one character in UTF-8. */
const PERCENT =
  /%[2-7][0-9a-fA-F]|%[cdCD][0-9a-fA-F]%[89abAB][0-9a-fA-F]|%[eE][0-9a-fA-F](?:%[89abAB][0-9a-fA-F]){2}|%[fF][0-4](?:%[89abAB][0-9a-fA-F]){3}/u
    .source;
const ENTITY = /&(?:#0{0,6}[0-9]{1,7};?|#[xX]0{0,6}[0-9a-fA-F]{1,6};?|[a-zA-Z]{2,8};)/u.source;
/**
 * Compatibility forms of letters, digits and signs of addresses. Full-width commas and colons are left out, as every Chinese text has them.
 */
const FORMS =
  /[\uff05\uff0b\uff0d\uff0e\uff10-\uff19\uff20-\uff3a\uff3f\uff41-\uff5a\ufe52\ufe62\ufe63\ufe6a\ufe6b\u2024\u2070-\u2089\u2460-\u2468\u{1d400}-\u{1d7ff}]|(?<=[a-zA-Z0-9])[\u3002\uff61](?=[a-zA-Z0-9])|(?![0-9])\p{Nd}/u
    .source;
const UNSEEN = /\p{Default_Ignorable_Code_Point}/u.source;

/** A cheap test that most texts fail. */
const GATE = /[\\%&\u0080-\uffff]/;
/** A text without a match needs no decoding. */
const TRIGGER = new RegExp([BACKSLASH, PERCENT, ENTITY, UNSEEN, FORMS].join('|'), 'u');
/** Includes escapes that hide nothing, which must not count as letters beside hidden ones. */
const UNIT = new RegExp([BACKSLASH, /(?<!\\)\\+[nrtbf"'/]/u.source, PERCENT, ENTITY, UNSEEN, FORMS].join('|'), 'gu');

const entities: ReadonlyMap<string, string> = new Map([
  ['commat', '@'],
  ['period', '.'],
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', '\u00a0'],
  ['hyphen', '\u2010'],
  ['dash', '\u2010'],
  ['ndash', '\u2013'],
  ['lowbar', '_'],
  ['plus', '+'],
  ['percnt', '%'],
  ['num', '#'],
  ['semi', ';'],
  ['bsol', '\\'],
  ['shy', '\u00ad'],
  ['zwj', '\u200d'],
  ['zwnj', '\u200c'],
]);
const whiteSpace: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['b', '\b'],
  ['f', '\f'],
]);

export interface Decoded {
  readonly text: string;
  /** Maps a part back to the original text. */
  original(part: Part): Part;
}

/** A decoded range: `at` to `end` in the decoded text, `from` to `to` in the original. */
interface Piece {
  readonly at: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
}

/** `undefined` when the text contains nothing to decode. */
export function decoded(original: string): Decoded | undefined {
  if (!GATE.test(original) || !TRIGGER.test(original)) return undefined;
  const passes: (readonly Piece[])[] = [];
  let text = original;
  while (passes.length < passesMax) {
    const next = onePass(text);
    if (next.pieces.length === 0) break;
    passes.unshift(next.pieces);
    text = next.text;
  }
  return passes.length === 0 ? undefined : { text, original: (part) => passes.reduce(before, part) };
}

function onePass(text: string): { readonly text: string; readonly pieces: readonly Piece[] } {
  const pieces: Piece[] = [];
  const out: string[] = [];
  let [end, at] = [0, 0];
  for (const { 0: unit, index } of text.matchAll(UNIT)) {
    const read = readUnit(unit);
    if (read === unit) continue;
    at += index - end;
    out.push(text.slice(end, index), read);
    end = index + unit.length;
    pieces.push({ at, end: at + read.length, from: index, to: end });
    at += read.length;
  }
  return { text: out.join('') + text.slice(end), pieces };
}

/** Returns the unit itself when it is not an escape. */
function readUnit(unit: string): string {
  if (unit.startsWith('\\')) return readEscape(unit, unit.replace(/^\\+/, ''));
  if (unit.startsWith('%')) return percentDecoded(unit);
  if (unit.startsWith('&')) return readEntity(unit);
  return folded(unit);
}

function readEscape(unit: string, name: string): string {
  const code = /^[ux]\{?([0-9a-f]+)\}?$/i.exec(name)?.[1];
  return code === undefined ? (whiteSpace.get(name) ?? name) : characterOf(Number.parseInt(code, 16), unit);
}

function readEntity(unit: string): string {
  const [, sign, digits] = /^&#(x?)([0-9a-f]+);?$/i.exec(unit) ?? [];
  if (digits !== undefined) return characterOf(Number.parseInt(digits, sign === '' ? 10 : 16), unit);
  return entities.get(unit.slice(1, -1).toLowerCase()) ?? unit;
}

/** Also decodes single surrogates, as JSON escapes the halves of a pair. */
function characterOf(code: number, otherwise: string): string {
  if (code > 0x10_ffff) return otherwise;
  return code > 0xffff ? String.fromCodePoint(code) : String.fromCharCode(code);
}

function folded(character: string): string {
  if (/^\p{Default_Ignorable_Code_Point}$/u.test(character)) return '';
  if (/^[\u3002\uff61]$/.test(character)) return '.';
  const form = character.normalize('NFKC');
  return form === character && /^\p{Nd}$/u.test(character) ? digitOf(character.codePointAt(0) ?? 0) : form;
}

/** Decimal digits of a script are ten consecutive code points. */
function digitOf(code: number): string {
  let digit = 0;
  while (digit < 9 && /^\p{Nd}$/u.test(String.fromCodePoint(code - digit - 1))) digit++;
  return String(digit);
}

function before({ start, end }: Part, pieces: readonly Piece[]): Part {
  return { start: edgeOf(pieces, start, 'from'), end: edgeOf(pieces, end - 1, 'to') };
}

/** The start or end in the original of the character that was decoded to this position. */
function edgeOf(pieces: readonly Piece[], at: number, edge: 'from' | 'to'): number {
  const piece = pieceAt(pieces, at);
  if (piece === undefined) return edge === 'from' ? at : at + 1;
  if (at < piece.end) return piece[edge];
  return piece.to + at - piece.end + (edge === 'from' ? 0 : 1);
}

/** The last piece that begins at or before the position. */
function pieceAt(pieces: readonly Piece[], at: number): Piece | undefined {
  let [low, high] = [0, pieces.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((pieces[middle]?.at ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return pieces[low - 1];
}
