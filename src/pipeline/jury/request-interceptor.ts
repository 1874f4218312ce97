/** An evaluation between whose requests and those who answer them something stands: neither it nor they know. */
import type { Answer, Asking, EvaluatorRequest } from '../../../evaluators/evaluator.ts';
import type { Verdict } from '../../model/verdict.ts';

export interface ChangedRequest {
  readonly request: EvaluatorRequest;
  /** What the evaluation hears; absent: the answer as it came. */
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
    // Whoever drives this one may end it early; a generator that is done does not mind.
    asking.return({ kind: 'failed', error: 'not_asked', explanation: '', details: {} });
  }
}
