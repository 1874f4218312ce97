/** The kinds of evidence on which the reader by evidence reports facts of a run, and how often each is right. */

/**
 * The surest first. `kind_and_key`: a word names the kind of the span, and a key of several words, with any prefix, that of the value. `key`: only
 * the key names it. `ending`: a single word at the end of a key. `shape`: the form of the value. `guess`: the name of the span.
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

/** The facts of a run that the reader by evidence reported. A missing field comes from collectors of SDKs or conventions, or is not carried. */
export interface RunEvidence {
  /** The reader's id. */
  readonly provenance: string;
  readonly fields: { readonly [field in 'agent' | 'input' | 'final_response' | 'tool_calls' | 'model_calls']?: EvidenceClass };
}

/** The facts of a span that are known by evidence, each with its class. */
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
