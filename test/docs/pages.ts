/** The pages that are written from the product's own data. A new page is a line here. */
import { anyInstrumentationPage } from './any-instrumentation-page.ts';
import { apiPage } from './api-page.ts';
import { backendsPage } from './backends-page.ts';
import { configurationPage } from './configuration-page.ts';
import { consoleSchema } from './console-schema.ts';
import { decisionsPage } from './decisions-page.ts';
import { dialectsPage } from './dialects-page.ts';
import { errorsPage } from './errors-page.ts';
import { evaluabilityPage } from './evaluability-page.ts';
import { evaluatorsPage } from './evaluators-page.ts';
import { dashboard } from './grafana/dashboard.ts';
import { limitsPage } from './limits-page.ts';
import { metricsPage } from './metrics-page.ts';
import { sourceTreePage } from './source-tree-page.ts';

export interface Page {
  /** Path from the repository's root. */
  readonly path: string;
  readonly text: () => string;
  /** Writing the page replays every recording, which takes seconds. */
  readonly replays?: true;
  /** Writing the page parses the product. `test/tidy.test.ts` checks it, where the rules share the syntax trees. */
  readonly parses?: true;
}

export const pages: readonly Page[] = [
  { path: 'docs/decisions/README.md', text: decisionsPage },
  { path: 'docs/explanation/source-tree.md', text: () => sourceTreePage(), parses: true },
  { path: 'docs/reference/dialects.md', text: dialectsPage, replays: true },
  { path: 'docs/reference/any-instrumentation.md', text: anyInstrumentationPage, replays: true },
  { path: 'docs/reference/evaluators.md', text: evaluatorsPage },
  { path: 'docs/reference/configuration.md', text: configurationPage },
  { path: 'docs/reference/errors.md', text: errorsPage },
  { path: 'docs/reference/limits.md', text: limitsPage },
  { path: 'docs/reference/api.md', text: apiPage },
  { path: 'src/console/api/schema.ts', text: consoleSchema },
  { path: 'docs/reference/metrics.md', text: metricsPage },
  { path: 'docs/reference/grafana-dashboard.json', text: dashboard },
  { path: 'docs/reference/backends.md', text: backendsPage },
  { path: 'docs/reference/evaluability.md', text: evaluabilityPage },
];
