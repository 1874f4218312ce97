/** The contract of a judge: a model endpoint that answers one question in the question's schema, or gives the vectors of texts, or says why not. */
import type { Answer, EmbeddingRequest, Question } from '../../evaluators/evaluator.ts';
import type { BudgetReservation } from '../model/budget.ts';
import type { NoteCall } from '../model/judge-call.ts';

export interface Judge {
  readonly name: string;
  readonly model: string;
  /** Resolves, never rejects: every fault is an answer of kind `failed`. `note` records each request; `budget` is that of the evaluator that asks. */
  ask(question: Question, note?: NoteCall, budget?: BudgetReservation): Promise<Answer>;
  /** As `ask`; only an embedding model has an answer to it. */
  embed(request: EmbeddingRequest, note?: NoteCall, budget?: BudgetReservation): Promise<Answer>;
  stop(): Promise<void>;
}
