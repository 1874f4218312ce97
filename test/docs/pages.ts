/** The reference pages that are written from the product's own data. A new page is a line here. */
import { apiPage } from './api-page.ts';
import { backendsPage } from './backends-page.ts';
import { configurationPage } from './configuration-page.ts';
import { dialectsPage } from './dialects-page.ts';
import { errorsPage } from './errors-page.ts';
import { evaluabilityPage } from './evaluability-page.ts';
import { evaluatorsPage } from './evaluators-page.ts';
import { dashboard } from './grafana/dashboard.ts';
import { metricsPage } from './metrics-page.ts';

export interface Page {
  /** Path from the repository's root. */
  readonly path: string;
  readonly text: () => string;
}

export const pages: readonly Page[] = [
  { path: 'docs/dialects.md', text: dialectsPage },
  { path: 'docs/evaluators.md', text: evaluatorsPage },
  { path: 'docs/configuration.md', text: configurationPage },
  { path: 'docs/errors.md', text: errorsPage },
  { path: 'docs/api.md', text: apiPage },
  { path: 'docs/metrics.md', text: metricsPage },
  { path: 'docs/grafana-dashboard.json', text: dashboard },
  { path: 'docs/backends.md', text: backendsPage },
  { path: 'docs/evaluability.md', text: evaluabilityPage },
];
