/** The newest runs of an issue side by side, each with the call that failed. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { lineText, timeText } from '../../parts/format.ts';
import { plainText } from '../../parts/run/conversation.ts';
import { LongText } from '../../parts/run/long-text.tsx';
import { ToolCallView } from '../../parts/run/tool-call-view.tsx';
import { failingCall, faultyArguments } from './failing-call.ts';
import type { Issue, IssueRun } from './issue-text.ts';

/** Tool calls of an example that are read. */
const callsMax = 200;

export function Examples({ issue, runs }: { readonly issue: Issue; readonly runs: readonly IssueRun[] }) {
  return (
    <section class="stack" aria-labelledby="examples-title">
      <h2 id="examples-title">Examples</h2>
      {runs.length === 0 ? <p class="dim">The store has no run of the issue any more.</p> : null}
      <ul class="examples">
        {runs.map((run) => (
          <li key={`${run.trace_id}/${run.span_id}`} class="card stack">
            <Example issue={issue} run={run} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Opens the page of the run at the call. */
function runAddress({ tenant, trace_id: trace, span_id: span }: IssueRun, call: number | undefined): string {
  return pageAddress(`/runs/${trace}/${span}`, { tenant, call: call === undefined ? undefined : String(call + 1) });
}

function Example({ issue, run }: { readonly issue: Issue; readonly run: IssueRun }) {
  const { tenant, trace_id: trace, span_id: span, started_at: startedAt, version, input, explanation } = run;
  const found = useGet('/runs/{trace}/{span}', { path: { trace, span }, query: { tenant, list_max: callsMax } });
  const { value } = found;
  const call = value === undefined ? undefined : failingCall(value, issue);
  return (
    <>
      <h3>
        <a href={runAddress(run, call)}>Run of {timeText(startedAt)}</a>
        {version === null ? null : (
          <span class="dim small">
            {' '}
            version <bdi>{version}</bdi>
          </span>
        )}
      </h3>
      {input === null ? null : <p class="dim small">{lineText(input, 160)}</p>}
      <LongText text={explanation ?? 'The run has no verdict of this evaluator any more.'} charsMax={400} />
      {value === undefined || found.error !== undefined ? (
        <AnswerState of={found} what="the run" />
      ) : (
        <Failure run={value} issue={issue} call={call} address={runAddress(run, call)} />
      )}
    </>
  );
}

interface FailureProps {
  readonly run: Schemas['Run'];
  readonly issue: Issue;
  readonly call: number | undefined;
  readonly address: string;
}

function Failure({ run, issue, call, address }: FailureProps) {
  const { content_gone: gone, final_response: answer, tool_calls: calls, tool_definitions: tools } = run;
  const verdicts = run.verdicts.filter(({ name }) => name === issue.evaluator);
  const shown = call === undefined ? undefined : calls?.[call];
  return (
    <>
      {gone === null || gone === undefined ? null : <p class="dim">{gone.explanation}</p>}
      {shown === undefined || call === undefined ? (
        answer === null || answer === undefined || call !== undefined ? null : (
          <>
            <h4>Answer</h4>
            <LongText text={plainText(answer)} charsMax={400} />
          </>
        )
      ) : (
        <>
          <p>
            <a href={address}>
              Call {call + 1}: <bdi>{shown.name}</bdi>
            </a>
            <AtFault names={faultyArguments(verdicts, call, shown.arguments)} />
          </p>
          <ToolCallView call={shown} index={call} verdicts={verdicts} definition={tools?.find(({ name }) => name === shown.name)} />
        </>
      )}
    </>
  );
}

function AtFault({ names }: { readonly names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <>
      , {names.length === 1 ? 'argument' : 'arguments'}{' '}
      {names.map((name, at) => (
        <span key={name}>
          {at === 0 ? '' : ', '}
          <code>{name}</code>
        </span>
      ))}
    </>
  );
}
