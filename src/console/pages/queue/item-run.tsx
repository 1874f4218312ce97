/** The run of an item, and after the own answer what judges and other people say. */
import { pageAddress } from '../../parts/address.ts';
import { timeText } from '../../parts/format.ts';
import { useKeys } from '../../parts/keyboard.tsx';
import { ConversationView } from '../../parts/run/conversation-view.tsx';
import { entriesOfRun } from '../../parts/run/conversation.ts';
import { RunFacts } from '../../parts/run/run-summary.tsx';
import { VerdictChip } from '../../parts/verdict-chip.tsx';
import { worstFirst } from '../../parts/verdict.ts';
import type { Item, Question, Review } from './use-review.ts';

export function ItemRun({ item }: { readonly item: Item }) {
  const { run, why, added_by: by } = item;
  if (run === null || run === undefined) return <p>The store has lost this run. Skip it.</p>;
  const { content_gone: gone } = run;
  return (
    <div class="stack">
      <RunFacts run={run} />
      <p>
        <a href={pageAddress(`/runs/${run.trace_id}/${run.span_id}`, { tenant: run.tenant })}>Open the run</a>
      </p>
      {why === null || why === '' ? null : (
        <p class="queue-text">
          <span class="dim">Put into the queue by {by}:</span> {why}
        </p>
      )}
      {gone === null || gone === undefined ? (
        <ConversationView entries={entriesOfRun(run)} />
      ) : (
        <div class="box warning">
          <div class="text">The store has no texts of this run. {gone.explanation}</div>
        </div>
      )}
    </div>
  );
}

/** In the place of the questions, once the person has answered. */
export function Responses({ item, ask, review }: { readonly item: Item; readonly ask: readonly Question[]; readonly review: Review }) {
  const { back, forward, hasBack } = review;
  useKeys([
    { key: 'ArrowLeft', does: 'Goes to the previous answer', run: () => (hasBack ? back() : false) },
    { key: 'ArrowRight', does: 'Goes on', run: forward },
    { key: 'Enter', does: 'Goes on', run: forward },
  ]);
  const verdicts = item.run?.verdicts ?? [];
  const isAsked = (name: string): boolean => ask.some((question) => question.name === name);
  return (
    <div class="stack">
      <h2>Answered</h2>
      <dl class="facts">
        {item.responses.map(({ person, kind, at, answers, comment }) => (
          <div key={person}>
            <dt>
              {person}, {timeText(at)}
            </dt>
            <dd>{kind === 'skip' ? 'skipped' : answers.map(({ name, value }) => `${name}: ${value}`).join(', ')}</dd>
            {comment === '' ? null : <dd class="dim queue-text">{comment}</dd>}
          </div>
        ))}
      </dl>
      <h2>Verdicts</h2>
      {verdicts.length === 0 ? <p class="dim">The run has no verdict.</p> : null}
      <ul class="stack">
        {worstFirst(verdicts).map((verdict) => (
          <li key={verdict.name}>
            <VerdictChip verdict={verdict} />
            {isAsked(verdict.name) && verdict.explanation !== undefined ? <p class="queue-text small">{verdict.explanation}</p> : null}
          </li>
        ))}
      </ul>
    </div>
  );
}
