/** `docs/reference/metrics.md`, from the table of our own metrics. */
import { openMetricsName } from '../../src/telemetry/openmetrics.ts';
import { metricRows, type Metric } from '../../src/telemetry/metrics.ts';

export function metricsPage(): string {
  const rows = Object.entries<Metric>(metricRows).map(([name, row]) => {
    const onPage = `${openMetricsName(name, row)}${row.kind === 'counter' ? '_total' : ''}`;
    return `| \`${name}\` | \`${onPage}\` | ${row.kind} | \`${row.unit}\` | ${row.labels.map((label) => `\`${label}\``).join(', ')} | ${row.meaning} |`;
  });
  return `${[opening, ['| name | on the page | kind | unit | labels | meaning |', '|---|---|---|---|---|---|', ...rows].join('\n'), histograms()].join('\n\n')}\n`;
}

const opening = `# Metrics

<!-- Written by npm run docs from the table of metrics. -->

\`/metrics\` on the console listener has these metrics. Names and units are those of OpenTelemetry (units in UCUM). On the page, names follow the rules of
Prometheus, and labels have underscores for dots.

Each metric keeps a bounded number of label sets (\`tracejury.metrics.folded\`). Beyond it the names of agents and services fold into \`other\`, then all labels
of a set. [Which runs could be scored](evaluability.md) explains \`tracejury.evaluability\`.`;

function histograms(): string {
  const withBuckets = Object.entries<Metric>(metricRows).flatMap(([name, { buckets }]) =>
    buckets === undefined ? [] : [`- \`${name}\`: ${buckets.join(', ')}`],
  );
  return ['Upper edges of the histograms, inclusive:', '', ...withBuckets].join('\n');
}
