/** Parses YAML into a value with the place of each part in the file, and substitutes environment variables. */
import type { Document, ErrorCode, LineCounter, Scalar } from 'yaml';
import { type Path, pathText, ownMembers } from './diagnostic.ts';
import type { JsonValue } from '../model/json.ts';
import * as parsers from '../../evaluators/syntax/parsers.cjs';

/** Also bounds an alias that contains itself. */
const depthMax = 64;
/** Values after the expansion of aliases: nested aliases can expand to billions. */
const valuesMax = 100_000;
const syntaxFaultsMax = 20;
/** The resolution of each alias walks through the document. */
const aliasesMax = 1000;

/** Offsets in the text. */
export interface Place {
  readonly key: number;
  readonly value: number;
  readonly valueEnd: number;
}

interface DocumentFault {
  readonly offset: number;
  readonly key: string;
  readonly problem: string;
  readonly todo: string;
}

export interface ConfigDocument {
  readonly value: JsonValue;
  readonly faults: readonly DocumentFault[];
  /** `true` when the text is not YAML; the value is then meaningless. */
  readonly broken: boolean;
  readonly lines: Pick<LineCounter, 'lineStarts' | 'linePos'>;
  /** The place of a value, or of the nearest value around it. */
  place(path: Path): Place;
  /** The substituted text at this path, for keys that need a text. */
  substituted(path: Path): string | undefined;
  /** Names of the variables in the texts at this path and below it. */
  variables(path: Path): readonly string[];
}

interface Walk {
  readonly yaml: ReturnType<typeof parsers.yaml>;
  readonly document: Document.Parsed;
  readonly env: Environment;
  readonly places: Map<string, Place>;
  readonly substitutions: Map<string, { readonly text: string; readonly names: readonly string[] }>;
  readonly faults: DocumentFault[];
  values: number;
  aliases: number;
  /** `true` beyond a bound: the value is incomplete. */
  exceeded: boolean;
}

export function parseConfigText(text: string, env: Environment): ConfigDocument {
  if (text === '') return defaults;
  const yaml = parsers.yaml();
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2', uniqueKeys: false });
  const problems = [...document.errors, ...document.warnings].map((error) => ({
    code: error.code,
    offset: error.pos[0],
    ...syntaxProblem(error.code),
  }));
  const walk: Walk = {
    yaml,
    document,
    env,
    places: new Map([['', { key: 0, value: 0, valueEnd: text.length }]]),
    substitutions: new Map(),
    faults: [],
    values: 0,
    aliases: 0,
    exceeded: false,
  };
  const broken = problems.length > 0;
  const value = broken ? null : valueOf(walk, document.contents, []);
  const seen = new Set<string>();
  const distinct = problems.filter(({ offset, problem }) => seen.size < seen.add(`${lines.linePos(offset).line} ${problem}`).size);
  return {
    value: document.contents === null || (yaml.isScalar(document.contents) && document.contents.value === null) ? ownMembers([]) : value,
    faults: [
      ...distinct.slice(0, syntaxFaultsMax).map(({ offset, problem, todo }) => ({ offset, key: '', problem, todo })),
      ...walk.faults,
    ],
    broken: broken || walk.exceeded,
    lines,
    place: (path) => placeOf(walk.places, path),
    substituted: (path) => walk.substitutions.get(placeName(path))?.text,
    variables(path) {
      const name = placeName(path);
      return [...walk.substitutions].flatMap(([at, { names }]) => (at === name || at.startsWith(`${name}/`) ? names : []));
    },
  };
}

/** Value of an empty text, without the parser. */
const defaults: ConfigDocument = {
  value: ownMembers([]),
  faults: [],
  broken: false,
  lines: { lineStarts: [0], linePos: () => ({ line: 1, col: 1 }) },
  place: () => ({ key: 0, value: 0, valueEnd: 0 }),
  substituted: () => undefined,
  variables: () => [],
};

