/** A regular expression is found in the output, or is not. */
import { skipped } from './evidence/calls.ts';
import { searchedTextMax } from './configuration/context.ts';
import { searchedText } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, targetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, required } from './configuration/option-table.ts';

export const regexMatch = rule({
  id: 'regex_match',
  version: 2,
  summary: 'The output matches a regular expression.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    pattern: required(
      {
        type: 'string',
        format: 're2',
        minLength: 1,
        maxLength: 1000,
        description:
          'A regular expression in RE2 syntax, searched anywhere; `^` and `$` tie it to the ends, `(?i)` leaves case out. Required.',
      },
      '',
    ),
    negated: flag('The expression must not be found.'),
    ...targetOptions,
  },
  source: 'the deck of code checks, with a linear-time engine',
  evaluate({ trace }, { pattern, negated, ...target }, context) {
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
  },
});
