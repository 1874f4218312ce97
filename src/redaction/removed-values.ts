/** What was taken out of a run, so that a verdict that quotes the beginning of it, cut short, does not let that through. */

/** Distinct values that are remembered, and characters of each: evaluators cut earlier. */
const originalsMax = 1_000;
const charsMax = 500;
/** A shorter beginning tells nothing. */
export const beginningCharsMin = 4;
/** As evaluators end a text that goes on. */
const CUT = '…';
/** Pieces of one text; one with more is given up. */
const cutsMax = 100;

export interface Originals {
  add(original: string, replacement: string): void;
  /** The text without beginnings of what was taken away where it is cut short; undefined: it was not looked through. */
  withoutBeginnings(text: string): string | undefined;
}

export function originals(): Originals {
  const known = new Map<string, string>();
  return {
    add(original, replacement) {
      for (const form of formsOf(original.slice(0, charsMax))) if (known.size < originalsMax) known.set(form, replacement);
    },
    withoutBeginnings(text) {
      if (known.size === 0 || !text.includes(CUT)) return text;
      const pieces = text.split(CUT);
      if (pieces.length > cutsMax) return undefined;
      return pieces.map((piece, at) => (at < pieces.length - 1 ? withoutEnd(piece, known) : piece)).join(CUT);
    },
  };
}

/** As it stands, in one line, and as JSON writes it. */
function formsOf(original: string): readonly string[] {
  return [...new Set([original, original.replaceAll(/\s+/g, ' '), JSON.stringify(original).slice(1, -1)])].filter(
    (form) => form.length >= beginningCharsMin,
  );
}

/** A piece that stands before a cut, without the longest beginning of an original at its end. */
function withoutEnd(piece: string, known: ReadonlyMap<string, string>): string {
  const tail = piece.slice(-charsMax);
  let best = { from: tail.length, replacement: '' };
  for (const [original, replacement] of known) {
    const head = original.slice(0, beginningCharsMin);
    for (let from = tail.indexOf(head); from >= 0 && from < best.from; from = tail.indexOf(head, from + 1)) {
      if (original.startsWith(tail.slice(from))) best = { from, replacement };
    }
  }
  return best.from === tail.length ? piece : piece.slice(0, piece.length - tail.length + best.from) + best.replacement;
}