function valueOf(walk: Walk, node: unknown, path: Path): JsonValue {
  const { isAlias, isMap, isScalar, isSeq } = walk.yaml;
  walk.values++;
  if (walk.exceeded) return null;
  if (isAlias(node)) walk.aliases++;
  const problem = exceededBound(walk, path);
  if (problem !== undefined) {
    walk.exceeded = true;
    return fault(walk, path.slice(0, 1), problem, 'Shorten it; an alias counts with its expansion.');
  }
  if (isAlias(node)) {
    const target = node.resolve(walk.document);
    if (target !== undefined) return valueOf(walk, target, path);
    return fault(walk, path, 'an alias without an anchor before it', 'Name an anchor (&name) that stands above.');
  }
  if (isMap(node)) {
    const names = new Set<string>();
    return ownMembers(node.items.flatMap((pair) => membersOf(walk, pair, path, names)));
  }
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      place(walk, [...path, index], item, item);
      return valueOf(walk, item, [...path, index]);
    });
  }
  return isScalar(node) ? scalarValue(walk, node, path) : null;
}

function exceededBound(walk: Walk, path: Path): string | undefined {
  if (walk.values > valuesMax) return `holds more than ${valuesMax} values`;
  if (walk.aliases > aliasesMax) return `holds more than ${aliasesMax} aliases`;
  return path.length > depthMax ? `is nested deeper than ${depthMax} levels` : undefined;
}

function membersOf(
  walk: Walk,
  pair: { readonly key: unknown; readonly value: unknown },
  path: Path,
  names: Set<string>,
): readonly (readonly [string, JsonValue])[] {
  if (!walk.yaml.isScalar(pair.key) || pair.key.value === null) {
    fault(walk, path, 'a key that is not a text', 'Write keys as plain texts.');
    return [];
  }
  const name = typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? String(pair.key.value));
  const below = [...path, name];
  if (names.has(name)) {
    walk.faults.push({
      offset: rangeOf(walk, pair.key)?.[0] ?? 0,
      key: pathText(below),
      problem: 'is already in the same mapping',
      todo: 'Keep one of the two.',
    });
    return [];
  }
  names.add(name);
  place(walk, below, pair.key, pair.value);
  return [[name, valueOf(walk, pair.value, below)]];
}

function scalarValue(walk: Walk, node: Scalar, path: Path): JsonValue {
  const { value, source } = node;
  if (typeof value === 'number' && !Number.isFinite(value)) return notFinite(walk, path);
  if (typeof value === 'number')
    return Number.isInteger(value) && source !== undefined && /^[-+]?\d+$/.test(source) ? wholeNumber(source) : value;
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'string') return fault(walk, path, 'a value that is neither text, number, boolean nor null', 'Write it as text.');
  if (!value.includes('$')) return value;
  const result = substitute(value, walk.env);
  if (result.kind === 'faults') {
    for (const { problem, todo } of result.faults) fault(walk, path, problem, todo);
    return null;
  }
  if (result.names.length > 0) walk.substitutions.set(placeName(path), { text: result.text, names: result.names });
  const typed = result.whole ? typedScalar(result.text) : result.text;
  return typeof typed === 'number' && !Number.isFinite(typed) ? notFinite(walk, path) : typed;
}

function notFinite(walk: Walk, path: Path): null {
  return fault(walk, path, 'a number that is not finite', 'Write a number within the range of doubles, or quote it as a text.');
}

function fault(walk: Walk, path: Path, problem: string, todo: string): null {
  walk.faults.push({ offset: placeOf(walk.places, path).value, key: pathText(path), problem, todo });
  return null;
}

