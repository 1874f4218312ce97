/**
 * The difference of two shares that were estimated from different observations. The limits follow from the intervals of the two: Zou and Donner,
 * “Construction of confidence intervals about effect measures: a general approach”, Statistics in Medicine 27 (2008); for two plain shares it is
 * Newcombe's method 10 (Statistics in Medicine 17, 1998).
 */
import { type Estimate, notEstimable } from './estimate.ts';

/** `now` less `before`, within −1..1. Not estimable unless both are. */
export function independentDifference(now: Estimate, before: Estimate): Estimate {
  if (now.kind === 'not_estimable') return now;
  if (before.kind === 'not_estimable') return before;
  if (now.confidence !== before.confidence) return notEstimable('no_observations');
  const point = now.point - before.point;
  return {
    kind: 'estimated',
    point,
    low: Math.max(-1, point - Math.hypot(now.point - now.low, before.high - before.point)),
    high: Math.min(1, point + Math.hypot(now.high - now.point, before.point - before.low)),
    standardError: Math.hypot(now.standardError, before.standardError),
    n: now.n + before.n,
    effectiveN: now.effectiveN + before.effectiveN,
    confidence: now.confidence,
  };
}
