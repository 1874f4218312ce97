/** Encodings of the blobs in the store: content of runs, runs that wait for judges, items that wait for exporters. */
import { deserialize, serialize } from 'node:v8';
import { zstdDecompressSync } from 'node:zlib';
import { noParts, type Run, type AgentTrace } from '../model/agent-trace.ts';
import { isJsonArray, isJsonObject, type JsonObject, jsonText, type JsonValue, parseJson } from '../model/json.ts';
import type { ExportedRun, ExportItem } from '../model/scored-run.ts';
import { runJson } from '../model/run-json.ts';
import { compressed } from './compression.ts';
import { roughBytes } from '../model/size-estimate.ts';
import { runRecord } from './run-record.ts';
import type { RunContent, WithoutContent, StoreItem } from '../model/store/store.ts';

/** A run whose JSON is longer is kept without its content, because it is too long to read on a page. */
const contentCharsMax = 8_000_000;

export function contentOf(run: Run, withoutContent: WithoutContent | undefined): RunContent {
  if (withoutContent !== undefined) return { content: undefined, contentGone: withoutContent };
  const text = textOf(run);
  if (text === undefined || text.length > contentCharsMax) return { content: undefined, contentGone: 'too_large' };
  const excerpt = excerptOf(run.trace.input);
  return { content: text, contentGone: undefined, ...(excerpt === undefined ? {} : { excerpt }) };
}

/** Characters of the input in a list. */
const excerptCharsMax = 160;

/** The beginning of a text on one line, in separate memory; `undefined` when it is blank. */
export function excerptOf(text: string | undefined): string | undefined {
  // Half a surrogate pair at the cut is left out. Blanks at the beginning of a text may be many.
  const begin = (text ?? '')
    .slice(0, 4 * excerptCharsMax)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, excerptCharsMax);
  const whole = Buffer.from(begin.replace(/[\ud800-\udbff]$/, '')).toString();
  return whole === '' ? undefined : whole;
}

/** Undefined: it is longer than any text can be. */
function textOf(run: Run): string | undefined {
  try {
    return jsonText(runJson(run.trace, run));
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

export function readContent(content: string): JsonObject {
  const value: JsonValue | undefined = parseJson(content);
  if (!isJsonObject(value)) throw new Error('the content of a run is not what was written');
  return value;
}

/** Encodes what is stored at once. An item with judge jobs stays whole, as judges need the run. */
export function slimItem(item: StoreItem): StoreItem {
  const { run, jobs = [], turn, withoutContent } = item;
  if (jobs.length > 0 || turn !== undefined) return item;
  return { ...item, content: contentOf(run, withoutContent), record: runRecord(item), run: { ...run, trace: slimTrace(run.trace) } };
}

/** Verdicts take about twice their text as objects, beside the text itself. */
const verdictBytesPerChar = 3;

/** Estimates the memory of an item. An encoded item is weighed by its texts: walking its verdicts takes longer than writing them. */
export function itemBytes(item: StoreItem): number {
  const { run, content, record } = item;
  if (record === undefined) return roughBytes(item);
  return roughBytes(run) + verdictBytesPerChar * record.verdicts.length + record.marks.length + (content?.content?.length ?? 0);
}

/** The fields that lists use. */
function slimTrace({ agent, sessionId, userId, model, status, toolCallsCarried }: AgentTrace): AgentTrace {
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(userId === undefined ? {} : { userId }),
    ...(model === undefined ? {} : { model }),
    status,
    ...noParts,
    toolCallsCarried,
  };
}

// Judge jobs

/** Raised when a later release could not ask about what this one wrote. */
const jobForm = 1;

/** Never throws: what cannot be written must not hold up the batch that it is in, and is found to be unreadable when its turn comes. */
export function jobBody(run: Run): Buffer {
  try {
    return compressed(serialize({ form: jobForm, run }));
  } catch {
    return Buffer.alloc(0);
  }
}

/** Undefined: it cannot be read. */
export function jobRun(body: Uint8Array): Run | undefined {
  try {
    const read = deserialize(zstdDecompressSync(body)) as { readonly form?: unknown; readonly run?: Run };
    return read.form === jobForm ? read.run : undefined;
  } catch {
    return undefined;
  }
}

// Exports

/** Raised when an older release could not read it any more. */
const exportForm = 1;

/** The item without what exporters are not given, so that a store in memory does not hold whole runs. */
export function exportItem({ run, evaluations, decisions, calls }: ExportItem): ExportItem {
  const {
    tenant,
    traceId,
    spanId,
    spanTraceId,
    trace,
    dialects,
    configuredDialect,
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
      ...(trace.status === undefined ? {} : { status: trace.status }),
      ...(trace.agent === undefined ? {} : { agent: trace.agent }),
      ...(trace.sessionId === undefined ? {} : { sessionId: trace.sessionId }),
    },
    dialects,
    ...(configuredDialect === undefined ? {} : { configuredDialect }),
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
  const written = {
    form: exportForm,
    run: { ...run, startUnixNano: run.startUnixNano.toString(), endUnixNano: run.endUnixNano.toString() },
    ...rest,
  };
  return jsonText(written as unknown as JsonObject);
}

/** Undefined: it is not what this release writes. */
export function parsedExport(text: string): ExportItem | undefined {
  const value = parseJson(text);
  if (value === undefined || !isJsonObject(value) || value['form'] !== exportForm) return undefined;
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
