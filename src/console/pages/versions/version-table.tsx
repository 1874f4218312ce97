/** The versions of an agent: a table of their figures, and a chart of each over the versions. */
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { costText, countText, durationText, percentText, scoreText, timeText, unknownText } from '../../parts/format.ts';
import { pageAddress } from '../../parts/address.ts';
import { pointsMax } from '../../parts/point-range.ts';
import { PointRangeChart } from '../../parts/point-range-chart.tsx';
import { figurePoints, ratePoints } from './agent-versions.ts';

type Version = Schemas['Version'];

export function VersionTable({ agent, versions }: { readonly agent: string; readonly versions: readonly Version[] }) {
  const runs = (version: string): string => pageAddress('/runs', { range: '30d', agent, version });
  const columns: readonly Column<Version>[] = [
    {
      key: 'version',
      title: 'Version',
      cell: ({ version }) => (version === null ? <span class="dim">without a version</span> : <a href={runs(version)}>{version}</a>),
    },
    { key: 'first', title: 'First run', cell: ({ first_seen: at }) => timeText(at) },
    { key: 'last', title: 'Last run', cell: ({ last_seen: at }) => timeText(at) },
    { key: 'runs', title: 'Runs', isNumber: true, cell: ({ runs: all }) => countText(all) },
    { key: 'median', title: 'Median time', isNumber: true, cell: ({ median_seconds: seconds }) => durationText(seconds) },
    { key: 'p95', title: 'p95', isNumber: true, cell: ({ p95_seconds: seconds }) => durationText(seconds) },
    {
      key: 'cost',
      title: 'Cost per run',
      isNumber: true,
      cell: ({ cost_per_run: cost, costed_runs: costed, runs: all }) => (
        <span
          title={
            cost === null
              ? 'The cost of no run is known: name the prices of its models under prices.'
              : `${costed} of ${all} runs have a cost`
          }
        >
          {costText(cost)}
        </span>
      ),
    },
    {
      key: 'tokens',
      title: 'Tokens per run',
      isNumber: true,
      cell: ({ input_tokens_per_run: input, output_tokens_per_run: output }) =>
        input === null && output === null ? unknownText : `${countText(input)} + ${countText(output)}`,
    },
    { key: 'models', title: 'Models', cell: ({ models }) => models.map(({ name }) => name).join(', ') || unknownText },
  ];
  return (
    <DataTable
      caption="Versions, the newest first"
      columns={columns}
      rows={versions}
      rowKey={({ version }) => JSON.stringify(version)}
      href={({ version }) => (version === null ? undefined : runs(version))}
    />
  );
}

export function VersionCharts({ versions }: { readonly versions: readonly Version[] }) {
  if (versions.length < 2) return null;
  const rates = ratePoints(versions);
  return (
    <>
      <h3>Over the versions</h3>
      <p class="dim small">
        The oldest version stands left
        {versions.length > pointsMax ? `; of ${versions.length} versions the newest ${pointsMax} are drawn` : ''}. Vertical lines are
        intervals that hold at all looks.
      </p>
      <div class="chart-grid">
        {rates.map(({ name, measure, points }) => (
          <PointRangeChart
            key={name}
            title={measure === 'pass_rate' ? `${name}, passed` : `${name}, mean score`}
            points={points}
            text={measure === 'pass_rate' ? percentText : scoreText}
            max={1}
          />
        ))}
        <PointRangeChart
          title="Median time of a run"
          points={figurePoints(versions, ({ median_seconds: seconds }) => seconds)}
          text={durationText}
        />
        <PointRangeChart
          title="p95 time of a run"
          points={figurePoints(versions, ({ p95_seconds: seconds }) => seconds)}
          text={durationText}
        />
        {versions.some(({ cost_per_run: cost }) => cost !== null) ? (
          <PointRangeChart title="Cost of a run" points={figurePoints(versions, ({ cost_per_run: cost }) => cost)} text={costText} />
        ) : null}
      </div>
    </>
  );
}
