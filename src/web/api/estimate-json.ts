/** An estimate with its interval as JSON of the API, or why there is none. */
import type { JsonObject } from '../../model/json.ts';
import type { Estimate, NotEstimable } from '../../statistics/estimate.ts';
import type { Shape } from './resource.ts';
import { text } from './route.ts';

export function estimateJson(value: Estimate | NotEstimable): JsonObject {
  if (value.kind === 'not_estimable')
    return {
      point: null,
      low: null,
      high: null,
      confidence: null,
      n: null,
      effective_n: null,
      not_estimable: { reason: value.reason, explanation: value.explanation },
    };
  const { point, low, high, confidence, n, effectiveN } = value;
  return { point, low, high, confidence, n, effective_n: effectiveN, not_estimable: null };
}

/** The schema of `not_estimable`. */
export const reasonOrNull: JsonObject = {
  anyOf: [{ type: 'object', required: ['reason', 'explanation'], properties: { reason: text, explanation: text } }, { type: 'null' }],
  description: 'Why there is no figure.',
};

export const estimate: Shape<Estimate | NotEstimable> = { schema: { $ref: '#/components/schemas/Estimate' }, write: estimateJson };
