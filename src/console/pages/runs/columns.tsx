/** The columns of the table of runs. */
import { pageAddress } from '../../parts/address.ts';
import type { Column } from '../../parts/data-table.tsx';
import { costText, countText, durationText, lineText, shortCountText, timeText, unknownText } from '../../parts/format.ts';
import { StatusChip } from '../../parts/status-chip.tsx';
import { VerdictChip, VerdictCounts } from '../../parts/verdict-chip.tsx';
import { isBad, worstFirst } from '../../parts/verdict.ts';
import { type Run, runAddress } from './filters.ts';

/** Characters of the names in one row. At least one name stands; the number behind them has the others. */
const namesMax = 18;

/** By importance: a narrow table has the first ones. */
export const runColumns: readonly Column<Run>[] = [
  { key: 'time', title: 'Time', cell: (run) => <a href={runAddress(run)}>{timeText(run.started_at)}</a> },
  {
    key: 'verdicts',
    title: 'Verdicts',
    cell: ({ verdicts }) => {
      // Names where something is wrong; what passed is a number, so that the row fits.
      const [bad, fine] = [verdicts.filter(isBad), verdicts.filter((verdict) => !isBad(verdict))];
      const worst = worstFirst(bad);
      const named = worst.filter((_, at) => at === 0 || worst.slice(0, at + 1).reduce((sum, { name }) => sum + name.length, 0) <= namesMax);
      return (
        <span class="chips">
          {named.map((verdict) => (
            <VerdictChip key={verdict.name} verdict={verdict} />
          ))}
          <VerdictCounts verdicts={[...worst.slice(named.length), ...fine]} />
        </span>
      );
    },
  },
  { key: 'status', title: 'Status', cell: ({ status }) => (status === 'ok' ? 'ok' : <StatusChip status={status} />) },
  { key: 'agent', title: 'Agent', cell: ({ agent }) => (agent === null ? unknownText : <bdi>{agent}</bdi>) },
  {
    key: 'input',
    title: 'Input',
    isText: true,
    cell: ({ input_excerpt: input }) =>
      input === null || input === undefined ? (
        <span class="dim" title="The store has no texts of this run.">
          {unknownText}
        </span>
      ) : (
        <span title={lineText(input)}>{lineText(input)}</span>
      ),
  },
  { key: 'duration', title: 'Duration', isNumber: true, cell: ({ duration_seconds: seconds }) => durationText(seconds) },
  { key: 'cost', title: 'Cost', from: 'medium', isNumber: true, cell: ({ cost_usd: cost }) => costText(cost) },
  {
    key: 'tokens',
    title: 'Tokens in / out',
    from: 'wide',
    isNumber: true,
    cell: ({ input_tokens: input, output_tokens: output }) => (
      <span title={`${countText(input)} in, ${countText(output)} out`}>
        {shortCountText(input)} / {shortCountText(output)}
      </span>
    ),
  },
  { key: 'version', title: 'Version', from: 'wide', cell: ({ version }) => version ?? unknownText },
  {
    key: 'session',
    title: 'Session',
    from: 'wide',
    cell: ({ session_id: session }) =>
      session === null ? unknownText : <a href={`/sessions/${encodeURIComponent(session)}`}>{lineText(session, 24)}</a>,
  },
  {
    key: 'labels',
    title: 'Labels',
    from: 'wide',
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
  { key: 'completeness', title: 'Completeness', from: 'wide', cell: ({ completeness }) => completeness },
];
