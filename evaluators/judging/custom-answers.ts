/** The answer of a judge with a question of the user's own: a label with a score, a number in a range, or a schema of its own. */
import { isJsonArray, isJsonObject, member, type JsonValue } from '../../src/model/json.ts';
import { labelSchema, objectSchema, explanationIn } from './numbered-verdicts.ts';
import type { EvaluationContext, JsonSchema, Fault } from '../evaluator.ts';
import { schemaFaults } from '../configuration/options.ts';
import { faulty, readLabel, type Reading } from './strict-answers.ts';

export interface CustomAnswerOptions {
  /** Scores by label. */
  readonly labels?: { readonly [label: string]: number };
  /** Least and most of a score. */
  readonly range?: readonly number[];
  /** Of an answer of the user's own. */
  readonly schema?: JsonSchema;
  readonly scorePath?: string;
  readonly labelPath?: string;
}

export interface CustomAnswer {
  /** 0..1 */
  readonly score: number;
  readonly label?: string;
  readonly explanation: string;
  /** As the judge gave it, on the user's scale. */
  readonly given: JsonValue;
}

export function customAnswerSchema({ labels, range: [least = 0, most = 1] = [], schema }: CustomAnswerOptions): JsonSchema {
  if (schema !== undefined) return schema;
  return labels === undefined
    ? objectSchema({ explanation: { type: 'string' }, score: { type: 'number', minimum: least, maximum: most } })
    : labelSchema(Object.keys(labels));
}

/** The instruction about the form of the answer; a schema of the user's own needs none. */
export function customAnswerText({ labels, range: [least = 0, most = 1] = [], schema }: CustomAnswerOptions): string {
  if (schema !== undefined) return '';
  return `\n\nFirst explain in one or two sentences, then give the ${labels === undefined ? `score, a number from ${least} to ${most}` : `label, one of ${Object.keys(labels).join(', ')}`}.`;
}

export function readCustomAnswer(answer: JsonValue, options: CustomAnswerOptions, context: EvaluationContext): Reading<CustomAnswer> {
  if (options.schema === undefined)
    return options.labels === undefined
      ? scored(answer, valueAt(answer, 'score'), options, explanationIn(answer))
      : labelled(answer, options);
  const problems = context.schema(options.schema)?.problems(answer);
  if (problems === undefined) return faulty('the answer could not be checked against its schema');
  const [problem] = problems;
  // Names of members that are no part of the schema are the judge's words, and perhaps the run's: they are not repeated.
  if (problem !== undefined) return faulty(`the answer does not satisfy its schema (${problem.keyword})`);
  const explanation = explanationIn(answer) ?? 'The judge gave no explanation; its schema asks for none.';
  if (options.labelPath === undefined) return scored(answer, valueAt(answer, options.scorePath ?? 'score'), options, explanation);
  return labelled({ explanation, label: valueAt(answer, options.labelPath) ?? null }, options);
}

/** Everything that the schemas of the single options cannot say. */
export function customAnswerFaults({ labels, range, schema, scorePath, labelPath }: CustomAnswerOptions): readonly Fault[] {
  const names = Object.keys(labels ?? {});
  const [hasLabels, hasRange, own] = [labels !== undefined, range !== undefined, schema !== undefined];
  const faults: Fault[] = [];
  const add = (key: string, problem: string): void => void faults.push({ path: [key], problem });
  if (!hasLabels && !hasRange && !own) add('labels', 'is missing: say what the judge answers, with labels, range, or schema');
  if (hasLabels && hasRange) add('range', 'is for scores, and labels are given: keep one of the two');
  if (hasLabels && (names.length < 2 || new Set(names.map((name) => name.trim().toLowerCase())).size < names.length))
    add('labels', 'must hold two labels or more that differ in more than case');
  if (names.some((name) => name.trim() === '' || name !== name.trim())) add('labels', 'must hold labels without blanks around them');
  if (hasRange && !((range?.[0] ?? 0) < (range?.[1] ?? 0))) add('range', 'must be [least, most], the least first');
  if (own && (scorePath === undefined) === (labelPath === undefined)) add('schema', 'needs score_path or label_path, one of the two');
  if (!own && scorePath !== undefined) add('score_path', 'is for an answer with a schema of its own');
  if (!own && labelPath !== undefined) add('label_path', 'is for an answer with a schema of its own');
  if (labelPath !== undefined && !hasLabels) add('labels', 'is missing: say which label scores what');
  if (own && scorePath !== undefined && hasLabels) add('labels', 'is not for a score: leave it out, or use label_path');
  return [...faults, ...(schema === undefined ? [] : ownSchemaFaults(schema))];
}

function ownSchemaFaults(schema: JsonSchema): readonly Fault[] {
  try {
    schemaFaults(schema, null);
    return schema['type'] === 'object' ? [] : [{ path: ['schema'], problem: 'must be of type object' }];
  } catch {
    return [{ path: ['schema'], problem: 'is not a JSON Schema (draft 2020-12) that compiles' }];
  }
}

function labelled(answer: JsonValue, { labels = {} }: CustomAnswerOptions): Reading<CustomAnswer> {
  const reading = readLabel(answer, Object.keys(labels));
  if (reading.kind === 'faulty') return reading;
  const { label, explanation } = reading.value;
  return { kind: 'read', value: { score: labels[label] ?? 0, label, explanation, given: label } };
}

/** Out of range is no score: nothing is clamped. */
function scored(
  answer: JsonValue,
  given: JsonValue | undefined,
  { range: [least = 0, most = 1] = [] }: CustomAnswerOptions,
  explanation: string | undefined,
): Reading<CustomAnswer> {
  if (!isJsonObject(answer)) return faulty('the answer is not an object');
  if (explanation === undefined) return faulty('the answer has no explanation');
  if (typeof given !== 'number' || !(given >= least && given <= most)) return faulty(`the score is not a number from ${least} to ${most}`);
  return { kind: 'read', value: { score: (given - least) / (most - least), explanation, given } };
}

/** Members by name and places in lists by number, with dots between them. */
function valueAt(value: JsonValue, path: string): JsonValue | undefined {
  return path
    .split('.')
    .reduce<JsonValue | undefined>(
      (at, step) => (isJsonArray(at) ? at[Number(step)] : isJsonObject(at) ? member(at, step) : undefined),
      value,
    );
}
