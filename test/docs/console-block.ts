/** Blocks of pages in the language `console`: commands behind `$ `, and what they print. */

export interface ShownCommand {
  readonly command: string;
  /** Of the command as it is shown and what it prints. */
  readonly output: RegExp;
}

/** `…` stands for the rest of a word or line, on a line of its own for any lines. */
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
