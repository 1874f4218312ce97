/** How near texts are to a reference text in meaning: the cosine of their vectors in an embedding model. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import type { JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import { skipped } from '../evidence/calls.ts';
import { flag, type OptionsOf } from '../configuration/option-table.ts';
import type { Asking, EvaluationContext } from '../evaluator.ts';
import { searchedText } from '../matching/texts.ts';
import { cosine, readVectors, type Vector } from '../matching/vectors.ts';
import { judgeFailed } from './numbered-verdicts.ts';
import { rational } from '../matching/rational.ts';
import { checked, targetOptions, targetValues, type Finding } from '../evidence/target.ts';

export const embeddedSimilarityOptions = {
  distance: flag('The score is the distance, 1 − similarity, instead: for outputs that must differ.'),
  ...targetOptions,
};

export type EmbeddedSimilarityOptions = OptionsOf<typeof embeddedSimilarityOptions>;

/** Characters of a text that is embedded. Models take fewer, and refuse what is too long for them. */
const textCharsMax = 100_000;

export interface Reference {
  /** Not blank. */
  readonly text: string;
  /** As in `the expected output`. */
  readonly name: string;
}

/** `textOf` gives what is compared of a value; undefined: nothing is there to compare. */
export function* embeddedSimilarity(
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
  // What is blank needs no vector.
  const embedded = outputs.length === 0 ? nothingEmbedded : yield* embeddedTexts(texts);
  if (embedded.kind !== 'embedded') return embedded;
  const outcome = checked(trace, options, (value) => finding(textOf(value), reference, embedded.vectors, options.distance));
  return embedded.model === undefined ? outcome : { ...outcome, details: { ...outcome.details, model: embedded.model } };
}

interface Embedded {
  readonly kind: 'embedded';
  /** By text. */
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

function finding(text: string | undefined, reference: Reference, vectors: ReadonlyMap<string, Vector>, isDistance: boolean): Finding {
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

export function isBlank(text: string): boolean {
  return text.trim() === '';
}
