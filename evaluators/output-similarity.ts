/** The output means what the expected one does: the cosine of the vectors that an embedding model gives them. */
import { noExpectation, skipped } from './evidence/calls.ts';
import { embeddedSimilarity, isBlank, embeddedSimilarityOptions } from './judging/embedded-similarity.ts';
import { searchedText } from './matching/texts.ts';
import { outputKeyFaults, picked, pickedExpectation, singleOutputKey } from './matching/output-key.ts';
import { targetOptions } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';
import { judge } from './configuration/define.ts';
import { expecting } from './expectation/expecting.ts';

export const outputSimilarity = judge({
  id: 'output_similarity',
  summary: 'The output is near the expected one in an embedding model.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options: {
    target_output_key: singleOutputKey,
    ...embeddedSimilarityOptions,
    ...targetOptions,
  },
  expectationSchema: expecting(
    { output: { description: 'The output that is wanted. What is no text is compared in JSON notation.' } },
    'output',
  ),
  source: 'Sentinel AI outputSimilarity, a raw metric without a threshold',
  expectationFaults: outputKeyFaults,
  *evaluate({ trace, expected }, options, context) {
    if (expected.output === undefined) return noExpectation('outputs');
    const wanted = pickedExpectation(expected.output, options.targetOutputKey);
    if (wanted === undefined) return skipped('no_expectation', `The expected output has nothing at ${quoted(options.targetOutputKey)}.`);
    const text = searchedText(wanted);
    if (isBlank(text)) return skipped('no_expectation', 'The expected output is empty, and nothing is near to an empty text.');
    return yield* embeddedSimilarity(trace, { text, name: 'the expected output' }, options, context, (value) => {
      const own = picked(value, options.targetOutputKey).value;
      return own === undefined ? undefined : searchedText(own);
    });
  },
});
