/** Bodies of files → the runs in them: spans through the gathering of the service, agent traces and messages as they are. */
import { createHash } from 'node:crypto';
import { pathText } from '../../config/diagnostic.ts';
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import { noTenant, parseSpanId, parseTraceId, type SpanId, type TraceId } from '../../model/ids.ts';
import { jsonText, parseJson, type JsonValue } from '../../model/json.ts';
import { textAttribute, type Span } from '../../model/span.ts';
import { defaultTaskKey, taskKeys, type TaskKeyOptions, type TaskKeys, type TaskPath } from '../../pipeline/reporting/task-keys.ts';
import { unreadable, type Body } from '../inspect/bodies.ts';
import { replayed, type Reading } from '../inspect/replay.ts';
import { readRecorded, type Recorded } from '../inspect/recording.ts';
import { locatorOf, type Locate } from './dataset-text.ts';
import { givenLines, givenText, isOtlp } from './json-input-text.ts';
import { givenTraces, type GivenTrace } from './json-input-traces.ts';
import type { EvalItem } from './item.ts';

export interface ReadInputs {
  readonly items: readonly EvalItem[];
  /** What of the spans could not be taken. */
  readonly rejections: Recorded['rejections'];
}

/** Runs out of spans by start time, then those out of agent traces and messages in their order. Throws INPUT_UNREADABLE. */
export function readInputs(
  bodies: readonly Body[],
  reading: Reading,
  taskKey: TaskPath = defaultTaskKey,
  keyOptions: TaskKeyOptions = {},
): ReadInputs {
  const recordedBodies: Body[] = [];
  const given: (GivenTrace & { readonly document: Document })[] = [];
  for (const body of bodies) {
    const documents = givenDocuments(body);
    if (documents === undefined) recordedBodies.push(body);
    else for (const document of documents) given.push(...givenTraces(document.where, document.value).map((one) => ({ ...one, document })));
  }
  const recorded = readRecorded(recordedBodies);
  const named = exampleIds(recorded.spans);
  const { runs } = replayed(recorded, reading);
  const tasks = taskKeys(taskKey, keyOptions);
  tasks.spans(noTenant, recorded.spans);
  return {
    items: [
      ...runs.map((run) => withTask(recordedItem(run, named), tasks)),
      ...given.map((one, at) => withTask(givenItem(one, at), tasks)),
    ],
    rejections: recorded.rejections,
  };
}

function withTask(item: Omit<EvalItem, 'task'>, tasks: TaskKeys): EvalItem {
  return { ...item, task: tasks.of(item.run) };
}

/** A JSON document of a body. */
interface Document {
  readonly where: string;
  readonly value: JsonValue;
  readonly file: string;
  readonly locate: Locate;
  /** Of its first line, from 1. */
  readonly line: number;
}

/** The JSON documents of a body: one, or one a line. Undefined when the body holds spans or is no JSON. */
function givenDocuments({ name, bytes }: Body): readonly Document[] | undefined {
  const text = givenText(bytes);
  if (text === undefined) return undefined;
  const whole = parseJson(text);
  if (whole !== undefined) return isOtlp(whole) ? undefined : [{ where: name, value: whole, file: name, locate: locatorOf(text), line: 1 }];
  const lines = givenLines(name, text);
  const first = parseJson(lines[0]?.text ?? '');
  if (first === undefined || isOtlp(first)) return undefined;
  return lines.map(({ where, text: own, line }) => {
    const value = parseJson(own);
    if (value === undefined) throw unreadable(where, 'it is not JSON.');
    return { where, value, file: name, locate: locatorOf(own), line };
  });
}

interface NamedExamples {
  readonly bySpan: ReadonlyMap<string, string>;
  /** Where all spans of a trace that name an example name the same. */
  readonly byTrace: ReadonlyMap<string, string | undefined>;
}

function exampleIds(spans: readonly Span[]): NamedExamples {
  const bySpan = new Map<string, string>();
  const byTrace = new Map<string, string | undefined>();
  for (const span of spans) {
    const id = textAttribute(span, wire.exampleId) ?? textAttribute(span.resource, wire.exampleId);
    if (id === undefined) continue;
    bySpan.set(`${span.traceId}/${span.spanId}`, id);
    byTrace.set(span.traceId, byTrace.has(span.traceId) && byTrace.get(span.traceId) !== id ? undefined : id);
  }
  return { bySpan, byTrace };
}

function recordedItem(run: Run, { bySpan, byTrace }: NamedExamples): Omit<EvalItem, 'task'> {
  const place = `${run.traceId}/${run.spanId}`;
  return {
    run,
    label: `${run.trace.agent ?? 'run'} ${place}`,
    exampleId: bySpan.get(place) ?? (run.parent === undefined ? byTrace.get(run.traceId) : undefined),
    ordered: false,
  };
}

function givenItem(
  { trace, exampleId, expected, expectedPath, document }: GivenTrace & { readonly document: Document },
  at: number,
): Omit<EvalItem, 'task'> {
  const { where, file, locate, line } = document;
  return {
    run: runOfTrace(trace, expected),
    label: exampleId ?? `${where}${at === 0 ? '' : ` #${at + 1}`}`,
    exampleId,
    ordered: true,
    origin(path, which) {
      const place = locate([...expectedPath, ...path], which);
      return { ...place, file, line: place.line + line - 1, key: pathText([...expectedPath, ...path]) };
    },
  };
}

/** An agent trace has no ids: a hash of its content stands in, so that sampling picks the same ones each time. */
export function runOfTrace(trace: AgentTrace, expected: JsonValue | undefined): Run {
  const hash = createHash('sha256')
    .update(jsonText(trace as unknown as JsonValue, { sortKeys: true }))
    .digest('hex');
  return {
    tenant: noTenant,
    ...idsIn(hash),
    trace,
    dialects: [],
    resourceAttributes: {},
    traceState: '',
    startUnixNano: trace.startUnixNano ?? 0n,
    endUnixNano: trace.endUnixNano ?? 0n,
    completeness: 'complete',
    revision: 1,
    contentHash: hash,
    ...(expected === undefined ? {} : { expected }),
  };
}

function idsIn(hash: string): { readonly traceId: TraceId; readonly spanId: SpanId } {
  const [traceId, spanId] = [parseTraceId(hash.slice(0, 32)), parseSpanId(hash.slice(32, 48))];
  if (traceId === undefined || spanId === undefined) throw new Error('a hash of nothing but zeros');
  return { traceId, spanId };
}
