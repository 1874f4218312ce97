/** A regular expression is found in the output, or is not. */
import type { Outcome } from '../src/model/verdict.ts';
import { skipped } from './evidence/calls.ts';
import { searchedTextMax } from './configuration/context.ts';
import type { EvaluationContext, RuleEvaluator, Subject } from './evaluator.ts';
import { searchedText } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { TargetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';

export interface RegexMatchOptions extends TargetOptions {
  readonly pattern: string;
  readonly negated: boolean;
}

export const regexMatch = {
  kind: 'rule',
  id: 'regex_match',
  version: 2,
  summary: 'The output matches a regular expression.',
  needs: ['final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { pattern: '', negated: false, ...targetDefaults },
  optionsSchema: targetSchema(
    {
      pattern: {
        type: 'string',
        format: 're2',
        minLength: 1,
        maxLength: 1000,
        description:
          'A regular expression in RE2 syntax, searched anywhere; `^` and `$` tie it to the ends, `(?i)` leaves case out. Required.',
      },
      negated: { type: 'boolean', description: 'The expression must not be found.' },
    },
    ['pattern'],
  ),
  source: 'the deck of code checks, with a linear-time engine',
  evaluate,
} as const satisfies RuleEvaluator<RegexMatchOptions>;

function evaluate({ trace }: Subject, { pattern, negated, ...target }: RegexMatchOptions, context: EvaluationContext): Outcome {
  const compiled = context.pattern(pattern);
  return checked(trace, target, (value) => {
    const text = searchedText(value);
    if (text.length > searchedTextMax)
      return skipped('too_large', `The text is longer than the ${searchedTextMax} characters that are searched.`);
    const matches = compiled.test(text);
    return {
      score: rational(matches === negated ? 0 : 1),
      says: `${matches ? 'matches' : 'does not match'} ${quoted(pattern)}${matches && negated ? ', which it must not' : ''}`,
      details: { matches },
    };
  });
}
