/**
 * Scores on the wire as doubles. The OpenTelemetry SDK writes a whole number as an integer, so that one evaluator's scores would be
 * doubles and, at 0 and 1, integers: backends that keep a type by attribute then lose the ends of the scale.
 */
import { wire } from '../model/attributes.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../model/json.ts';
import { type Cursor, cursorOver, enter, leave, readInt64, readTag, readText, skip, wireType } from '../otlp/protobuf.ts';

const doubles: ReadonlySet<string> = new Set([wire.scoreValue, wire.threshold, wire.sampleProbability]);

function isDouble(key: string): boolean {
  return doubles.has(key) || key.startsWith(wire.scorePrefix) || (key.startsWith(wire.annotationPrefix) && key.endsWith(wire.annotationScore));
}

/** Which fields of a message lead to attributes. */
interface Layer {
  readonly [field: number]: Layer | 'attribute' | undefined;
}

/** ExportTraceServiceRequest: resource_spans = 1, scope_spans = 2, spans = 2; of a span attributes = 9, events = 11; of an event attributes = 3. */
const requestLayer: Layer = { 1: { 2: { 2: { 9: 'attribute', 11: { 3: 'attribute' } } } } };

/** An ExportTraceServiceRequest in which the scores of its spans and events are doubles. */
export function doublesInProtobuf(request: Uint8Array): Uint8Array {
  const bytes = Buffer.from(request.buffer, request.byteOffset, request.byteLength);
  return Buffer.concat(rewritten(cursorOver(bytes), requestLayer));
}

function rewritten(cursor: Cursor, layer: Layer): readonly Buffer[] {
  const pieces: Buffer[] = [];
  while (cursor.at < cursor.end) {
    const start = cursor.at;
    const tag = readTag(cursor);
    const below = layer[tag >>> 3];
    if (below === undefined) {
      skip(cursor, tag);
      pieces.push(cursor.bytes.subarray(start, cursor.at));
      continue;
    }
    const outerEnd = enter(cursor, tag);
    const inner = below === 'attribute' ? attribute(cursor) : rewritten(cursor, below);
    leave(cursor, outerEnd);
    pieces.push(message(tag, inner));
  }
  return pieces;
}

/** KeyValue: key = 1, value = 2. */
function attribute(cursor: Cursor): readonly Buffer[] {
  const whole = cursor.bytes.subarray(cursor.at, cursor.end);
  let key = '';
  let number: number | undefined;
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === 1) key = readText(cursor, tag);
    else if (tag >>> 3 === 2) number = integer(cursor, tag);
    else skip(cursor, tag);
  }
  if (number === undefined || !isDouble(key)) return [whole];
  const double = Buffer.alloc(9);
  double[0] = (4 << 3) | wireType.fixed64;
  double.writeDoubleLE(number, 1);
  return [message((1 << 3) | wireType.bytes, [Buffer.from(key)]), message((2 << 3) | wireType.bytes, [double])];
}

/** AnyValue: int_value = 3. Undefined for any other value. */
function integer(cursor: Cursor, outerTag: number): number | undefined {
  const outerEnd = enter(cursor, outerTag);
  const tag = cursor.at < cursor.end ? readTag(cursor) : 0;
  const number = tag === ((3 << 3) | wireType.varint) ? Number(readInt64(cursor, tag)) : undefined;
  leave(cursor, outerEnd);
  return number;
}

function message(tag: number, pieces: readonly Buffer[]): Buffer {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  return Buffer.concat([varint(tag), varint(length), ...pieces]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** The same for the JSON encoding, where the name of the member tells the type. */
export function doublesInJson(request: Uint8Array): Uint8Array {
  const value = JSON.parse(Buffer.from(request.buffer, request.byteOffset, request.byteLength).toString()) as JsonObject;
  const resourceSpans = each(value, 'resourceSpans', (group) => each(group, 'scopeSpans', (scope) => each(scope, 'spans', spanWithDoubles)));
  return Buffer.from(JSON.stringify(resourceSpans));
}

function spanWithDoubles(span: JsonObject): JsonObject {
  return each(each(span, 'attributes', pairWithDouble), 'events', (event) => each(event, 'attributes', pairWithDouble));
}

function pairWithDouble(pair: JsonObject): JsonObject {
  const { key, value } = pair;
  if (typeof key !== 'string' || !isDouble(key) || !isJsonObject(value) || typeof value['intValue'] !== 'number') return pair;
  return { key, value: { doubleValue: value['intValue'] } };
}

function each(object: JsonObject, name: string, change: (item: JsonObject) => JsonObject): JsonObject {
  const items = object[name];
  if (!isJsonArray(items)) return object;
  return { ...object, [name]: items.map((item): JsonValue => (isJsonObject(item) ? change(item) : item)) };
}
