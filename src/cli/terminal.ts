/** Foreign text for a terminal: on one line, cut, and without anything that a terminal would obey. */

/** Control characters, and marks that turn the direction of text around. */
const OBEYED = /[\p{Cc}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu;

export function oneLine(text: string, charsMax: number): string {
  // The rest is cut off anyway; a huge text is not worth walking through.
  const folded = text
    .slice(0, charsMax * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .toWellFormed();
  const harmless = folded.replaceAll(OBEYED, (sign) => `\\u${(sign.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  const signs = [...harmless];
  return signs.length > charsMax || text.length > charsMax * 4 ? `${signs.slice(0, charsMax - 1).join('')}…` : harmless;
}

/** A bar on a terminal while runs are scored; anywhere else nothing. */
interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

interface Progress {
  readonly show: (done: number) => void;
  /** Takes the bar away. */
  readonly end: () => void;
}

const width = 30;

export function progressBar(stream: ProgressStream, total: number): Progress {
  if (stream.isTTY !== true || total === 0) return { show() {}, end() {} };
  let drawn = '';
  return {
    show(done) {
      const filled = Math.floor((done / total) * width);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${total}`;
      if (bar === drawn) return;
      drawn = bar;
      stream.write(`\r${bar}`);
    },
    end: () => stream.write('\r\u001b[K'),
  };
}
