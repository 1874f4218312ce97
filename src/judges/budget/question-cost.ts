/** Estimated tokens and cost of questions that are not asked yet. */
import type { EvaluatorRequest, Question } from '../../../evaluators/evaluator.ts';
import { promptBounds, promptOf } from '../client/prompt.ts';
import { costOf, type TokenPrice, usdOf } from './budgets.ts';

/** A usual figure of English text. */
export const charsPerToken = 4;
/** A short explanation and a label. */
export const outputTokensUsual = 200;

/** Has the length of a judge's nonce. */
const nonce = 'x'.repeat(24);

/** Characters of a request; `undefined` for one that costs no tokens. */
export function charsOf(request: EvaluatorRequest): number | undefined {
  if (request.kind === 'call') return undefined;
  if (request.kind === 'embed') return request.texts.join('').length;
  const { system, user } = promptOf(request, { nonce, ...promptBounds });
  return system.length + user.length;
}

export interface QuestionsForecast {
  readonly questions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** `undefined` without a price. */
  readonly usd: number | undefined;
}

export function questionsForecast(questions: Iterable<Question>, price: TokenPrice | undefined): QuestionsForecast {
  let [count, chars] = [0, 0];
  for (const question of questions) {
    count++;
    chars += charsOf(question) ?? 0;
  }
  const [input, output] = [Math.ceil(chars / charsPerToken), count * outputTokensUsual];
  return {
    questions: count,
    inputTokens: input,
    outputTokens: output,
    usd: price === undefined ? undefined : usdOf(costOf({ input, output }, price)),
  };
}
