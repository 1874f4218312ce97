/** One queue: one run at a time, what to answer, and how far people agree. Keys do everything. */
import { AnswerState } from '../../parts/answer-state.tsx';
import { useState } from 'preact/hooks';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading, PageFrame } from '../../parts/page-frame.tsx';
import type { PageProps } from '../../parts/page-path.ts';
import { useMay, useSession } from '../../parts/session.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { Agreement } from './agreement.tsx';
import { AnswerForm } from './answer-form.tsx';
import { ItemRun, Responses } from './item-run.tsx';
import { useReview } from './use-review.ts';
import './queue.css';

/** Other people answer meanwhile. */
const everyMs = 15_000;

export function QueuePage({ params }: PageProps) {
  const name = params['name'] ?? '';
  const figures = useGet('/queues/{name}', { path: { name } }, { everyMs });
  return (
    <PageFrame title={`Queue ${name}`} actions={figures.value === undefined ? null : <Progress queue={figures.value} />}>
      <AnswerState of={figures} what="the queue" />
      {figures.value === undefined ? null : <Review name={name} queue={figures.value} onChange={figures.reload} />}
    </PageFrame>
  );
}

function Progress({ queue: { open, leased, done, skipped, expired } }: { readonly queue: Schemas['QueueFigures'] }) {
  const closed = done + skipped + expired;
  return (
    <>
      <progress class="queue-progress" max={Math.max(1, open + closed)} value={closed} aria-label="Closed items" />
      <span class="small">
        {open} open{leased === 0 ? '' : `, ${leased} held`}, {done} done{skipped === 0 ? '' : `, ${skipped} skipped`}
        {expired === 0 ? '' : `, ${expired} expired`}
      </span>
    </>
  );
}

function Review({
  name,
  queue,
  onChange,
}: {
  readonly name: string;
  readonly queue: Schemas['QueueFigures'];
  readonly onChange: () => void;
}) {
  const { query, change } = useAddress();
  const person = usePerson();
  const showsAnswers = query['reveal'] !== 'off';
  const mayAnswer = useMay('annotate');
  const review = useReview({ name, person: person.named, isReady: person.isKnown && mayAnswer, showsAnswers, onChange });
  if (!mayAnswer) return <p>Sign in with a token that may annotate to answer.</p>;
  if (!person.isKnown) return <PersonForm onName={(who) => change({ person: who })} />;
  return (
    <>
      <div class="row spread">
        <label class="row">
          <input
            type="checkbox"
            checked={showsAnswers}
            onChange={({ currentTarget }) => change({ reveal: currentTarget.checked ? undefined : 'off' }, { replace: true })}
          />
          Show judges and other people after each answer
        </label>
        {person.named === undefined ? null : (
          <span class="small">
            You answer as {person.named}.{' '}
            <button type="button" class="plain" onClick={() => change({ person: undefined })}>
              Change
            </button>
          </span>
        )}
      </div>
      <Shown review={review} />
      <Agreement queue={queue} />
    </>
  );
}

function Shown({ review }: { readonly review: ReturnType<typeof useReview> }) {
  const { item, ask, state, error } = review;
  if (error !== undefined) return <ErrorBox error={error} onRetry={review.next} />;
  if (state === 'loading') return <Loading what="the next run" />;
  if (item === undefined)
    return (
      <EmptyState title="No run waits for you">
        <p>You have answered all that is open, or other people hold the rest.</p>
        <button type="button" onClick={review.next}>
          Ask again
        </button>
      </EmptyState>
    );
  return (
    <div class="queue-item">
      <ItemRun item={item} />
      <div class="queue-answers stack">
        {state === 'answering' ? (
          <AnswerForm key={item.id} item={item} ask={ask} review={review} />
        ) : (
          <Responses item={item} ask={ask} review={review} />
        )}
        <div class="row">
          <button type="button" onClick={review.back} disabled={!review.hasBack}>
            ← Previous
          </button>
          {state === 'answering' ? null : (
            <button type="button" class="primary" onClick={review.forward}>
              Next →
            </button>
          )}
        </div>
      </div>
    </div>
  );
}

/** The session knows the person, or the address has the name. */
function usePerson(): { readonly named: string | undefined; readonly isKnown: boolean } {
  const { query } = useAddress();
  const { value } = useSession();
  if (value === undefined) return { named: undefined, isKnown: false };
  return value.name === null ? { named: query['person'], isKnown: query['person'] !== undefined } : { named: undefined, isKnown: true };
}

function PersonForm({ onName }: { readonly onName: (name: string) => void }) {
  const [text, setText] = useState('');
  return (
    <form
      class="row"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') onName(text.trim());
      }}
    >
      <label htmlFor="queue-person">Your name, under which your answers are kept</label>
      <input
        id="queue-person"
        type="text"
        required
        maxLength={200}
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <button type="submit" class="primary">
        Start
      </button>
    </form>
  );
}
