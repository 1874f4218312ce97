/** Counts what held and what did not. */

export interface Tally {
  counts(): { readonly passed: number; readonly failed: number };
  /** Holds when there are no faults. */
  check(name: string, faults: readonly string[]): void;
  /** The same for work that may fail: an error is a fault. */
  attempt(name: string, work: () => Promise<readonly string[]>): Promise<void>;
}

/** The faults of one check. */
const faultsShownMax = 8;
const faultCharsMax = 600;

export function tally(say: (line: string) => void, now: () => number): Tally {
  let [passed, failed] = [0, 0];
  const check = (name: string, faults: readonly string[]): void => {
    if (faults.length === 0) {
      passed++;
      return;
    }
    failed++;
    say(`FAILED  ${name}`);
    for (const fault of faults.slice(0, faultsShownMax)) say(`        ${printable(fault)}`);
    if (faults.length > faultsShownMax) say(`        … and ${faults.length - faultsShownMax} more`);
  };
  return {
    counts: () => ({ passed, failed }),
    check,
    async attempt(name, work) {
      const startMs = now();
      try {
        check(name, await work());
      } catch (error) {
        check(name, [`after ${Math.round(now() - startMs)} ms: ${error instanceof Error ? error.message : String(error)}`]);
      }
    },
  };
}

/** Faults quote hostile text, which must not reach the terminal. */
export function printable(text: string): string {
  const cut = text.length > faultCharsMax ? `${text.slice(0, faultCharsMax)}…` : text;
  return cut
    .replaceAll(/[^\n\x20-\x7e…’“”äöü]/g, (char) => `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`)
    .replaceAll('\n', '\n        ');
}
