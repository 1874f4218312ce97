/** The sentences of a page of Markdown as a reader meets them: of paragraphs, list items, cells and headings, without blocks of code. */

export interface Sentence {
  /** The line where its block begins, from 1. */
  readonly line: number;
  readonly text: string;
}

const fence = /^\s*(?:```|~~~)/;
const listItem = /^\s*(?:[-*+]|\d+\.)\s+/;
/**
 * The end of a sentence, and what begins the next one. A small letter goes on with a sentence (`e.g. this`), unless it begins a value that is
 * explained: `strict: the same calls`.
 */
const end = /(?<=[.!?]["”’)*_]*)\s+(?=["“(*_]*[\p{Lu}\p{N}⟦]|[a-z_]+…?:\s)/u;
/** A list of names is read at a glance. */
const listOfCode = /⟦code⟧(?:(?:,| and| or|, or|, and) ⟦code⟧)+/g;

export function sentencesOf(markdown: string): readonly Sentence[] {
  return blocksOf(markdown.replaceAll(/<!--[^]*?-->/g, (comment) => comment.replaceAll(/[^\n]/g, ''))).flatMap(({ line, text }) =>
    wordsAsShown(text)
      .split(end)
      .filter((sentence) => wordsIn(sentence) > 0)
      .map((sentence) => ({ line, text: sentence.trim() })),
  );
}

/** A piece of code is one word, and so is a figure with its unit sign. */
export function wordsIn(sentence: string): number {
  return sentence.match(/[^\s]*[\p{L}\p{N}⟦][^\s]*/gu)?.length ?? 0;
}

/** Links by their text; code, addresses and pictures as one word each. */
function wordsAsShown(text: string): string {
  return text
    .replaceAll(/!\[[^\]]*\]\([^)]*\)/g, '')
    .replaceAll(/(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, '⟦code⟧')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/<\/?[a-z][^>]*>/gi, ' ')
    .replaceAll(/https?:\/\/\S+/g, '⟦address⟧')
    .replaceAll(listOfCode, '⟦code⟧');
}

function blocksOf(markdown: string): readonly Sentence[] {
  const blocks: { line: number; text: string }[] = [];
  let open: { line: number; text: string } | undefined;
  let inFence = false;
  let inList = false;
  const begin = (line: number, text: string): { line: number; text: string } => {
    const block = { line, text };
    blocks.push(block);
    return block;
  };
  for (const [index, line] of markdown.split('\n').entries()) {
    const number = index + 1;
    if (fence.test(line)) {
      inFence = !inFence;
      open = undefined;
    } else if (inFence) continue;
    else if (line.trim() === '') open = undefined;
    // The explanation of a verdict is output of the product.
    else if (/^Verdict: .*\*$/.test(line)) open = begin(number, line.replace(/\*.*\*$/, ''));
    else if (/^\s*\|/.test(line)) {
      open = undefined;
      // A cell is separate prose.
      for (const cell of line.split(/(?<!\\)\|/)) if (!/^[\s:-]*$/.test(cell)) begin(number, cell);
    } else if (/^#+ /.test(line)) {
      open = undefined;
      inList = false;
      begin(number, line.replace(/^#+ /, ''));
    } else if (listItem.test(line)) {
      inList = true;
      open = begin(number, line.replace(listItem, ''));
    } else if (open !== undefined) open.text += ` ${line.trim()}`;
    else if (/^\s/.test(line) && !inList) continue;
    else {
      // Four spaces more than the list are code.
      if (/^ {6}/.test(line)) continue;
      if (!/^\s/.test(line)) inList = false;
      open = begin(number, line.trim());
    }
  }
  return blocks;
}
