/**
 * Code in an answer is often an excerpt: a method without its class, a session with its prompts. Each language says as what else such code
 * may be read; it is broken when no reading is correct, and what is wrong is said of the first.
 */

/** Says what is wrong with the code; undefined: nothing. */
export type Check = (code: string) => string | undefined;

/** The text of one reading, and how it is read. */
export type Reading = readonly [check: Check, code: string];

/** What is said of code that exhausts the stack, or the work that is done for its length. */
export const tooDeep = 'it nests too deep to be read';

export function firstProblem(readings: readonly Reading[]): string | undefined {
  let first: string | undefined;
  for (const [check, code] of readings) {
    const problem = check(code);
    if (problem === undefined) return undefined;
    first ??= problem;
    if (problem === tooDeep) return first;
  }
  return first;
}

/** A check by a parser that throws. What it throws beside faults of syntax is an accident of its own and says nothing about the code. */
export function checkedBy(parse: (code: string) => unknown, isFault: (error: unknown) => error is Error): Check {
  return (code) => {
    try {
      parse(code);
      return undefined;
    } catch (error) {
      // Code that nobody wrote by hand.
      if (error instanceof RangeError) return tooDeep;
      return isFault(error) ? firstLine(error.message) : undefined;
    }
  };
}

export function isSyntaxError(error: unknown): error is SyntaxError {
  return error instanceof SyntaxError;
}

/** Line of an offset, from 1. */
export function lineAt(code: string, offset: number): number {
  return code.slice(0, offset).split('\n').length;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}
