/** How the reader by evidence knows what it tells of a run, and how often it is right where it knows it so. */

/**
 * The surest first. `kind_and_key`: a word says what the span is, and a key of several words, under whatever prefix, what the value is.
 * `key`: the key alone says it. `ending`: a single word at the end of a key does. `shape`: the form of the value does. `guess`: the name of the span.
 */
export const evidenceClasses = ['kind_and_key', 'key', 'ending', 'shape', 'guess'] as const;
export type EvidenceClass = (typeof evidenceClasses)[number];

/**
 * Share of values that are what the agent did, in hundredths and rounded down: measured over the recordings of SDKs whose collectors are taken
 * out, with one value more that is right and one that is wrong. `test/recordings/confidence.long.test.ts` holds them to it.
 */
export const confidences: { readonly [by in EvidenceClass]: number } = {
  kind_and_key: 0.99,
  key: 0.99,
  ending: 0.99,
  shape: 0.98,
  guess: 0.99,
};

/** What the reader by evidence told of a run. A field that is absent comes from collectors of SDKs or conventions, or is not carried. */
export interface RunEvidence {
  /** The reader's id. */
  readonly provenance: string;
  readonly fields: { readonly [field in 'agent' | 'input' | 'final_response' | 'tool_calls' | 'model_calls']?: EvidenceClass };
}

/** What of a span is known by evidence, each with its class. */
export interface SpanEvidence {
  readonly agentName?: EvidenceClass;
  readonly input?: EvidenceClass;
  readonly output?: EvidenceClass;
  readonly tool?: EvidenceClass;
  readonly model?: EvidenceClass;
}

/** A run is as sure as the least sure of its fields. */
export function runConfidence({ fields }: RunEvidence): number {
  return Math.min(...Object.values(fields).map((by) => confidences[by]));
}

/** The least sure; undefined where there is none. */
export function leastSure(classes: readonly (EvidenceClass | undefined)[]): EvidenceClass | undefined {
  return evidenceClasses.findLast((one) => classes.includes(one));
}
