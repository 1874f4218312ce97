/** Validates the return value of an evaluator. Built-in evaluators satisfy the type; one from a file may not. */
import { isJsonArray, isJsonObject, jsonDepthMax } from '../../src/model/json.ts';
import type { Outcome, SkipReason } from '../../src/model/verdict.ts';

/** Reasons become metric labels, so the set is closed: free texts could come from runs. */
const skipReasons: { readonly [reason in SkipReason]: true } = {
  no_tool_calls: true,
  no_tool_definitions: true,
  no_expectation: true,
  no_input: true,
  no_final_response: true,
  no_tasks: true,
  no_plan: true,
  tool_calls_not_carried: true,
  arguments_not_carried: true,
  results_not_carried: true,
  truncated: true,
  no_errors: true,
  no_such_target: true,
  no_price: true,
  no_tokens: true,
  no_times: true,
  filtered: true,
  part_of_another_run: true,
  schema_not_applied: true,
  too_large: true,
  learning: true,
  no_model: true,
  incomplete: true,
  paused: true,
  refused: true,
};

/** The outcome itself, or a failed outcome that names its fault. */
export function validateOutcome(returned: unknown): Outcome {
  if (returned instanceof Promise) {
    // Handles the rejection, which would otherwise end the process.
    returned.catch(() => undefined);
    return invalid('a promise; it must return its outcome at once');
  }
  const outcome = returned as Outcome;
  if (!isJsonObject(returned)) return invalid('no object');
  switch (outcome.kind) {
    case 'scored':
      return scoredFault(outcome) ?? outcome;
    case 'skipped':
      return (
        textFault({ reason: outcome.reason, explanation: outcome.explanation }) ??
        (Object.hasOwn(skipReasons, outcome.reason)
          ? detailsFault(outcome.details ?? {})
          : invalid(`an outcome whose reason is none of ${Object.keys(skipReasons).join(', ')}`)) ??
        outcome
      );
    case 'failed':
      return textFault({ error: outcome.error, explanation: outcome.explanation }) ?? detailsFault(outcome.details ?? {}) ?? outcome;
    default:
      return invalid('an object whose kind is neither scored, skipped nor failed');
  }
}

function scoredFault({
  score,
  label,
  explanation,
  evidence,
  parts = [],
  details,
}: Extract<Outcome, { readonly kind: 'scored' }>): Outcome | undefined {
  if (!(typeof score === 'number' && score >= 0 && score <= 1))
    return {
      kind: 'failed',
      error: 'score_out_of_range',
      explanation: `The evaluator gave the score ${typeof score === 'number' ? score : `of type ${typeof score}`}, which is not a number between 0 and 1.`,
    };
  if (!Array.isArray(evidence) || !evidence.every((id) => typeof id === 'string'))
    return invalid('a score whose evidence is not a list of span ids');
  if (!Array.isArray(parts) || !parts.every(isPart)) return invalid('a score whose parts are not a list of verdicts on tool calls');
  return textFault(label === undefined ? { explanation } : { explanation, label }) ?? detailsFault(details);
}

function isPart(part: unknown): boolean {
  if (!isJsonObject(part)) return false;
  const { index, tool, callId, spanId, score, passed, explanation } = part;
  const texts =
    typeof tool === 'string' && typeof explanation === 'string' && typeof (callId ?? '') === 'string' && typeof (spanId ?? '') === 'string';
  return texts && typeof index === 'number' && typeof score === 'number' && score >= 0 && score <= 1 && typeof passed === 'boolean';
}

/** Details must be JSON: cycles and functions cannot be written. */
function detailsFault(details: unknown): Outcome | undefined {
  return isJsonObject(details) && isJson(details, 0) ? undefined : invalid('an outcome whose details are not an object of JSON values');
}

function isJson(value: unknown, depth: number): boolean {
  // Most details are strings and numbers.
  if (typeof value !== 'object')
    return typeof value === 'string' || Number.isFinite(value) || typeof value === 'boolean' || typeof value === 'bigint';
  if (value === null) return true;
  if (depth > jsonDepthMax) return false;
  if (isJsonArray(value)) return value.every((item) => isJson(item, depth + 1));
  return isJsonObject(value) && Object.values(value).every((item) => item === undefined || isJson(item, depth + 1));
}

function textFault(texts: { readonly [name: string]: unknown }): Outcome | undefined {
  for (const name of Object.keys(texts)) if (typeof texts[name] !== 'string') return invalid(`an outcome whose ${name} is not a text`);
  return undefined;
}

function invalid(what: string): Outcome {
  return {
    kind: 'failed',
    error: 'outcome_invalid',
    explanation: `The evaluator returned ${what}; this is a fault of the evaluator, not of the agent.`,
  };
}
