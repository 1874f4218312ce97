/** What waits for an exporter, as text: everything that it is given, and nothing else of the run. */
import type { ExportedRun, ExportItem } from '../model/scored-run.ts';
import { isJsonArray, isJsonObject, jsonText, parseJson, type JsonObject, type JsonValue } from '../model/json.ts';

/** Raised when an older release could not read it any more. */
const form = 1;

/** The item without what exporters are not given, so that a store in memory does not hold whole runs. */
export function exportItem({ run, evaluations, decisions, calls }: ExportItem): ExportItem {
  const {
    tenant,
    traceId,
    spanId,
    spanTraceId,
    trace,
    dialects,
    service,
    serviceVersion,
    resourceAttributes,
    traceState,
    parent,
    startUnixNano,
    endUnixNano,
    completeness,
    revision,
    partOf,
    session,
  } = run;
  const given: ExportedRun = {
    tenant,
    traceId,
    spanId,
    ...(spanTraceId === undefined ? {} : { spanTraceId }),
    trace: {
      ...(trace.agent === undefined ? {} : { agent: trace.agent }),
      ...(trace.sessionId === undefined ? {} : { sessionId: trace.sessionId }),
    },
    dialects,
    ...(service === undefined ? {} : { service }),
    ...(serviceVersion === undefined ? {} : { serviceVersion }),
    resourceAttributes,
    traceState,
    ...(parent === undefined ? {} : { parent }),
    startUnixNano,
    endUnixNano,
    completeness,
    revision,
    ...(partOf === undefined ? {} : { partOf }),
    ...(session === undefined ? {} : { session: { revision: session.revision, turns: session.turns, leftOut: session.leftOut } }),
  };
  return { run: given, evaluations, decisions, ...(calls === undefined ? {} : { calls }) };
}

export function exportText(item: ExportItem): string {
  const { run, ...rest } = exportItem(item);
  // As texts, times are as long as they like.
  const written = { form, run: { ...run, startUnixNano: run.startUnixNano.toString(), endUnixNano: run.endUnixNano.toString() }, ...rest };
  return jsonText(written as unknown as JsonObject);
}

/** Undefined: it is not what this release writes. */
export function parsedExport(text: string): ExportItem | undefined {
  const value = parseJson(text);
  if (value === undefined || !isJsonObject(value) || value['form'] !== form) return undefined;
  const { run, evaluations, decisions, calls = [] } = value;
  if (!isJsonObject(run) || !isList(calls) || !isList(evaluations) || !isList(decisions) || !isJsonObject(run['trace'])) return undefined;
  const [start, end] = [timeOf(run['startUnixNano']), timeOf(run['endUnixNano'])];
  if (start === undefined || end === undefined) return undefined;
  // Written by this form, from values of these types.
  return {
    run: { ...run, startUnixNano: start, endUnixNano: end },
    evaluations,
    decisions,
    ...('calls' in value ? { calls } : {}),
  } as unknown as ExportItem;
}

function isList(value: JsonValue | undefined): boolean {
  return value !== undefined && isJsonArray(value) && value.every(isJsonObject);
}

function timeOf(value: JsonValue | undefined): bigint | undefined {
  return typeof value === 'string' && /^\d+$/.test(value) ? BigInt(value) : undefined;
}
