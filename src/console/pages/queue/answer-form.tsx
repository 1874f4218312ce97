/** The questions of a queue. Keys 1 to 9 answer one after the other, Enter sends, C comments, S skips. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Dialog } from '../../parts/dialog.tsx';
import { timeText } from '../../parts/format.ts';
import { useKeys } from '../../parts/keyboard.tsx';
import {
  answersOf,
  type AskedQuestion,
  choicesOf,
  type Draft,
  emptyDraft,
  missingAnswers,
  withKey,
  withValue,
} from '../../parts/queue/draft.ts';
import type { Item, Question, Review } from './use-review.ts';

const commentCharsMax = 4_000;

export interface AnswerFormProps {
  readonly item: Item;
  readonly ask: readonly Question[];
  readonly review: Review;
}

export function AnswerForm({ item, ask, review }: AnswerFormProps) {
  const [draft, setShown] = useState<Draft>(emptyDraft);
  // Enter may come before the choice is drawn.
  const latest = useRef(draft);
  const setDraft = (change: (before: Draft) => Draft): void => {
    latest.current = change(latest.current);
    setShown(latest.current);
  };
  const [isSkipping, setIsSkipping] = useState(false);
  const [isTried, setIsTried] = useState(false);
  const comment = useRef<HTMLTextAreaElement>(null);
  const missing = missingAnswers(ask, draft);
  const send = (): void => {
    const given = latest.current;
    if (missingAnswers(ask, given).length > 0) return setIsTried(true);
    review.answer(answersOf(ask, given), given.comment.trim());
  };
  const mostChoices = Math.max(0, ...ask.map((question) => choicesOf(question).length));
  useKeys([
    ...Array.from({ length: mostChoices }, (_, at) => ({
      key: String(at + 1),
      does: at === 0 ? 'Chooses the first answer of the current question' : `Chooses answer ${at + 1}`,
      run: () => setDraft((before) => withKey(ask, before, String(at + 1))),
    })),
    { key: 'Enter', does: 'Sends the answers', run: send },
    { key: 'c', does: 'Goes to the comment', run: () => comment.current?.focus() },
    { key: 's', does: 'Skips the run with a reason', run: () => setIsSkipping(true) },
    { key: 'ArrowLeft', does: 'Goes to the previous answer', run: () => (review.hasBack ? review.back() : false) },
  ]);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {ask.map((question, at) => (
        <QuestionField
          key={question.name}
          question={question}
          isCurrent={at === draft.at}
          value={draft.values[question.name]}
          isMissing={isTried && missing.includes(question.name)}
          onValue={(value) => setDraft((before) => withValue(ask, before, { name: question.name, value }))}
        />
      ))}
      <div class="stack">
        <label htmlFor="queue-comment">
          Comment (<kbd>c</kbd>)
        </label>
        <textarea
          dir="auto"
          id="queue-comment"
          ref={comment}
          rows={3}
          maxLength={commentCharsMax}
          value={draft.comment}
          onInput={({ currentTarget }) => setDraft((before) => ({ ...before, comment: currentTarget.value }))}
          onKeyDown={leavesOnEscape}
        />
      </div>
      <div class="row">
        <button type="submit" class="primary" disabled={review.isSending}>
          Send (Enter)
        </button>
        <button type="button" onClick={() => setIsSkipping(true)} disabled={review.isSending}>
          Skip (s)
        </button>
        <button type="button" class="plain" onClick={review.release} disabled={review.isSending}>
          Release
        </button>
      </div>
      {item.lease === null ? null : <p class="dim small">Kept for you until {timeText(item.lease.until)}.</p>}
      <SkipDialog isOpen={isSkipping} onClose={() => setIsSkipping(false)} onSkip={review.skip} />
    </form>
  );
}

interface QuestionFieldProps {
  readonly question: AskedQuestion;
  readonly isCurrent: boolean;
  readonly value: string | number | undefined;
  readonly isMissing: boolean;
  readonly onValue: (value: string | number | undefined) => void;
}

function QuestionField({ question, isCurrent, value, isMissing, onValue }: QuestionFieldProps) {
  const { name, kind, min, max } = question;
  const choices = choicesOf(question);
  return (
    <fieldset class={isCurrent && choices.length > 0 ? 'current' : undefined}>
      <legend>
        {name}
        {kind === 'evaluator' ? <span class="dim"> should be</span> : null}
        {kind === 'score' ? (
          <span class="dim">
            {' '}
            from {min} to {max}
          </span>
        ) : null}
        {kind === 'text' ? <span class="dim"> (may be left out)</span> : null}
      </legend>
      {choices.length > 0 ? (
        <div class="row">
          {choices.map((choice, at) => (
            <button key={choice} type="button" aria-pressed={value === choice} onClick={() => onValue(choice)}>
              <kbd>{at + 1}</kbd> {choice}
            </button>
          ))}
        </div>
      ) : kind === 'score' ? (
        <input
          type="number"
          aria-label={name}
          min={min ?? undefined}
          max={max ?? undefined}
          step="any"
          value={value ?? ''}
          onInput={({ currentTarget }) => onValue(currentTarget.value === '' ? undefined : currentTarget.valueAsNumber)}
        />
      ) : (
        <textarea
          dir="auto"
          aria-label={name}
          rows={2}
          maxLength={commentCharsMax}
          value={value ?? ''}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
          onKeyDown={leavesOnEscape}
        />
      )}
      {isMissing ? <p role="alert">Choose an answer.</p> : null}
    </fieldset>
  );
}

/** Keys of the page work again when no field has the focus. */
function leavesOnEscape(event: KeyboardEvent): void {
  if (event.key === 'Escape' && event.currentTarget instanceof HTMLElement) event.currentTarget.blur();
}

interface SkipDialogProps {
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onSkip: (reason: string) => void;
}

function SkipDialog({ isOpen, onClose, onSkip }: SkipDialogProps) {
  return (
    <Dialog title="Skip this run" isOpen={isOpen} onClose={onClose}>
      <SkipForm
        onSkip={(reason) => {
          onClose();
          onSkip(reason);
        }}
      />
    </Dialog>
  );
}

function SkipForm({ onSkip }: { readonly onSkip: (reason: string) => void }) {
  const [reason, setReason] = useState('');
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // The dialog gives the focus to its first button when it opens.
    const frame = requestAnimationFrame(() => field.current?.focus());
    return () => cancelAnimationFrame(frame);
  }, []);
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        if (reason.trim() !== '') onSkip(reason.trim());
      }}
    >
      <label htmlFor="queue-reason">Why nobody can tell from this run</label>
      <input
        id="queue-reason"
        ref={field}
        type="text"
        required
        maxLength={commentCharsMax}
        value={reason}
        onInput={({ currentTarget }) => setReason(currentTarget.value)}
      />
      <button type="submit" class="primary">
        Skip
      </button>
    </form>
  );
}
