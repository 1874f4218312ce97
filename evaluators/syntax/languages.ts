/**
 * The languages whose syntax is checked. A new one is a row of the table at the end, with its parser's check above. Code in an answer is
 * often an excerpt: a method without its class, a session with its prompts. Each language names the readings of such code. The code is
 * broken when no reading is correct, and the problem is that of the first reading.
 */
import type { Options, Parser } from 'acorn';
import type { parser as LezerGrammar } from '@lezer/rust';
import type { XmlError } from '@rgrove/parse-xml';
import { parseJson } from '../../src/model/json.ts';
import * as parsers from './parsers.cjs';

/** Says what is wrong with the code; undefined: nothing. */
type Check = (code: string) => string | undefined;

/** The text of one reading, and how it is read. */
type Reading = readonly [check: Check, code: string];

/** The message about code that exhausts the stack, or the work that is allowed for its length. */
const tooDeep = 'it nests too deep to be read';

function firstProblem(readings: readonly Reading[]): string | undefined {
  let first: string | undefined;
  for (const [check, code] of readings) {
    const problem = check(code);
    if (problem === undefined) return undefined;
    first ??= problem;
    if (problem === tooDeep) return first;
  }
  return first;
}

/** A check by a parser that throws. An error other than a fault of syntax is an accident of the parser and proves nothing about the code. */
function checkedBy(parse: (code: string) => unknown, isFault: (error: unknown) => error is Error): Check {
  return (code) => {
    try {
      parse(code);
      return undefined;
    } catch (error) {
      // Only generated code is that deep.
      if (error instanceof RangeError) return tooDeep;
      return isFault(error) ? firstLine(error.message) : undefined;
    }
  };
}

function isSyntaxError(error: unknown): error is SyntaxError {
  return error instanceof SyntaxError;
}

/** Line of an offset, from 1. */
function lineAt(code: string, offset: number): number {
  return code.slice(0, offset).split('\n').length;
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0] ?? '';
}

/**
 * Where types and comparisons look alike the parser tries one and then the other, at worst twice as often with each level of nesting.
 * Tokens are read at most this many times for each character, and the few of a short code besides.
 */
const tokensPerChar = 2;
const tokensBesides = 500;

type Plugin = (Base: typeof Parser) => typeof Parser;

/** The parser's interface for plug-ins beside its types. */
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

function javascript(): Check {
  const { Parser: Base } = parsers.acorn();
  const asModule = reader(Base.extend(excerpts), 'module');
  const asScript = reader(Base.extend(excerpts), 'script');
  const withJsx = reader(Base.extend(parsers.acornJsx()(), excerpts), 'module');
  return (code) =>
    firstProblem([
      [asModule, code],
      [asScript, code],
      [withJsx, code],
      [asModule, asExpression(code)],
      [asModule, asMembers(code) ?? code],
    ]);
}

function typescript(): Check {
  const { Parser: Base } = parsers.acorn();
  const { tsPlugin } = parsers.acornTypescript();
  const asTypescript = reader(Base.extend(tsPlugin(), excerpts), 'module');
  const typedWithJsx = reader(Base.extend(tsPlugin({ jsx: true }), excerpts), 'module');
  return (code) =>
    firstProblem([
      [asTypescript, code],
      [typedWithJsx, code],
      [asTypescript, asExpression(code)],
      [asTypescript, asMembers(code) ?? code],
    ]);
}

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
    // The parser of types gives a message where others exhaust the stack.
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

/** Shell, as Bash reads it; also a session with prompts, and with names in angle brackets to be filled in. */
function shell(): Check {
  const { parse } = parsers.unbash();
  const asShell = checkedBy((code) => {
    const [first] = parse(code).errors ?? [];
    if (first !== undefined) throw new SyntaxError(`${first.message} in line ${lineAt(code, first.pos)}`);
  }, isSyntaxError);
  return (code) =>
    firstProblem([
      [asShell, code],
      [asShell, filledIn(code)],
      [asShell, filledIn(typedAtShell(code) ?? code)],
    ]);
}

function filledIn(code: string): string {
  return code.replaceAll(/<[A-Za-z][\w .:/-]{0,80}>/g, 'x');
}

/** The lines typed at the prompts, with their continuation lines; `undefined` where there are none. */
function typedAtShell(code: string): string | undefined {
  const typed: string[] = [];
  let goesOn = false;
  for (const line of code.split('\n')) {
    const command = /^\s*\$ (.*)$/.exec(line)?.[1];
    if (command !== undefined || goesOn) typed.push(command ?? line);
    goesOn = (command !== undefined || goesOn) && line.endsWith('\\');
  }
  return typed.length === 0 ? undefined : typed.join('\n');
}

