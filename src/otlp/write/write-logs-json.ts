/** Log records → OTLP/JSON, on one line. Severities and observed times, which the model does not keep, are not written. */
import type { JsonObject } from '../../model/json.ts';
import type { LogRecord } from '../../model/span.ts';
import { anyValueJson, attributes, scopeJson } from './write-json.ts';

/** An ExportLogsServiceRequest; reading it gives equal records. Records of one resource and scope that follow one another share a block. */
export function writeLogsJson(records: readonly LogRecord[]): Buffer {
  const blocks: { readonly first: LogRecord; readonly own: JsonObject[] }[] = [];
  for (const record of records) {
    const last = blocks.at(-1);
    if (last !== undefined && last.first.resource === record.resource && last.first.scope === record.scope)
      last.own.push(recordJson(record));
    else blocks.push({ first: record, own: [recordJson(record)] });
  }
  const resourceLogs = blocks.map(({ first: { resource, scope }, own }) => ({
    resource: { attributes: attributes(resource) },
    scopeLogs: [{ scope: scopeJson(scope), logRecords: own }],
  }));
  return Buffer.from(JSON.stringify({ resourceLogs }));
}

function recordJson(record: LogRecord): JsonObject {
  const body = record.body();
  return {
    traceId: record.traceId,
    spanId: record.spanId ?? '',
    timeUnixNano: record.timeUnixNano.toString(),
    eventName: record.eventName,
    ...(body === undefined ? {} : { body: anyValueJson(body) }),
    attributes: attributes(record),
  };
}
