/** The output equals a wanted value: the expected one, a configured one, or one of several texts. */
import { type JsonValue, plainText, isJsonArray } from '../src/model/json.ts';
import { noExpectation, skipped, type Skipped } from './evidence/calls.ts';
import {
  linesFinding,
  linesOf,
  lowered,
  searchedText,
  writtenEqual,
  lineOptions,
  outputKeyFaults,
  picked,
  pickedExpectation,
  outputKey,
  valueEqual,
} from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';
import { rule, flag, type OptionsOf, expecting, required } from './configuration/define.ts';

const exactMatchOptions = {
  target_output_key: outputKey,
  case_sensitive: flag('Upper and lower case of texts count. Without it, case still counts for texts inside objects and lists.'),
  ignore_case_inside: flag('Where case does not count, it does not count inside objects and lists either.'),
  negated: flag('The output must differ instead. One that has nothing at the path gets 0 all the same.'),
  ...lineOptions,
  ...targetOptions,
};

type ExactMatchOptions = OptionsOf<typeof exactMatchOptions>;

/** The output equals the expected one, as a value or as a text, whole or line by line. */
export const exactMatch = rule({
  id: 'exact_match',
  version: 3,
  summary: 'The output equals the expected one.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options: exactMatchOptions,
  expectationSchema: expecting({ output: { description: 'The output that is wanted.' } }, 'output'),
  switchedOnBy: { output: {} },
  source: 'UiPath ExactMatchEvaluator, comparing in JSON notation',
  expectationFaults: outputKeyFaults,
  evaluate({ trace, expected }, options) {
    if (expected.output === undefined) return noExpectation('outputs');
    const wanted = pickedExpectation(expected.output, options.targetOutputKey);
    if (wanted === undefined)
      return skipped('no_expectation', `The expected output has nothing at ${quoted(String(options.targetOutputKey))}.`);
    return checked(trace, options, (value) => finding(wanted, value, options));
  },
});

function finding(wanted: JsonValue, output: JsonValue, options: ExactMatchOptions): Finding | Skipped {
  const { value, missing } = picked(output, options.targetOutputKey);
  if (missing.length > 0 || value === undefined)
    return { score: rational(0), says: `has nothing at ${listed(missing.map(quoted))}`, details: { missing_paths: missing } };
  if (options.lineByLine) return byLines(wanted, value, options);
  const equal = writtenEqual(wanted, value, { text: options.caseSensitive, inside: options.caseSensitive || !options.ignoreCaseInside });
  return {
    score: rational(equal === options.negated ? 0 : 1),
    says: equal
      ? `equals ${quoted(plainText(wanted))}${options.negated ? ', which it must not' : ''}`
      : `${options.negated ? 'differs' : `is ${quoted(plainText(value))} and differs`} from ${quoted(plainText(wanted))}`,
    details: {},
  };
}

function byLines(wanted: JsonValue, value: JsonValue, { lineDelimiter, caseSensitive, negated }: ExactMatchOptions): Finding | Skipped {
  const [expected, actual] = [linesOf(searchedText(wanted), lineDelimiter), linesOf(searchedText(value), lineDelimiter)];
  const [longer] = expected.length > actual.length ? [expected] : [actual];
  if (longer.length === 0)
    return {
      score: rational(negated ? 0 : 1),
      says: 'has no line, and none is expected',
      details: { line_scores: [], total_lines_actual: 0, total_lines_expected: 0 },
    };
  const hits = longer.map((_, at) => (lowered(expected[at] ?? '', caseSensitive) === lowered(actual[at] ?? '', caseSensitive)) !== negated);
  return linesFinding(
    { actual: actual.length, expected: expected.length, hits },
    negated ? { hit: 'differs', miss: 'does not differ' } : { hit: 'is as expected', miss: 'differs from what is expected' },
  );
}

/** The output equals a value that the configuration names. */
export const outputEquals = rule({
  id: 'output_equals',
  version: 2,
  summary: 'The output equals the configured value.',
  needs: ['final_response'],
  defaultThreshold: 1,
  options: {
    value: required<JsonValue>(
      { description: 'The value that is wanted; a text output is read as JSON where this is an object or a list. Required.' },
      null,
    ),
    case_sensitive: flag('Upper and lower case of texts count.', true),
    ...targetOptions,
  },
  source: 'Sentinel AI outputEquals, with one number type',
  evaluate({ trace }, options) {
    return checked(trace, options, (value) => {
      const equal = valueEqual(options.value, value, { text: options.caseSensitive, inside: options.caseSensitive });
      const wanted = quoted(plainText(options.value));
      return {
        score: rational(equal ? 1 : 0),
        says: equal ? `equals ${wanted}` : `is ${quoted(plainText(value))} instead of ${wanted}`,
        details: {},
      };
    });
  },
});

const directMatchOptions = {
  ignore_case: flag('Upper and lower case do not count.'),
  ignore_white_space: flag('White space around the text does not count, and any inside it is one blank.'),
  ignore_punctuation: flag('Punctuation does not count.'),
  ...targetOptions,
};

type DirectMatchOptions = OptionsOf<typeof directMatchOptions>;

/** The output is the expected text, or one of several, up to what the options leave out. */
export const directMatch = rule({
  id: 'direct_match',
  version: 2,
  summary: 'The output is the expected text, or one of several.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: 1,
  options: directMatchOptions,
  expectationSchema: expecting({ output: { description: 'The wanted text, or a list of texts that are all right.' } }, 'output'),
  source: 'the deck of code checks',
  evaluate({ trace, expected }, options) {
    if (expected.output === undefined) return noExpectation('outputs');
    const wanted = isJsonArray(expected.output) ? expected.output : [expected.output];
    const texts = new Set(wanted.map((one) => plain(one, options)));
    return checked(trace, options, (value) => {
      const equal = texts.has(plain(value, options));
      const expected = listed(wanted.map((one) => quoted(plainText(one))));
      return {
        score: rational(equal ? 1 : 0),
        says: equal
          ? `is ${quoted(plainText(value))} as expected`
          : `is ${quoted(plainText(value))} instead of ${wanted.length > 1 ? 'one of ' : ''}${expected}`,
        details: {},
      };
    });
  },
});

function plain(value: JsonValue, { ignoreCase, ignoreWhiteSpace, ignorePunctuation }: DirectMatchOptions): string {
  const text = lowered(searchedText(value), !ignoreCase);
  const bare = ignorePunctuation ? text.replaceAll(/\p{P}/gu, '') : text;
  return ignoreWhiteSpace ? bare.trim().replaceAll(/\s+/g, ' ') : bare;
}
