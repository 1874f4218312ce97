/** The output contains a text, or all, any or none of several; whole or line by line. */
import type { JsonValue } from '../src/model/json.ts';
import { noExpectation, type Skipped } from './evidence/calls.ts';
import { linesFinding, linesOf, searchedText, searchOutcome, lineOptions } from './matching/texts.ts';
import { picked, outputKey } from './matching/output-key.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, choice, type OptionsOf } from './configuration/option-table.ts';
import { expecting } from './expectation/expecting.ts';

const options = {
  target_output_key: outputKey,
  match: choice(['all', 'any', 'none'], 'Of several texts. all: the share that is found. any: one is enough. none: no one may be found.'),
  case_sensitive: flag('Upper and lower case count.'),
  negated: flag('Turns the result round: 1 becomes 0. An output that has nothing at the path gets 0 all the same.'),
  ...lineOptions,
  ...targetOptions,
};

type Options = OptionsOf<typeof options>;

export const contains = rule({
  id: 'contains',
  version: 3,
  summary: 'The output contains the expected texts.',
  needs: ['final_response', 'search_text'],
  defaultThreshold: null,
  options,
  expectationSchema: expecting(
    {
      search_text: {
        type: ['string', 'array'],
        minItems: 1,
        maxItems: 100,
        items: { type: 'string' },
        description: 'The text to search for, or a list of texts.',
      },
    },
    'search_text',
  ),
  switchedOnBy: { search_text: {} },
  source: 'UiPath ContainsEvaluator, searching in JSON notation',
  evaluate({ trace, expected }, options) {
    if (expected.searchText === undefined) return noExpectation('texts');
    const texts = typeof expected.searchText === 'string' ? [expected.searchText] : expected.searchText;
    return checked(trace, options, (value) => finding(texts, value, options));
  },
});

function finding(texts: readonly string[], output: JsonValue, options: Options): Finding | Skipped {
  const { value, missing } = picked(output, options.targetOutputKey);
  if (missing.length > 0 || value === undefined)
    return { score: rational(0), says: `has nothing at ${listed(missing.map(quoted))}`, details: { missing_paths: missing } };
  const text = searchedText(value);
  const lines = options.lineByLine ? linesOf(text, options.lineDelimiter) : [];
  const negate = options.negated;
  if (lines.length > 0) {
    const hits = lines.map((line) => searchOutcome(line, texts, options).passed !== negate);
    return linesFinding({ actual: lines.length, expected: texts.length, hits }, { hit: 'is as wanted', miss: 'is not as wanted' });
  }
  const { score, says, details } = searchOutcome(text, texts, options);
  return {
    score: negate ? rational(Number(score.denominator - score.numerator), Number(score.denominator)) : score,
    says: `${says}${negate ? ' (the result is turned round)' : ''}`,
    details,
  };
}
