/**
 * A request in OTLP/JSON as the same request in protobuf, with every field of the published messages, even those that no reader here uses. Unknown
 * fields and values of a wrong type are left out, and so is an item that cannot be parsed.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { message, resourceField, scopeField, itemField } from '../cut/trace-extract.ts';
import { parseBody } from '../read/json-body.ts';
import { integer } from '../read/json-fields.ts';
import { defaultOtlpLimits } from '../read/limits.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import type { OtlpSignal } from './responses.ts';
import { isPauseDue, newPace } from '../read/decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';

/** The fields of the published OTLP messages by their names in JSON, in both spellings. */

/** The form of a value. A list has the names of an enumeration, by their numbers; a function returns the fields of a message. */
type Form = 'text' | 'hex' | 'base64' | 'bool' | 'double' | 'varint' | 'fixed32' | 'fixed64' | readonly string[] | (() => Fields);
type Fields = ReadonlyMap<string, { readonly number: number; readonly form: Form }>;

function fieldsOf(fields: { readonly [name: string]: readonly [number: number, form: Form] }): Fields {
  const all = Object.entries(fields).map(([name, [number, form]]) => [name, { number, form }] as const);
  return new Map([...all, ...all.map(([name, field]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), field] as const)]);
}

const kinds = ['UNSPECIFIED', 'INTERNAL', 'SERVER', 'CLIENT', 'PRODUCER', 'CONSUMER'].map((name) => `SPAN_KIND_${name}`);
const codes = ['UNSET', 'OK', 'ERROR'].map((name) => `STATUS_CODE_${name}`);
const severities = [
  'UNSPECIFIED',
  ...['TRACE', 'DEBUG', 'INFO', 'WARN', 'ERROR', 'FATAL'].flatMap((name) => ['', '2', '3', '4'].map((degree) => name + degree)),
].map((name) => `SEVERITY_NUMBER_${name}`);

const anyValueFields: Fields = fieldsOf({
  stringValue: [1, 'text'],
  boolValue: [2, 'bool'],
  intValue: [3, 'varint'],
  doubleValue: [4, 'double'],
  arrayValue: [5, () => listFields],
  kvlistValue: [6, () => mapFields],
  bytesValue: [7, 'base64'],
});
const pairFields = fieldsOf({ key: [1, 'text'], value: [2, () => anyValueFields] });
const listFields = fieldsOf({ values: [1, () => anyValueFields] });
const mapFields = fieldsOf({ values: [1, () => pairFields] });
const dropped = 'varint';
const entityFields = fieldsOf({ schemaUrl: [1, 'text'], type: [2, 'text'], idKeys: [3, 'text'], descriptionKeys: [4, 'text'] });
const resourceFields = fieldsOf({
  attributes: [1, () => pairFields],
  droppedAttributesCount: [2, dropped],
  entityRefs: [3, () => entityFields],
});
const scopeFields = fieldsOf({
  name: [1, 'text'],
  version: [2, 'text'],
  attributes: [3, () => pairFields],
  droppedAttributesCount: [4, dropped],
});

/** Fields of a block of a resource, and of one of a scope, except its list. */
const resourceBlockFields: Fields = fieldsOf({ resource: [1, () => resourceFields], schemaUrl: [3, 'text'] });
const scopeBlockFields: Fields = fieldsOf({ scope: [1, () => scopeFields], schemaUrl: [3, 'text'] });

const eventFields = fieldsOf({
  timeUnixNano: [1, 'fixed64'],
  name: [2, 'text'],
  attributes: [3, () => pairFields],
  droppedAttributesCount: [4, dropped],
});
const linkFields = fieldsOf({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'text'],
  attributes: [4, () => pairFields],
  droppedAttributesCount: [5, dropped],
  flags: [6, 'fixed32'],
});
const statusFields = fieldsOf({ message: [2, 'text'], code: [3, codes] });

const spanFields: Fields = fieldsOf({
  traceId: [1, 'hex'],
  spanId: [2, 'hex'],
  traceState: [3, 'text'],
  parentSpanId: [4, 'hex'],
  name: [5, 'text'],
  kind: [6, kinds],
  startTimeUnixNano: [7, 'fixed64'],
  endTimeUnixNano: [8, 'fixed64'],
  attributes: [9, () => pairFields],
  droppedAttributesCount: [10, dropped],
  events: [11, () => eventFields],
  droppedEventsCount: [12, dropped],
  links: [13, () => linkFields],
  droppedLinksCount: [14, dropped],
  status: [15, () => statusFields],
  flags: [16, 'fixed32'],
});

const logFields: Fields = fieldsOf({
  timeUnixNano: [1, 'fixed64'],
  severityNumber: [2, severities],
  severityText: [3, 'text'],
  body: [5, () => anyValueFields],
  attributes: [6, () => pairFields],
  droppedAttributesCount: [7, dropped],
  flags: [8, 'fixed32'],
  traceId: [9, 'hex'],
  spanId: [10, 'hex'],
  observedTimeUnixNano: [11, 'fixed64'],
  eventName: [12, 'text'],
});

