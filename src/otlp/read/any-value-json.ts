/**
 * Attribute values in OTLP/JSON: `{ "key": "k", "value": { "stringValue": "v" } }`, with boolValue, intValue (text or number), doubleValue,
 * arrayValue and kvlistValue (`{ "values": [...] }`), bytesValue (base64) beside it. As in protobuf, no member means null.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Attributed, AttributeValue } from '../../model/span.ts';
import { emptyMap, lazyAttributes, noAttributes } from './attribute-table.ts';
import { field, integer, objects, text } from './json-fields.ts';
import { note, takeItem, type Scan } from './decode-state.ts';

/** Checks the attributes of an object as deep as they go, so that reading one later cannot fail. */
export function attributesOf(scan: Scan, from: JsonObject): Attributed {
  const pairs = objects(scan, from, 'attributes');
  if (pairs.length > scan.limits.attributesPerSpan)
    note(scan, 'too_many_attributes', `more than ${scan.limits.attributesPerSpan} attributes`);
  for (const pair of pairs) if (takeItem(scan)) checkPair(scan, pair, 1);
  if (pairs.length === 0) return noAttributes;
  const { shapes } = scan.scanned;
  return lazyAttributes(
    () => new Map(pairs.map((pair) => [keyOf(pair), pair])),
    valueOf,
    (keys) => shapes.ofKeys(keys),
  );
}

export function checkAnyValue(scan: Scan, value: JsonValue, depth: number): void {
  scan.bytes += 8;
  if (!isJsonObject(value)) return note(scan, 'invalid_field', 'an attribute value is not an object');
  const found = presentIn(value);
  if (found === undefined) return;
  if (found.form === 'list') return checkValues(scan, found.value, depth + 1, checkAnyValue);
  if (found.form === 'map') return checkValues(scan, found.value, depth + 1, checkMember);
  const plain = plainValue(found);
  if (plain === undefined) note(scan, 'invalid_field', 'an attribute value has a wrong type');
  else if (typeof plain === 'string' || plain instanceof Uint8Array) scan.bytes += plain.length;
}

/** The value of an AnyValue that `checkAnyValue` has passed. */
export function anyValue(value: JsonObject): AttributeValue {
  const found = presentIn(value);
  if (found === undefined) return null;
  if (found.form === 'list') return valuesOf(found.value).map(anyValue);
  if (found.form !== 'map') return plainValue(found) ?? null;
  const members = emptyMap();
  for (const pair of valuesOf(found.value)) members[keyOf(pair)] = valueOf(pair);
  return members;
}

type Form = 'list' | 'map' | 'text' | 'bool' | 'int' | 'double' | 'bytes';

/** In the order in which they count, where one has several. */
const forms: readonly (readonly [form: Form, ...names: readonly string[]])[] = [
  ['list', 'arrayValue', 'array_value'],
  ['map', 'kvlistValue', 'kvlist_value'],
  ['text', 'stringValue', 'string_value'],
  ['bool', 'boolValue', 'bool_value'],
  ['int', 'intValue', 'int_value'],
  ['double', 'doubleValue', 'double_value'],
  ['bytes', 'bytesValue', 'bytes_value'],
];

interface NamedForm {
  readonly form: Form;
  readonly rank: number;
}

const formsByName: ReadonlyMap<string, NamedForm> = new Map(
  forms.flatMap(([form, ...names]) => names.map((name) => [name, form] as const)).map(([name, form], rank) => [name, { form, rank }]),
);

interface Present {
  readonly form: Form;
  readonly value: JsonValue;
}

/** The member that is present and not null. There mostly is one only: to look for each of fourteen names takes several times as long. */
function presentIn(object: JsonObject): Present | undefined {
  let found: Present | undefined;
  let rank = formsByName.size;
  for (const name in object) {
    const named = formsByName.get(name);
    if (named === undefined || named.rank >= rank) continue;
    const value = member(object, name);
    if (value === undefined || value === null) continue;
    found = { form: named.form, value };
    rank = named.rank;
  }
  return found;
}

function checkPair(scan: Scan, pair: JsonObject, depth: number): void {
  const keyBytes = Buffer.byteLength(text(scan, pair, 'key'));
  if (keyBytes > scan.limits.attributeKeyBytes) note(scan, 'attribute_key_too_long', `a key of ${keyBytes} bytes`);
  const value = field(pair, 'value');
  if (value !== undefined) checkAnyValue(scan, value, depth);
}

function checkMember(scan: Scan, pair: JsonValue, depth: number): void {
  if (isJsonObject(pair)) checkPair(scan, pair, depth);
  else note(scan, 'invalid_field', 'a member of kvlistValue is not an object');
}

function checkValues(scan: Scan, holder: JsonValue, depth: number, check: (scan: Scan, value: JsonValue, depth: number) => void): void {
  const values = isJsonObject(holder) ? (field(holder, 'values') ?? []) : undefined;
  if (!isJsonArray(values)) return note(scan, 'invalid_field', 'arrayValue or kvlistValue holds no list');
  if (values.length > 0 && depth > scan.limits.valueNesting)
    return note(scan, 'nesting_too_deep', `a value nested deeper than ${scan.limits.valueNesting}`);
  for (const value of values) if (takeItem(scan)) check(scan, value, depth);
}

function valuesOf(holder: JsonValue): readonly JsonObject[] {
  const values = isJsonObject(holder) ? field(holder, 'values') : undefined;
  return isJsonArray(values) ? values.filter(isJsonObject) : [];
}

function keyOf(pair: JsonObject): string {
  const key = field(pair, 'key');
  return typeof key === 'string' ? key.toWellFormed() : '';
}

function valueOf(pair: JsonObject): AttributeValue {
  const value = field(pair, 'value');
  return isJsonObject(value) ? anyValue(value) : null;
}

/** Undefined: it has a wrong type. */
function plainValue({ form, value }: Present): AttributeValue | undefined {
  switch (form) {
    case 'text':
      return typeof value === 'string' ? value.toWellFormed() : undefined;
    case 'bool':
      return typeof value === 'boolean' ? value : undefined;
    case 'int':
      return int64(value);
    case 'double':
      return float(value);
    case 'bytes':
      return typeof value === 'string' ? new Uint8Array(Buffer.from(value, 'base64')) : undefined;
    default:
      return undefined;
  }
}

function int64(value: JsonValue): number | bigint | undefined {
  const exact = integer(value);
  if (exact === undefined || BigInt.asIntN(64, exact) !== exact) return undefined;
  const number = Number(exact);
  return Number.isSafeInteger(number) ? number : exact;
}

const notFinite: ReadonlyMap<string, number> = new Map([
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
]);

function float(value: JsonValue): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string') return undefined;
  const number = notFinite.get(value) ?? (value.trim() === '' ? Number.NaN : Number(value));
  return Number.isNaN(number) && value !== 'NaN' ? undefined : number;
}
