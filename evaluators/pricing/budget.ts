/** A score for what was spent against what may be spent. */
import { isLess, numberOf, quotient, rational } from '../matching/rational.ts';
import type { Rational } from '../matching/rational.ts';

/** 1 up to the budget, budget / spent beyond it. Both are 0 or more, the budget is greater than 0. */
export function budgetShare(budget: number, spent: number | Rational): number {
  const [most, actual] = [rational(budget), typeof spent === 'number' ? rational(spent) : spent];
  return isLess(most, actual) ? numberOf(quotient(most, actual)) : 1;
}