function place(walk: Walk, path: Path, key: unknown, value: unknown): void {
  const around = placeOf(walk.places, path.slice(0, -1));
  const keyRange = rangeOf(walk, key);
  const valueRange = rangeOf(walk, value) ?? keyRange;
  walk.places.set(placeName(path), {
    key: keyRange?.[0] ?? around.key,
    value: valueRange?.[0] ?? around.value,
    valueEnd: valueRange?.[1] ?? around.valueEnd,
  });
}

/** The fault of an empty value has the place of its key. */
function rangeOf({ yaml: { isAlias, isMap, isScalar, isSeq } }: Walk, node: unknown): readonly [number, number, number] | undefined {
  if (!isAlias(node) && !isMap(node) && !isSeq(node) && !isScalar(node)) return undefined;
  const range = node.range ?? undefined;
  return range !== undefined && range[0] === range[1] ? undefined : range;
}

function placeOf(places: ReadonlyMap<string, Place>, path: Path): Place {
  for (let length = path.length; length > 0; length--) {
    const found = places.get(placeName(path.slice(0, length)));
    if (found !== undefined) return found;
  }
  return places.get('') ?? { key: 0, value: 0, valueEnd: 0 };
}

function placeName(path: Path): string {
  return path.map((part) => `/${JSON.stringify(part)}`).join('');
}

export type Environment = { readonly [name: string]: string | undefined };

type Substitution =
  | {
      readonly kind: 'substituted';
      readonly text: string;
      /** Names of the variables. */
      readonly names: readonly string[];
      /** `true` when the scalar is a single `${env:NAME}`: its value gets the type of an unquoted scalar. */
      readonly whole: boolean;
    }
  | { readonly kind: 'faults'; readonly faults: readonly SubstitutionFault[] };

interface SubstitutionFault {
  readonly problem: string;
  readonly todo: string;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** `$$` is a dollar sign; `${…}` ends at the first closing brace. The bound keeps the search linear. */
const MARK = /\$\$|\$\{([^}]{0,1000})\}/g;

/** Substitutes `${env:NAME}` as the OpenTelemetry Collector does, in one pass. `:-default` applies to unset variables, not to empty ones. */
export function substitute(text: string, env: Environment): Substitution {
  const names: string[] = [];
  const faults: SubstitutionFault[] = [];
  const result = text.replaceAll(MARK, (_mark: string, inside: string | undefined) => {
    if (inside === undefined) return '$';
    const read = variable(inside, env);
    if (typeof read !== 'string') {
      faults.push(read.fault);
      return '';
    }
    names.push(nameOf(inside));
    return read;
  });
  if (faults.length > 0) return { kind: 'faults', faults };
  return { kind: 'substituted', text: result, names, whole: /^\$\{[^}]*\}$/.test(text) };
}

function nameOf(inside: string): string {
  const [name = ''] = inside.slice('env:'.length).split(':-', 1);
  return name;
}

function variable(inside: string, env: Environment): string | { readonly fault: SubstitutionFault } {
  const name = nameOf(inside);
  if (!inside.startsWith('env:')) {
    return {
      fault: {
        problem: `\${${inside}} names no source`,
        todo: `Write \${env:NAME} for an environment variable, or $\${…} for the characters themselves.`,
      },
    };
  }
  if (!NAME.test(name)) {
    return {
      fault: {
        problem: `${JSON.stringify(name)} is not the name of an environment variable`,
        todo: 'Use letters, digits and underscores, no digit first.',
      },
    };
  }
  const fallbackAt = inside.indexOf(':-');
  const fallback = fallbackAt < 0 ? undefined : inside.slice(fallbackAt + 2);
  if (fallback?.includes('${') === true) {
    return { fault: { problem: `the default of \${env:${name}} holds another substitution`, todo: 'Write the default as plain text.' } };
  }
  const value = Object.hasOwn(env, name) ? env[name] : undefined;
  if (value !== undefined) return value;
  if (fallback !== undefined) return fallback;
  return { fault: { problem: `the environment variable ${name} is not set`, todo: `Set ${name}, or give a default: \${env:${name}:-…}.` } };
}

