/** Log records out of OTLP/JSON bodies. */
import type { JsonObject } from '../../model/json.ts';
import { isJsonObject } from '../../model/json.ts';
import type { AttributeValue, LogRecord, Resource, Scope } from '../../model/span.ts';
import { anyValue, attributesOf, checkAnyValue } from './any-value-json.ts';
import { readJsonEnvelope } from './envelope-json.ts';
import { eventNameIn, optionalSpanId, recordTraceId } from './span-ids.ts';
import { field, text, time } from './json-fields.ts';
import type { Scan } from './decode-state.ts';
import type { Steps } from '../../runtime/cooperative.ts';

/** Records without a trace id are left out and counted in `ignored`. */
export function* readLogsJson(body: Buffer, scan: Scan): Steps<{ readonly records: readonly LogRecord[]; readonly ignored: number }> {
  const itemsMax = scan.limits.recordsPerRequest;
  let ignored = 0;
  const records = yield* readJsonEnvelope(body, scan, {
    resourceBlocks: ['resourceLogs', 'resource_logs'],
    scopeBlocks: ['scopeLogs', 'scope_logs'],
    items: ['logRecords', 'log_records'],
    itemsMax,
    tooMany: { reason: 'too_many_records', detail: `more than ${itemsMax} records in one request` },
    read: (from, inScan, resource, scope) => {
      const record = readLogRecord(from, inScan, resource, scope);
      if (record === 'ignored') ignored++;
      return record === 'ignored' ? undefined : record;
    },
  });
  return { records, ignored };
}

function readLogRecord(from: JsonObject, scan: Scan, resource: Resource, scope: Scope): LogRecord | 'ignored' | undefined {
  const traceId = recordTraceId(scan, text(scan, from, 'traceId', 'trace_id'));
  if (traceId === 'none') return scan.fault === undefined ? 'ignored' : undefined;
  const spanId = optionalSpanId(scan, text(scan, from, 'spanId', 'span_id'), 'invalid_span_id');
  const occurred = time(scan, from, 'timeUnixNano', 'time_unix_nano');
  const observed = time(scan, from, 'observedTimeUnixNano', 'observed_time_unix_nano');
  const name = text(scan, from, 'eventName', 'event_name');
  const written = field(from, 'body');
  if (written !== undefined) checkAnyValue(scan, written, 1);
  const { attribute, attributeKeys } = attributesOf(scan, from);
  if (traceId === undefined || scan.fault !== undefined) return undefined;
  let body: AttributeValue | undefined;
  return {
    resource,
    scope,
    traceId,
    spanId,
    timeUnixNano: occurred === 0n ? observed : occurred,
    get eventName() {
      return name === '' ? eventNameIn(attribute('event.name')) : name;
    },
    body: () => (isJsonObject(written) ? (body ??= anyValue(written)) : undefined),
    wireBytes: fixedBytes + scan.bytes,
    attribute,
    attributeKeys,
  };
}

/** The size of a record without texts in protobuf; `wireBytes` of JSON records approximates their protobuf size. */
const fixedBytes = 24;
