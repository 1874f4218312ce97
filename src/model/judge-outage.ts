/** A judge, or an endpoint of an evaluator, that does not answer. */
export interface JudgeOutage {
  /** Name of the judge, or `http:` and the name of an evaluator with an endpoint. */
  readonly judge: string;
  readonly sinceMs: number;
  /** The last failure. It has no text of a run and no key. */
  readonly fault: string;
  readonly todo: string;
}
