/** What an evaluator returned, if it is an outcome at all. Our own satisfy the types; one from a file has promised it only. */
import { isJsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';

/** The outcome as it is, or a failed one that says what is wrong with it. Never a score that is none. */
export function soundOutcome(returned: unknown): Outcome {
  if (returned instanceof Promise) {
    // Nobody waits for it: without this its rejection would end the process.
    returned.catch(() => undefined);
    return unsound('a promise; it must return its outcome at once');
  }
  const outcome = returned as Outcome;
  if (!isJsonObject(returned)) return unsound('no object');
  switch (outcome.kind) {
    case 'scored':
      return scoredFault(outcome) ?? outcome;
    case 'skipped':
      return textFault({ reason: outcome.reason, explanation: outcome.explanation }) ?? outcome;
    case 'failed':
      return textFault({ error: outcome.error, explanation: outcome.explanation }) ?? outcome;
    default:
      return unsound('an object whose kind is neither scored, skipped nor failed');
  }
}

function scoredFault({ score, label, explanation, evidence, parts = [], details }: Extract<Outcome, { readonly kind: 'scored' }>): Outcome | undefined {
  if (!(typeof score === 'number' && score >= 0 && score <= 1)) return { kind: 'failed', error: 'score_out_of_range', explanation: `The evaluator gave the score ${typeof score === 'number' ? score : `of type ${typeof score}`}, which is not a number between 0 and 1.` };
  if (!Array.isArray(evidence) || !evidence.every((id) => typeof id === 'string')) return unsound('a score whose evidence is no list of span ids');
  if (!Array.isArray(parts)) return unsound('a score whose parts are no list');
  if (!isJsonObject(details)) return unsound('a score whose details are no object');
  return textFault({ explanation, ...(label === undefined ? {} : { label }) });
}

function textFault(texts: { readonly [name: string]: unknown }): Outcome | undefined {
  const fault = Object.entries(texts).find(([, text]) => typeof text !== 'string');
  return fault === undefined ? undefined : unsound(`an outcome whose ${fault[0]} is no text`);
}

function unsound(what: string): Outcome {
  return { kind: 'failed', error: 'outcome_invalid', explanation: `The evaluator returned ${what}; this is a fault of the evaluator, not of the agent.` };
}
