/** Reads datasets from YAML, JSON or JSON lines: a list of examples, or an object with one. Faults have their line and column. */
import { readFileSync, statSync } from 'node:fs';
import type { Document, LineCounter } from 'yaml';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { schemaFaults } from '../../../evaluators/configuration/options.ts';
import type { AnyEvaluator, Fault } from '../../../evaluators/evaluator.ts';
import { readMessages } from '../../../evaluators/expectation/messages.ts';
import { readExpectation, refinedPart } from '../../../evaluators/expectation/expectation.ts';
import { wordedFault } from './expectations.ts';
import type { FileExample } from './scoring.ts';
import { InputFaults } from '../input-faults.ts';
import { juryFindings, unknownJudges } from '../../config/checks/cross-checks-evaluators.ts';
import type { EvaluatorConfig } from '../../config/config.ts';
import { type ConfigFault, type Path, pathText } from '../../config/diagnostic.ts';
import { askedBy, evaluatorEntry, withShared } from '../../config/entries/evaluator-entry.ts';
import { object } from '../../config/field.ts';
import { readEntry, whoIsAsked } from '../../config/sections/evaluators.ts';
import { syntaxProblem } from '../../config/document.ts';
import { datasetForms, type ExampleChecker, exampleChecker } from '../../datasets/example-json.ts';
import { JuryError, unreadable, unreadableFile } from '../../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, parseJson } from '../../model/json.ts';
import * as parsers from '../../../evaluators/syntax/parsers.cjs';
import type { PlannedEvaluator } from '../../pipeline/evaluation/evaluate.ts';

/** Line and column count from 1; `source` is the line. */
type TextPlace = Pick<ConfigFault, 'line' | 'column' | 'source'>;

/** The place of a value or of its key; for an absent one, the place of the nearest value around it. */
export type Locate = (path: Path, at?: 'key' | 'value') => TextPlace;

interface LocatedText {
  readonly value: JsonValue;
  readonly locate: Locate;
}

/** Nested aliases can expand to billions of values. */
const aliasesMax = 100;
const syntaxFaultsMax = 20;
/** Larger JSON texts get no places: the search takes seconds a megabyte. */
const locatedCharsMax = 16 * 1024 * 1024;
/** Characters of a line that a fault quotes. */
const sourceCharsMax = 200;

/** Throws InputFaults with every syntax fault. */
export function locatedText(file: string, text: string): LocatedText {
  const lines = jsonLines(file, text);
  if (lines !== undefined) return lines;
  const json = /^\s*[[{]/.test(text) ? parseJson(text) : undefined;
  return json === undefined ? yamlText(file, text) : { value: json, locate: locatorOf(text) };
}

/** `undefined` when the text is one document. */
function jsonLines(file: string, text: string): LocatedText | undefined {
  const lines = text.split('\n').flatMap((line, at) => (line.trim() === '' ? [] : [{ line, number: at + 1 }]));
  if (!lines.every(({ line }) => /^\s*\{.*\}\s*$/.test(line)) && (lines.length < 2 || !lines.every(({ line }) => /^\s*\{/.test(line))))
    return undefined;
  const read = lines.map(({ line, number }) => ({ line, number, value: parseJson(line) }));
  const [only] = read;
  // A single line may be a whole document in JSON or in the flow style of YAML.
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
  const [error] = parsers.yaml().parseDocument(line, { prettyErrors: false }).errors;
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
  const { LineCounter: Counter, parseDocument } = parsers.yaml();
  const lineCounter = new Counter();
  const document = parseDocument(text, { version: '1.2', intAsBigInt: true, prettyErrors: false, lineCounter });
  const faults = document.errors
    .slice(0, syntaxFaultsMax)
    .map(({ code, pos: [offset] }): ConfigFault => ({ file, key: '', ...placeAt(text, lineCounter, offset), ...syntaxProblem(code) }));
  if (faults.length > 0)
    throw new InputFaults(
      file,
      faults,
      faults.map(({ line, column, problem }) => `it is not YAML: line ${line}, column ${column}: ${problem}`),
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
          todo: `Use at most ${aliasesMax} aliases, nested ones included.`,
          source: '',
        },
      ],
      ['it has too many aliases'],
    );
  }
}