const names = {
  traces: {
    resources: ['resourceSpans', 'resource_spans'],
    scopes: ['scopeSpans', 'scope_spans'],
    items: ['spans'],
    fields: spanFields,
    itemsMax: defaultOtlpLimits.spansPerRequest,
  },
  logs: {
    resources: ['resourceLogs', 'resource_logs'],
    scopes: ['scopeLogs', 'scope_logs'],
    items: ['logRecords', 'log_records'],
    fields: logFields,
    itemsMax: defaultOtlpLimits.recordsPerRequest,
  },
} as const;

/** Throws OTLP_MALFORMED. */
export function* protobufOfJson(body: Buffer, signal: OtlpSignal): Steps<Buffer> {
  const { resources, scopes, items, fields, itemsMax } = names[signal];
  const { envelope, itemsOf, item } = yield* parseBody(body, itemsMax, defaultOtlpLimits);
  const [out, pace] = [protobufWriter(), newPace()];
  const alone = (from: JsonObject, of: Fields): Buffer => {
    out.restart();
    writeFields(out, from, of);
    return out.result();
  };
  const all: Buffer[] = [];
  for (const resource of objectsAt(envelope, resources)) {
    const inResource: Buffer[] = [];
    for (const scope of objectsAt(resource, scopes)) {
      const inScope: Buffer[] = [];
      for (const number of itemsOf(listAt(scope, items))) {
        const parsed = number === undefined ? undefined : item(number);
        if (parsed !== undefined && 'value' in parsed) inScope.push(...message(itemField, [alone(parsed.value, fields)]));
        if (isPauseDue(pace, parsed?.bytes ?? 0)) yield;
      }
      inResource.push(...message(scopeField, [alone(scope, scopeBlockFields), ...inScope]));
    }
    all.push(...message(resourceField, [alone(resource, resourceBlockFields), ...inResource]));
  }
  return Buffer.concat(all);
}

/** The list under any of its spellings. */
function listAt(from: JsonObject, spellings: readonly string[]): readonly JsonValue[] {
  const value = spellings.map((name) => member(from, name)).find((one) => one !== undefined && one !== null);
  return value !== undefined && isJsonArray(value) ? value : [];
}

function objectsAt(from: JsonObject, spellings: readonly string[]): readonly JsonObject[] {
  return listAt(from, spellings).filter(isJsonObject);
}

/** Its depth is that of what was parsed, which is bounded. */
function writeFields(to: ProtobufWriter, from: JsonObject, fields: Fields): void {
  for (const [name, value] of Object.entries(from)) {
    const field = fields.get(name);
    if (field === undefined || value === null) continue;
    // The one member of an AnyValue counts, empty or not.
    const keepsEmpty = fields === anyValueFields;
    if (!isJsonArray(value)) write(to, field.number, field.form, value, keepsEmpty);
    else for (const one of value) write(to, field.number, field.form, one, true);
  }
}

function write(to: ProtobufWriter, number: number, form: Form, value: JsonValue, keepsEmpty: boolean): void {
  if (typeof form === 'function') {
    if (isJsonObject(value)) to.message(number, () => writeFields(to, value, form()));
    return;
  }
  if (form === 'bool') {
    if (value === true || (value === false && keepsEmpty)) to.varint(number, value ? 1 : 0);
  } else if (form === 'text' || form === 'hex' || form === 'base64') {
    if (typeof value === 'string' && (value !== '' || keepsEmpty)) writeText(to, number, form, value);
  } else writeNumber(to, number, form, value, keepsEmpty);
}

function writeText(to: ProtobufWriter, number: number, form: 'text' | 'hex' | 'base64', value: string): void {
  if (form === 'text') to.text(number, value);
  else to.bytes(number, Buffer.from(value, form));
}

function writeNumber(
  to: ProtobufWriter,
  number: number,
  form: Exclude<Form, 'bool' | 'text' | 'hex' | 'base64' | (() => Fields)>,
  value: JsonValue,
  keepsEmpty: boolean,
): void {
  if (form === 'double') {
    const double = typeof value === 'number' ? value : typeof value === 'string' && value !== '' ? Number(value) : undefined;
    if (double !== undefined && (double !== 0 || keepsEmpty)) to.double(number, double);
    return;
  }
  const whole = typeof form === 'object' && typeof value === 'string' ? BigInt(Math.max(0, form.indexOf(value))) : integer(value);
  if (whole === undefined || (whole === 0n && !keepsEmpty)) return;
  if (form === 'fixed64') to.fixed64(number, whole);
  else if (form === 'fixed32') to.fixed32(number, Number(BigInt.asUintN(32, whole)));
  else to.varint(number, whole);
}
