/** A judge with a question of the user's own: a template that names what of the run it is shown, and what its answer is worth. */
import { tooLarge, type Skipped } from './evidence/calls.ts';
import { customAnswerFaults, customAnswerSchema, customAnswerText, readCustomAnswer } from './judging/custom-answers.ts';
import type { ExpectedPart, Fault, JsonSchema } from './evaluator.ts';
import { blocksOf, truncatedDetail } from './judging/judge-blocks.ts';
import { readTemplate, templateNames, templateValue } from './judging/judge-template.ts';
import type { RunView } from './judging/run-view.ts';
import { strictly } from './judging/strict-answers.ts';
import { judge } from './configuration/define.ts';
import { choice, required, optional, type OptionsOf } from './configuration/option-table.ts';
import { expecting, textList } from './expectation/expecting.ts';

const path = {
  type: 'string',
  maxLength: 200,
  pattern: '^[A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*$',
  'x-words': 'Write names of members with dots between them.',
};

/** What the names of a template show of an expectation. */
const expectedPartOf: { readonly [name: string]: ExpectedPart } = {
  expected_output: 'output',
  reference: 'output',
  tasks: 'tasks',
  constraints: 'constraints',
  plan: 'plan',
};

const options = {
  template: required(
    {
      type: 'string',
      maxLength: 20_000,
      description: `The question, with {{names}} of what the judge is shown: ${templateNames.map((name) => `\`${name}\``).join(', ')}. Each becomes a block of its own; the question refers to it. Required.`,
    },
    '',
  ),
  labels: optional<{ readonly [label: string]: number }>({
    type: 'object',
    maxProperties: 20,
    propertyNames: { maxLength: 100 },
    additionalProperties: { type: 'number', minimum: 0, maximum: 1 },
    description: 'What the judge may answer, and the score of each: `{ good: 1, bad: 0 }`.',
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
    description: 'Where the score stands in that answer, with dots: `verdict.score`. It must lie within `range`, 0 to 1 when left out.',
  }),
  label_path: optional<string>({ ...path, description: 'Where the label stands in that answer; `labels` says what it is worth.' }),
  on_missing: choice(
    ['skip', 'show'],
    'What a run gets that has nothing for a name of the template: skip, or show to ask with a block that says (none). A run that has nothing for any name is skipped.',
  ),
};

type Options = OptionsOf<typeof options>;

export const customJudge = judge({
  id: 'custom_judge',
  summary: 'A judge answers a question of yours.',
  needs: [],
  defaultThreshold: 0.5,
  options,
  expectationSchema: expecting({
    output: { description: 'What {{expected_output}} and {{reference}} stand for.' },
    tasks: textList('What {{tasks}} stands for.'),
    constraints: { type: 'string', description: 'What {{constraints}} stands for.' },
    plan: textList('What {{plan}} stands for.'),
  }),
  checks: ({ template }) => readTemplate(template, templateNames).names.flatMap((name) => expectedPartOf[name] ?? []),
  source: 'a question of your own',
  optionFaults,
  *evaluate({ trace, expected }, options, context) {
    const large = tooLarge(trace, context);
    if (large !== undefined) return large;
    const { instruction, names } = readTemplate(options.template, templateNames);
    const found = names.map((name) => ({ name, value: templateValue(name, trace, expected) }));
    const missing = found.flatMap(({ value }) => (isMissing(value) ? [value] : []));
    const stop =
      options.onMissing === 'skip' || missing.length === found.length ? missing[0] : missing.find(({ reason }) => reason === 'truncated');
    if (stop !== undefined) return stop;
    const { data, truncated } = blocksOf(Object.fromEntries(found.map(({ name, value }) => [name, isMissing(value) ? '(none)' : value])));
    const judged = yield* strictly(
      { id: 'judge', instruction: `${instruction}${customAnswerText(options)}`, data, answerSchema: customAnswerSchema(options) },
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

function isMissing(value: string | RunView | Skipped): value is Skipped {
  return typeof value === 'object' && 'kind' in value;
}

function optionFaults(options: Options): readonly Fault[] {
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
  return [...broken, ...empty, ...customAnswerFaults(options)];
}
