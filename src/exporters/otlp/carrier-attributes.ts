/** Attributes of what tells of verdicts. */
export type CarrierValue = string | number | boolean | readonly string[];
export interface CarrierAttributes {
  readonly [key: string]: CarrierValue;
}

/** While they are put together, one after the other: to spread objects into each other takes many times as long. */
export interface NewAttributes {
  [key: string]: CarrierValue;
}
