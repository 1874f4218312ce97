/** Drives an evaluator that needs effects: sends its requests, returns the answers to it, and turns every outcome into a verdict. */
import type { Answer, Asking, EmbeddingRequest, EvaluatorRequest, HttpCall, Question } from '../../../evaluators/evaluator.ts';
import type { JudgeCall, NoteCall } from '../../model/judge-call.ts';
import { unreachable } from '../../model/ids.ts';
import { type Outcome, type Verdict, verdictOf } from '../../model/verdict.ts';

/** `note` receives what the request took. */
export type Ask = (request: EvaluatorRequest, note?: NoteCall) => Promise<Answer>;

/** A judge, as far as there is one. */
interface Respondent {
  ask?(question: Question, note?: NoteCall): Promise<Answer>;
  embed?(request: EmbeddingRequest, note?: NoteCall): Promise<Answer>;
}

export type Call = (request: HttpCall) => Promise<Answer>;

/** How it ended for one evaluator: with a verdict, or because no judge was asked. */
export type AskEnd = (
  | { readonly kind: 'judged'; readonly verdict: Verdict }
  | { readonly kind: 'overload' | 'over_budget'; readonly reason: string }
) & { readonly calls?: readonly JudgeCall[] };

interface RunJudgeOptions {
  /** An evaluator that asks more than this has gone astray. */
  readonly questionsMax: number;
  /** `null` for a raw metric. */
  readonly threshold: number | null;
}

/** Sends each request to the one who answers its kind; without one, the answer is a failure. */
export function askOf(judge: Respondent, call?: Call): Ask {
  return async (request, note) => {
    switch (request.kind) {
      case undefined:
      case 'ask':
        return (await judge.ask?.(request, note)) ?? { kind: 'failed', error: 'no_judge: no judge answers questions here' };
      case 'embed':
        return (await judge.embed?.(request, note)) ?? { kind: 'failed', error: 'no_embeddings: no client embeds texts here' };
      case 'call':
        return (await call?.(request)) ?? { kind: 'failed', error: 'no_calls: no client calls endpoints here' };
      default:
        return unreachable(request);
    }
  };
}

/** Resolves, never rejects: a fault of the evaluator or the judge is a failed verdict, never a score. */
export async function runJudge(questions: Asking<Outcome>, ask: Ask, options: RunJudgeOptions): Promise<Verdict> {
  try {
    let step = questions.next();
    let model: string | undefined;
    for (let asked = 0; step.done !== true; asked++) {
      if (asked >= options.questionsMax) {
        questions.return(failed('too_many_questions', ''));
        return verdictOf(
          failed('too_many_questions', `The evaluator asked more than ${options.questionsMax} questions.`),
          options.threshold,
        );
      }
      const answer = await answerOf(ask, step.value);
      if (answer.kind === 'answered') model = answer.model ?? model;
      step = questions.next(answer);
    }
    return verdictOf(withModel(sound(step.value), model), options.threshold);
  } catch (error) {
    return verdictOf(failed('evaluator_fault', `The evaluator broke off: ${errorName(error)}.`), options.threshold);
  }
}

/** The evaluator learns of every fault as an answer, so that it can say what it knows without one. */
async function answerOf(ask: Ask, request: EvaluatorRequest): Promise<Answer> {
  try {
    return await ask(request);
  } catch (error) {
    return { kind: 'failed', error: `judge_fault: ${errorName(error)}` };
  }
}

/** Notes the model that was asked, so that verdicts of two models can be distinguished later. */
function withModel(outcome: Outcome, model: string | undefined): Outcome {
  return model === undefined || outcome.details?.['model'] !== undefined ? outcome : { ...outcome, details: { ...outcome.details, model } };
}

function sound(outcome: Outcome): Outcome {
  if (outcome.kind !== 'scored' || (outcome.score >= 0 && outcome.score <= 1)) return outcome;
  return failed('score_out_of_range', `The evaluator gave the score ${outcome.score}, which is not between 0 and 1.`);
}

function failed(error: string, explanation: string): Outcome {
  return { kind: 'failed', error, explanation };
}

/** The kind of error only: a message may quote the run. */
function errorName(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}

/** An evaluation between whose requests and those who answer them something stands: neither it nor they know. */
export interface ChangedRequest {
  readonly request: EvaluatorRequest;
  /** Transforms the answer for the evaluation; by default the answer is unchanged. */
  readonly heard?: (answer: Answer) => Answer;
}

export function* changedRequests(asking: Asking<Verdict>, change: (request: EvaluatorRequest) => ChangedRequest): Asking<Verdict> {
  try {
    let step = asking.next();
    while (step.done !== true) {
      const { request, heard = (answer) => answer } = change(step.value);
      step = asking.next(heard(yield request));
    }
    return step.value;
  } finally {
    // The caller may end this generator early; one that is done does not mind.
    asking.return({ kind: 'failed', error: 'not_asked', explanation: '', details: {} });
  }
}
