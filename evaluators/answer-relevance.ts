/** The final response is about what the user asked, by the judgement of a model: as a label, or as a number where a scale is wanted. */
import type { Fault } from './evaluator.ts';
import { finalText, inputText } from './judging/judge-evidence.ts';
import { readTemplate } from './judging/judge-template.ts';
import { judgeInput, judgeInputHistory } from './judging/judge-input.ts';
import { choice, optional, type OptionsOf } from './configuration/option-table.ts';
import { questionJudge } from './judging/question-judge.ts';

const options = {
  scale: choice(['label', 'score'], 'What the judge gives: the label relevant or irrelevant, or a number from 0 to 1.'),
  template: optional<string>({
    type: 'string',
    minLength: 1,
    maxLength: 20_000,
    description:
      'A question of yours instead. It must name both `{{request}}`, the last message of the user, and `{{answer}}`, the final response; each becomes a block of its own. `{{input}}` and `{{final_response}}`, and the original’s `{request}` and `{answer}`, say the same.',
  }),
};

type Options = OptionsOf<typeof options>;

export const answerRelevance = questionJudge({
  id: 'answer_relevance',
  summary: 'A judge finds the final response relevant to what the user asked.',
  needs: ['input', 'final_response'],
  defaultThreshold: 0.5,
  options,
  source: 'Sentinel AI answerRelevance, where a judge that fails gives no score',
  optionFaults,
  question({ trace }, { scale, template }) {
    const own = template === undefined ? undefined : questionOf(template);
    const about = {
      input:
        own === undefined
          ? [
              ...judgeInputHistory(trace),
              judgeInput('last message of the user', inputText(trace)),
              judgeInput('final response', finalText(trace)),
            ]
          : own.names.map((name) => judgeInput(name, name === 'request' || name === 'input' ? inputText(trace) : finalText(trace))),
      what: 'The final response',
    };
    const asked = (ours: string, end: string): string => (own === undefined ? ours : `${own.instruction}\n\n${end}`);
    if (scale === 'score') return { ...about, instruction: asked(scoreInstruction, scoreEnd) };
    return { ...about, instruction: asked(labelInstruction, labelEnd), labels: { relevant: 1, irrelevant: 0 } };
  },
});

const rules =
  'A response is relevant when it addresses what the user asked for or wants, without leaving the matter. One that asks back for what it needs, or declines and says why, is relevant. Do not judge whether what it says is true or complete.';
const labelInstruction = `An AI agent has answered the last message of the user. Decide whether its final response is relevant. ${rules} A response that is mostly about something else, or evades the matter, is irrelevant. First explain in one sentence, then give the label relevant or irrelevant.`;
const scoreInstruction = `An AI agent has answered the last message of the user. Rate how relevant its final response is. ${rules} First explain in one sentence, then give a score: 1 when all of it is about the matter and no part of what was asked is passed over, 0 when nothing of it is, and numbers between for responses that are relevant in part.`;

const labelEnd = 'First explain in one sentence, then give the label relevant or irrelevant.';
const scoreEnd = 'First explain in one sentence, then give a score from 0, not relevant at all, to 1, relevant in full.';

/** Under the names of the original, and under those of `custom_judge`. */
const placeholders = [
  ['request', 'input'],
  ['answer', 'final_response'],
] as const;

/** The original writes a name in one pair of braces. */
function questionOf(template: string): ReturnType<typeof readTemplate> {
  return readTemplate(template.replaceAll(/(?<!\{)\{(request|answer)\}(?!\})/g, '{{$1}}'), placeholders.flat());
}

function optionFaults({ template }: Options): readonly Fault[] {
  if (template === undefined) return [];
  const { names, faults } = questionOf(template);
  const broken = faults.map(({ line, column, problem }): Fault => ({
    path: ['template'],
    problem: `${problem} (line ${line}, character ${column} of the template)`,
  }));
  const absent = placeholders.filter((either) => !either.some((name) => names.includes(name))).map(([name]) => name);
  return [
    ...broken,
    ...(absent.length === 0
      ? []
      : [
          {
            path: ['template'],
            problem: `lacks ${absent.map((name) => `{{${name}}}`).join(' and ')}; without both the judge sees no answer to a request`,
          },
        ]),
  ];
}
