/**
 * A judge with the user's own question. A template names the parts of the run that the judge gets, and options define the answer: a label
 * with a score, a number in a range, or an own schema.
 */
import { valueAtSteps } from './matching/arguments.ts';
import { isJsonObject, jsonText, type JsonValue } from '../src/model/json.ts';
import { labelSchema, objectSchema, explanationIn, faulty, readLabel, type Reading, strictly } from './judging/verdict-forms.ts';
import type { DataBlock, EvaluationContext, JsonSchema, Fault, ExpectedPart } from './evaluator.ts';
import { schemaFaults } from './configuration/options.ts';
import { tooLarge, type Skipped } from './evidence/calls.ts';
import { blocksOf, truncatedDetail } from './judging/judge-input.ts';
import { readTemplate, templateNames, templateValue } from './judging/judge-template.ts';
import type { RunView } from './judging/run-view.ts';
import { judge, choice, required, optional, type OptionsOf, expecting, textList } from './configuration/define.ts';

interface CustomAnswerOptions {
  /** Scores by label. */
  readonly labels?: { readonly [label: string]: number };
  /** Minimum and maximum of a score. */
  readonly range?: readonly number[];
  /** Schema of the answer. */
  readonly schema?: JsonSchema;
  readonly scorePath?: string;
  readonly labelPath?: string;
}

interface CustomAnswer {
  /** The score, 0 to 1. */
  readonly score: number;
  readonly label?: string;
  readonly explanation: string;
  /** The judge's value on the user's scale. */
  readonly given: JsonValue;
}

function customAnswerSchema({ labels, range: [least = 0, most = 1] = [], schema }: CustomAnswerOptions): JsonSchema {
  if (schema !== undefined) return schema;
  return labels === undefined
    ? objectSchema({ explanation: { type: 'string' }, score: { type: 'number', minimum: least, maximum: most } })
    : labelSchema(Object.keys(labels));
}

/** The instruction about the form of the answer; empty for an own schema. */
function customAnswerText({ labels, range: [least = 0, most = 1] = [], schema }: CustomAnswerOptions): string {
  if (schema !== undefined) return '';
  return `\n\nFirst explain in one or two sentences, then give the ${labels === undefined ? `score, a number from ${least} to ${most}` : `label, one of ${Object.keys(labels).join(', ')}`}.`;
}

function readCustomAnswer(answer: JsonValue, options: CustomAnswerOptions, context: EvaluationContext): Reading<CustomAnswer> {
  if (options.schema === undefined)
    return options.labels === undefined
      ? scored(answer, valueAtSteps(answer, ['score']), options, explanationIn(answer))
      : labelled(answer, options);
  const problems = context.schema(options.schema)?.problems(answer);
  if (problems === undefined) return faulty('the answer could not be checked against its schema');
  const [problem] = problems;
  // Names of unknown members may come from the run, so the fault does not repeat them.
  if (problem !== undefined) return faulty(`the answer does not satisfy its schema (${problem.keyword})`);
  const explanation = explanationIn(answer) ?? 'The judge gave no explanation; its schema asks for none.';
  if (options.labelPath === undefined)
    return scored(answer, valueAtSteps(answer, (options.scorePath ?? 'score').split('.')), options, explanation);
  return labelled({ explanation, label: valueAtSteps(answer, options.labelPath.split('.')) ?? null }, options);
}

