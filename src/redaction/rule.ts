/** What is blotted out, and what stands in its place. */

/** A part of a text, in UTF-16 code units; `end` is behind it. */
export interface Part {
  readonly start: number;
  readonly end: number;
}

export interface RedactionRule {
  /** As the metrics name it; never what it looks for. */
  readonly name: string;
  readonly replacement: string;
  /**
   * The parts of a text that it matches, from left to right, none empty and none overlapping. `spend` is asked for each search through so
   * many characters; once it says no, the rule gives up: undefined.
   */
  readonly parts: (text: string, spend: Spend) => readonly Part[] | undefined;
}

/** False: the run has been searched for long enough. */
export type Spend = (chars: number) => boolean;
