/** Faults of the form of a sentence: a hole in it, a piece that does not fit, a number that does not agree. */

/** Foreign text is in quotes or in backticks; its faults are not ours. */
const foreign = /"(?:[^"\\]|\\.){0,400}"|`[^`]{0,400}`|\([^()]{0,400}\)$/g;

const numbers = '(?:[02-9]|[1-9]\\d+|two|three)';
const nouns =
  'call|result|definition|argument|run|step|time|task|text|word|character|reply|replies|fault|error|turn|document|pair|statement|claim|label|token|expectation|keyword|message|item|name';
const faults: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  { name: 'a value that is not there', pattern: /\b(?:undefined|NaN|null|Infinity)\b|\[object / },
  { name: 'two spaces', pattern: /\S {2,}\S|^ | $/ },
  { name: 'a sentence inside a sentence', pattern: /\. [a-z]|\.\.(?!\.)|[,;:]\.|\.[;,]/ },
  { name: 'punctuation after a space', pattern: / [,;.:](?= |$)/ },
  { name: 'empty brackets or quotes', pattern: /\(\)|\[\](?! )/ },
  { name: 'no full stop', pattern: /[^.!?…”"]$/ },
  {
    name: 'one of what is several',
    pattern: new RegExp(
      `\\b(?<!of )(?:1|one) (?:tool |redundant |different )?(?:${nouns.replaceAll('|', 's|').replace('repliess', 'replies')}s)\\b`,
    ),
  },
  {
    name: 'several of what is one',
    pattern: new RegExp(`\\b(?<![.\\d/])${numbers} (?:tool )?(?:${nouns.replace('|replies', '')})\\b(?! (?:number|name|id))`),
  },
  {
    name: 'one that does as several do',
    pattern: /\b(?:1|one)(?: of \d+)? (?:tool )?calls? (?:repeat|are|were|have|fail|differ|do|stand|need|lack)\b/,
  },
  {
    name: 'several that do as one does',
    pattern: /\b(?<!1 of )(?:[02-9]|[1-9]\d+|two|three) (?:tool )?calls (?:repeats|is|was|has|fails|differs|does|stands|needs|lacks)\b/,
  },
  { name: 'all of one', pattern: /\b[Aa]ll 1\b|\b[Bb]oth 1\b/ },
];

/** Names of what is wrong. */
export function sentenceFaults(text: string): readonly string[] {
  const own = text.replaceAll(foreign, 'x');
  return faults.filter(({ pattern }) => pattern.test(own)).map(({ name }) => name);
}
