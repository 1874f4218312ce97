/** Forms in which the comparison of two experiments is written. */
import { comparisonHtml } from './comparison-html.ts';
import { comparisonJunit } from './comparison-junit.ts';
import { comparisonMarkdown, comparisonTable } from './comparison-text.ts';
import type { Comparison } from '../experiment-comparison.ts';
import { comparison as comparisonResource } from '../comparison-json.ts';
import { jsonText } from '../../model/json.ts';

export interface ComparisonReport {
  readonly name: string;
  /** Content type of a file, and its extension. */
  readonly type: string;
  readonly ending: string;
  readonly write: (comparison: Comparison) => string;
}

export const comparisonReports: readonly ComparisonReport[] = [
  { name: 'table', type: 'text/plain; charset=utf-8', ending: 'txt', write: comparisonTable },
  { name: 'markdown', type: 'text/markdown; charset=utf-8', ending: 'md', write: comparisonMarkdown },
  { name: 'junit', type: 'application/xml; charset=utf-8', ending: 'xml', write: comparisonJunit },
  {
    name: 'json',
    type: 'application/json; charset=utf-8',
    ending: 'json',
    write: (comparison) => jsonText(comparisonResource.write(comparison)),
  },
  { name: 'html', type: 'text/html; charset=utf-8', ending: 'html', write: comparisonHtml },
];
