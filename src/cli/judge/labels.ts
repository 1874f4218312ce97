/** Labels of people in files, beside the runs or separate. */
import { unreadable } from '../../model/errors.ts';
import { givenLines, givenText } from '../eval/inputs.ts';
import type { EvalItem } from '../eval/scoring.ts';
import type { Body } from '../inspect/recording.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member, parseJson } from '../../model/json.ts';

/** A label of a person on a recorded run, beside the run or in another file, in the form of annotations of the API. */
export interface Label {
  /** The id of the run in the file. */
  readonly id: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** The name of the evaluator; the checked one when `undefined`. */
  readonly name: string | undefined;
  readonly by: string;
  readonly passed: boolean | undefined;
  readonly label: string | undefined;
  readonly score: number | undefined;
  /** Empty without one. */
  readonly explanation: string;
}

const labelsMax = 100_000;

/** Reads labels beside runs. Throws INPUT_UNREADABLE with the place. */
export function readLabels(bodies: readonly Body[]): readonly Label[] {
  return labelsIn(bodies.flatMap(({ name, bytes }) => documents(name, bytes)));
}

/** Reads files of labels only: any other line is a fault. Throws INPUT_UNREADABLE with the place. */
export function readLabelFiles(bodies: readonly Body[]): readonly Label[] {
  return labelsIn(
    bodies.flatMap(({ name, bytes }) => {
      if (givenText(bytes) === undefined) throw unreadable(name, `it has no labels. ${wanted}`);
      const found = documents(name, bytes);
      const [first, ...more] = found.filter(
        ({ value }) => value === undefined || !isJsonObject(value) || !words.some((key) => Object.hasOwn(value, key)),
      );
      if (first !== undefined)
        throw unreadable(
          first.where,
          `${faultOf(first.value)}${more.length === 0 ? '' : `, and so ${more.length === 1 ? 'is 1 other' : `are ${more.length} others`}`}. ${wanted}`,
        );
      return found;
    }),
  );
}

const words = ['passed', 'label', 'score', 'labels'] as const;
const wanted = 'Write one JSON object a line, as in {"id": "r1", "name": "task_completion", "passed": true}.';

function faultOf(value: JsonValue | undefined): string {
  if (value === undefined) return 'it is not JSON';
  return isJsonObject(value) ? 'it is not a label: passed, label, score and labels are missing' : 'it is JSON, but not an object';
}

function labelsIn(found: readonly Document[]): readonly Label[] {
  const labels = found.flatMap(({ where, value }) => (value !== undefined && isJsonObject(value) ? labelsOf(where, value) : []));
  if (labels.length > labelsMax) throw unreadable('the labels', `there are more than ${labelsMax}.`);
  return labels;
}

interface Document {
  readonly where: string;
  /** `undefined` when it is not JSON. */
  readonly value: JsonValue | undefined;
}

/** One value, the entries of a list, or one a line; empty for spans and for other formats. */
function documents(name: string, bytes: Buffer): readonly Document[] {
  const text = givenText(bytes);
  if (text === undefined) return [];
  const whole = parseJson(text);
  if (isJsonArray(whole)) return whole.map((value, at) => ({ where: `${name}[${at}]`, value }));
  if (whole !== undefined) return [{ where: name, value: whole }];
  return givenLines(name, text).map(({ where, text: line }) => ({ where, value: parseJson(line) }));
}

function labelsOf(where: string, value: JsonObject): readonly Label[] {
  const by = textOf(value, 'by') ?? 'label';
  const id = member(value, 'example_id') ?? member(value, 'id');
  const place = {
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    traceId: textOf(value, 'trace_id')?.toLowerCase(),
    spanId: textOf(value, 'span_id')?.toLowerCase(),
    by,
    explanation: textOf(value, 'explanation') ?? '',
  };
  const named = member(value, 'labels');
  const words = isJsonObject(named)
    ? Object.entries(named).map(([name, word]) => ({ name, ...wordOf(`${where}: labels.${name}`, word) }))
    : plainWords(where, value);
  if (words.length > 0 && place.id === undefined && place.traceId === undefined)
    throw unreadable(where, 'it has a label but neither id nor trace_id of a run.');
  return words.map((word) => ({ ...place, ...word }));
}

function plainWords(where: string, value: JsonObject): readonly Pick<Label, 'name' | 'passed' | 'label' | 'score'>[] {
  const name = textOf(value, 'name');
  for (const key of ['passed', 'label', 'score']) {
    const word = member(value, key) ?? undefined;
    if (word !== undefined) return [{ name, ...wordOf(`${where}: ${key}`, word) }];
  }
  return [];
}

function wordOf(where: string, word: JsonValue): Pick<Label, 'passed' | 'label' | 'score'> {
  if (typeof word === 'boolean') return { passed: word, label: undefined, score: undefined };
  if (typeof word === 'string' && word !== '') return { passed: undefined, label: word, score: undefined };
  if (typeof word === 'number' && word >= 0 && word <= 1) return { passed: undefined, label: undefined, score: word };
  throw unreadable(where, 'a label is true, false, a word, or a number from 0 to 1.');
}

function textOf(value: JsonObject, key: string): string | undefined {
  const found = member(value, key);
  return typeof found === 'string' && found !== '' ? found : undefined;
}

/** The labels of a run. A label of a trace belongs to its outermost run. */
export function labelsOn({ run, exampleId }: EvalItem, labels: readonly Label[]): readonly Label[] {
  return labels.filter(({ id, traceId, spanId }) =>
    traceId === undefined
      ? id !== undefined && id === exampleId
      : traceId === run.traceId && (spanId === undefined ? run.parent === undefined : spanId === run.spanId),
  );
}
