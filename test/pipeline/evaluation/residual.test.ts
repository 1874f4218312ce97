import fc from 'fast-check';
import { expect, test } from 'vitest';
import { residualOf } from '../../../src/pipeline/evaluation/residual.ts';
import type { RunExpression } from '../../../src/pipeline/evaluation/run-expression.ts';
import { truthOf, type RunFacts, type VerdictFacts } from '../../../src/pipeline/evaluation/run-facts.ts';

const leaf: fc.Arbitrary<RunExpression> = fc.oneof(
  fc.record({
    kind: fc.constant('number' as const),
    place: fc.record({ part: fc.constant('score' as const), evaluator: fc.constantFrom('a', 'b') }),
    sign: fc.constantFrom('<' as const, '>=' as const, '=' as const),
    value: fc.constantFrom(0, 0.5, 1),
  }),
  fc.record({
    kind: fc.constant('text' as const),
    place: fc.constant({ part: 'field' as const, field: 'agent' as const }),
    sign: fc.constantFrom('=' as const, '!=' as const),
    text: fc.constantFrom('x', 'y'),
  }),
);
const expressions = fc.letrec<{ readonly one: RunExpression }>((tie) => ({
  one: fc.oneof(
    { maxDepth: 4 },
    leaf,
    fc.record({ kind: fc.constantFrom('and' as const, 'or' as const), terms: fc.array(tie('one'), { minLength: 1, maxLength: 3 }) }),
    fc.record({ kind: fc.constant('not' as const), term: tie('one') }),
  ),
})).one;

const verdict = (score: number): VerdictFacts => ({ verdict: 'raw', score, label: '', details: {} });
const facts = (agent: string | undefined, scores: { readonly [name: string]: number }): RunFacts => ({
  field: () => [agent],
  attribute: () => undefined,
  verdicts: new Map(Object.entries(scores).map(([name, score]) => [name, verdict(score)])),
});

test('residual: what is known first and what is known later decide together as at once', () => {
  const score = fc.constantFrom(0, 0.5, 1);
  fc.assert(
    fc.property(
      expressions,
      fc.option(fc.constantFrom('x', 'y'), { nil: undefined }),
      fc.option(score),
      score,
      (expression, agent, early, late) => {
        const known = early === null ? {} : { a: early };
        const left = residualOf(expression, facts(agent, known));
        expect(truthOf(left, facts(undefined, { ...known, b: late }))).toBe(truthOf(expression, facts(agent, { ...known, b: late })));
      },
    ),
    { numRuns: 500 },
  );
});
