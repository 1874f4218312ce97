/** Attributes of what we send, as protobuf. */
import type { ProtobufWriter } from '../otlp/protobuf-writer.ts';
import type { JsonObject } from '../model/json.ts';
import { isDouble, sentValue, type SentValue } from './attribute-values.ts';

export function writeAttributes(to: ProtobufWriter, field: number, attributes: JsonObject): void {
  for (const key of Object.keys(attributes)) {
    const value = sentValue(attributes[key] ?? null);
    if (value === undefined) continue;
    if (typeof value === 'string') to.textPair(field, key, value);
    else {
      to.message(field, () => {
        to.text(1, key);
        to.message(2, () => writeValue(to, value, isDouble(key)));
      });
    }
  }
}

function writeValue(to: ProtobufWriter, value: SentValue, asDouble: boolean): void {
  if (typeof value === 'string') to.text(1, value);
  else if (typeof value === 'boolean') to.varint(2, value ? 1 : 0);
  else if (typeof value !== 'number') {
    to.message(5, () => {
      for (const item of value) to.message(1, () => writeValue(to, item, asDouble));
    });
  } else if (asDouble || !Number.isSafeInteger(value) || Object.is(value, -0)) to.double(4, value);
  else to.varint(3, value);
}
