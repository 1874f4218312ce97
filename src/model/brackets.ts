/** Finds the end of a JSON value inside a longer text. */

const closing: { readonly [open: string]: string } = { '{': '}', '[': ']' };

/**
 * The position after the bracket that closes the one at `start`; `undefined` when none does. Brackets in quoted texts do not count;
 * `singleQuotes` adds texts in single quotes.
 */
export function balancedEnd(text: string, start: number, singleQuotes = false): number | undefined {
  const open: string[] = [];
  let quote: string | undefined;
  for (let at = start; at < text.length; at++) {
    const character = text[at] ?? '';
    if (quote !== undefined) {
      if (character === '\\') at++;
      else if (character === quote) quote = undefined;
    } else if (character === '"' || (singleQuotes && character === "'")) quote = character;
    else if (Object.hasOwn(closing, character)) open.push(closing[character] ?? '');
    else if (character === '}' || character === ']') {
      if (open.pop() !== character) return undefined;
      if (open.length === 0) return at + 1;
    }
  }
  return undefined;
}
