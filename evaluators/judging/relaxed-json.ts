/** JSON as models write it when they are careless: single quotes, bare keys, comments, a comma before a closing bracket. */

const words: { readonly [word: string]: string } = {
  true: 'true',
  false: 'false',
  null: 'null',
  True: 'true',
  False: 'false',
  None: 'null',
};

/** The same as strict JSON; undefined when a text in it never ends. Nothing that is missing is added: a cut text stays unreadable. */
export function relaxedText(text: string): string | undefined {
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
