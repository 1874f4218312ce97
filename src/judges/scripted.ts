/** A judge that plays given answers, for tests and demonstrations without a model. */
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { Judge } from './judge.ts';

/** Answers by the question's id; a function gets the question. */
export interface Script {
  readonly [questionId: string]: readonly Answer[] | ((question: Question) => Answer);
}

export interface ScriptedJudge extends Judge {
  /** The questions so far, in order. */
  readonly asked: readonly Question[];
  /** The texts that were to be embedded so far, in order. */
  readonly embedded: readonly string[];
}

/** Answers of a list are played in order; a question beyond the script fails. `vectorOf` gives the vectors of texts; without it none has one. */
export function scriptedJudge(script: Script, name = 'scripted', vectorOf?: (text: string) => readonly number[]): ScriptedJudge {
  const asked: Question[] = [];
  const embedded: string[] = [];
  return {
    name,
    model: 'scripted',
    asked,
    embedded,
    async ask(question) {
      const before = asked.filter((one) => one.id === question.id).length;
      asked.push(question);
      const line = Object.hasOwn(script, question.id) ? script[question.id] : undefined;
      const answer = typeof line === 'function' ? line(question) : line?.[before];
      return answer ?? { kind: 'failed', error: 'not_scripted: the script has no further answer to this question' };
    },
    async embed({ texts }: EmbeddingRequest) {
      embedded.push(...texts);
      if (vectorOf === undefined) return { kind: 'failed', error: 'not_scripted: the script has no vectors' };
      return { kind: 'answered', value: texts.map(vectorOf), truncated: false, model: 'scripted' };
    },
    async stop() {},
  };
}
