/** A judge that plays scripted answers, for tests and demonstrations without a model. */
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { Judge } from './judge.ts';

/** Answers by question id; a function computes the answer. */
export interface Script {
  readonly [questionId: string]: readonly Answer[] | ((question: Question) => Answer);
}

export interface ScriptedJudge extends Judge {
  /** The questions so far, in order. */
  readonly asked: readonly Question[];
  /** The texts to embed so far, in order. */
  readonly embedded: readonly string[];
}

/** Plays the answers of a list in order; a question beyond the script fails. `vectorOf` embeds a text; without it `embed` fails. */
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