/** Also a part of a document. */
function xml(): Check {
  const { parseXml, XmlError: Fault } = parsers.parseXml();
  const asDocument = checkedBy(
    (code) => parseXml(code.trim(), { ignoreUndefinedEntities: true }),
    (error): error is XmlError => error instanceof Fault,
  );
  return (code) => firstProblem([[asDocument, code], ...(code.includes('<') ? [[asDocument, `<excerpt>${code}</excerpt>`] as const] : [])]);
}

/** Any number of documents; values are not made of them, so that aliases cost nothing. */
function yaml(): Check {
  const { Composer, Parser: YamlParser } = parsers.yaml();
  return (code) => {
    // Keys given twice are not looked for: the comparison takes the square of their number.
    for (const document of new Composer({ uniqueKeys: false }).compose(new YamlParser().parse(code))) {
      const [first] = document.errors;
      if (first !== undefined) return `${first.message} in line ${lineAt(code, first.pos[0])}`;
    }
    return undefined;
  };
}

/** Python 3, also as a session with prompts, and with the commands of a notebook. */
function python(): Check {
  const { parse } = parsers.pyAst();
  // The parser throws plain errors for faults of syntax, and others only by accident.
  const asPython = checkedBy(
    (code) => parse(code.replaceAll('\f', ' ')),
    (error): error is Error => error instanceof Error && !(error instanceof TypeError),
  );
  return (code) =>
    firstProblem([
      [asPython, code],
      [asPython, withoutMargin(code)],
      [asPython, typedAtPython(code) ?? code],
      [asPython, withoutCommands(code)],
    ]);
}

/** A method of a class stands as far in as it stood there. */
function withoutMargin(code: string): string {
  const margin = /^(?:[ \t]*\n)*([ \t]+)\S/.exec(code)?.[1] ?? '';
  return code
    .split('\n')
    .map((line) => (line.startsWith(margin) ? line.slice(margin.length) : line))
    .join('\n');
}

/** The lines typed at the prompts; `undefined` where there are none. */
function typedAtPython(code: string): string | undefined {
  const typed = code.split('\n').flatMap((line) => /^\s*(?:>>>|\.\.\.)(?: (.*)|$)/.exec(line)?.[1] ?? []);
  return typed.length === 0 ? undefined : `${typed.join('\n')}\n`;
}

/** `%magic` and `!command` of a notebook. */
function withoutCommands(code: string): string {
  return code.replaceAll(/^[ \t]*[%!].*$/gm, '');
}

const phpOptions = { parser: { extractDoc: false, version: '8.5' } };

/** PHP, with its tags or without. */
function php(): Check {
  const { Engine } = parsers.phpParser();
  // The engine keeps state, so each code gets its own.
  const asFile = checkedBy((code) => new Engine(phpOptions).parseCode(code, 'excerpt.php'), isSyntaxError);
  const asPhp = checkedBy((code) => new Engine(phpOptions).parseEval(code), isSyntaxError);
  return (code) =>
    code.includes('<?')
      ? asFile(code)
      : firstProblem([
          [asPhp, code],
          [asPhp, `class Excerpt {${code}\n}`],
        ]);
}

/** Also statements, and an expression at their end, as in the body of a function. */
function rust(): Check {
  const asRust = lezer(parsers.lezerRust().parser);
  return (code) =>
    firstProblem([
      [asRust, code],
      [asRust, `fn excerpt() {${code}\n}`],
    ]);
}

/** Also declarations without their rule. */
function css(): Check {
  const asCss = lezer(parsers.lezerCss().parser);
  return (code) =>
    firstProblem([
      [asCss, code],
      [asCss, `a {${code}\n}`],
    ]);
}

function lezer(grammar: typeof LezerGrammar): Check {
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

interface Language {
  /** As fences name it, in lower case. */
  readonly fences: readonly string[];
  /** Loads the parser. */
  readonly check: () => Check;
}

export const languages = {
  json: { fences: ['json'], check: () => (code) => (parseJson(code) === undefined ? 'it is not JSON' : undefined) },
  javascript: { fences: ['js', 'javascript', 'jsx', 'mjs', 'cjs', 'node'], check: javascript },
  typescript: { fences: ['ts', 'typescript', 'tsx', 'mts', 'cts'], check: typescript },
  python: { fences: ['py', 'python', 'python3', 'py3'], check: python },
  php: { fences: ['php'], check: php },
  rust: { fences: ['rs', 'rust'], check: rust },
  shell: { fences: ['sh', 'bash', 'shell'], check: shell },
  css: { fences: ['css'], check: css },
  xml: { fences: ['xml', 'svg', 'xsd', 'xsl'], check: xml },
  yaml: { fences: ['yaml', 'yml'], check: yaml },
} as const satisfies { readonly [language: string]: Language };

export type CodeLanguage = keyof typeof languages;
