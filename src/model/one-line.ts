/** Foreign text on one line, for terminals, logs and reports. */

/** Control characters and marks of text direction. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

/** Longest name that is read whole. */
const nameCharsMax = 8_192;
/** Signs at the end of a name that is cut: the ids of a trace and of a span fit. */
const endChars = 56;

/** Cuts the name of a run, a file or an example in its middle, as such names differ at their end. */
export function oneName(text: string, charsMax: number): string {
  const signs = [...oneLine(text, nameCharsMax)];
  if (signs.length <= charsMax) return signs.join('');
  const end = Math.min(endChars, Math.floor(charsMax / 2));
  return `${signs.slice(0, charsMax - end - 1).join('')}…${signs.slice(-end).join('')}`;
}

/** Cuts foreign text to one line and escapes control characters. */
export function oneLine(text: string, charsMax: number): string {
  // Does not scan the part of a huge text that is cut anyway.
  const folded = text
    .slice(0, charsMax * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  const harmless = folded.replaceAll(OBEYED, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  const signs = [...harmless];
  return signs.length > charsMax || text.length > charsMax * 4 ? `${signs.slice(0, charsMax - 1).join('')}…` : harmless;
}
