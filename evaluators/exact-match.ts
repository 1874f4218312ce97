/** The output equals the expected one, as a value or as a text, whole or line by line. */
import { type JsonValue, plainText } from '../src/model/json.ts';
import { noExpectation, skipped, type Skipped } from './evidence/calls.ts';
import { linesFinding, linesOf, lowered, searchedText, writtenEqual, lineOptions } from './matching/texts.ts';
import { outputKeyFaults, picked, pickedExpectation, outputKey } from './matching/output-key.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag, type OptionsOf } from './configuration/option-table.ts';
import { expecting } from './expectation/expecting.ts';

const options = {
  target_output_key: outputKey,
  case_sensitive: flag('Upper and lower case of texts count. Without it, case still counts for texts inside objects and lists.'),
  ignore_case_inside: flag('Where case does not count, it does not count inside objects and lists either.'),
  negated: flag('The output must differ instead. One that has nothing at the path gets 0 all the same.'),
  ...lineOptions,
  ...targetOptions,
};

type Options = OptionsOf<typeof options>;

export const exactMatch = rule({
  id: 'exact_match',
  version: 3,
  summary: 'The output equals the expected one.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options,
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

function finding(wanted: JsonValue, output: JsonValue, options: Options): Finding | Skipped {
  const { value, missing } = picked(output, options.targetOutputKey);
  if (missing.length > 0 || value === undefined)
    return { score: rational(0), says: `has nothing at ${listed(missing.map(quoted))}`, details: { missing_paths: missing } };
  if (options.lineByLine) return byLines(wanted, value, options);
  const equal = writtenEqual(wanted, value, { text: options.caseSensitive, inside: options.caseSensitive || !options.ignoreCaseInside });
  const shown = quoted(plainText(value));
  return {
    score: rational(equal === options.negated ? 0 : 1),
    says: equal
      ? `equals ${quoted(plainText(wanted))}${options.negated ? ', which it must not' : ''}`
      : `${options.negated ? 'differs' : `is ${shown} and differs`} from ${quoted(plainText(wanted))}`,
    details: {},
  };
}

function byLines(wanted: JsonValue, value: JsonValue, { lineDelimiter, caseSensitive, negated }: Options): Finding | Skipped {
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
