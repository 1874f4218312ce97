/** Reads the runs of input files: from spans by the gathering of the service, from agent traces, or from messages. */
import { type Locate, locatorOf } from './dataset.ts';
import type { EvalItem } from './scoring.ts';
import { type Reading, recordedRuns } from '../inspect/inspection.ts';
import { otlpOf } from '../inspect/exported-forms.ts';
import { type Body, readRecorded, type Recorded } from '../inspect/recording.ts';
import { pathText } from '../../config/diagnostic.ts';
import { type GivenTrace, givenTraces, runOfTrace } from '../../library/given-traces.ts';
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import { unreadable } from '../../model/errors.ts';
import { noTenant } from '../../model/ids.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../model/json.ts';
import { type Span, textAttribute } from '../../model/span.ts';
import { defaultTaskKey, type TaskKeyOptions, taskKeys, type TaskKeys, type TaskPath } from '../../pipeline/reporting/task-keys.ts';

interface ReadInputs {
  readonly items: readonly EvalItem[];
  /** Rejected spans. */
  readonly rejections: Recorded['rejections'];
}

/** Gives runs from spans by start time, then runs from agent traces and messages in their order. Throws INPUT_UNREADABLE. */
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
  const runs = recordedRuns(recorded, reading);
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
  /** Number of its first line, from 1. */
  readonly line: number;
}

/** The JSON documents of a body: one, or one a line. `undefined` when the body holds spans or is not JSON. */
function givenDocuments({ name, bytes }: Body): readonly Document[] | undefined {
  const text = givenText(bytes);
  if (text === undefined) return undefined;
  const whole = parseJson(text);
  if (whole !== undefined)
    return holdsSpans(whole) ? undefined : [{ where: name, value: whole, file: name, locate: locatorOf(text), line: 1 }];
  const lines = givenLines(name, text);
  const first = parseJson(lines[0]?.text ?? '');
  if (first === undefined || holdsSpans(first)) return undefined;
  return lines.map(({ where, text: own, line }) => {
    const value = parseJson(own);
    if (value === undefined) throw unreadable(where, 'it is not JSON.');
    return { where, value, file: name, locate: locatorOf(own), line };
  });
}

interface NamedExamples {
  readonly bySpan: ReadonlyMap<string, string>;
  /** `undefined` when spans of the trace name different examples. */
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

/** A key of an OTLP request near the beginning of a body. */
const OTLP_KEY = /"resource_?(?:spans|logs|metrics)"/i;
const otlpKeyBytes = 1_000;

/** The text of a body with runs or labels in JSON; `undefined` when it holds spans or is not JSON. */
export function givenText(bytes: Buffer): string | undefined {
  const head = bytes.toString('utf8', 0, otlpKeyBytes);
  if (OTLP_KEY.test(head) || !/^\uFEFF?\s*(?:[[{]|$)/.test(head)) return undefined;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(text) ? text : undefined;
}

/** Whether it holds spans, as a request or as other programs write them. */
function holdsSpans(value: JsonValue): boolean {
  return (isJsonObject(value) && Object.keys(value).some((key) => OTLP_KEY.test(JSON.stringify(key)))) || otlpOf(value) !== undefined;
}

interface GivenLine {
  readonly where: string;
  readonly text: string;
  /** Number of the line, from 1. */
  readonly line: number;
}

/** The lines without blank ones, each with its place for messages. */
export function givenLines(name: string, text: string): readonly GivenLine[] {
  return text
    .split('\n')
    .flatMap((line, at) => (line.trim() === '' ? [] : [{ where: `${name}: line ${at + 1}`, text: line, line: at + 1 }]));
}