/** Types a text by the core schema of YAML 1.2: null, boolean, number or text. */
export function typedScalar(text: string): string | number | bigint | boolean | null {
  if (/^(?:~|null|Null|NULL|)$/.test(text)) return null;
  if (/^(?:true|True|TRUE)$/.test(text)) return true;
  if (/^(?:false|False|FALSE)$/.test(text)) return false;
  if (/^[-+]?\d+$/.test(text)) return wholeNumber(text);
  if (/^0o[0-7]+$|^0x[0-9a-fA-F]+$/.test(text)) return Number(text);
  if (/^[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  return text;
}

/** Exact beyond 2^53. */
function wholeNumber(text: string): number | bigint {
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : BigInt(text.replace(/^\+/, ''));
}

/** Replaces messages of the YAML parser: they may quote a secret. */
interface SyntaxProblem {
  readonly problem: string;
  readonly todo: string;
}

const problems: { readonly [code in ErrorCode]?: SyntaxProblem } = {
  ALIAS_PROPS: { problem: 'an alias with a tag or an anchor', todo: 'Write only the alias.' },
  BAD_ALIAS: { problem: 'an alias or anchor without a name', todo: 'Write &name and *name; quote a text that begins with & or *.' },
  BAD_DIRECTIVE: { problem: 'a line that begins with % and is not a YAML directive', todo: 'Quote a text that begins with %.' },
  BAD_DQ_ESCAPE: { problem: 'an escape sequence that double quotes do not know', todo: 'Write a backslash as \\\\, or use single quotes.' },
  BAD_INDENT: { problem: 'the indentation does not fit', todo: 'Indent members of one mapping or list alike; close every [ and {.' },
  BAD_PROP_ORDER: { problem: 'a tag or anchor in the wrong place', todo: 'Write tag and anchor before the value, on its line.' },
  BAD_SCALAR_START: { problem: 'a character that no plain text begins with', todo: 'Quote the text.' },
  BLOCK_AS_IMPLICIT_KEY: {
    problem: 'a second `key: value` within a value',
    todo: 'Put it on a separate line, or quote a text that holds a colon and a blank.',
  },
  BLOCK_IN_FLOW: {
    problem: 'an indented block within [ ] or { }',
    todo: 'Write commas between the parts of [ ] and { }; quote `${env:NAME}` there.',
  },
  DUPLICATE_KEY: { problem: 'a key that is already in the same mapping', todo: 'Keep one of the two.' },
  MISSING_CHAR: { problem: 'a bracket, quote, colon or comma is missing', todo: 'Close what was opened on this line or above.' },
  MULTILINE_IMPLICIT_KEY: {
    problem: 'a key that goes on over several lines',
    todo: 'Check the colon and the indentation of this line and the one above.',
  },
  MULTIPLE_ANCHORS: { problem: 'more than one anchor on a value', todo: 'Keep one.' },
  MULTIPLE_DOCS: { problem: 'a second document after `---`', todo: 'Keep one document a file.' },
  MULTIPLE_TAGS: { problem: 'more than one tag on a value', todo: 'Leave the tags out.' },
  NON_STRING_KEY: { problem: 'a key that is not a text', todo: 'Write keys as plain texts.' },
  TAB_AS_INDENT: { problem: 'a tab in the indentation', todo: 'Indent with blanks.' },
  TAG_RESOLVE_FAILED: { problem: 'a tag that is not known', todo: 'Leave out the tag; quote a text that begins with an exclamation mark.' },
  UNEXPECTED_TOKEN: {
    problem: 'something follows where the value has ended',
    todo: 'Quote the text; within { } and [ ] also `${env:NAME}`.',
  },
};

export function syntaxProblem(code: ErrorCode): SyntaxProblem {
  return problems[code] ?? { problem: 'this is not YAML', todo: 'Check quotes, brackets and indentation.' };
}
