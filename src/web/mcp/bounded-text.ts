/** JSON within a number of bytes, for readers that pay for each. Long texts and lists are cut, and the place of a cut states how much is left out. */
import { revealed } from '../../../evaluators/evidence/hidden-characters.ts';
import { isJsonArray, isJsonObject, type JsonValue } from '../../model/json.ts';

export interface BoundedText {
  readonly text: string;
  readonly bytes: number;
  readonly isCut: boolean;
}

interface Bounds {
  /** Most characters of a text. */
  readonly chars: number;
  /** Most entries of a list. */
  readonly entries: number;
  /** Most members of an object. */
  readonly members: number;
}

/** The first bounds that fit are taken. */
const ladder: readonly Bounds[] = [
  { chars: Infinity, entries: Infinity, members: Infinity },
  { chars: 8_000, entries: 400, members: 400 },
  { chars: 4_000, entries: 200, members: 200 },
  { chars: 2_000, entries: 100, members: 100 },
  { chars: 1_000, entries: 50, members: 50 },
  { chars: 500, entries: 25, members: 40 },
  { chars: 250, entries: 12, members: 30 },
  { chars: 120, entries: 6, members: 20 },
  { chars: 60, entries: 3, members: 15 },
  { chars: 40, entries: 2, members: 8 },
  { chars: 24, entries: 1, members: 2 },
];

/** Images and keys in base64 have almost as many tokens as characters, and no model reads them. */
const OPAQUE = /[\w+/=-]{200,}/g;
const opaqueShown = 60;

/** Most characters of the name of a member. */
const nameCharsMax = 120;

export function boundedText(value: JsonValue, bytesMax: number): BoundedText {
  for (const bounds of ladder) {
    const writer: Writer = { bounds, pieces: [], room: bytesMax, isCut: false };
    if (write(writer, value, 0)) return { text: writer.pieces.join(''), bytes: bytesMax - writer.room, isCut: writer.isCut };
  }
  const text = '"… [left out]"';
  return { text, bytes: Buffer.byteLength(text), isCut: true };
}

/** A text as JSON, with hidden characters written out. */
export function quoted(text: string): string {
  return JSON.stringify(revealed(text.toWellFormed()));
}

interface Writer {
  readonly bounds: Bounds;
  readonly pieces: string[];
  /** Bytes. */
  room: number;
  isCut: boolean;
}

/** False when there is no room. */
function write(writer: Writer, value: JsonValue, depth: number): boolean {
  // A text that cannot fit is not read to its end.
  if (typeof value === 'string')
    return Math.min(value.length, writer.bounds.chars) <= writer.room && put(writer, quoted(shortened(writer, value, writer.bounds.chars)));
  if (isJsonArray(value)) return writeList(writer, value, depth);
  if (isJsonObject(value)) return writeMembers(writer, Object.entries(value), depth);
  return put(writer, String(value));
}

function writeList(writer: Writer, list: readonly JsonValue[], depth: number): boolean {
  const kept = list.slice(0, writer.bounds.entries);
  const isByLine = depth === 0 && kept.some((entry) => typeof entry === 'object' && entry !== null);
  if (!put(writer, '[')) return false;
  for (const [at, entry] of kept.entries())
    if (!put(writer, `${at === 0 ? '' : ','}${isByLine ? '\n  ' : ''}`) || !write(writer, entry, depth + 1)) return false;
  return (kept.length === list.length || cut(writer, `,"… [${list.length - kept.length} more entries]"`)) && put(writer, ']');
}

function writeMembers(writer: Writer, members: readonly (readonly [string, JsonValue])[], depth: number): boolean {
  const kept = members.slice(0, writer.bounds.members);
  if (!put(writer, '{')) return false;
  for (const [at, [name, value]] of kept.entries())
    if (
      !put(writer, `${at === 0 ? '' : ','}${quoted(shortened(writer, name, Math.min(nameCharsMax, writer.bounds.chars)))}:`) ||
      !write(writer, value, depth + 1)
    )
      return false;
  return (kept.length === members.length || cut(writer, `,"…":"[${members.length - kept.length} more members]"`)) && put(writer, '}');
}

function shortened(writer: Writer, text: string, charsMax: number): string {
  const kept = text.slice(0, charsMax).replaceAll(OPAQUE, (code) => {
    writer.isCut = true;
    return `${code.slice(0, opaqueShown)}… [${code.length - opaqueShown} more characters]`;
  });
  if (text.length <= charsMax) return kept;
  writer.isCut = true;
  return `${kept}… [${text.length - charsMax} more characters]`;
}

function cut(writer: Writer, note: string): boolean {
  writer.isCut = true;
  return put(writer, note);
}

function put(writer: Writer, piece: string): boolean {
  writer.room -= Buffer.byteLength(piece);
  writer.pieces.push(piece);
  return writer.room >= 0;
}
