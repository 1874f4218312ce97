/** Attribute values as the OpenTelemetry SDK takes them. */
import type { Attributes, AttributeValue } from '@opentelemetry/api';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue } from '../model/json.ts';

/** Nothing is left out but null, which OpenTelemetry does not know: what has no attribute type of its own becomes JSON text. */
export function otlpValues(values: JsonObject): Attributes {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]): [string, AttributeValue][] => {
      const known = attributeValue(value);
      return known === undefined ? [] : [[key, known]];
    }),
  );
}

function attributeValue(value: JsonValue): AttributeValue | undefined {
  if (value === null) return undefined;
  // Integers beyond 2^53: the SDK knows doubles only, and a text keeps every digit.
  if (typeof value === 'bigint') return value.toString();
  if (isJsonObject(value)) return jsonText(value);
  if (!isJsonArray(value)) return value;
  if (value.every((item) => typeof item === 'string')) return [...value];
  if (value.every((item) => typeof item === 'number')) return [...value];
  if (value.every((item) => typeof item === 'boolean')) return [...value];
  return jsonText(value);
}
