/** Reads the runs of input files: from spans by the gathering of the service, from agent traces, or from messages. */
import { type Locate, locatorOf } from './dataset.ts';
import type { EvalItem } from './scoring.ts';
import { byStart, type Reading, type RunPlace } from '../inspect/inspection.ts';
import { otlpOf } from '../inspect/exported-forms.ts';
import type { Input, Recorded } from '../inspect/recording.ts';
import { streamedRuns } from '../inspect/streamed-runs.ts';
import { pathText } from '../../config/diagnostic.ts';
import { type GivenTrace, givenTraces, runOfTrace } from '../../library/given-traces.ts';
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import { unreadable } from '../../model/errors.ts';
import { noTenant } from '../../model/ids.ts';
import { isJsonObject, type JsonValue, parseJson } from '../../model/json.ts';
import { type Span, textAttribute } from '../../model/span.ts';
import { defaultTaskKey, type TaskKeyOptions, taskKeys, type TaskKeys, type TaskPath } from '../../pipeline/reporting/task-keys.ts';

interface ReadInputs<Taken> {
  readonly items: readonly Taken[];
  /** Rejected spans. */
  readonly rejections: Recorded['rejections'];
}

interface ReadOptions<Taken> {
  readonly reading: Reading;
  readonly taskKey?: TaskPath;
  readonly keyOptions?: TaskKeyOptions;
  readonly pieceBytes?: number;
  /** Extracts the part of an item that is kept. Called as soon as its trace is whole. */
  readonly take: (item: EvalItem) => Taken;
}

/** Gives runs from spans by start time, then runs from agent traces and messages in their order. Throws INPUT_UNREADABLE. */
export function readInputs<Taken>(
  inputs: readonly Input[],
  { reading, taskKey = defaultTaskKey, keyOptions = {}, take, ...cut }: ReadOptions<Taken>,
): ReadInputs<Taken> {
  const ofSpans: Input[] = [];
  const given: (GivenTrace & { readonly document: Document })[] = [];
  for (const input of inputs) {
    const documents = givenDocuments(input);
    if (documents === undefined) ofSpans.push(input);
    else for (const document of documents) given.push(...givenTraces(document.where, document.value).map((one) => ({ ...one, document })));
  }
  const tasks = taskKeys(taskKey, keyOptions);
  const recorded: (RunPlace & { readonly taken: Taken })[] = [];
  const stream = streamedRuns(ofSpans, { reading, ...cut });
  for (const { runs, spans, placeOf } of stream.batches) {
    const named = exampleIds(spans);
    tasks.spans(noTenant, spans);
    for (const run of runs)
      recorded.push({
        startUnixNano: run.startUnixNano,
        place: placeOf(run),
        taken: take(withTask(recordedItem(run, named), tasks)),
      });
  }
  return {
    items: [...recorded.sort(byStart).map(({ taken }) => taken), ...given.map((one, at) => take(withTask(givenItem(one, at), tasks)))],
    rejections: stream.rejections,
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
function givenDocuments(input: Input): readonly Document[] | undefined {
  const bytes = input.open();
  const text = mayHoldRuns(bytes.read(0, otlpKeyBytes)) ? givenText(bytes.read(0, bytes.size)) : undefined;
  bytes.close();
  const { name } = input;
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
  if (!mayHoldRuns(bytes)) return undefined;
  const text = bytes.toString('utf8').replace(/^\uFEFF/, '');
  return /^\s*[[{]/.test(text) ? text : undefined;
}

function mayHoldRuns(bytes: Buffer): boolean {
  const head = bytes.toString('utf8', 0, otlpKeyBytes);
  return !OTLP_KEY.test(head) && /^\uFEFF?\s*(?:[[{]|$)/.test(head);
}

/** True when the value holds spans, as a request or in the form of other programs. */
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
