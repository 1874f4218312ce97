/**
 * The languages whose syntax is checked. A new one is a row of the table at the end, with its parser's check above. Code in an answer is
 * often an excerpt: a method without its class, a session with its prompts. Each language names the readings of such code. The code is
 * broken when no reading is correct, and the problem is that of the first reading.
 */
import { tsPlugin } from '@sveltejs/acorn-typescript';
import { Parser, type Options } from 'acorn';
import jsx from 'acorn-jsx';
import { parser as cssGrammar } from '@lezer/css';
import { parser as rustGrammar } from '@lezer/rust';
import { parseXml, XmlError } from '@rgrove/parse-xml';
import { parse as parsePython } from 'py-ast';
import { parse as parseShell } from 'unbash';
import { Composer, Parser as YamlParser } from 'yaml';
import { parseJson } from '../../src/model/json.ts';
import php from 'php-parser';

/** Says what is wrong with the code; undefined: nothing. */
type Check = (code: string) => string | undefined;

/** The text of one reading, and how it is read. */
type Reading = readonly [check: Check, code: string];

/** What is said of code that exhausts the stack, or the work that is done for its length. */
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

/** A check by a parser that throws. What it throws beside faults of syntax is an accident of its own and says nothing about the code. */
function checkedBy(parse: (code: string) => unknown, isFault: (error: unknown) => error is Error): Check {
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
const asTypescript = reader(Parser.extend(tsPlugin(), excerpts), 'module');
const typedWithJsx = reader(Parser.extend(tsPlugin({ jsx: true }), excerpts), 'module');

const javascriptProblem: Check = (code) =>
  firstProblem([
    [asModule, code],
    [asScript, code],
    [withJsx, code],
    [asModule, asExpression(code)],
    [asModule, asMembers(code) ?? code],
  ]);
const typescriptProblem: Check = (code) =>
  firstProblem([
    [asTypescript, code],
    [typedWithJsx, code],
    [asTypescript, asExpression(code)],
    [asTypescript, asMembers(code) ?? code],
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

const asShell = checkedBy((code) => {
  const [first] = parseShell(code).errors ?? [];
  if (first !== undefined) throw new SyntaxError(`${first.message} in line ${lineAt(code, first.pos)}`);
}, isSyntaxError);

/** Shell, as Bash reads it; also a session with prompts, and with names in angle brackets to be filled in. */
const shellProblem: Check = (code) =>
  firstProblem([
    [asShell, code],
    [asShell, filledIn(code)],
    [asShell, filledIn(typedAtShell(code) ?? code)],
  ]);

function filledIn(code: string): string {
  return code.replaceAll(/<[A-Za-z][\w .:/-]{0,80}>/g, 'x');
}

/** What was typed at the prompts, with its further lines; undefined where there are none. */
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

const asDocument = checkedBy(
  (code) => parseXml(code.trim(), { ignoreUndefinedEntities: true }),
  (error): error is XmlError => error instanceof XmlError,
);

/** Also a part of a document. */
const xmlProblem: Check = (code) =>
  firstProblem([[asDocument, code], ...(code.includes('<') ? [[asDocument, `<excerpt>${code}</excerpt>`] as const] : [])]);

/** Any number of documents; values are not made of them, so that aliases cost nothing. */
const yamlProblem: Check = (code) => {
  // Keys given twice are not looked for: the comparison takes the square of their number.
  for (const document of new Composer({ uniqueKeys: false }).compose(new YamlParser().parse(code))) {
    const [first] = document.errors;
    if (first !== undefined) return `${first.message} in line ${lineAt(code, first.pos[0])}`;
  }
  return undefined;
};

/** The parser throws plain errors for faults of syntax, and others only by accident. */
const asPython = checkedBy(
  (code) => parsePython(code.replaceAll('\f', ' ')),
  (error): error is Error => error instanceof Error && !(error instanceof TypeError),
);

/** Python 3, also as a session with prompts, and with the commands of a notebook. */
const pythonProblem: Check = (code) =>
  firstProblem([
    [asPython, code],
    [asPython, withoutMargin(code)],
    [asPython, typedAtPython(code) ?? code],
    [asPython, withoutCommands(code)],
  ]);

/** A method of a class stands as far in as it stood there. */
function withoutMargin(code: string): string {
  const margin = /^(?:[ \t]*\n)*([ \t]+)\S/.exec(code)?.[1] ?? '';
  return code
    .split('\n')
    .map((line) => (line.startsWith(margin) ? line.slice(margin.length) : line))
    .join('\n');
}

/** What was typed at the prompts; undefined where there are none. */
function typedAtPython(code: string): string | undefined {
  const typed = code.split('\n').flatMap((line) => /^\s*(?:>>>|\.\.\.)(?: (.*)|$)/.exec(line)?.[1] ?? []);
  return typed.length === 0 ? undefined : `${typed.join('\n')}\n`;
}

/** `%magic` and `!command` of a notebook. */
function withoutCommands(code: string): string {
  return code.replaceAll(/^[ \t]*[%!].*$/gm, '');
}

const phpOptions = { parser: { extractDoc: false, version: '8.5' } };
// The engine keeps state, so each code gets its own.
const asPhpFile = checkedBy((code) => new php.Engine(phpOptions).parseCode(code, 'excerpt.php'), isSyntaxError);
const asPhp = checkedBy((code) => new php.Engine(phpOptions).parseEval(code), isSyntaxError);

/** PHP, with its tags or without. */
const phpProblem: Check = (code) =>
  code.includes('<?')
    ? asPhpFile(code)
    : firstProblem([
        [asPhp, code],
        [asPhp, `class Excerpt {${code}\n}`],
      ]);

const asRust = lezer(rustGrammar);
const asCss = lezer(cssGrammar);

/** Also statements, and an expression at their end, as in the body of a function. */
const rustProblem: Check = (code) =>
  firstProblem([
    [asRust, code],
    [asRust, `fn excerpt() {${code}\n}`],
  ]);

/** Also declarations without their rule. */
const cssProblem: Check = (code) =>
  firstProblem([
    [asCss, code],
    [asCss, `a {${code}\n}`],
  ]);

function lezer(grammar: typeof rustGrammar): Check {
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
  readonly problem: Check;
}

export const languages = {
  json: { fences: ['json'], problem: (code) => (parseJson(code) === undefined ? 'it is no JSON' : undefined) },
  javascript: { fences: ['js', 'javascript', 'jsx', 'mjs', 'cjs', 'node'], problem: javascriptProblem },
  typescript: { fences: ['ts', 'typescript', 'tsx', 'mts', 'cts'], problem: typescriptProblem },
  python: { fences: ['py', 'python', 'python3', 'py3'], problem: pythonProblem },
  php: { fences: ['php'], problem: phpProblem },
  rust: { fences: ['rs', 'rust'], problem: rustProblem },
  shell: { fences: ['sh', 'bash', 'shell'], problem: shellProblem },
  css: { fences: ['css'], problem: cssProblem },
  xml: { fences: ['xml', 'svg', 'xsd', 'xsl'], problem: xmlProblem },
  yaml: { fences: ['yaml', 'yml'], problem: yamlProblem },
} as const satisfies { readonly [language: string]: Language };

export type CodeLanguage = keyof typeof languages;
