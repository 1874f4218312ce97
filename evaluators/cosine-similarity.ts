/** The output is a vector that points where the expected one does. Both are given as numbers: nothing is embedded here. */
import { noExpectation, skipped } from './evidence/calls.ts';
import { cosine, vectorOf } from './matching/vectors.ts';
import { outputKeyFaults, picked, pickedExpectation, singleOutputKey } from './matching/output-key.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { flag } from './configuration/option-table.ts';
import { expecting } from './expectation/expecting.ts';

export const cosineSimilarity = rule({
  id: 'cosine_similarity',
  version: 2,
  summary: 'The output is a vector near the expected one.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options: {
    target_output_key: singleOutputKey,
    distance: flag('The score is the distance, 1 − similarity, instead: for outputs that must differ.'),
    ...targetOptions,
  },
  expectationSchema: expecting(
    { output: { description: 'The vector that is wanted: a list of numbers, or an object or text that holds one at the key.' } },
    'output',
  ),
  source: 'the deck of code checks',
  expectationFaults: outputKeyFaults,
  evaluate({ trace, expected }, options) {
    if (expected.output === undefined) return noExpectation('outputs');
    const wanted = vectorOf(pickedExpectation(expected.output, options.targetOutputKey));
    if (wanted === undefined) return skipped('no_expectation', `The expected output has no vector at ${quoted(options.targetOutputKey)}.`);
    return checked(trace, options, (value) => finding(wanted, vectorOf(picked(value, options.targetOutputKey).value), options.distance));
  },
});

function finding(wanted: readonly number[], vector: readonly number[] | undefined, isDistance: boolean): Finding {
  if (vector === undefined) return { score: rational(0), says: 'is no list of numbers', details: {} };
  if (vector.length !== wanted.length)
    return {
      score: rational(0),
      says: `has ${vector.length} dimensions instead of ${wanted.length}`,
      details: { dimensions: vector.length },
    };
  const similarity = cosine(wanted, vector);
  const score = Math.min(1, Math.max(0, isDistance ? 1 - similarity : similarity));
  return {
    score: rational(score),
    says: `has the cosine similarity ${Math.round(similarity * 1_000) / 1_000} to the expected vector`,
    details: { similarity, distance: 1 - similarity },
  };
}
