/** Similarity of the output to a vector or text: the cosine of given vectors, or of embeddings. */
import { noExpectation, skipped, cutShort, noInput } from './evidence/calls.ts';
import { cosine, vectorOf, readVectors, type Vector } from './matching/vectors.ts';
import { outputKeyFaults, picked, pickedExpectation, singleOutputKey, searchedText } from './matching/texts.ts';
import { rational } from './matching/rational.ts';
import { checked, type Finding, targetOptions, targetValues } from './evidence/target.ts';
import { quoted } from './explain/explanation.ts';
import { rule, flag, expecting, type OptionsOf, judge } from './configuration/define.ts';
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import type { Asking, EvaluationContext } from './evaluator.ts';
import { judgeFailed } from './judging/verdict-forms.ts';

/** The output is a vector in the direction of the expected one. Both are given; nothing is embedded. */
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
  if (vector === undefined) return { score: rational(0), says: 'is not a list of numbers', details: {} };
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

const embeddedSimilarityOptions = {
  distance: flag('The score is the distance, 1 − similarity, instead: for outputs that must differ.'),
  ...targetOptions,
};

type EmbeddedSimilarityOptions = OptionsOf<typeof embeddedSimilarityOptions>;

/** Limit of an embedded text; models reject longer ones. */
const textCharsMax = 100_000;

interface Reference {
  /** Not blank. */
  readonly text: string;
  /** Name in a sentence, such as `the expected output`. */
  readonly name: string;
}

/** `textOf`: the compared text of a value; `undefined` when there is none. */
function* embeddedSimilarity(
  trace: AgentTrace,
  reference: Reference,
  options: EmbeddedSimilarityOptions,
  context: EvaluationContext,
  textOf: (value: JsonValue) => string | undefined = searchedText,
): Asking<Outcome> {
  const found = targetValues(trace, options, context);
  if (found.kind === 'skipped') return found;
  const outputs = found.values.map((value) => textOf(value) ?? '').filter((text) => !isBlank(text));
  const texts = [...new Set([reference.text, ...outputs])];
  const longest = texts.reduce((most, { length }) => Math.max(most, length), 0);
  if (longest > textCharsMax)
    return skipped('too_large', `A text of ${longest} characters is longer than the ${textCharsMax} that are embedded.`);
  // Blank texts need no vector.
  const embedded = outputs.length === 0 ? nothingEmbedded : yield* embeddedTexts(texts);
  if (embedded.kind !== 'embedded') return embedded;
  const outcome = checked(trace, options, (value) =>
    embeddedSimilarityFinding(textOf(value), reference, embedded.vectors, options.distance),
  );
  return embedded.model === undefined ? outcome : { ...outcome, details: { ...outcome.details, model: embedded.model } };
}

interface Embedded {
  readonly kind: 'embedded';
  /** Vectors by text. */
  readonly vectors: ReadonlyMap<string, Vector>;
  readonly model?: string | undefined;
}

const nothingEmbedded: Embedded = { kind: 'embedded', vectors: new Map() };

function* embeddedTexts(texts: readonly string[]): Asking<Embedded | Outcome> {
  const answer = yield { kind: 'embed', texts };
  if (answer.kind === 'failed') return judgeFailed(answer.error);
  const read = readVectors(answer.value, texts.length);
  if (read.kind === 'faulty') return judgeFailed(`embedding_invalid: ${read.fault}`);
  return { kind: 'embedded', vectors: new Map(texts.map((text, at) => [text, read.vectors[at] ?? []])), model: answer.model };
}

function embeddedSimilarityFinding(
  text: string | undefined,
  reference: Reference,
  vectors: ReadonlyMap<string, Vector>,
  isDistance: boolean,
): Finding {
  const similarity = text === undefined || isBlank(text) ? 0 : cosine(vectors.get(reference.text) ?? [], vectors.get(text) ?? []);
  const score = Math.min(1, Math.max(0, isDistance ? 1 - similarity : similarity));
  const says =
    text === undefined
      ? 'has nothing to compare'
      : isBlank(text)
        ? 'is empty'
        : `has the cosine similarity ${Math.round(similarity * 1_000) / 1_000} to ${reference.name}`;
  return { score: rational(score), says, details: { similarity, distance: 1 - similarity } };
}

function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** The output means the same as the expected one, by the cosine of their embeddings. */
export const outputSimilarity = judge({
  id: 'output_similarity',
  mappable: false,
  summary: 'The output is near the expected one in an embedding model.',
  needs: ['final_response', 'expected_output'],
  defaultThreshold: null,
  options: {
    target_output_key: singleOutputKey,
    ...embeddedSimilarityOptions,
    ...targetOptions,
  },
  expectationSchema: expecting(
    { output: { description: 'The wanted output. Values other than texts are compared in JSON notation.' } },
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

/** The output concerns the request, by the cosine of the embeddings of output and input. */
export const outputRelevanceBySimilarity = judge({
  id: 'output_relevance_by_similarity',
  mappable: false,
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
