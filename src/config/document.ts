/** YAML text → a value whose every part knows its place in the file. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Document, type Scalar } from 'yaml';
import type { JsonValue } from '../model/json.ts';
import { pathText, type Path } from './diagnostic.ts';
import { ownMembers } from './schema.ts';
import { substitute, typedScalar, wholeNumber, type Environment } from './substitution.ts';
import { syntaxProblem } from './syntax-problem.ts';

/** Deeper nesting is refused; it also ends an alias that holds itself. */
const depthMax = 64;
/** Values after aliases are followed: a few aliases of aliases can stand for billions. */
const valuesMax = 100_000;
const syntaxFaultsMax = 20;
/** Each alias is looked up by a walk through the document. */
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
  /** True: the text is no YAML, so its value means nothing. */
  readonly broken: boolean;
  readonly lines: LineCounter;
  /** The place of a value, or of the nearest value around it. */
  place(path: Path): Place;
  /** The text that a substitution gave at this path, for keys that want a text. */
  substituted(path: Path): string | undefined;
}

interface Walk {
  readonly document: Document.Parsed;
  readonly env: Environment;
  readonly places: Map<string, Place>;
  readonly substitutions: Map<string, string>;
  readonly faults: DocumentFault[];
  values: number;
  aliases: number;
  /** A bound was passed: the value is only a part. */
  exceeded: boolean;
}

export function parseConfigText(text: string, env: Environment): ConfigDocument {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: '1.2', uniqueKeys: false });
  const problems = [...document.errors, ...document.warnings].map((error) => ({
    code: error.code,
    offset: error.pos[0],
    ...syntaxProblem(error.code),
  }));
  const walk: Walk = {
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
    value: document.contents === null || (isScalar(document.contents) && document.contents.value === null) ? ownMembers([]) : value,
    faults: [
      ...distinct.slice(0, syntaxFaultsMax).map(({ offset, problem, todo }) => ({ offset, key: '', problem, todo })),
      ...walk.faults,
    ],
    broken: broken || walk.exceeded,
    lines,
    place: (path) => placeOf(walk.places, path),
    substituted: (path) => walk.substitutions.get(placeName(path)),
  };
}

function valueOf(walk: Walk, node: unknown, path: Path): JsonValue {
  walk.values++;
  if (walk.exceeded) return null;
  if (isAlias(node)) walk.aliases++;
  const problem = exceededBound(walk, path);
  if (problem !== undefined) {
    walk.exceeded = true;
    return fault(walk, path.slice(0, 1), problem, 'Shorten it; an alias counts as what it stands for.');
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
  if (!isScalar(pair.key) || pair.key.value === null) {
    fault(walk, path, 'a key that is not a text', 'Write keys as plain texts.');
    return [];
  }
  const name = typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? String(pair.key.value));
  const below = [...path, name];
  if (names.has(name)) {
    walk.faults.push({
      offset: rangeOf(pair.key)?.[0] ?? 0,
      key: pathText(below),
      problem: 'stands in the same mapping already',
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
  if (result.names.length > 0) walk.substitutions.set(placeName(path), result.text);
  return result.whole ? typedScalar(result.text) : result.text;
}

function fault(walk: Walk, path: Path, problem: string, todo: string): null {
  walk.faults.push({ offset: placeOf(walk.places, path).value, key: pathText(path), problem, todo });
  return null;
}

function place(walk: Walk, path: Path, key: unknown, value: unknown): void {
  const around = placeOf(walk.places, path.slice(0, -1));
  const keyRange = rangeOf(key);
  const valueRange = rangeOf(value) ?? keyRange;
  walk.places.set(placeName(path), {
    key: keyRange?.[0] ?? around.key,
    value: valueRange?.[0] ?? around.value,
    valueEnd: valueRange?.[1] ?? around.valueEnd,
  });
}

/** An empty value has no width: its fault stands at its key. */
function rangeOf(node: unknown): readonly [number, number, number] | undefined {
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
