/** Fenced code blocks in a text. */

export interface CodeBlock {
  /** Language of the fence in lower case; empty when it names none. */
  readonly language: string;
  readonly code: string;
  /** Line of the first line of code, from 1. */
  readonly line: number;
}

/** Limit of blocks per text. */
export const blocksMax = 200;

/** `undefined` when the text has more blocks than the limit. */
export function codeBlocks(text: string): readonly CodeBlock[] | undefined {
  const { blocks, isWhole } = firstCodeBlocks(text);
  return isWhole ? blocks : undefined;
}

/**
 * A block ends at a fence of at least the opening length, or at the end of the text. `isWhole`: false when there are more blocks than the
 * limit.
 */
export function firstCodeBlocks(text: string): { readonly blocks: readonly CodeBlock[]; readonly isWhole: boolean } {
  const blocks: CodeBlock[] = [];
  let open: { readonly fence: string; readonly language: string; readonly line: number; readonly code: string[] } | undefined;
  for (const [at, line] of text.split('\n').entries()) {
    const fence = /^ {0,3}(`{3,}|~{3,})[ \t]*([^\s`]*)/.exec(line);
    const sign = fence?.[1] ?? '';
    if (open === undefined) {
      if (sign !== '') open = { fence: sign, language: (fence?.[2] ?? '').toLowerCase(), line: at + 2, code: [] };
    } else if (sign.startsWith(open.fence) && line.trim() === sign) {
      blocks.push({ language: open.language, code: open.code.join('\n'), line: open.line });
      open = undefined;
    } else open.code.push(line);
    if (blocks.length > blocksMax) return { blocks: blocks.slice(0, blocksMax), isWhole: false };
  }
  if (open !== undefined) blocks.push({ language: open.language, code: open.code.join('\n'), line: open.line });
  return { blocks: blocks.slice(0, blocksMax), isWhole: blocks.length <= blocksMax };
}
