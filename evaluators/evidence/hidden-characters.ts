/**
 * Characters that a person does not see and a model reads: zero-width signs, marks of direction, tags, control characters, and
 * variation selectors where nothing varies. Those that writing needs stay: joiners in emoji and in scripts that join, flags, and
 * selectors behind what they vary.
 */

export type HiddenKind = 'zero_width' | 'direction' | 'tag' | 'control' | 'variation_selector';

export interface HiddenRun {
  readonly kind: HiddenKind;
  /** Index of its first code unit. */
  readonly at: number;
  /** Hidden characters side by side, of whatever kinds. */
  readonly count: number;
  /** In code units. */
  readonly length: number;
}

/** Hidden characters side by side that are written out one by one; of longer runs the rest is a number. */
const writtenMax = 64;

const RUNS = /(?:(?![\n\t])[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u2028\u2029\ufff9-\ufffb])+/gu;
const FLAG =
  /^\u{1f3f4}(?:\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f})/u;
/** Scripts in which a joiner or a non-joiner between two letters is spelling. */
const JOINING =
  /[\p{sc=Arabic}\p{sc=Syriac}\p{sc=Mongolian}\p{sc=Nko}\p{sc=Devanagari}\p{sc=Bengali}\p{sc=Gurmukhi}\p{sc=Gujarati}\p{sc=Oriya}\p{sc=Tamil}\p{sc=Telugu}\p{sc=Kannada}\p{sc=Malayalam}\p{sc=Sinhala}\p{sc=Khmer}]/u;
const PICTURE = /[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]/u;

/** The text with every hidden character written as `<U+200B>`. Line ends of two characters become one. Takes time in proportion to the text. */
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

/** The text without hidden characters, as a model reads it that passes over them. */
export function withoutHidden(text: string): string {
  return text.replaceAll(RUNS, (run: string, at: number) =>
    [...run].filter((sign, nth, all) => isSpelling(text, at, all, nth) || isLineEnd(text, sign, at)).join(''),
  );
}

/** The runs of hidden characters, the first `runsMax` of them. */
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

/** What stays is left where it is; the rest is written out, within the limit. */
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

/** Whether the sign at this place of a run belongs to the letters or the picture beside it. */
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
  // A picture, perhaps with its selector, and the picture that is joined to it.
  return (
    code === 0x200d && (isAlone || (nth === 1 && run.length === 2 && run[0] === '\ufe0f')) && PICTURE.test(before) && PICTURE.test(after)
  );
}

/** Whether a character has variants that this selector chooses from. */
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
