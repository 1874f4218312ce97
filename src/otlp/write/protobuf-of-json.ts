/**
 * A request in OTLP/JSON as the same request in protobuf, with every field of the published messages, also those that nobody here reads. What is no
 * field, or has a wrong type, is left out, and so is an item that cannot be parsed.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../model/json.ts';
import { message, resourceField, scopeField, itemField } from '../cut/trace-extract.ts';
import { parseBody } from '../read/json-body.ts';
import { integer } from '../read/json-fields.ts';
import { defaultOtlpLimits } from '../read/limits.ts';
import {
  anyValueFields,
  logFields,
  resourceBlockFields,
  scopeBlockFields,
  spanFields,
  type Fields,
  type Form,
} from '../read/message-fields.ts';
import { protobufWriter, type ProtobufWriter } from './protobuf-writer.ts';
import type { OtlpSignal } from './responses.ts';
import { isPauseDue, newPace } from '../read/decode-pace.ts';
import type { Steps } from '../../runtime/cooperative.ts';

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

/** In whichever of its spellings it is there. */
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
    // Of an AnyValue the one member that is there counts, empty or not.
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
