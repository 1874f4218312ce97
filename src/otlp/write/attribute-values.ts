/** Attribute values as OpenTelemetry knows them: texts, numbers, booleans, and lists of one of these. */
import { wire } from '../../model/attributes.ts';
import { isJsonArray, isJsonObject, jsonText, type JsonValue } from '../../model/json.ts';

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
  return doubles.has(key) || key.startsWith(wire.scorePrefix) || ((key.startsWith(wire.annotationPrefix) || key.startsWith(wire.sessionAnnotationPrefix)) && key.endsWith(`${wire.annotationForm}${wire.annotationScore}`));
}
