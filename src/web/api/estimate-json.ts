/** An estimate with its interval as a resource of the API, or why there is none. */
import * as api from '../../model/resource.ts';
import type { Estimate, NotEstimable } from '../../statistics/estimate.ts';

export type Figure = Estimate | NotEstimable;

export const figure =
  (key: 'point' | 'low' | 'high' | 'confidence' | 'n' | 'effectiveN') =>
  (one: Figure): number | undefined =>
    one.kind === 'estimated' ? one[key] : undefined;

export const reasonOrNull = api.optional(
  api.inline<NotEstimable>()({ reason: api.text, explanation: api.text }),
  'Why there is no figure.',
);
export const reasonOf = (one: Figure): NotEstimable | undefined => (one.kind === 'not_estimable' ? one : undefined);

export const estimate = api.resource<Figure>()('Estimate', {
  point: [api.numberOrNull('The best estimate; null: there is none.'), figure('point')],
  low: [api.numberOrNull('End of the interval.'), figure('low')],
  high: [api.numberOrNull('End of the interval.'), figure('high')],
  confidence: [api.numberOrNull('Share of such intervals that hold the true value.'), figure('confidence')],
  n: [api.orNull({ type: 'integer' }, 'Number of observations.'), figure('n')],
  effective_n: [api.numberOrNull('Effective sample size: independent, evenly drawn runs with the same information.'), figure('effectiveN')],
  not_estimable: [reasonOrNull, reasonOf],
});
