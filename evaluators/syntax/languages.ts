/** The languages whose syntax is checked. A new one is a row of the table at the end, with its parser's check above. */
import { parser as cssGrammar } from '@lezer/css';
import { parser as rustGrammar } from '@lezer/rust';
import { parseXml, XmlError } from '@rgrove/parse-xml';
import { parse as parsePython } from 'py-ast';
import { parse as parseShell } from 'unbash';
import { Composer, Parser } from 'yaml';
import { parseJson } from '../../src/model/json.ts';
import { javascriptProblem, typescriptProblem } from './javascript.ts';
import { checkedBy, firstProblem, isSyntaxError, lineAt, type Check } from './readings.ts';

import php from 'php-parser';

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
  for (const document of new Composer({ uniqueKeys: false }).compose(new Parser().parse(code))) {
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

const asRust = reader(rustGrammar);
const asCss = reader(cssGrammar);

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

export interface Language {
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
