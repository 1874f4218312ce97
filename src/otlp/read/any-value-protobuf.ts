/**
 * Attribute values in protobuf.
 *
 *     KeyValue     = key: text = 1, value: AnyValue = 2
 *     AnyValue     = one of text = 1, bool = 2, int64 = 3, double = 4, ArrayValue = 5, KeyValueList = 6, bytes = 7; none = null
 *     ArrayValue   = values: AnyValue = 1, repeated
 *     KeyValueList = values: KeyValue = 1, repeated
 *
 * Of repeated members of one AnyValue, and of equal keys, the last one counts.
 */
import { type Scanned, note, takeItem, type Scan } from './decode-state.ts';
import type { Attributed, AttributeMap, AttributeValue, KeyShape, WrittenAttributes, WrittenBytes } from '../../model/span.ts';
import { addRanges, pushRange, type AttributeRanges, type AttributeTable, emptyMap } from './attribute-table.ts';
import type { KeyShapes } from './key-shapes.ts';
import {
  cursorAt,
  enter,
  leave,
  malformed,
  readBool,
  readBytes,
  readDouble,
  readInt64,
  readTag,
  readText,
  skip,
  wireType,
  type Body,
  type Cursor,
} from './protobuf.ts';
import { utf8Text } from './utf8.ts';

/** Checks one attribute as deep as it goes and notes where it lies. */
export function scanAttribute(cursor: Cursor, tag: number, ranges: AttributeRanges, scan: Scan): void {
  if (ranges.length / 4 >= scan.limits.attributesPerSpan) {
    note(scan, 'too_many_attributes', `more than ${scan.limits.attributesPerSpan} attributes`);
    return skip(cursor, tag);
  }
  const outerEnd = enter(cursor, tag);
  if (takeItem(scan)) scanKeyValue(cursor, 1, ranges, scan);
  leave(cursor, outerEnd);
}

/** Checks one AnyValue; the cursor has entered it. */
export function scanAnyValue(cursor: Cursor, depth: number, scan: Scan): void {
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    const field = tag >>> 3;
    if (field === 5 || field === 6) {
      const outerEnd = enter(cursor, tag);
      scanValues(cursor, field === 6, depth + 1, scan);
      leave(cursor, outerEnd);
    } else {
      const type = field <= 7 ? valueTypes[field] : undefined;
      if (type !== undefined && (tag & 7) !== type)
        throw malformed(`An attribute value before byte ${cursor.at} has wire type ${tag & 7}, not ${type}.`);
      skip(cursor, tag);
    }
  }
}

/** Values are decoded when they are asked for and not kept: spans are held for long, and each is read once. */
export class ProtobufAttributes implements Attributed {
  readonly #table: AttributeTable;
  readonly #from: number;
  readonly #count: number;
  readonly #shapes: KeyShapes;
  #shape: KeyShape | undefined;

  /** `ranges` were checked by `scanAttribute`; they are not kept. */
  constructor({ table, shapes }: Scanned, ranges: AttributeRanges) {
    this.#table = table;
    this.#from = addRanges(table, ranges);
    this.#count = ranges.length / 4;
    this.#shapes = shapes;
  }

  attribute(key: string): AttributeValue | undefined {
    const place = this.#shapeOf().place(key);
    if (place === undefined) return undefined;
    const { body, ranges } = this.#table;
    const at = this.#from + place * 4;
    return anyValueAt(body, ranges[at + 2] ?? 0, ranges[at + 3] ?? 0);
  }

  attributeKeys(): readonly string[] {
    return this.#shapeOf().keys;
  }

