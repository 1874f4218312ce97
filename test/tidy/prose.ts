/**
 * Phrases that a native speaker would not write, in comments, messages, test titles and documentation. A file may have as many as `prose-left.json`
 * allows, which is none for most. `npm run check -- prose` lists them, and `--write` lowers the allowance.
 */
import { readFileSync } from 'node:fs';
import { lineOf, type Rule, type SourceFile } from './source.ts';

interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

interface FoundPhrase {
  readonly line: number;
  readonly text: string;
  readonly instead: string;
}

/** The beginning of a sentence: at the start of a text or a line, or after the end of another one. */
const begin = String.raw`(?:^[\s*|#>-]*|(?<=[.!?:;)\x60”’|]\s+))`;

/** A verb before the end of the sentence, which makes a fragment whole. */
const verb = String.raw`[^.,|\n]*? (?:is|are|was|were|has|have|had|does|do|did|can|may|must|will|would|needs?|takes?|gives?|comes?|goes?) `;

const phrases: readonly Phrase[] = [
  { pattern: new RegExp(`${begin}Of `, 'gm'), instead: 'a whole sentence, or a better name' },
  {
    pattern: new RegExp(String.raw`${begin}(?:As|For|With|By|From|To) (?!${verb})[^.,|\n]*(?:\.|$|\|)`, 'gm'),
    instead: 'a whole sentence',
  },
  {
    pattern: new RegExp(String.raw`${begin}(?:(?:What|Who|Which|Whether) [^?.|\n]*|(?:How|Where)(?! to) [^?.,|\n]*)(?:\.|$|\|)`, 'gm'),
    instead: 'a sentence with a noun as its subject',
  },
  { pattern: /\b(?:True|False|Absent|Null): /g, instead: '“True when …”, “Omitted when …”' },
  { pattern: /\bsays\b/g, instead: 'names, states, has, gives, shows' },
  { pattern: /\b(?:tells?|told)\b/g, instead: 'reports, shows, names, gives' },
  { pattern: /\b(?:of|by|from) (?:which|whom)\b/g, instead: 'whose, that, and whose' },
  { pattern: /(?<!\bthere )\b(?:is|are) no\b/gi, instead: 'is not a, is never' },
  { pattern: /\bstands? (?:in|for|on|at|under|there|by|beside|alone)\b/g, instead: 'is in, means, replaces' },
  { pattern: /\b(?:nobody|somebody)\b/gi, instead: 'no one, a person, no caller' },
  { pattern: /\bof (?:its|their|his) own\b/g, instead: 'its own X, a separate X' },
  { pattern: /\balone\b/g, instead: 'only' },
  { pattern: /\b(?:whoever|whatever|wherever|whichever)\b/gi, instead: 'anyone who, any' },
  { pattern: /\bas (?:it|they) (?:came|comes?|stands?|is|are|was|were)\b/g, instead: 'unchanged' },
  { pattern: /\bso (?:many|much|few)\b/g, instead: 'this many, that many, the number' },
  { pattern: /\blies? (?:in|on|at|under|between)\b/g, instead: 'is in, is at' },
  { pattern: /\b(?:another|other) [\w-]+ than\b/g, instead: 'a different X from' },
];

/** Files that quote the phrases. */
const quoting: ReadonlySet<string> = new Set(['test/tidy/prose.ts']);
const comment = /(?<![:"'`])\/\/ ?(.*)$|\/\*\*?([^]*?)\*\//gm;
const quoted = /'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)"|`((?:[^`\\]|\\.)+)`/g;
const words = / \p{L}+ \p{L}/u;

export function phrasesIn(file: SourceFile): readonly FoundPhrase[] {
  if (quoting.has(file.path)) return [];
  return textsIn(file).flatMap(({ at, text }) =>
    phrases.flatMap(({ pattern, instead }) =>
      [...text.matchAll(pattern)].map((match) => ({
        line: lineOf(file.text, at + match.index),
        text: match[0].trim().slice(0, 80),
        instead,
      })),
    ),
  );
}

/** Texts that people read, with their place. Other characters are blanked, so that places stay. */
function textsIn({ path, text }: SourceFile): readonly { readonly at: number; readonly text: string }[] {
  const blank = (piece: string): string => piece.replaceAll(/[^\n]/g, ' ');
  if (path.endsWith('.md')) {
    const prose = text.replaceAll(/^```[^]*?^```|^ {4,}.*$/gm, blank).replaceAll(/`[^`\n]*`/g, (code) => '`'.repeat(code.length));
    return [{ at: 0, text: prose.replaceAll(/(?<=[^\s|])\n(?=[^\s\-*|#>\d])/g, ' ') }];
  }
  const comments = [...text.matchAll(comment)].map((match) => ({
    at: match.index,
    text: match[0].replaceAll(/\/\*\*?|\*\/|\/\/|\n\s*\* ?/g, (mark) => ' '.repeat(mark.length)),
  }));
  const code = text.replaceAll(comment, blank);
  const texts = [...code.matchAll(quoted)].flatMap((match) => {
    const inside = match[1] ?? match[2] ?? match[3] ?? '';
    return words.test(inside) ? [{ at: match.index + 1, text: inside }] : [];
  });
  return [...comments, ...texts];
}

export function isProse({ path }: SourceFile): boolean {
  return /\.(?:tsx?|md)$/.test(path) && !path.endsWith('.d.ts') && path !== 'src/console/api/schema.ts';
}

/** Phrases that each file may still have. */
export const allowanceFile = new URL('prose-left.json', import.meta.url);

export const proseIsNative: Rule = (files) => {
  const allowed = JSON.parse(readFileSync(allowanceFile, 'utf8')) as { readonly [path: string]: number };
  return files.filter(isProse).flatMap((file) => {
    const found = phrasesIn(file);
    const [last] = found.slice(-1);
    if (last === undefined || found.length <= (allowed[file.path] ?? 0)) return [];
    return [
      `${file.path}:${last.line}: “${last.text}”: write ${last.instead}. ${found.length} such phrases, ${allowed[file.path] ?? 0} are allowed; npm run check -- prose ${file.path} lists them`,
    ];
  });
};