/** JSON is YAML, so the YAML parser finds the places. It runs at the first request. */
export function locatorOf(text: string): Locate {
  let parsed: { readonly document: Document.Parsed; readonly lines: LineCounter } | undefined;
  return (path, at) => {
    if (text.length > locatedCharsMax) return { line: 1, column: 1, source: '' };
    if (parsed === undefined) {
      const { LineCounter: Counter, parseDocument } = parsers.yaml();
      const lines = new Counter();
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
  const { isAlias, isMap, isScalar, isSeq } = parsers.yaml();
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
  if (!parsers.yaml().isNode(node)) return undefined;
  const { range } = node;
  return range === undefined || range === null || range[0] === range[1] ? undefined : range[0];
}

/** Converts bigints that a double holds exactly to numbers. */
function plainNumbers(value: JsonValue): JsonValue {
  if (typeof value === 'bigint')
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
  if (isJsonArray(value)) return value.map(plainNumbers);
  return isJsonObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainNumbers(item)])) : value;
}

const fileBytesMax = 64 * 1024 * 1024;
const examplesMax = 100_000;
/** In one report. */
const faultsMax = 200;

interface DatasetWith {
  readonly members: readonly AnyEvaluator[];
  /** Sections of the configuration with options of evaluators. */
  readonly shared?: JsonObject;
  /** The configured evaluators, which an example may name. */
  readonly plan: readonly EvaluatorConfig[];
  /** Names of judges that an entry may name. */
  readonly judges: readonly string[];
}

/** Throws INPUT_UNREADABLE with every fault at its line and column. */
export function readDataset(file: string, options: DatasetWith): readonly FileExample[] {
  const { value, locate } = locatedText(file, textOf(file));
  return datasetOf(file, value, options, locate);
}

/** Without `locate` the place of a fault is its key. */
export function datasetOf(file: string, value: JsonValue, options: DatasetWith, locate?: Locate): readonly FileExample[] {
  const list = isJsonObject(value) ? member(value, 'examples') : value;
  if (!isJsonArray(list)) throw unreadable(file, 'it is neither a list of examples nor an object with `examples`.', datasetForms);
  if (list.length > examplesMax) throw unreadable(file, `more than ${examplesMax} examples.`);
  const inList = isJsonObject(value) ? ['examples'] : [];
  const check = exampleChecker();
  const read = list.map((given, at) => exampleOf(given, at, options, check));
  const firstWith = new Map<string, number>();
  const found = read.flatMap(({ example: { id }, faults }, at) => {
    const first = firstWith.get(id);
    if (first === undefined) firstWith.set(id, at);
    return [
      ...faults,
      ...(first === undefined
        ? []
        : [{ path: ['id'], problem: `${JSON.stringify(id)} is the id of examples[${first}] already`, twice: id }]),
    ].map((fault) => ({ ...fault, at }));
  });
  if (found.length > 0) {
    const faults =
      locate === undefined
        ? []
        : found
            .slice(0, faultsMax)
            .map(({ path, problem, at }): ConfigFault => {
              const worded = wordedFault({ path, problem }, list[at] ?? null);
              return {
                file,
                ...locate([...inList, at, ...path], worded.at),
                key: pathText(['examples', at, ...path]),
                problem: worded.problem,
                todo: problem.endsWith('already') ? 'Give each example its own id.' : worded.todo,
              };
            })
            .toSorted((a, b) => a.line - b.line || a.column - b.column);
    throw new InputFaults(
      file,
      faults,
      found.map((fault) =>
        'twice' in fault
          ? `two examples have the id ${JSON.stringify(fault.twice)}`
          : `${pathText(['examples', fault.at, ...fault.path])} ${fault.problem}`,
      ),
    );
  }
  return read.map(({ example }, at) => ({
    ...example,
    placeOf(part) {
      const path = ['examples', at, ...statedAt(list[at] ?? null, refinedPart(part) ?? part)];
      return { file, key: pathText(path), ...(locate?.([...inList, ...path.slice(1)]) ?? { line: 0, column: 0, source: '' }) };
    },
  }));
}

/** Tasks and constraints may be beside `expect`. */
function statedAt(example: JsonValue, name: string): readonly string[] {
  return isJsonObject(example) && ['tasks', 'constraints'].includes(name) && member(example, name) !== undefined
    ? [name]
    : ['expect', name];
}

