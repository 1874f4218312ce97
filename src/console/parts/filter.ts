/** A filter of a page, in its address. */

export interface Filter {
  /** Parameter of the address. */
  readonly name: string;
  readonly title: string;
  readonly kind: 'text' | 'search' | 'number' | 'choice';
  /** Options of a choice. `search` fields and texts offer them. */
  readonly options?: readonly { readonly value: string; readonly title: string }[];
  /** Text of a choice while nothing is chosen; "any" by default. */
  readonly noChoice?: string;
  readonly placeholder?: string;
  /** True when a button hides it while it is not set. */
  readonly isMore?: boolean;
}
