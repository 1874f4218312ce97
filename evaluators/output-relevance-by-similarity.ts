/** The output is about what was asked: the cosine of the vectors that an embedding model gives the output and the input. */
import { judge } from './configuration/define.ts';
import { cutShort, noInput } from './evidence/calls.ts';
import { embeddedSimilarity, embeddedSimilarityOptions, isBlank } from './judging/embedded-similarity.ts';

export const outputRelevanceBySimilarity = judge({
  id: 'output_relevance_by_similarity',
  summary: 'The output is near the input in an embedding model.',
  needs: ['input', 'final_response'],
  defaultThreshold: null,
  options: embeddedSimilarityOptions,
  source: 'Sentinel AI outputRelevanceBySimilarity, a raw metric without a threshold',
  *evaluate({ trace }, options, context) {
    if (trace.input === undefined || isBlank(trace.input)) return noInput();
    if (trace.truncated?.includes('input') === true) return cutShort('the input');
    return yield* embeddedSimilarity(trace, { text: trace.input, name: 'the input' }, options, context);
  },
});
