/** Summary of a run at one view: who worked, when, how long, what it used, the input and the answer. */
import type { ComponentChildren } from 'preact';
import type { Schemas } from '../../api/client.ts';
import { StatusChip } from '../status-chip.tsx';
import { pageAddress } from '../address.ts';
import { CopyButton } from '../copy.tsx';
import { costText, countText, timeText, unknownText } from '../format.ts';
import { plainText } from './conversation.ts';
import { LongText } from './long-text.tsx';
import { durationText, microsOf } from './times.ts';
import './run.css';

export type Run = Schemas['Run'];

export function RunFacts({ run }: { readonly run: Run }) {
  const {
    agent,
    version,
    service,
    model,
    session_id: session,
    user_id: user,
    environment,
    started_at: started,
    ended_at: ended,
    completeness,
    status,
  } = run;
  const { tokens, model_calls: modelCalls, tool_calls: toolCalls, tool_calls_left_out: leftOut = 0 } = run;
  const facts: readonly (readonly [string, ComponentChildren])[] = [
    [
      'Agent',
      <>
        <bdi>{agent ?? 'no name'}</bdi> <bdi>{version}</bdi>
      </>,
    ],
    ['Started', timeText(started)],
    ['Took', durationText(microsOf(ended) - microsOf(started))],
    ['Model', model ?? unknownText],
    ...(tokens === undefined ? [] : [['Tokens', `${countText(tokens.input)} in, ${countText(tokens.output)} out`] as const]),
    ...costFact(run),
    ...(modelCalls === undefined ? [] : [['Calls', `${modelCalls} of models, ${(toolCalls?.length ?? 0) + leftOut} of tools`] as const]),
    ...(service === null ? [] : [['Service', service] as const]),
    ...(session === null || session === ''
      ? []
      : [['Session', <a href={pageAddress(`/sessions/${encodeURIComponent(session)}`, { tenant: run.tenant })}>{session}</a>] as const]),
    ...(user === null || user === '' ? [] : [['User', <a href={pageAddress('/runs', { user, tenant: run.tenant })}>{user}</a>] as const]),
    ...(environment === null ? [] : [['Environment', environment] as const]),
    [
      'Trace',
      <>
        <code class="id" title={run.trace_id}>
          {run.trace_id}
        </code>{' '}
        <CopyButton value={run.trace_id} what="The id of the trace" />
      </>,
    ],
  ];
  return (
    <div class="row run-facts">
      <StatusChips status={status} completeness={completeness} />
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>
              <bdi>{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** Lists have the cost of a run where its price is known. */
function costFact(run: object): readonly (readonly [string, string])[] {
  const cost = 'cost_usd' in run ? run.cost_usd : undefined;
  return typeof cost === 'number' ? [['Cost', costText(cost)]] : [];
}

function StatusChips({ status, completeness }: Pick<Run, 'status' | 'completeness'>) {
  return (
    <>
      <StatusChip status={status} />
      {completeness === 'complete' ? null : (
        <span class="chip warn" title={completenessTexts[completeness]}>
          <span aria-hidden="true">!</span>
          <span>{completeness}</span>
        </span>
      )}
    </>
  );
}

const completenessTexts: { readonly [word in Run['completeness']]: string } = {
  complete: 'All that the spans announce has come.',
  partial: 'Something that the spans announce had not come when the run closed.',
  abandoned: 'No span of the agent came.',
  evicted: 'The service closed the run early to limit its memory.',
};

/** The input and the final answer. Nothing when the store has neither. */
export function InputAndAnswer({ run }: { readonly run: Run }) {
  if (run.content_gone !== null && run.content_gone !== undefined) return null;
  const { input, final_response: answer, status, error_message: message, error_type: type } = run;
  const error = [type, message].filter((text) => typeof text === 'string' && text !== '').join(': ');
  const truncated = run.truncated ?? [];
  return (
    <div class="run-texts">
      <section>
        <header class="row spread">
          <h2>Input</h2>
          {typeof input === 'string' ? <CopyButton value={input} what="The input" /> : null}
        </header>
        {input === null || input === undefined ? (
          <p class="dim">The spans carry no input.</p>
        ) : (
          <LongText text={input} charsMax={600} isCut={truncated.includes('input')} />
        )}
      </section>
      <section>
        <header class="row spread">
          <h2>Final answer</h2>
          {answer === null || answer === undefined ? null : <CopyButton value={plainText(answer)} what="The answer" />}
        </header>
        {answer === null || answer === undefined ? (
          <p class="dim">{status === 'paused' ? 'The run waits for a person or another program.' : 'The spans carry no final answer.'}</p>
        ) : (
          <LongText text={plainText(answer)} charsMax={600} isCut={truncated.includes('final_response')} />
        )}
        {error === '' ? null : (
          <div class="box failed">
            <div class="text">
              <LongText text={error} charsMax={600} />
            </div>
          </div>
        )}
      </section>
    </div>
  );
}
