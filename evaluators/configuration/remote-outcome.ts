/** The JSON answer of an endpoint → an outcome, or a failed one that says what is wrong with the answer. */
import { isJsonObject } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import type { EvaluationContext, JsonSchema } from '../evaluator.ts';
import { validateOutcome } from './validate-outcome.ts';
import { listed } from '../explain/explanation.ts';

/** Labels and errors become labels of metrics, so they are short; the score and the reason are checked with every outcome. */
const answerSchema: JsonSchema = {
  type: 'object',
  required: ['status'],
  properties: {
    status: { enum: ['scored', 'skipped', 'failed'] },
    score: { type: 'number' },
    label: { type: 'string', maxLength: 100 },
    explanation: { type: 'string', maxLength: 10_000 },
    evidence: { type: 'array', maxItems: 1_000, items: { type: 'string', pattern: '^[0-9a-f]{16}$' } },
    details: { type: 'object' },
    reason: { type: 'string' },
    error: { type: 'string', pattern: '^[a-z][a-z0-9_]{0,63}$' },
  },
};

export function remoteOutcome(answer: JsonValue, context: EvaluationContext): Outcome {
  const told = isJsonObject(answer) ? withoutNulls(answer) : answer;
  const problems = context.schema(answerSchema)?.problems(told);
  if (problems === undefined) return broken('it cannot be checked');
  if (problems.length > 0 || !isJsonObject(told))
    return broken(
      listed(
        problems.map(({ path, message }) => [path.join('.'), message].filter((text) => text !== '').join(' ')),
        '; ',
      ),
    );
  const { status, score, label, explanation, evidence = [], details = {}, reason, error } = told;
  switch (status) {
    case 'scored':
      return validateOutcome({ kind: status, score, explanation, evidence, details, ...(label === undefined ? {} : { label }) });
    case 'skipped':
      return validateOutcome({ kind: status, reason, explanation, details });
    default:
      return validateOutcome({ kind: 'failed', error, explanation, details });
  }
}

/** Many languages write what is absent as null. */
function withoutNulls(answer: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
}

function broken(fault: string): Outcome {
  return {
    kind: 'failed',
    error: 'outcome_invalid',
    explanation: `The endpoint’s answer is no outcome: ${fault}. This is a fault of the evaluator, not of the agent.`,
  };
}
