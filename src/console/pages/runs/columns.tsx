/** The columns of the table of runs. */
import { pageAddress } from '../../parts/address.ts';
import type { Column } from '../../parts/data-table.tsx';
import { costText, countText, durationText, lineText, shortCountText, timeText, unknownText } from '../../parts/format.ts';
import { StatusChip } from '../../parts/status-chip.tsx';
import { VerdictChip, VerdictCounts } from '../../parts/verdict-chip.tsx';
import { isBad, worstFirst } from '../../parts/verdict.ts';
import { type Run, runAddress } from './filters.ts';

/** Chips of one row; the page of the run has all. */
const chipsMax = 3;

export const runColumns: readonly Column<Run>[] = [
  { key: 'time', title: 'Time', cell: (run) => <a href={runAddress(run)}>{timeText(run.started_at)}</a> },
  { key: 'agent', title: 'Agent', cell: ({ agent }) => agent ?? unknownText },
  { key: 'version', title: 'Version', cell: ({ version }) => version ?? unknownText },
  {
    key: 'input',
    title: 'Input',
    cell: ({ input_excerpt: input }) =>
      input === null || input === undefined ? (
        <span class="dim" title="The store has no texts of this run.">
          {unknownText}
        </span>
      ) : (
        <span title={lineText(input)}>{lineText(input)}</span>
      ),
  },
  {
    key: 'verdicts',
    title: 'Verdicts',
    cell: ({ verdicts }) => {
      // Names where something is wrong; what passed is a number, so that the row fits.
      const [bad, fine] = [verdicts.filter(isBad), verdicts.filter((verdict) => !isBad(verdict))];
      return (
        <span class="chips">
          {worstFirst(bad)
            .slice(0, chipsMax)
            .map((verdict) => (
              <VerdictChip key={verdict.name} verdict={verdict} />
            ))}
          {bad.length > chipsMax ? <span class="dim small">+{bad.length - chipsMax}</span> : null}
          <VerdictCounts verdicts={fine} />
        </span>
      );
    },
  },
  { key: 'duration', title: 'Duration', isNumber: true, cell: ({ duration_seconds: seconds }) => durationText(seconds) },
  {
    key: 'tokens',
    title: 'Tokens in / out',
    isNumber: true,
    cell: ({ input_tokens: input, output_tokens: output }) => (
      <span title={`${countText(input)} in, ${countText(output)} out`}>
        {shortCountText(input)} / {shortCountText(output)}
      </span>
    ),
  },
  { key: 'cost', title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => costText(cost) },
  { key: 'status', title: 'Status', cell: ({ status }) => (status === 'ok' ? 'ok' : <StatusChip status={status} />) },
  { key: 'completeness', title: 'Completeness', cell: ({ completeness }) => completeness },
  {
    key: 'labels',
    title: 'Labels',
    cell: ({ labels }) => (
      <span class="chips">
        {labels.map(({ name, label }) => (
          <a key={`${name}=${label}`} class="chip" href={pageAddress('/runs', { label: `${name}=${label}` })}>
            <span>
              {name}: {label}
            </span>
          </a>
        ))}
      </span>
    ),
  },
  {
    key: 'session',
    title: 'Session',
    cell: ({ session_id: session }) =>
      session === null ? unknownText : <a href={`/sessions/${encodeURIComponent(session)}`}>{lineText(session, 24)}</a>,
  },
];
