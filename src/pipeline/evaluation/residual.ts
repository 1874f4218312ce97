/** The remainder of an expression about a run when some of it is known already. */
import type { RunExpression } from './run-expression.ts';
import { truthOf, type RunFacts } from './run-facts.ts';

const always: RunExpression = { kind: 'and', terms: [] };
const never: RunExpression = { kind: 'or', terms: [] };

/** Replaces what the facts decide. The result holds on facts that know the rest exactly when the expression holds on both together. */
export function residualOf(expression: RunExpression, facts: RunFacts): RunExpression {
  const truth = truthOf(expression, facts);
  if (truth !== undefined) return truth ? always : never;
  switch (expression.kind) {
    case 'and':
    case 'or':
      return { kind: expression.kind, terms: expression.terms.map((term) => residualOf(term, facts)) };
    case 'not':
      return { kind: 'not', term: residualOf(expression.term, facts) };
    default:
      return expression;
  }
}
