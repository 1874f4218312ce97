/** Attributes of outgoing spans and log records, as OTLP/JSON and as protobuf. */
import { isJsonArray, type JsonObject, type JsonValue, isJsonObject, jsonText } from '../../model/json.ts';
import { wire } from '../../model/attributes.ts';
import { anyValueJson, writeAnyValue } from './any-value.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';
import type { AttributesFormat } from './span.ts';

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

/** Nothing is left out but null (undefined), which OpenTelemetry does not know: what has no attribute type of its own becomes JSON text. */
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
 * True: the number under this key is a double whatever its value. Were whole scores integers, one evaluator's scores would be doubles and, at 0 and 1,
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
