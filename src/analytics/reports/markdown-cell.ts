/** Foreign text in a table of Markdown. */

const cellChars = 300;

/** Escapes foreign text to one line without markup and mentions of people. */
export function cell(text: string, charsMax = cellChars): string {
  const line = text
    .slice(0, charsMax * 4)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .toWellFormed();
  const cut = [...line].length > charsMax ? `${[...line].slice(0, charsMax - 1).join('')}…` : line;
  return cut
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]#|~$]/g, '\\$&')
    .replaceAll('@', '@\u200b')
    .replaceAll('://', ':\u200b//');
}
