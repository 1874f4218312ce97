/** A JSON value as lines of a tree, bounded, with marks on members that a verdict names. */

/** A step of a path: the name of a member, or the index of an item as text. */
export type JsonPath = readonly string[];

export interface JsonMark {
  readonly path: JsonPath;
  readonly message: string;
  /** True when a required member is missing. */
  readonly isMissing?: boolean;
}

export interface JsonLine {
  readonly depth: number;
  /** Name of the member; `undefined` for items and for the value itself. */
  readonly name: string | undefined;
  /** Content of the line: a value, or an opening or closing bracket. */
  readonly text: string;
  readonly kind: 'text' | 'number' | 'boolean' | 'null' | 'bracket' | 'more' | 'missing';
  /** Address of the value; of a closing bracket that of its value. */
  readonly path: JsonPath;
  /** Messages about the value. */
  readonly marks: readonly string[];
  /** True when the text is shortened. */
  readonly isCut: boolean;
}

export interface JsonLinesOptions {
  readonly marks?: readonly JsonMark[];
  readonly linesMax?: number;
  readonly depthMax?: number;
  /** Maximum length of one text. */
  readonly charsMax?: number;
}

const linesMaxDefault = 400;
const depthMaxDefault = 24;
const charsMaxDefault = 2_000;

interface Writing {
  readonly lines: JsonLine[];
  readonly marks: ReadonlyMap<string, readonly JsonMark[]>;
  readonly missing: ReadonlyMap<string, readonly JsonMark[]>;
  readonly linesMax: number;
  readonly depthMax: number;
  readonly charsMax: number;
}

/** At most `linesMax` lines and one that counts the rest. Lines with marks within the limit of depth always stand. */
export function jsonLines(value: unknown, options: JsonLinesOptions = {}): readonly JsonLine[] {
  const { marks = [], linesMax = linesMaxDefault, depthMax = depthMaxDefault, charsMax = charsMaxDefault } = options;
  const writing: Writing = {
    lines: [],
    marks: Map.groupBy(
      marks.filter(({ isMissing }) => isMissing !== true),
      ({ path }) => pathText(path),
    ),
    missing: Map.groupBy(
      marks.filter(({ isMissing }) => isMissing === true),
      ({ path }) => pathText(path.slice(0, -1)),
    ),
    linesMax,
    depthMax,
    charsMax,
  };
  addValue(value, { depth: 0, name: undefined, path: [] }, writing);
  return writing.lines;
}

interface Place {
  readonly depth: number;
  readonly name: string | undefined;
  readonly path: JsonPath;
}

function addValue(value: unknown, place: Place, writing: Writing): void {
  if (typeof value === 'object' && value !== null) addContainer(value, place, writing);
  else writing.lines.push({ ...lineAt(place, writing), ...scalar(value, writing.charsMax) });
}

function lineAt({ depth, name, path }: Place, { marks }: Writing): Pick<JsonLine, 'depth' | 'name' | 'path' | 'marks' | 'isCut'> {
  return { depth, name, path, marks: marks.get(pathText(path))?.map(({ message }) => message) ?? [], isCut: false };
}

function addContainer(value: object, place: Place, writing: Writing): void {
  const { lines, missing } = writing;
  const isList = Array.isArray(value);
  const [open, close] = isList ? ['[', ']'] : ['{', '}'];
  const entries = isList ? (value as readonly unknown[]).map((item, at) => [String(at), item] as const) : Object.entries(value);
  const absent = missing.get(pathText(place.path)) ?? [];
  if (entries.length + absent.length === 0 || (place.depth >= writing.depthMax && absent.length === 0)) {
    const text = entries.length === 0 ? `${open}${close}` : `${open} ${countText(entries.length, isList)} ${close}`;
    lines.push({ ...lineAt(place, writing), text, kind: 'bracket', isCut: entries.length > 0 });
    return;
  }
  lines.push({ ...lineAt(place, writing), text: open, kind: 'bracket' });
  let leftOut = 0;
  for (const [key, item] of entries) {
    const path = [...place.path, key];
    if (lines.length >= writing.linesMax && !holdsMark(path, writing)) leftOut++;
    else addValue(item, { depth: place.depth + 1, name: isList ? undefined : key, path }, writing);
  }
  for (const { path, message } of absent)
    lines.push({ depth: place.depth + 1, name: path.at(-1), text: 'missing', kind: 'missing', path, marks: [message], isCut: false });
  if (leftOut > 0)
    lines.push({
      depth: place.depth + 1,
      name: undefined,
      text: `${leftOut} more`,
      kind: 'more',
      path: place.path,
      marks: [],
      isCut: true,
    });
  lines.push({ depth: place.depth, name: undefined, text: close, kind: 'bracket', path: place.path, marks: [], isCut: false });
}

function holdsMark(path: JsonPath, { marks, missing }: Writing): boolean {
  if (marks.size + missing.size === 0) return false;
  const text = pathText(path);
  const isBelow = (key: string): boolean => key === text || key.startsWith(`${text.slice(0, -1)},`);
  return [...marks.keys(), ...missing.keys()].some(isBelow);
}

function scalar(value: unknown, charsMax: number): Pick<JsonLine, 'text' | 'kind' | 'isCut'> {
  if (typeof value !== 'string')
    return {
      text: String(value),
      kind: value === null || value === undefined ? 'null' : typeof value === 'boolean' ? 'boolean' : 'number',
      isCut: false,
    };
  const isCut = value.length > charsMax;
  return { text: JSON.stringify(isCut ? `${value.slice(0, charsMax)}…` : value), kind: 'text', isCut };
}

function countText(count: number, isList: boolean): string {
  const [one, many] = isList ? ['item', 'items'] : ['member', 'members'];
  return `${count} ${count === 1 ? one : many}`;
}

function pathText(path: JsonPath): string {
  return JSON.stringify(path);
}
