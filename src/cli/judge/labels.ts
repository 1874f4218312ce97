/** What people say of recorded runs: beside the run in its own object, or in a file of their own, in the form in which the API takes annotations. */
import { isJsonArray, isJsonObject, member, parseJson, type JsonObject, type JsonValue } from '../../model/json.ts';
import { givenLines, givenText } from '../eval/json-input-text.ts';
import { unreadable, type Body } from '../inspect/bodies.ts';

export interface Label {
  /** Of the run: its id in the file, or its trace. */
  readonly id: string | undefined;
  readonly traceId: string | undefined;
  readonly spanId: string | undefined;
  /** Of the evaluator; undefined: of the one that is checked. */
  readonly name: string | undefined;
  readonly by: string;
  readonly passed: boolean | undefined;
  readonly label: string | undefined;
  readonly score: number | undefined;
}

const labelsMax = 100_000;

/** Beside runs, in files that hold other things as well. Throws INPUT_UNREADABLE with the place. */
export function readLabels(bodies: readonly Body[]): readonly Label[] {
  return labelsIn(bodies.flatMap(({ name, bytes }) => documents(name, bytes)));
}

/** Labels of a file that holds nothing else: any other line is a fault. Throws INPUT_UNREADABLE with the place. */
export function readLabelFiles(bodies: readonly Body[]): readonly Label[] {
  return labelsIn(
    bodies.flatMap(({ name, bytes }) => {
      if (givenText(bytes) === undefined) throw unreadable(name, `it holds no labels. ${wanted}`);
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
  return isJsonObject(value) ? 'it is no label, for passed, label, score and labels are all missing' : 'it is JSON, but no object';
}

function labelsIn(found: readonly Document[]): readonly Label[] {
  const labels = found.flatMap(({ where, value }) => (value !== undefined && isJsonObject(value) ? labelsOf(where, value) : []));
  if (labels.length > labelsMax) throw unreadable('the labels', `more than ${labelsMax} of them.`);
  return labels;
}

interface Document {
  readonly where: string;
  /** Undefined: it is not JSON. */
  readonly value: JsonValue | undefined;
}

/** One value, the entries of a list, or one a line. Bodies that hold spans, or no JSON, have none. */
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
  };
  const named = member(value, 'labels');
  const words = isJsonObject(named)
    ? Object.entries(named).map(([name, word]) => ({ name, ...wordOf(`${where}: labels.${name}`, word) }))
    : plainWords(where, value);
  if (words.length > 0 && place.id === undefined && place.traceId === undefined)
    throw unreadable(where, 'it has a label, and neither id nor trace_id to say whose.');
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
