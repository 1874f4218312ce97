/** `docs/reference/evaluability.md`: the question, the queries, and what to switch on, from the collectors' own data and the table of metrics. */
import { collectors } from '../../collectors/index.ts';
import { agentsWatchedMax, runsBeforeNotice } from '../../src/pipeline/reporting/content-notices.ts';
import { lackByReason, lackTexts, missingDataOf, type Lack } from '../../src/pipeline/reporting/missing-data.ts';
import { metrics, type MetricName } from '../../src/telemetry/metrics.ts';
import { openMetricsName } from '../../src/telemetry/openmetrics.ts';

export function evaluabilityPage(): string {
  return `${[opening(), queries(), lacks(), settings(), warning].join('\n\n')}\n`;
}

const metric: MetricName = 'tracejury.evaluability';
const counter = onPage(metric);
const [agent, dialect, evaluator, outcome, reason, need] = metrics[metric].labels.map((label) => label.replaceAll('.', '_'));
const each = [agent, dialect, evaluator].join(', ');

function opening(): string {
  return `# Runs that could be scored

<!-- Written by npm run docs from the collectors' own data and the table of metrics. -->

An evaluator that lacks evidence skips the run. A skipped run is neither a 0 nor a 1, so a good mean may rest on a tenth of the runs. A counter
shows for every evaluator which runs it could score, and what the others lacked:

    ${counter}{${agent}="travel-agent",${dialect}="gen_ai",${evaluator}="tool_error",
      ${outcome}="skipped",${reason}="results_not_carried",${need}="tool_results"} 12

- \`${outcome}\` is \`scored\`, \`skipped\` or \`failed\`. Runs that a condition, sampling or a budget kept away from an evaluator count only in
  \`${onPage('tracejury.decisions')}\`.
- \`${need}\` is absent where nothing was missing: a run without a failed call has nothing for \`tool_recovery\` to look at.
- \`${dialect}\` is the [collector](dialects.md) that read the run, the most specific one when several did.
- Only first revisions of runs count.

\`tracejury inspect FILE\` shows the same for recorded spans, without a service.`;
}

function queries(): string {
  return `## Queries

This query gives the share of runs that each evaluator could score in the last day, among those with something to check:

    sum by (${each}) (
      increase(${counter}{${outcome}="scored"}[1d])
    ) / sum by (${each}) (
      increase(${counter}{${outcome}!="skipped"}[1d]) or increase(${counter}{${need}!=""}[1d])
    )

It has no value where nothing could be scored. This query gives what was missing, as a share of the runs:

    sum by (${each}, ${need}) (
      increase(${counter}{${need}!=""}[1d])
    ) / ignoring(${need}) group_left () sum by (${each}) (
      increase(${counter}[1d])
    )

A low share is about the instrumentation, not the agent. Its scores speak for the runs that carry the evidence, which may come from one version or service.`;
}

function lacks(): string {
  const rows = [...Map.groupBy(Object.entries(lackByReason), ([, lack]) => lack)].map(
    ([lack, own]) => `| \`${lack}\` | ${lackTexts[lack]} | ${own.map(([one]) => `\`${one}\``).join(', ')} | ${helps(lack)} |`,
  );
  return ['## Needs that may be missing', '', '| need | meaning | reasons | remedy |', '|---|---|---|---|', ...rows].join('\n');
}

/** The table below has the parts that depend on the SDK. */
function helps(lack: Lack): string {
  const general = missingDataOf(lack, []);
  if (general !== undefined) return general;
  if (lack === 'tool_definitions')
    return 'the setting for definitions in the SDK’s row below, or `tools` in the [configuration](configuration.md#tools)';
  return lack === 'times' ? '' : 'the setting for content in the SDK’s row below';
}

/** The remedy that the page gives once for all SDKs. */
const byConfiguration = /(?:;|, so|; else) name (?:the tools|them) under tools in the configuration\.$/;

function settings(): string {
  const rows = collectors.map(
    ({ id, summary, captureHints }) =>
      `| [${id}](dialects.md#${id}) | ${cell(summary)} | ${cell(captureHints?.content ?? '')} | ${cell((captureHints?.tools ?? '').replace(byConfiguration, '.'))} |`,
  );
  return [
    '## Settings of SDKs',
    '',
    'Name definitions that an SDK does not send, or sends without schemas, under `tools` in the [configuration](configuration.md#tools).',
    '',
    '| dialect | of | content: inputs, answers, arguments, results | tool definitions |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n');
}

const warning = `## One warning

The service writes one line at level \`warn\` when the first ${runsBeforeNotice} skipped runs of an agent lack the same thing, which no run had. It names agent and
dialect, what is missing (\`missing\`), and the evaluators that need it. It also names where the service looked, and the setting that helps (\`todo\`). It comes once for
each agent, dialect and missing thing, for the first ${agentsWatchedMax} pairs of agent and dialect.`;

function onPage(name: MetricName): string {
  return `${openMetricsName(name, metrics[name])}_total`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
