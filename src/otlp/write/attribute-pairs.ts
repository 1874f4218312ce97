/** Attributes of what we send, as OTLP/JSON. */
import { isJsonArray, type JsonObject, type JsonValue } from '../../model/json.ts';
import { isDouble, sentValue, type SentValue } from './attribute-values.ts';

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