  written(): WrittenAttributes {
    return { shape: this.#shapeOf(), bytes: this.#table.body.bytes, ranges: this.#table.ranges, from: this.#from };
  }

  keyShape(): KeyShape {
    return this.#shapeOf();
  }

  writtenText(key: string): WrittenBytes | undefined {
    const place = this.#shapeOf().place(key);
    if (place === undefined) return undefined;
    const { body, ranges } = this.#table;
    const at = this.#from + place * 4;
    return textAt(body, ranges[at + 2] ?? 0, ranges[at + 3] ?? 0);
  }

  longestText(): number {
    const { body, ranges } = this.#table;
    let longest = 0;
    for (let at = this.#from; at < this.#from + this.#count * 4; at += 4) {
      const [start, end] = [ranges[at + 2] ?? 0, ranges[at + 3] ?? 0];
      if (end - start <= longest) continue;
      const from = textFrom(body.bytes, start, end);
      if (from >= 0 && end - from > longest) longest = end - from;
    }
    return longest;
  }

  /** Bytes of the body that holds these attributes. */
  protected writtenBetween(start: number, end: number): WrittenBytes {
    return { bytes: this.#table.body.bytes, start, end };
  }

  #shapeOf(): KeyShape {
    return (this.#shape ??= this.#shapes.of(this.#table, this.#from, this.#count));
  }
}

/** The place of the text of an AnyValue in a checked range that holds only a text. */
function textAt(body: Body, start: number, end: number): WrittenBytes | undefined {
  const from = textFrom(body.bytes, start, end);
  return from < 0 ? undefined : { bytes: body.bytes, start: from, end };
}

const textTag = (1 << 3) | wireType.bytes;
/** Longer lengths do not occur, or are written in more bytes than they need. */
const lengthBitsMax = 28;

/** Where the text of such an AnyValue begins; below 0: it holds something else, or is written in an unusual way. */
function textFrom(bytes: Buffer, start: number, end: number): number {
  if (start === end || bytes[start] !== textTag) return -1;
  let at = start + 1;
  let length = 0;
  for (let shift = 0; shift < lengthBitsMax && at < end; shift += 7) {
    const byte = bytes[at++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return at + length === end ? at : -1;
  }
  return -1;
}

/** The AnyValue in a checked range; an empty range is null. */
export function anyValueAt(body: Body, start: number, end: number): AttributeValue {
  // Most values are texts.
  const from = textFrom(body.bytes, start, end);
  if (from >= 0) return utf8Text(body.bytes, from, end);
  return readAnyValue(cursorAt(body, start, end));
}

const valueTypes: readonly (number | undefined)[] = [
  undefined,
  wireType.bytes,
  wireType.varint,
  wireType.varint,
  wireType.fixed64,
  undefined,
  undefined,
  wireType.bytes,
];

function scanKeyValue(cursor: Cursor, depth: number, ranges: AttributeRanges | undefined, scan: Scan): void {
  let keyStart = 0;
  let keyEnd = 0;
  let valueStart = 0;
  let valueEnd = 0;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    const field = tag >>> 3;
    if (field === 1) {
      const outerEnd = enter(cursor, tag);
      keyStart = cursor.at;
      keyEnd = cursor.end;
      leave(cursor, outerEnd);
    } else if (field === 2) {
      const outerEnd = enter(cursor, tag);
      valueStart = cursor.at;
      valueEnd = cursor.end;
      scanAnyValue(cursor, depth, scan);
      leave(cursor, outerEnd);
    } else skip(cursor, tag);
  }
  if (keyEnd - keyStart > scan.limits.attributeKeyBytes) note(scan, 'attribute_key_too_long', `a key of ${keyEnd - keyStart} bytes`);
  if (ranges !== undefined) pushRange(ranges, keyStart, keyEnd, valueStart, valueEnd);
}

/** The members of a list or a map. Beyond the nesting limit nothing is walked: the span is rejected as a whole. */
function scanValues(cursor: Cursor, isMap: boolean, depth: number, scan: Scan): void {
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 !== 1) {
      skip(cursor, tag);
      continue;
    }
    const outerEnd = enter(cursor, tag);
    if (depth > scan.limits.valueNesting) note(scan, 'nesting_too_deep', `a value nested deeper than ${scan.limits.valueNesting}`);
    else if (takeItem(scan)) {
      if (isMap) scanKeyValue(cursor, depth, undefined, scan);
      else scanAnyValue(cursor, depth, scan);
    }
    leave(cursor, outerEnd);
  }
}

function readAnyValue(cursor: Cursor): AttributeValue {
  let value: AttributeValue = null;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    switch (tag >>> 3) {
      case 1:
        value = readText(cursor, tag);
        break;
      case 2:
        value = readBool(cursor, tag);
        break;
      case 3:
        value = readInt64(cursor, tag);
        break;
      case 4:
        value = readDouble(cursor, tag);
        break;
      case 5:
        value = readArray(cursor, tag);
        break;
      case 6:
        value = readMap(cursor, tag);
        break;
      case 7:
        value = readBytes(cursor, tag);
        break;
      default:
        skip(cursor, tag);
    }
  }
  return value;
}

function readArray(cursor: Cursor, tag: number): readonly AttributeValue[] {
  const values: AttributeValue[] = [];
  const outerEnd = enter(cursor, tag);
  while (cursor.at < cursor.end) {
    const inner = readTag(cursor);
    if (inner >>> 3 === 1) values.push(readNested(cursor, inner));
    else skip(cursor, inner);
  }
  leave(cursor, outerEnd);
  return values;
}

function readMap(cursor: Cursor, tag: number): AttributeMap {
  const map = emptyMap();
  const outerEnd = enter(cursor, tag);
  while (cursor.at < cursor.end) {
    const inner = readTag(cursor);
    if (inner >>> 3 === 1) readMember(cursor, inner, map);
    else skip(cursor, inner);
  }
  leave(cursor, outerEnd);
  return map;
}

function readMember(cursor: Cursor, tag: number, map: { [key: string]: AttributeValue }): void {
  let key = '';
  let value: AttributeValue = null;
  const outerEnd = enter(cursor, tag);
  while (cursor.at < cursor.end) {
    const inner = readTag(cursor);
    const field = inner >>> 3;
    if (field === 1) key = readText(cursor, inner);
    else if (field === 2) value = readNested(cursor, inner);
    else skip(cursor, inner);
  }
  leave(cursor, outerEnd);
  map[key] = value;
}

function readNested(cursor: Cursor, tag: number): AttributeValue {
  const outerEnd = enter(cursor, tag);
  const value = readAnyValue(cursor);
  leave(cursor, outerEnd);
  return value;
}
