/** The text of a dataset → its value, whose every part knows its line and column. YAML, JSON, or JSON lines. */
import { isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, type Document } from 'yaml';
import type { ConfigFault, Path } from '../../config/diagnostic.ts';
import { syntaxProblem } from '../../config/syntax-problem.ts';
import { isJsonArray, isJsonObject, parseJson, type JsonValue } from '../../model/json.ts';
import { InputFaults } from '../input-faults.ts';

/** Line and column from 1, and the line itself. */
export type TextPlace = Pick<ConfigFault, 'line' | 'column' | 'source'>;

/** The place of a value or of its key; for an absent one, the place of the nearest value around it. */
export type Locate = (path: Path, at?: 'key' | 'value') => TextPlace;

export interface LocatedText {
  readonly value: JsonValue;
  readonly locate: Locate;
}

/** A few aliases of aliases can stand for billions of values. */
const aliasesMax = 100;
const syntaxFaultsMax = 20;
/** Larger JSON texts get no places: finding them takes seconds a megabyte. */
const locatedCharsMax = 16 * 1024 * 1024;
/** Characters of a line that a fault quotes. */
const sourceCharsMax = 200;

/** Throws InputFaults with every syntax fault. */
export function datasetText(file: string, text: string): LocatedText {
  const lines = jsonLines(file, text);
  if (lines !== undefined) return lines;
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  return json === undefined ? yamlText(file, text) : { value: json, locate: locatorOf(text) };
}

/** Undefined: the text is one document. */
function jsonLines(file: string, text: string): LocatedText | undefined {
  const lines = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line, number: at + 1 }]));
  if (!lines.every(({ line }) => /^\s*\{.*\}\s*$/.test(line)) && (lines.length < 2 || !lines.every(({ line }) => /^\s*\{/.test(line))))
    return undefined;
  const read = lines.map(({ line, number }) => ({ line, number, value: parseJson(line) }));
  const [only] = read;
  // One line may be a whole document, in JSON or in the flow style of YAML.
  if (read.length === 1 && (only?.value === undefined || (isJsonObject(only.value) && Object.hasOwn(only.value, 'examples'))))
    return undefined;
  const faults = read.flatMap(({ line, number, value }) => (value === undefined ? [notJson(file, line, number)] : []));
  if (faults.length > 0)
    throw new InputFaults(
      file,
      faults.slice(0, syntaxFaultsMax),
      faults.map(({ line, problem }) => `line ${line} ${problem}`),
    );
  return {
    value: read.flatMap(({ value }) => (value === undefined ? [] : [value])),
    locate(path, at) {
      const [index, ...rest] = path;
      const found = typeof index === 'number' ? read[index] : undefined;
      if (found === undefined) return { line: 1, column: 1, source: '' };
      return { ...locatorOf(found.line)(rest, at), line: found.number };
    },
  };
}

function notJson(file: string, line: string, number: number): ConfigFault {
  const [error] = parseDocument(line, { prettyErrors: false }).errors;
  return {
    file,
    line: number,
    column: (error?.pos[0] ?? line.search(/\S/)) + 1,
    key: '',
    problem: 'is not JSON',
    todo: error === undefined ? 'Write each example as one line of JSON: names in double quotes.' : syntaxProblem(error.code).todo,
    source: shortened(line),
  };
}

function yamlText(file: string, text: string): LocatedText {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { version: '1.2', intAsBigInt: true, prettyErrors: false, lineCounter });
  const faults = document.errors
    .slice(0, syntaxFaultsMax)
    .map(({ code, pos: [offset] }): ConfigFault => ({ file, key: '', ...placeAt(text, lineCounter, offset), ...syntaxProblem(code) }));
  if (faults.length > 0)
    throw new InputFaults(
      file,
      faults,
      faults.map(({ line, column, problem }) => `it is no YAML: line ${line}, column ${column}: ${problem}`),
    );
  const locate: Locate = (path, at) => placeAt(text, lineCounter, offsetOf(document, path, at));
  try {
    return { value: plainNumbers(document.toJS({ maxAliasCount: aliasesMax }) as JsonValue), locate };
  } catch {
    throw new InputFaults(
      file,
      [
        {
          file,
          line: 1,
          column: 1,
          key: '',
          problem: 'it has too many aliases',
          todo: `Write values out; an alias counts as what it stands for, at most ${aliasesMax} times.`,
          source: '',
        },
      ],
      ['it has too many aliases'],
    );
  }
}

/** JSON is YAML, so the same parser finds the places; it runs when the first place is needed. */
export function locatorOf(text: string): Locate {
  let parsed: { readonly document: Document.Parsed; readonly lines: LineCounter } | undefined;
  return (path, at) => {
    if (text.length > locatedCharsMax) return { line: 1, column: 1, source: '' };
    if (parsed === undefined) {
      const lines = new LineCounter();
      parsed = { document: parseDocument(text, { prettyErrors: false, lineCounter: lines, uniqueKeys: false }), lines };
    }
    return placeAt(text, parsed.lines, offsetOf(parsed.document, path, at));
  };
}

function placeAt(text: string, lines: LineCounter, offset: number): TextPlace {
  const { line, col } = lines.linePos(Math.max(0, Math.min(offset, text.length - 1)));
  const start = lines.lineStarts[Math.max(line, 1) - 1] ?? 0;
  const end = text.indexOf('\n', start);
  return { line: Math.max(line, 1), column: Math.max(col, 1), source: shortened(text.slice(start, end === -1 ? undefined : end)) };
}

function shortened(line: string): string {
  const whole = line.trimEnd();
  return whole.length <= sourceCharsMax ? whole : `${whole.slice(0, sourceCharsMax - 1)}…`;
}

function offsetOf(document: Document.Parsed, path: Path, at: 'key' | 'value' = 'value'): number {
  let node: unknown = document.contents;
  let [key, value] = [startOf(node), startOf(node)];
  for (const part of path) {
    if (isAlias(node)) node = node.resolve(document);
    const below: { readonly key?: unknown; readonly value: unknown } | undefined =
      isSeq(node) && typeof part === 'number'
        ? { value: node.items[part] }
        : isMap(node)
          ? node.items.find((pair) => isScalar(pair.key) && String(pair.key.value) === String(part))
          : undefined;
    if (below === undefined || below.value === undefined) break;
    value = startOf(below.value) ?? startOf(below.key) ?? value;
    key = startOf(below.key) ?? value;
    node = below.value;
  }
  return (at === 'key' ? key : value) ?? 0;
}

/** An empty value has no width. */
function startOf(node: unknown): number | undefined {
  if (!isNode(node)) return undefined;
  const { range } = node;
  return range === undefined || range === null || range[0] === range[1] ? undefined : range[0];
}

/** Whole numbers that a double holds exactly are numbers, the others stay bigint. */
function plainNumbers(value: JsonValue): JsonValue {
  if (typeof value === 'bigint')
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  if (isJsonArray(value)) return value.map(plainNumbers);
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item)])) : value;
}
