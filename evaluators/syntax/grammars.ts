/** Rust and CSS, by tables of their grammars. */
import { parser as cssGrammar } from '@lezer/css';
import { parser as rustGrammar } from '@lezer/rust';
import { firstProblem, lineAt } from './readings.ts';
import type { Check } from './readings.ts';

const asRust = reader(rustGrammar);
const asCss = reader(cssGrammar);

/** Also statements, and an expression at their end, as in the body of a function. */
export const rustProblem: Check = (code) =>
  firstProblem([
    [asRust, code],
    [asRust, `fn excerpt() {${code}\n}`],
  ]);

/** Also declarations without their rule. */
export const cssProblem: Check = (code) =>
  firstProblem([
    [asCss, code],
    [asCss, `a {${code}\n}`],
  ]);

function reader(grammar: typeof rustGrammar): Check {
  // It stops at the first fault, and so does no work for recovery.
  const strict = grammar.configure({ strict: true });
  return (code) => {
    try {
      strict.parse(code);
      return undefined;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      return `line ${lineAt(code, Number(/\d+/.exec(error.message)?.[0] ?? 0))} cannot be read`;
    }
  };
}
