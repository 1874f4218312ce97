/** How a question begins at a model and how its answer is read, whether it goes alone or in a batch, and the most that its answer may take. */
import { readAnswer, type ReadAnswer } from '../../../evaluators/judging/answers.ts';
import type { Question } from '../../../evaluators/evaluator.ts';
import type { Tokens } from '../../model/budget.ts';
import { jsonText } from '../../model/json.ts';
import { answerFunction, type Message } from './completion.ts';
import { promptBounds, promptOf } from './prompt.ts';
import type { AnswerFormat, JudgeSettings } from '../settings.ts';
import { tokensMost } from '../budget/budget-reservation.ts';

export interface Opening {
  readonly messages: readonly Message[];
  /** Something of the run was left out. */
  readonly truncated: boolean;
}

export function openingOf(question: Question, nonce: string): Opening {
  const { system, user, truncated } = promptOf(question, { nonce, ...promptBounds });
  return {
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: user },
    ],
    truncated,
  };
}

/** The judge's own verdict: nothing that it quotes, and nothing that its schema does not name. */
export function ownAnswer({ answerSchema, check, data }: Question, text: string): ReadAnswer {
  return readAnswer(text, answerSchema, check, { membersOfSchema: true, material: data.map((block) => block.text) });
}

export function schemaNameOf({ id }: Question): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64);
}

/**
 * What endpoints write around the definition of a tool; of the figures that vendors publish the largest is 530 tokens, for Claude 3 Opus
 * (platform.claude.com/docs/en/agents-and-tools/tool-use/overview, pricing).
 */
const toolTokens = 600;

/** The schema may be among the tokens of the prompt a second time. */
export function mostOf(
  settings: Pick<JudgeSettings, 'answerTokensMax' | 'extraBody'>,
  question: Question,
  messages: readonly Message[],
  format: AnswerFormat,
): Tokens {
  const isCall = format === 'tool_call';
  return {
    input:
      tokensMost([
        ...messages.map(({ content }) => content),
        jsonText(question.answerSchema),
        ...(isCall ? [answerFunction.name, answerFunction.description] : [schemaNameOf(question)]),
        ...(settings.extraBody === undefined ? [] : [jsonText(settings.extraBody)]),
      ]) + (isCall ? toolTokens : 0),
    output: settings.answerTokensMax ?? 0,
  };
}
