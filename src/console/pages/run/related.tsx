/** Runs beside this one: the turns of its session, and runs of the same task. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { timeText } from '../../parts/format.ts';
import { inOrder, neighboursOf } from '../../parts/run/neighbours.ts';
import { durationText, microsOf } from '../../parts/run/times.ts';
import { worstFirst } from '../../parts/verdict.ts';
import { VerdictChip } from '../../parts/verdict-chip.tsx';

type Run = Schemas['Run'];

export function runAddress({ tenant, trace_id: trace, span_id: span }: Pick<Run, 'tenant' | 'trace_id' | 'span_id'>): string {
  return pageAddress(`/runs/${trace}/${span}`, { tenant });
}

/** Chips of one run in a list. */
const chipsMax = 3;

export function Related({ run }: { readonly run: Run }) {
  const { value, error, reload } = useGet('/runs/{trace}/{span}/related', {
    path: { trace: run.trace_id, span: run.span_id },
    query: { tenant: run.tenant },
  });
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  if (value === undefined) return null;
  const { session, task, resumed_by: resumedBy, resumes } = value;
  return (
    <div class="related">
      {resumedBy === null ? null : (
        <p>
          The run is paused. <a href={runAddress(resumedBy)}>The conversation goes on in the run of {timeText(resumedBy.started_at)}.</a>
        </p>
      )}
      {resumes === null ? null : (
        <p>
          The run goes on where <a href={runAddress(resumes)}>the run of {timeText(resumes.started_at)}</a> paused.
        </p>
      )}
      {session === null || session.runs.length === 0 ? null : (
        <section class="stack">
          <h2>Same session</h2>
          <Turns run={run} others={session.runs} />
          <RunList runs={inOrder([...session.runs, run])} current={run} />
          <p class="small">
            <a href={pageAddress(`/sessions/${encodeURIComponent(session.id)}`, { tenant: run.tenant })}>
              {session.more ? 'All turns of the session' : 'The session as a conversation'}
            </a>
          </p>
        </section>
      )}
      <section class="stack">
        <h2>Same task</h2>
        {task === null ? (
          <p class="dim small">
            The run has no task. With{' '}
            <code>
              groups: {'{'} task_key: input {'}'}
            </code>{' '}
            runs with the same input stand here; with an attribute, runs with the same value.
          </p>
        ) : task.runs.length === 0 ? (
          <p class="dim small">
            No other run of this tenant has {/^input [0-9a-f]+$/.test(task.task) ? 'the same input' : `the task ${task.task}`}.
          </p>
        ) : (
          <RunList runs={task.runs} current={run} />
        )}
      </section>
    </div>
  );
}

function Turns({ run, others }: { readonly run: Run; readonly others: readonly Run[] }) {
  const { before, after } = neighboursOf(run, others);
  return (
    <p class="row">
      {before === undefined ? null : (
        <a class="button" href={runAddress(before)}>
          ← Previous run
        </a>
      )}
      {after === undefined ? null : (
        <a class="button" href={runAddress(after)}>
          Next run →
        </a>
      )}
    </p>
  );
}

function RunList({ runs, current }: { readonly runs: readonly Run[]; readonly current: Run }) {
  return (
    <ol class="run-list">
      {runs.map((run) => {
        const isCurrent = run.trace_id === current.trace_id && run.span_id === current.span_id;
        return (
          <li key={`${run.trace_id}/${run.span_id}`} class="row">
            {isCurrent ? (
              <strong aria-current="true">{timeText(run.started_at)} (this run)</strong>
            ) : (
              <a href={runAddress(run)}>{timeText(run.started_at)}</a>
            )}
            <span class="dim small">
              <bdi>{run.agent ?? 'no name'}</bdi>, {durationText(microsOf(run.ended_at) - microsOf(run.started_at))}
            </span>
            {worstFirst(run.verdicts)
              .slice(0, chipsMax)
              .map((verdict) => (
                <VerdictChip key={verdict.name} verdict={verdict} />
              ))}
          </li>
        );
      })}
    </ol>
  );
}
