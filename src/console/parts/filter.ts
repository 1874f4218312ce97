/** A filter of a page, in its address. */

export interface Filter {
  /** Parameter of the address. */
  readonly name: string;
  readonly title: string;
  readonly kind: 'text' | 'search' | 'number' | 'choice';
  /** Of a choice. `search` fields and texts offer them. */
  readonly options?: readonly { readonly value: string; readonly title: string }[];
  /** Of a choice: what counts while nothing is chosen; "any" when left out. */
  readonly noChoice?: string;
  readonly placeholder?: string;
  /** True: stands behind a button while it is not set. */
  readonly isMore?: boolean;
}
