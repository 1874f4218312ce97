/** The contract of a judge: a model endpoint that answers one question in the question's schema, or says why not. */
import type { Answer, Question } from '../../evaluators/evaluator.ts';

export interface Judge {
  readonly name: string;
  readonly model: string;
  /** Resolves, never rejects: every fault is an answer of kind `failed`. */
  ask(question: Question): Promise<Answer>;
  stop(): Promise<void>;
}
