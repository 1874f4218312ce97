/** Attributes of what we send, as protobuf. */
import type { ProtobufWriter } from './protobuf-writer.ts';
import type { JsonObject } from '../../model/json.ts';
import { isDouble, sentValue, type SentList } from './attribute-values.ts';

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