/** Faults that the schemas of single options cannot express. */
function customAnswerFaults({ labels, range, schema, scorePath, labelPath }: CustomAnswerOptions): readonly Fault[] {
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
  if (!own && scorePath !== undefined) add('score_path', 'is for an answer with its own schema');
  if (!own && labelPath !== undefined) add('label_path', 'is for an answer with its own schema');
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

/** A score out of range is a fault and is not clamped. */
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

const path = {
  type: 'string',
  maxLength: 200,
  pattern: '^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$',
  'x-words': 'Write names of members with dots between them.',
};

/** Expectation parts that the names of a template refer to. */
const expectedPartOf: { readonly [name: string]: ExpectedPart } = {
  expected_output: 'output',
  reference: 'output',
  tasks: 'tasks',
  constraints: 'constraints',
  plan: 'plan',
};

const customJudgeOptions = {
  template: required(
    {
      type: 'string',
      maxLength: 20_000,
      description: `The question, with {{names}} of what the judge sees: ${templateNames.map((name) => `\`${name}\``).join(', ')}. Each becomes a separate block; the question refers to it. Required.`,
    },
    '',
  ),
  labels: optional<{ readonly [label: string]: number }>({
    type: 'object',
    maxProperties: 20,
    propertyNames: { maxLength: 100 },
    additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
    description: 'The answers of the judge, each with its score: `{ good: 1, bad: 0 }`.',
  }),
  range: optional<readonly number[]>({
    type: 'array',
    minItems: 2,
    maxItems: 2,
    items: { type: 'number' },
    description:
      'Least and most of a score that the judge gives instead: `[1, 5]`. The verdict has it as a share from 0 to 1; the details have it as given.',
  }),
  schema: optional<JsonSchema>({
    type: 'object',
    maxProperties: 100,
    description: 'JSON Schema (draft 2020-12) of an answer of your own, of type object. Best with `explanation` as its first member.',
  }),
  score_path: optional<string>({
    ...path,
    description: 'Path of the score in that answer, with dots: `verdict.score`. The score must be within `range`, 0 to 1 when left out.',
  }),
  label_path: optional<string>({ ...path, description: 'Path of the label in that answer; `labels` gives its score.' }),
  examples: optional<readonly CustomExample[]>({
    type: 'array',
    minItems: 1,
    maxItems: 20,
    items: {
      type: 'object',
      required: ['label'],
      minProperties: 2,
      additionalProperties: { type: 'string', maxLength: 4_000 },
      propertyNames: { enum: ['label', ...templateNames] },
    },
    description:
      'Judged examples, for an answer by `labels`: each has its `label` and texts under names of the template, as `{ label: bad, input: "…", final_response: "…" }`. They are material, as the run is.',
  }),
  on_missing: choice(
    ['skip', 'show'],
    'Handling of a run that has nothing for a name of the template: skip, or show to ask with a block that has (none). A run that has nothing for any name is skipped.',
  ),
};

/** A label, and texts under names of the template. */
export interface CustomExample {
  readonly label: string;
  readonly [name: string]: string;
}

type CustomJudgeOptions = OptionsOf<typeof customJudgeOptions>;

export const customJudge = judge({
  id: 'custom_judge',
  summary: 'A judge answers a question of yours.',
  needs: [],
  defaultThreshold: 0.5,
  options: customJudgeOptions,
  expectationSchema: expecting({
    output: { description: 'Value of {{expected_output}} and {{reference}}.' },
    tasks: textList('Value of {{tasks}}.'),
    constraints: { type: 'string', description: 'Value of {{constraints}}.' },
    plan: textList('Value of {{plan}}.'),
  }),
  checks: ({ template }) => readTemplate(template, templateNames).names.flatMap((name) => expectedPartOf[name] ?? []),
  source: 'a question of your own',
  optionFaults,
  *evaluate({ trace, expected, whole }, options, context) {
    const large = tooLarge(trace, context);
    if (large !== undefined) return large;
    const { instruction, names } = readTemplate(options.template, templateNames);
    const found = names.map((name) => ({ name, value: templateValue(name, trace, expected, whole) }));
    const missing = found.flatMap(({ value }) => (isMissing(value) ? [value] : []));
    const stop =
      options.onMissing === 'skip' || missing.length === found.length ? missing[0] : missing.find(({ reason }) => reason === 'truncated');
    if (stop !== undefined) return stop;
    const { data, truncated } = blocksOf(Object.fromEntries(found.map(({ name, value }) => [name, isMissing(value) ? '(none)' : value])));
    const examples = exampleBlocks(options);
    const judged = yield* strictly(
      {
        id: 'judge',
        instruction: `${instruction}${examples.length === 0 ? '' : examplesText}${customAnswerText(options)}`,
        data: [...data, ...examples],
        answerSchema: customAnswerSchema(options),
      },
      (answer) => readCustomAnswer(answer, options, context),
    );
    if (judged.kind === 'failed') return judged.outcome;
    const { score, label, explanation, given } = judged.value;
    return {
      kind: 'scored',
      score,
      ...(label === undefined ? {} : { label }),
      explanation,
      evidence: [],
      details: { judge_called: true, given, ...truncatedDetail(truncated, judged.truncated) },
    };
  },
});

const examplesText = '\n\nBlocks named "examples of …" hold other runs that people have judged, one a line. Judge none of them.';

/** One block a label, one example a line: JSON keeps the texts of one example from posing as another. */
function exampleBlocks({ labels = {}, examples = [] }: CustomJudgeOptions): readonly DataBlock[] {
  return Object.keys(labels).flatMap((name) => {
    const own = examples.filter(({ label }) => label === name);
    if (own.length === 0) return [];
    return [{ title: `examples of "${name}"`, isApart: true, text: own.map(({ label: _label, ...texts }) => jsonText(texts)).join('\n') }];
  });
}

/** Fits a block of a question. */
const exampleCharsMax = 30_000;

function exampleFaults({ labels, examples = [] }: CustomJudgeOptions, names: readonly string[]): readonly Fault[] {
  if (labels === undefined) return examples.length === 0 ? [] : [{ path: ['examples'], problem: 'is for an answer by labels' }];
  const chars = examples.reduce((sum, one) => sum + Object.values(one).join('').length, 0);
  if (chars > exampleCharsMax) return [{ path: ['examples'], problem: `must hold at most ${exampleCharsMax} characters together` }];
  return examples.flatMap(({ label, ...texts }, at): readonly Fault[] => {
    const other = Object.keys(texts).find((name) => !names.includes(name));
    return [
      ...(Object.hasOwn(labels, label)
        ? []
        : [{ path: ['examples', at, 'label'], problem: `must be one of ${Object.keys(labels).join(', ')}` }]),
      ...(other === undefined ? [] : [{ path: ['examples', at, other], problem: 'is a name that the template does not have' }]),
    ];
  });
}

function isMissing(value: string | RunView | Skipped): value is Skipped {
  return typeof value === 'object' && 'kind' in value;
}

function optionFaults(options: CustomJudgeOptions): readonly Fault[] {
  const { names, faults } = readTemplate(options.template, templateNames);
  const broken = faults.map(({ line, column, problem }): Fault => ({
    path: ['template'],
    problem: `${problem} (line ${line}, character ${column} of the template)`,
  }));
  const empty: readonly Fault[] =
    names.length === 0 && faults.length === 0
      ? [
          {
            path: ['template'],
            problem: `names nothing of the run, so that every run would get the same verdict; write {{input}} or another of ${templateNames.join(', ')}`,
          },
        ]
      : [];
  return [...broken, ...empty, ...customAnswerFaults(options), ...exampleFaults(options, names)];
}
