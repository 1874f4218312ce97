/** The reference pages that are written from the product's own data. A new page is a line here. */
import { evaluatorsPage } from './evaluators-page.ts';

export interface Page {
  /** Path from the repository's root. */
  readonly path: string;
  readonly text: () => string;
}

export const pages: readonly Page[] = [{ path: 'docs/evaluators.md', text: evaluatorsPage }];
