/**
 * Characters that people do not see but models read: zero-width characters, directional marks, tags, control characters, and variation
 * selectors without effect. Those required by writing are kept: joiners in emoji and joining scripts, flags, and effective selectors.
 */

export type HiddenKind = 'zero_width' | 'direction' | 'tag' | 'control' | 'variation_selector';

export interface HiddenRun {
  readonly kind: HiddenKind;
  /** Index in UTF-16 units. */
  readonly at: number;
  /** Number of adjacent hidden characters. */
  readonly count: number;
  /** Length in UTF-16 units. */
  readonly length: number;
}

/** Limit of adjacent characters that are written out; the rest becomes a number. */
const writtenMax = 64;

const RUNS = /(?:(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2028\u2029\ufff9-\ufffb])+/gu;
const FLAG =
  /^\u{1f3f4}(?:\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f})/u;
/** Scripts in which a joiner or non-joiner between letters is part of the spelling. */
const JOINING =
  /[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Mongolian}\p{sc=Nko}\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Gurmukhi}\p{sc=Gujarati}\p{sc=Oriya}\p{sc=Tamil}\p{sc=Telugu}\p{sc=Kannada}\p{sc=Malayalam}\p{sc=Sinhala}\p{sc=Khmer}]/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;

/** Writes hidden characters as `<U+200B>`, and CRLF as one line end. Takes linear time. */
export function revealed(text: string): string {
  const lines = text.replaceAll('\r\n', '\n');
  return lines.replaceAll(RUNS, (run: string, at: number) =>
    written(
      [...run].filter((_sign, nth, all) => !isSpelling(lines, at, all, nth)),
      run,
      lines,
      at,
    ),
  );
}

/** Removes hidden characters, as a model may ignore them. */
export function withoutHidden(text: string): string {
  return text.replaceAll(RUNS, (run: string, at: number) =>
    [...run].filter((sign, nth, all) => isSpelling(text, at, all, nth) || isLineEnd(text, sign, at)).join(''),
  );
}

/** The first `runsMax` sequences of hidden characters. */
export function hiddenRuns(text: string, runsMax: number): readonly HiddenRun[] {
  const found: HiddenRun[] = [];
  for (const match of text.matchAll(RUNS)) {
    if (found.length >= runsMax) break;
    const hidden = [...match[0]].filter(
      (sign, nth, all) => !isSpelling(text, match.index, all, nth) && !isLineEnd(text, sign, match.index),
    );
    const [first] = hidden;
    if (first !== undefined) found.push({ kind: kindOf(first), at: match.index, count: hidden.length, length: match[0].length });
  }
  return found;
}

/** Keeps characters of the spelling and writes out the others, up to the limit. */
function written(hidden: readonly string[], run: string, text: string, at: number): string {
  if (hidden.length === 0) return run;
  const signs = [...run];
  const parts = signs
    .slice(0, writtenMax)
    .map((sign, nth) =>
      isSpelling(text, at, signs, nth) ? sign : `<U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}>`,
    );
  return parts.join('') + (signs.length > writtenMax ? `<${signs.length - writtenMax} more hidden characters>` : '');
}

function kindOf(sign: string): HiddenKind {
  const code = sign.codePointAt(0) ?? 0;
  if (code >= 0xe0000 && code <= 0xe007f) return 'tag';
  if (isSelector(code)) return 'variation_selector';
  if ((code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) || code === 0x200e || code === 0x200f || code === 0x61c)
    return 'direction';
  return code < 0x20 || (code >= 0x7f && code <= 0x9f) ? 'control' : 'zero_width';
}

function isSelector(code: number): boolean {
  return (code >= 0xfe00 && code <= 0xfe0f) || (code >= 0xe0100 && code <= 0xe01ef);
}

function isLineEnd(text: string, sign: string, at: number): boolean {
  return sign === '\r' && text[at + 1] === '\n';
}

/** True when the character belongs to the adjacent letters or emoji. */
function isSpelling(text: string, at: number, run: readonly string[], nth: number): boolean {
  const sign = run[nth] ?? '';
  const code = sign.codePointAt(0) ?? 0;
  const before = lastSign(text, at);
  if (code >= 0xe0000 && code <= 0xe007f) return FLAG.test(before + run.slice(0, 6).join('')) && nth < 6;
  if (nth > 1) return false;
  const after = nth === run.length - 1 ? firstSign(text, at + run.join('').length) : '';
  if (isSelector(code)) return nth === 0 && varies(before, code);
  if (code !== 0x200c && code !== 0x200d) return false;
  const isAlone = run.length === 1 && nth === 0;
  if (isAlone && JOINING.test(before) && JOINING.test(after)) return true;
  // An emoji, possibly with its selector, and the emoji joined to it.
  return (
    code === 0x200d && (isAlone || (nth === 1 && run.length === 2 && run[0] === '\ufe0f')) && PICTURE.test(before) && PICTURE.test(after)
  );
}

/** True when this selector has an effect on the character. */
function varies(base: string, selector: number): boolean {
  if (selector === 0xfe0e || selector === 0xfe0f) return /[\p{Emoji}\p{Extended_Pictographic}]/u.test(base);
  if (selector === 0xfe00 && /\p{Sm}/u.test(base)) return true;
  return /\p{sc=Han}/u.test(base);
}

function lastSign(text: string, end: number): string {
  const low = text.charCodeAt(end - 1);
  return text.slice(low >= 0xdc00 && low <= 0xdfff ? Math.max(0, end - 2) : Math.max(0, end - 1), end);
}

function firstSign(text: string, at: number): string {
  const code = text.codePointAt(at);
  return code === undefined ? '' : String.fromCodePoint(code);
}