function exampleOf(
  given: JsonValue,
  at: number,
  options: DatasetWith,
  check: ExampleChecker,
): { readonly example: Omit<FileExample, 'placeOf'>; readonly faults: readonly Fault[] } {
  const object = isJsonObject(given) ? given : {};
  const [id, input, expect, tasks, constraints, tools, tags, entries] = [
    'id',
    'input',
    'expect',
    'tasks',
    'constraints',
    'tools',
    'tags',
    'evaluators',
  ].map((key) => member(object, key));
  const whole = {
    ...(isJsonObject(expect) ? expect : {}),
    ...(tasks === undefined ? {} : { tasks }),
    ...(constraints === undefined ? {} : { constraints }),
  };
  const plan = isJsonArray(entries) ? entries.map((entry) => planned(entry, options)) : undefined;
  const faults: readonly Fault[] = [
    ...check(given),
    ...(isJsonObject(expect) ? readExpectation(expect).faults.map(({ path, problem }) => ({ path: ['expect', ...path], problem })) : []),
    ...(plan ?? []).flatMap(({ faults: own }, nth) => own.map(({ path, problem }) => ({ path: ['evaluators', nth, ...path], problem }))),
  ];
  const example = {
    id: id === undefined || typeof id === 'object' ? String(at + 1) : String(id),
    input: inputText(input),
    expect: Object.keys(whole).length === 0 ? undefined : whole,
    tools,
    tags: isJsonArray(tags) ? tags.map(String) : [],
    plan: plan?.flatMap(({ evaluator }) => evaluator ?? []),
    isDraft: member(object, 'review') === 'draft',
    given: object,
  };
  return { example, faults };
}

/** The input of the run: a text, the last message of the user in a conversation, or the only text of an object. */
function inputText(input: JsonValue | undefined): string | undefined {
  if (typeof input === 'string') return input;
  if (isJsonArray(input ?? null)) return readMessages(input ?? null).messages.findLast(({ role }) => role === 'user')?.text;
  const texts = isJsonObject(input) ? Object.values(input).filter((value) => typeof value === 'string') : [];
  return texts.length === 1 ? texts[0] : undefined;
}

/** Reads an entry as in the configuration, or the name of a configured evaluator. */
function planned(
  entry: JsonValue,
  { members, plan, judges, shared = {} }: DatasetWith,
): { readonly evaluator?: PlannedEvaluator; readonly faults: readonly Fault[] } {
  const known = typeof entry === 'string' ? plan.find(({ configured }) => configured.name === entry) : undefined;
  if (known !== undefined) return { evaluator: known, faults: [] };
  const written: JsonObject = typeof entry === 'string' ? { use: entry } : isJsonObject(entry) ? entry : {};
  const made = configuredEvaluator(evaluatorEntry(withShared(written, members, shared)), members);
  if (made.kind === 'faulty') return { faults: made.faults };
  if (made.evaluator.kind !== 'judge') return { evaluator: { configured: made.evaluator, sampleRate: 1 }, faults: [] };
  const faults = whoIsAskedFaults(written, judges);
  return faults.length > 0
    ? { faults }
    : { evaluator: { configured: made.evaluator, ...askedBy(readEntry(written)), sampleRate: 1 }, faults: [] };
}

const whoIsAskedSchema = object({}, whoIsAsked).schema;

/** The entry must name judges of the configuration. */
function whoIsAskedFaults(written: JsonObject, judges: readonly string[]): readonly Fault[] {
  const asked = Object.fromEntries(Object.entries(written).filter(([key]) => Object.hasOwn(whoIsAsked, key)));
  const faults = schemaFaults(whoIsAskedSchema, asked);
  if (faults.length > 0) return faults;
  const entry = readEntry(asked);
  const { judge, panel } = askedBy(entry);
  const unknown = judge === undefined && panel === undefined ? [['judge']] : unknownJudges([], entry, judges).map(({ path }) => path);
  return [
    ...unknown.map((path) => ({
      path,
      problem: `must name a judge of the configuration; there are ${judges.length === 0 ? 'none' : judges.join(', ')}`,
    })),
    ...juryFindings([], entry).map(({ path, problem, todo }) => ({ path, problem: `${problem}. ${todo.replace(/\.$/, '')}` })),
  ];
}

function textOf(file: string): string {
  try {
    if (statSync(file).size > fileBytesMax) throw unreadable(file, `larger than ${fileBytesMax} bytes.`);
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    throw error instanceof JuryError ? error : unreadableFile(file, error);
  }
}
