/** The output is the expected text, or one of several, up to what the options leave out. */
import { isJsonArray, plainText } from '../src/model/json.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { noExpectation } from './evidence/calls.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { lowered, searchedText } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, targetDefaults, targetSchema } from './evidence/target.ts';
import type { TargetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';

export interface DirectMatchOptions extends TargetOptions {
  readonly ignoreCase: boolean;
  readonly ignoreWhiteSpace: boolean;
  readonly ignorePunctuation: boolean;
}

export const directMatch = {
  kind: 'rule',
  id: 'direct_match',
  version: 2,
  summary: 'The output is the expected text, or one of several.',
  needs: ['final_response', 'expected_output'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { ignoreCase: false, ignoreWhiteSpace: false, ignorePunctuation: false, ...targetDefaults },
  optionsSchema: targetSchema({
    ignore_case: { type: 'boolean', description: 'Upper and lower case do not count.' },
    ignore_white_space: { type: 'boolean', description: 'White space around the text does not count, and any inside it is one blank.' },
    ignore_punctuation: { type: 'boolean', description: 'Punctuation does not count.' },
  }),
  expectationSchema: {
    type: 'object',
    required: ['output'],
    properties: { output: { description: 'The text that is wanted, or a list of texts of which each is right.' } },
  },
  source: 'the deck of code checks',
  evaluate,
} as const satisfies RuleEvaluator<DirectMatchOptions>;

function evaluate({ trace, expected }: Subject, options: DirectMatchOptions): Outcome {
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
}

function plain(value: JsonValue, { ignoreCase, ignoreWhiteSpace, ignorePunctuation }: DirectMatchOptions): string {
  const text = lowered(searchedText(value), !ignoreCase);
  const bare = ignorePunctuation ? text.replaceAll(/\p{P}/gu, '') : text;
  return ignoreWhiteSpace ? bare.trim().replaceAll(/\s+/g, ' ') : bare;
}
