/** The output means what the expected one does: the cosine of the vectors that an embedding model gives them. */
import type { Outcome } from '../src/model/verdict.ts';
import { noExpectation, skipped } from './evidence/calls.ts';
import { embeddedSimilarity, embeddedSimilarityDefaults, embeddedSimilarityProperties, isBlank } from './judging/embedded-similarity.ts';
import type { EmbeddedSimilarityOptions } from './judging/embedded-similarity.ts';
import type { Asking, EvaluationContext, JudgeEvaluator, Subject } from './evaluator.ts';
import { searchedText } from './matching/texts.ts';
import { outputKeyFaults, outputKeySchema, picked, pickedExpectation } from './matching/output-key.ts';
import { targetSchema } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';

export interface OutputSimilarityOptions extends EmbeddedSimilarityOptions {
  readonly targetOutputKey: string;
}

export const outputSimilarity = {
  kind: 'judge',
  id: 'output_similarity',
  version: 1,
  summary: 'The output is near the expected one in an embedding model.',
  needs: ['final_response', 'expected_output'],
  onByDefault: false,
  defaultThreshold: null,
  defaults: { targetOutputKey: '*', ...embeddedSimilarityDefaults },
  optionsSchema: targetSchema({
    target_output_key: { type: 'string', minLength: 1, maxLength: 1000, description: outputKeySchema.description },
    ...embeddedSimilarityProperties,
  }),
  expectationSchema: {
    type: 'object',
    required: ['output'],
    properties: { output: { description: 'The output that is wanted. What is no text is compared in JSON notation.' } },
  },
  source: 'Sentinel AI outputSimilarity, a raw metric without a threshold',
  expectationFaults: outputKeyFaults,
  evaluate,
} as const satisfies JudgeEvaluator<OutputSimilarityOptions>;

function* evaluate({ trace, expected }: Subject, options: OutputSimilarityOptions, context: EvaluationContext): Asking<Outcome> {
  if (expected.output === undefined) return noExpectation('outputs');
  const wanted = pickedExpectation(expected.output, options.targetOutputKey);
  if (wanted === undefined) return skipped('no_expectation', `The expected output has nothing at ${quoted(options.targetOutputKey)}.`);
  const text = searchedText(wanted);
  if (isBlank(text)) return skipped('no_expectation', 'The expected output is empty, and nothing is near to an empty text.');
  return yield* embeddedSimilarity(trace, { text, name: 'the expected output' }, options, context, (value) => {
    const own = picked(value, options.targetOutputKey).value;
    return own === undefined ? undefined : searchedText(own);
  });
}
