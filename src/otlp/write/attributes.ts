/** Attributes of outgoing spans and log records, as OTLP/JSON and as protobuf. */
import { isJsonArray, type JsonObject, type JsonValue, isJsonObject, jsonText } from '../../model/json.ts';
import { wire } from '../../model/attributes.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';
import type { AttributesFormat } from './span.ts';
import type { AttributeValue } from '../../model/span.ts';
import { isValueList } from '../read/attribute-table.ts';

/** The value of an attribute on an evaluation span or log record. */
export type PlainValue = string | number | boolean | readonly string[];

/** Attributes that a writer adds one at a time; spreading objects into each other takes many times as long. */
export interface NewAttributes {
  [key: string]: PlainValue;
}

/** The format of attributes that are plain values. */
export const plainAttributes: AttributesFormat<JsonObject> = { json: attributesJson, protobuf: writeAttributes };

export function attributesJson(attributes: JsonObject): readonly JsonValue[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const sent = sentValue(value);
    return sent === undefined ? [] : [{ key, value: anyValueJson(sent, isDouble(key)) }];
  });
}

type Scalar = string | number | boolean;
type SentList = readonly Scalar[];
type SentValue = Scalar | SentList;

/** Only null (`undefined`), which OpenTelemetry does not know, is left out: a value without an attribute type becomes JSON text. */
function sentValue(value: JsonValue): SentValue | undefined {
  if (value === null) return undefined;
  // A text keeps every digit of what no double can hold.
  if (typeof value === 'bigint') return value.toString();
  if (isJsonObject(value)) return jsonText(value);
  if (!isJsonArray(value)) return value;
  return isUniform(value) ? value : jsonText(value);
}

function isUniform(values: readonly JsonValue[]): values is readonly Scalar[] {
  const type = typeof values[0];
  return values.every((value) => typeof value === type && (type === 'string' || type === 'number' || type === 'boolean'));
}

const doubles: ReadonlySet<string> = new Set([wire.scoreValue, wire.threshold, wire.sampleProbability]);

/**
 * True when the number under this key is always a double. Were whole scores integers, one evaluator's scores would be doubles and, at 0 and 1,
 * integers: backends that keep a type by attribute then lose the ends of the scale.
 */
function isDouble(key: string): boolean {
  return (
    doubles.has(key) ||
    key.startsWith(wire.scorePrefix) ||
    ((key.startsWith(wire.annotationPrefix) || key.startsWith(wire.sessionAnnotationPrefix)) &&
      key.endsWith(`${wire.annotationForm}${wire.annotationScore}`))
  );
}

export function writeAttributes(to: ProtobufWriter, field: number, attributes: JsonObject): void {
  for (const key in attributes) {
    if (!Object.hasOwn(attributes, key)) continue;
    const value = sentValue(attributes[key] ?? null);
    if (value === undefined) continue;
    if (typeof value !== 'object') to.pair(field, key, value, typeof value === 'number' && isDouble(key));
    else writeList(to, field, key, value);
  }
}

function writeList(to: ProtobufWriter, field: number, key: string, list: SentList): void {
  to.message(field, () => {
    to.text(1, key);
    to.message(2, () => writeAnyValue(to, list, isDouble(key)));
  });
}

/** `asDouble`: a whole number is a double too. An integer outside 64 bits, which no reader gives, is a text that keeps every digit. */
export function anyValueJson(value: AttributeValue, asDouble = false): JsonObject {
  if (value === null) return {};
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'bigint') return isInt64(value) ? { intValue: value.toString() } : { stringValue: value.toString() };
  if (typeof value === 'number') return numberJson(value, asDouble);
  if (value instanceof Uint8Array) return { bytesValue: Buffer.from(value).toString('base64') };
  if (isValueList(value)) return { arrayValue: { values: value.map((item) => anyValueJson(item, asDouble)) } };
  return { kvlistValue: { values: Object.keys(value).map((key) => ({ key, value: anyValueJson(value[key] ?? null) })) } };
}

/** The protobuf JSON mapping writes integers as texts and names what JSON has no number for. */
function numberJson(value: number, asDouble: boolean): JsonObject {
  if (Object.is(value, -0)) return { doubleValue: '-0' };
  if (!asDouble && Number.isSafeInteger(value)) return { intValue: value.toString() };
  return { doubleValue: Number.isFinite(value) ? value : String(value) };
}

/** The same as protobuf, within the message of the AnyValue. */
export function writeAnyValue(to: ProtobufWriter, value: AttributeValue, asDouble = false): void {
  if (value === null) return;
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') to.scalar(value, asDouble);
  else if (typeof value === 'bigint') {
    if (isInt64(value)) to.varint(3, value);
    else to.text(1, value.toString());
  } else if (value instanceof Uint8Array) to.bytes(7, value);
  else if (isValueList(value)) {
    to.message(5, () => {
      for (const item of value) to.message(1, () => writeAnyValue(to, item, asDouble));
    });
  } else {
    to.message(6, () => {
      for (const key of Object.keys(value)) writeKeyValue(to, 1, key, value[key] ?? null);
    });
  }
}

export function writeKeyValue(to: ProtobufWriter, field: number, key: string, value: AttributeValue): void {
  if (key !== '' && (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number'))
    return to.pair(field, key, value, false);
  to.message(field, () => {
    if (key !== '') to.text(1, key);
    to.message(2, () => writeAnyValue(to, value));
  });
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}
