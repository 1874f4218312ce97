/** Similarity of the output to the expected value: the share of expected leaves that it has, with partial credit for similar ones. */
import { isJsonArray, isJsonObject, type JsonValue } from '../src/model/json.ts';
import { noExpectation, skipped, type Skipped } from './evidence/calls.ts';
import { matchedLeaves, type SimilarityOptions, editTextMax } from './matching/similarity.ts';
import { outputKeyFaults, picked, pickedExpectation, outputKey } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { listed, quoted } from './explain/explanation.ts';
import { rule, choice, flag, type OptionsOf, expecting } from './configuration/define.ts';

const options = {
  target_output_key: outputKey,
  count_extra: flag('Leaves that only the output has count as unmatched ones.'),
  list_match: choice(['position', 'best'], 'position: lists are compared place by place. best: by the best pairs.'),
  text: choice(['edit', 'exact'], 'edit: texts count by the edits between them. exact: they are equal or not.'),
  ...targetOptions,
};

type Options = OptionsOf<typeof options>;

export const jsonSimilarity = rule({
  id: 'json_similarity',
  version: 3,
  summary: 'The output is like the expected one, leaf by leaf.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options,
  expectationSchema: expecting({ output: { description: 'The output that is wanted.' } }, 'output'),
  source: 'UiPath JsonSimilarityEvaluator, reading texts that hold JSON',
  expectationFaults: outputKeyFaults,
  evaluate({ trace, expected }, options) {
    if (expected.output === undefined) return noExpectation('outputs');
    const wanted = pickedExpectation(expected.output, options.targetOutputKey);
    if (wanted === undefined)
      return skipped('no_expectation', `The expected output has nothing at ${quoted(String(options.targetOutputKey))}.`);
    return checked(trace, options, (value) => finding(wanted, value, options));
  },
});

/** Limits of compared pairs of leaves, and of characters, per value. */
const leafPairsMax = 250_000;
const editCellsMax = 10_000_000;

function finding(wanted: JsonValue, output: JsonValue, options: Options): Finding | Skipped {
  const { value, missing } = picked(output, options.targetOutputKey);
  if (isTooMuch(wanted, value, options))
    return skipped('too_large', 'The output and the expected one are too large to be compared leaf by leaf.');
  const { matched, total } = matchedLeaves(wanted, value, options);
  const lost = missing.length === 0 ? '' : ` (nothing at ${listed(missing.map(quoted))})`;
  return {
    score: total === 0 ? rational(missing.length === 0 ? 1 : 0) : rational(Math.min(matched, total), total),
    says: total === 0 ? `has no leaf to compare${lost}` : `matches ${round(matched)} of ${total} expected leaves${lost}`,
    details: { matched_leaves: matched, total_leaves: total, ...(missing.length === 0 ? {} : { missing_paths: missing }) },
  };
}

function isTooMuch(expected: JsonValue, actual: JsonValue | undefined, { listMatch, text }: SimilarityOptions): boolean {
  const [e, a] = [sizeOf(expected), sizeOf(actual ?? null)];
  if (listMatch === 'best' && e.leaves * a.leaves > leafPairsMax) return true;
  if (text === 'exact') return false;
  const cells = listMatch === 'best' ? e.chars * a.chars : e.chars * Math.min(a.chars, editTextMax);
  return cells > editCellsMax;
}

interface Size {
  readonly leaves: number;
  /** Length of texts that are short enough for edits to be counted. */
  readonly chars: number;
}

function sizeOf(value: JsonValue): Size {
  const items = isJsonArray(value) ? value : isJsonObject(value) ? Object.values(value) : undefined;
  if (items === undefined) return { leaves: 1, chars: typeof value === 'string' && value.length <= 2 * editTextMax ? value.length : 0 };
  return items
    .map(sizeOf)
    .reduce((all, one) => ({ leaves: all.leaves + one.leaves, chars: all.chars + one.chars }), { leaves: 0, chars: 0 });
}

function round(number: number): number {
  return Math.round(number * 100) / 100;
}
