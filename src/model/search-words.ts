/**
 * The words of texts in the search index: lower case, without accents. Writing without spaces, such as Chinese, becomes pairs of characters, which
 * replace its words.
 */

const unspaced =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
/** Letters and digits with their marks. Identifiers fall into their parts: `find_order` has two words. */
const WORD = new RegExp(`[${unspaced}]+|[[\\p{L}\\p{N}\\p{M}\\p{Co}]--[${unspaced}]]+`, 'gv');
const UNSPACED = new RegExp(`[${unspaced}]`, 'u');
const ACCENTS = /[\u0300-\u036f]+/g;

/** Limit of one word; the rest of a longer one is not searched. */
const wordCharsMax = 64;
/** A shorter beginning matches whole words only, as too many words begin with it. */
const prefixCharsMin = 3;
/** Words of one search. */
export const searchWordsMax = 16;

const PLAIN = /^[ -~\s]*$/;
const PLAIN_WORD = /[a-z0-9]+/g;

/** Each word once, in the order of the text. */
export function wordsOf(text: string): readonly string[] {
  // Most texts need nothing of the rest, which takes several times as long.
  if (PLAIN.test(text))
    return [
      ...new Set(
        text
          .toLowerCase()
          .match(PLAIN_WORD)
          ?.map((word) => word.slice(0, wordCharsMax)),
      ),
    ];
  const words = new Set<string>();
  const plain = text.normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFKC').toLowerCase();
  for (const [word] of plain.matchAll(WORD))
    for (const one of UNSPACED.test(word) ? pairs(word) : [word]) words.add(one.slice(0, wordCharsMax));
  return [...words];
}

/** Pairs of neighbours; the last character is also a word, so that each character begins something. */
function pairs(word: string): readonly string[] {
  const characters = [...word];
  return characters.map((character, at) => `${character}${characters[at + 1] ?? ''}`);
}

export interface SearchTerms {
  /** All of them occur. Empty: the text has no word, and matches nothing. */
  readonly words: readonly string[];
  /** A word that begins with this occurs; `undefined` when the last word is too short, and counts as a whole word. */
  readonly prefix: string | undefined;
}

/** The words that a person searches for: all of them, where the last may be the beginning of one. */
export function searchTerms(text: string): SearchTerms {
  const words = wordsOf(text);
  const last = words.at(-1);
  if (last === undefined) return { words, prefix: undefined };
  if (UNSPACED.test(last)) return unspacedTerms(words, last);
  return last.length < prefixCharsMin ? { words, prefix: undefined } : { words: words.slice(0, -1), prefix: last };
}

/** The last pair ends with the last character, which in the middle of a text begins another pair. */
function unspacedTerms(words: readonly string[], last: string): SearchTerms {
  const isAlone = [...last].length === 1;
  if (!isAlone) return { words, prefix: undefined };
  return words.length === 1 ? { words: [], prefix: last } : { words: words.slice(0, -1), prefix: undefined };
}

/** True when texts with these words match. */
export function matchesTerms(words: readonly string[], { words: wanted, prefix }: SearchTerms): boolean {
  if (wanted.length === 0 && prefix === undefined) return false;
  return wanted.every((word) => words.includes(word)) && (prefix === undefined || words.some((word) => word.startsWith(prefix)));
}
