/** Blocks of pages in the language `console`: commands behind `$ `, and what they print. */

export interface ShownCommand {
  readonly command: string;
  /** Lines of a shown command and its output. */
  readonly output: RegExp;
}

/** `…` matches the rest of a word or line; by itself on a line it matches any lines. */
export function commandsOf(text: string): readonly ShownCommand[] {
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...lines] = part.trimEnd().split('\n');
      const pattern = lines.map((line) =>
        line === '…'
          ? '(?:.*\\n)*?'
          : `${line
              .split('…')
              .map((piece) => escaped(piece))
              .join('.+')} *\\n`,
      );
      return { command, output: new RegExp(`^\\$ .*\\n${pattern.join('')}$`) };
    });
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
