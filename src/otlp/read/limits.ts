/** Every bound of reading an OTLP request. A request within them cannot exhaust the stack, and its memory stays near its size. */

export interface OtlpLimits {
  /** Spans beyond it are rejected as `too_many_spans`. */
  readonly spansPerRequest: number;
  /** Log records beyond it are rejected as `too_many_records`. */
  readonly recordsPerRequest: number;
  /** Resource and scope blocks together. A request with more is malformed: no exporter writes it. */
  readonly blocksPerRequest: number;
  /** Attributes, events, links and nested values of a whole request: an empty one takes two bytes on the wire and far more in memory. */
  readonly itemsPerRequest: number;
  /** Fields of a span or record in protobuf, objects, lists and members of one in JSON: it is read in one go, without a pause for other work. */
  readonly valuesPerSpan: number;
  /** Bytes of a span or record. */
  readonly bytesPerSpan: number;
  readonly attributesPerSpan: number;
  readonly eventsPerSpan: number;
  readonly linksPerSpan: number;
  readonly attributeKeyBytes: number;
  /** Lists and maps inside each other in one attribute value. */
  readonly valueNesting: number;
  /** Braces and brackets inside each other in a JSON body: the envelope takes 12, a level of a value at most 4. */
  readonly jsonNesting: number;
  /** Objects, lists and members of all spans or records of a JSON body: an empty one takes three bytes on the wire and far more in memory. */
  readonly jsonValues: number;
  /** Likewise, of what stands around them. */
  readonly jsonEnvelopeValues: number;
}

/** `attributesPerSpan` is wide because some dialects flatten whole conversations into attributes. */
export const defaultOtlpLimits: OtlpLimits = {
  spansPerRequest: 100_000,
  recordsPerRequest: 100_000,
  blocksPerRequest: 100_000,
  itemsPerRequest: 2_000_000,
  valuesPerSpan: 400_000,
  bytesPerSpan: 16 * 1024 * 1024,
  attributesPerSpan: 16_384,
  eventsPerSpan: 8_192,
  linksPerSpan: 8_192,
  attributeKeyBytes: 4_096,
  valueNesting: 64,
  jsonNesting: 300,
  jsonValues: 4_000_000,
  jsonEnvelopeValues: 500_000,
};
