/** The output is about what was asked: the cosine of the vectors that an embedding model gives the output and the input. */
import type { Outcome } from '../src/model/verdict.ts';
import { cutShort, noInput } from './evidence/calls.ts';
import { embeddedSimilarity, embeddedSimilarityDefaults, embeddedSimilarityProperties, isBlank } from './judging/embedded-similarity.ts';
import type { EmbeddedSimilarityOptions } from './judging/embedded-similarity.ts';
import type { Asking, EvaluationContext, JudgeEvaluator, Subject } from './evaluator.ts';
import { targetSchema } from './evidence/target.ts';

export type OutputRelevanceBySimilarityOptions = EmbeddedSimilarityOptions;

export const outputRelevanceBySimilarity = {
  kind: 'judge',
  id: 'output_relevance_by_similarity',
  version: 1,
  summary: 'The output is near the input in an embedding model.',
  needs: ['input', 'final_response'],
  onByDefault: false,
  defaultThreshold: null,
  defaults: embeddedSimilarityDefaults,
  optionsSchema: targetSchema(embeddedSimilarityProperties),
  source: 'Sentinel AI outputRelevanceBySimilarity, a raw metric without a threshold',
  evaluate,
} as const satisfies JudgeEvaluator<OutputRelevanceBySimilarityOptions>;

function* evaluate({ trace }: Subject, options: OutputRelevanceBySimilarityOptions, context: EvaluationContext): Asking<Outcome> {
  if (trace.input === undefined || isBlank(trace.input)) return noInput();
  if (trace.truncated?.includes('input') === true) return cutShort('the input');
  return yield* embeddedSimilarity(trace, { text: trace.input, name: 'the input' }, options, context);
}
