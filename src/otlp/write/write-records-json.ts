/** Log records of ours as OTLP/JSON. */
import type { JsonObject } from '../../model/json.ts';
import { pairs } from './attribute-pairs.ts';
import { recordFlags, severities, type SentRecord } from './outgoing-log.ts';
import { scopeName, type OtlpWriter } from './outgoing-span.ts';
import { listed } from './write-sent-json.ts';

export function jsonRecords(): OtlpWriter<SentRecord> {
  return {
    contentType: 'application/json',
    write: (...records) => listed(records.map((record) => Buffer.from(JSON.stringify(blockOf(record))))),
    request: (parts) => Buffer.concat([Buffer.from('{"resourceLogs":['), listed(parts), Buffer.from(']}')]),
  };
}

/** One record with its resource and scope. */
function blockOf(record: SentRecord): JsonObject {
  return { resource: { attributes: pairs(record.resource) }, scopeLogs: [{ scope: { name: scopeName }, logRecords: [recordOf(record)] }] };
}

function recordOf({ traceId, spanId, timeUnixNano, severity, eventName, body, attributes }: SentRecord): JsonObject {
  return {
    timeUnixNano: timeUnixNano.toString(),
    observedTimeUnixNano: timeUnixNano.toString(),
    severityNumber: severities[severity],
    severityText: severity,
    body: { stringValue: body },
    attributes: pairs(attributes),
    flags: recordFlags,
    traceId,
    spanId,
    eventName,
  };
}
