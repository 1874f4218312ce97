/** Attribute values and log bodies as an AnyValue of OTLP. */
import type { JsonObject } from '../../model/json.ts';
import type { AttributeValue } from '../../model/span.ts';
import { isValueList } from '../read/attribute-table.ts';
import type { ProtobufWriter } from './protobuf-writer.ts';

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
