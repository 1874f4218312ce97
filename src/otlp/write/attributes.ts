/** Attributes of outgoing spans and log records, as OTLP/JSON and as protobuf. */
import { isJsonArray, type JsonObject, type JsonValue, isJsonObject, jsonText } from '../../model/json.ts';
import { wire } from '../../model/attributes.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';

/** The value of an attribute on an evaluation span or log record. */
export type CarrierValue = string | number | boolean | readonly string[];

/** Attributes that a writer adds one at a time; spreading objects into each other takes many times as long. */
export interface NewAttributes {
  [key: string]: CarrierValue;
}

export function pairs(attributes: JsonObject): readonly JsonValue[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const sent = sentValue(value);
    return sent === undefined ? [] : [{ key, value: anyValue(sent, isDouble(key)) }];
  });
}

/** Integers are texts and what JSON has no number for is named: as the protobuf JSON mapping has it. */
function anyValue(value: SentValue, asDouble: boolean): JsonObject {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (isJsonArray(value)) return { arrayValue: { values: value.map((item) => anyValue(item, asDouble)) } };
  if (!asDouble && Number.isSafeInteger(value) && !Object.is(value, -0)) return { intValue: value.toString() };
  return { doubleValue: !Number.isFinite(value) ? String(value) : Object.is(value, -0) ? '-0' : value };
}

type Scalar = string | number | boolean;
export type SentList = readonly Scalar[];
export type SentValue = Scalar | SentList;

/** Nothing is left out but null (undefined), which OpenTelemetry does not know: what has no attribute type of its own becomes JSON text. */
export function sentValue(value: JsonValue): SentValue | undefined {
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
 * True: the number under this key is a double whatever its value. Were whole scores integers, one evaluator's scores would be doubles and, at 0 and 1,
 * integers: backends that keep a type by attribute then lose the ends of the scale.
 */
export function isDouble(key: string): boolean {
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
  const asDouble = isDouble(key);
  to.message(field, () => {
    to.text(1, key);
    to.message(2, () => {
      to.message(5, () => {
        for (const item of list) to.message(1, () => to.scalar(item, asDouble));
      });
    });
  });
}
