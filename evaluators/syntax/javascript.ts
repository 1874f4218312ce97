/** JavaScript and TypeScript, each with JSX. */
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser, type Options } from 'acorn';
import { checkedBy, firstProblem, isSyntaxError, tooDeep, type Check } from './readings.ts';

import jsx from 'acorn-jsx';

/**
 * Where types and comparisons look alike the parser tries one and then the other, at worst twice as often with each level of nesting.
 * Tokens are read at most this many times for each character, and the few of a short code besides.
 */
const tokensPerChar = 2;
const tokensBesides = 500;

type Plugin = (Base: typeof Parser) => typeof Parser;

/** What the parser offers to plug-ins besides its types. */
type Internals = new (options: Options, input: string) => Parser & { nextToken(): void };

/** The work is bounded, and two checks that suit whole files are left out. */
const excerpts: Plugin = (Base) => {
  class Excerpt extends (Base as unknown as Internals) {
    #left = this.input.length * tokensPerChar + tokensBesides;

    override nextToken(): void {
      this.#left -= 1;
      if (this.#left < 0) throw new RangeError('more work than is done');
      super.nextToken();
    }

    /** An excerpt exports what it does not declare. */
    protected checkLocalExport(): void {}

    /** `<T extends object>(x: T) =>` beside JSX. */
    protected reportReservedArrowTypeParam(): void {}
  }
  return Excerpt as unknown as typeof Parser;
};

const asModule = reader(Parser.extend(excerpts), 'module');
const asScript = reader(Parser.extend(excerpts), 'script');
const withJsx = reader(Parser.extend(jsx(), excerpts), 'module');
const typed = reader(Parser.extend(tsPlugin(), excerpts), 'module');
const typedWithJsx = reader(Parser.extend(tsPlugin({ jsx: true }), excerpts), 'module');

export const javascriptProblem: Check = (code) =>
  firstProblem([
    [asModule, code],
    [asScript, code],
    [withJsx, code],
    [asModule, asExpression(code)],
    [asModule, asMembers(code) ?? code],
  ]);
export const typescriptProblem: Check = (code) =>
  firstProblem([
    [typed, code],
    [typedWithJsx, code],
    [typed, asExpression(code)],
    [typed, asMembers(code) ?? code],
  ]);

function reader(parser: typeof Parser, sourceType: 'module' | 'script'): Check {
  const options: Options = {
    ecmaVersion: 'latest',
    sourceType,
    locations: true,
    allowReturnOutsideFunction: true,
    allowAwaitOutsideFunction: true,
    allowSuperOutsideMethod: true,
    checkPrivateFields: false,
    allowHashBang: true,
  };
  const check = checkedBy((code) => parser.parse(code, options), isSyntaxError);
  return (code) => {
    const problem = check(code);
    // The parser of types says it in words where others exhaust the stack.
    return problem?.startsWith('Not enough stack space') === true ? tooDeep : problem;
  };
}

/** An object, or a function without a name. */
function asExpression(code: string): string {
  return `(${code}\n)`;
}

/** Members without their class; undefined where the code begins as no member does. */
function asMembers(code: string): string | undefined {
  return /^\s*(?:@|(?:public|private|protected|static|readonly|override|abstract)\s|(?:(?:async|get|set)\s+|\*\s*)?(?!(?:if|for|while|switch|function|catch|with)\b)#?[\w$]+\s*[(<])/.test(
    code,
  )
    ? `class Excerpt extends Whole {${code}\n}`
    : undefined;
}
