/** A session as a conversation: what the user said and what the agent answered, each turn with its verdicts. */
import { useMemo, useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useGet, useList } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { scoreText, timeText } from '../../parts/format.ts';
import { useKeys } from '../../parts/keyboard.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { entriesOfRun } from '../../parts/run/conversation.ts';
import { ConversationView } from '../../parts/run/conversation-view.tsx';
import { inOrder } from '../../parts/run/neighbours.ts';
import { durationText, microsOf } from '../../parts/run/times.ts';
import { useAddress } from '../../parts/use-address.ts';
import { worstFirst } from '../../parts/verdict.ts';
import { VerdictChip } from '../../parts/verdict-chip.tsx';
import './session-page.css';

type Run = Schemas['Run'];

/** Turns that are read without asking. */
const turnsAtOnce = 20;

export function SessionPage({ params: { id = '' } }: { readonly params: { readonly [name: string]: string } }) {
  const { query } = useAddress();
  const tenant = query['tenant'];
  const found = useList('/sessions/{id}', 'runs', {
    path: { id },
    query: { tenant, limit: 200 },
  });
  const { rows, isLoading, error, hasMore, more } = found;
  const worst = useGet('/sessions/{id}/worst-turns', { path: { id }, query: { tenant } });
  const [limit, setLimit] = useState(turnsAtOnce);
  const [current, setCurrent] = useState(-1);
  const runs = useMemo(() => inOrder(rows), [rows]);
  const move = (by: number): void => {
    const next = Math.min(Math.min(limit, runs.length) - 1, Math.max(0, current + by));
    setCurrent(next);
    document.getElementById(`turn-${next + 1}`)?.focus();
  };
  useKeys([
    { key: 'j', does: 'Goes to the next turn', run: () => move(1) },
    { key: 'k', does: 'Goes to the previous turn', run: () => move(-1) },
  ]);
  return (
    <PageFrame title={`Session ${id}`}>
      <AnswerState of={found} what="the session" />
      {runs.length > 0 ? (
        <>
          <SessionFacts runs={runs} />
          <WorstTurns rows={worst.value?.worst_turns ?? []} turns={worst.value?.turns ?? 0} tenant={tenant} />
          {hasMore ? (
            <p class="row">
              <span class="dim">The session has more turns before these.</span>
              <button type="button" onClick={more}>
                Read older turns
              </button>
            </p>
          ) : null}
          <ol class="turns">
            {runs.slice(0, limit).map((run, at) => (
              <Turn key={`${run.trace_id}/${run.span_id}`} row={run} number={at + 1} />
            ))}
          </ol>
          {runs.length > limit ? (
            <button type="button" onClick={() => setLimit(limit + turnsAtOnce)}>
              Show more of {runs.length} turns
            </button>
          ) : null}
        </>
      ) : !isLoading && error === undefined ? (
        <EmptyState title="There is no run of this session">
          <p>Its runs may be too old for store.keep, or of another tenant.</p>
        </EmptyState>
      ) : null}
    </PageFrame>
  );
}

function SessionFacts({ runs }: { readonly runs: readonly Run[] }) {
  const [first, last] = [runs[0], runs.at(-1)];
  if (first === undefined || last === undefined) return null;
  const ended = Math.max(...runs.map(({ ended_at: at }) => microsOf(at)));
  const agents = [...new Set(runs.map(({ agent }) => agent ?? 'no name'))];
  const failed = runs.filter(({ verdicts }) => verdicts.some(({ passed }) => passed === false)).length;
  return (
    <p>
      {runs.length} {runs.length === 1 ? 'turn' : 'turns'} of {agents.slice(0, 5).join(', ')}
      {agents.length > 5 ? ` and ${agents.length - 5} more` : ''}, from {timeText(first.started_at)}, over{' '}
      {durationText(ended - microsOf(first.started_at))}.{' '}
      {failed === 0 ? 'No turn has a failed verdict.' : `${failed} ${failed === 1 ? 'turn has' : 'turns have'} a failed verdict.`}
    </p>
  );
}

function WorstTurns({
  rows,
  turns,
  tenant,
}: {
  readonly rows: readonly Schemas['WorstTurn'][];
  readonly turns: number;
  readonly tenant: string | undefined;
}) {
  const failed = rows.filter(({ passed }) => passed === false);
  if (failed.length === 0) return null;
  return (
    <section class="stack">
      <h2>Worst turns</h2>
      <ul class="worst-turns">
        {failed.map(({ name, worst_turn: turn, score, trace_id: trace, span_id: span }) => (
          <li key={name}>
            <strong>{name}</strong> {scoreText(score)} in{' '}
            <a href={pageAddress(`/runs/${trace ?? ''}/${span ?? ''}`, { tenant })}>
              turn {turn} of {turns}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Turn({ row, number }: { readonly row: Run; readonly number: number }) {
  const found = useGet('/runs/{trace}/{span}', {
    path: { trace: row.trace_id, span: row.span_id },
    query: { tenant: row.tenant },
  });
  const { value } = found;
  const isFailed = row.verdicts.some(({ passed }) => passed === false);
  return (
    <li id={`turn-${number}`} class={isFailed ? 'turn failed' : 'turn'} tabIndex={-1}>
      <header class="row">
        <h2>Turn {number}</h2>
        {value?.parent === null || value?.parent === undefined ? null : <span class="chip">sub-agent</span>}
        <a href={pageAddress(`/runs/${row.trace_id}/${row.span_id}`, { tenant: row.tenant })}>Open the run</a>
        <span class="dim small">
          {row.agent ?? 'no name'}, {timeText(row.started_at)}, {durationText(microsOf(row.ended_at) - microsOf(row.started_at))}
        </span>
      </header>
      <AnswerState of={found} what="the turn" />
      {value === undefined ? null : <TurnContent run={value} />}
    </li>
  );
}

function TurnContent({ run }: { readonly run: Run }) {
  const entries = useMemo(() => entriesOfRun(run), [run]);
  const verdicts = worstFirst(run.verdicts.filter(({ status }) => status !== 'skipped'));
  const faults = verdicts.filter(({ passed, explanation }) => passed === false && explanation !== undefined && explanation !== '');
  const gone = run.content_gone;
  return (
    <>
      {gone === null || gone === undefined ? (
        <ConversationView entries={entries} />
      ) : (
        <p class="dim">The store has no texts of this turn. {gone.explanation}</p>
      )}
      <p class="row">
        {verdicts.map((verdict) => (
          <VerdictChip key={verdict.name} verdict={verdict} />
        ))}
        {verdicts.length === 0 ? <span class="dim small">No evaluator has scored this turn.</span> : null}
      </p>
      {faults.length === 0 ? null : (
        <ul class="faults">
          {faults.map(({ name, explanation }) => (
            <li key={name}>
              <strong>{name}:</strong> {explanation}
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
