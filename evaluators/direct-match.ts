/** The output is the expected text, or one of several, up to what the options leave out. */
import { isJsonArray, plainText, type JsonValue } from '../src/model/json.ts';
import { noExpectation } from './evidence/calls.ts';
import { lowered, searchedText } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, targetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, type OptionsOf } from './configuration/option-table.ts';
import { expecting } from './expectation/expecting.ts';

const options = {
  ignore_case: flag('Upper and lower case do not count.'),
  ignore_white_space: flag('White space around the text does not count, and any inside it is one blank.'),
  ignore_punctuation: flag('Punctuation does not count.'),
  ...targetOptions,
};

type Options = OptionsOf<typeof options>;

export const directMatch = rule({
  id: 'direct_match',
  version: 2,
  summary: 'The output is the expected text, or one of several.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: 1,
  options,
  expectationSchema: expecting(
    { output: { description: 'The text that is wanted, or a list of texts of which each is right.' } },
    'output',
  ),
  source: 'the deck of code checks',
  evaluate({ trace, expected }, options) {
    if (expected.output === undefined) return noExpectation('outputs');
    const wanted = isJsonArray(expected.output) ? expected.output : [expected.output];
    const texts = new Set(wanted.map((one) => plain(one, options)));
    return checked(trace, options, (value) => {
      const equal = texts.has(plain(value, options));
      const shown = listed(wanted.map((one) => quoted(plainText(one))));
      return {
        score: rational(equal ? 1 : 0),
        says: equal
          ? `is ${quoted(plainText(value))} as expected`
          : `is ${quoted(plainText(value))} instead of ${wanted.length > 1 ? 'one of ' : ''}${shown}`,
        details: {},
      };
    });
  },
});

function plain(value: JsonValue, { ignoreCase, ignoreWhiteSpace, ignorePunctuation }: Options): string {
  const text = lowered(searchedText(value), !ignoreCase);
  const bare = ignorePunctuation ? text.replaceAll(/\p{P}/gu, '') : text;
  return ignoreWhiteSpace ? bare.trim().replaceAll(/\s+/g, ' ') : bare;
}
