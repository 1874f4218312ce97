/** Members of expectations that the product does not follow, each with the reason. Everything else of such a case is compared as usual. */

export interface Disputed {
  readonly case: string;
  /** Where it differs, as the comparison names it. */
  readonly difference: string;
  readonly reason: string;
}

export const disputed: readonly Disputed[] = [];
