/** Foreign text on one line, for terminals, logs and reports. */

/** Control characters and marks of text direction. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

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
