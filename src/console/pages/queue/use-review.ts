/** The work of one person on a queue: the item on screen, what comes next, and the items that the person has answered here. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure, Schemas, SendAnswer } from '../../api/client.ts';
import { failureOf, useApi } from '../../api/use-api.ts';
import { useToast } from '../../parts/toast.tsx';

export type Item = Schemas['QueueItem'];
export type Question = Schemas['QueueQuestion'];

/** Items that ← goes back to. */
const historyMax = 100;

export interface ReviewOptions {
  readonly name: string;
  /** `undefined` when the token names the person. */
  readonly person: string | undefined;
  /** False when nothing is requested yet. */
  readonly isReady: boolean;
  /** True when an answered item stays on screen until the person goes on. */
  readonly showsAnswers: boolean;
  /** The figures of the queue have changed. */
  readonly onChange: () => void;
}

export interface Review {
  readonly item: Item | undefined;
  readonly ask: readonly Question[];
  readonly state: 'loading' | 'answering' | 'reading';
  readonly error: ApiFailure | undefined;
  readonly isSending: boolean;
  readonly hasBack: boolean;
  /** Asks for the next item. */
  readonly next: () => void;
  readonly back: () => void;
  readonly forward: () => void;
  readonly answer: (answers: readonly { readonly name: string; readonly value: string | number }[], comment: string) => void;
  readonly skip: (reason: string) => void;
  /** Gives the item back. */
  readonly release: () => void;
}

type Next = SendAnswer<'POST /queues/{name}/next'>;

interface ReviewState {
  /** Answered items, oldest first, in their state at the answer. */
  readonly answered: readonly Item[];
  /** Position in `answered`; `undefined`: the item to answer is on screen. */
  readonly at: number | undefined;
  readonly next: Next | undefined;
  readonly isLoading: boolean;
  readonly isSending: boolean;
  readonly error: ApiFailure | undefined;
}

const start: ReviewState = { answered: [], at: undefined, next: undefined, isLoading: true, isSending: false, error: undefined };

export function useReview({ name, person, isReady, showsAnswers, onChange }: ReviewOptions): Review {
  const api = useApi();
  const toast = useToast();
  const [all, setAll] = useState<ReviewState>(start);
  const [turn, setTurn] = useState(0);
  // A second key may come before the first request is drawn.
  const isBusy = useRef(false);
  const own = person === undefined ? {} : { person };

  useEffect(() => {
    if (!isReady) return undefined;
    const abort = new AbortController();
    setAll((before) => ({ ...before, isLoading: true, error: undefined }));
    api.send('POST /queues/{name}/next', { path: { name }, body: own }, abort.signal).then(
      (next) => setAll((before) => ({ ...before, next, isLoading: false })),
      (error: unknown) => {
        if (!abort.signal.aborted) setAll((before) => ({ ...before, error: failureOf(error), isLoading: false }));
      },
    );
    return () => abort.abort();
  }, [api, name, person, isReady, turn]);

  const next = useCallback(() => {
    setAll((before) => ({ ...before, at: undefined }));
    setTurn((one) => one + 1);
  }, []);

  const item = all.at === undefined ? (all.next?.item ?? undefined) : all.answered[all.at];

  function taken(answered: Item, stays: boolean): void {
    setAll((before) => {
      const kept = [...before.answered, answered].slice(-historyMax);
      return { ...before, answered: kept, at: stays ? kept.length - 1 : undefined, isSending: false };
    });
    setTurn((one) => one + 1);
    onChange();
  }

  function failed(error: unknown): void {
    const { status, message, todo } = failureOf(error);
    toast(`${message} ${todo}`, 'failed');
    setAll((before) => ({ ...before, isSending: false }));
    // Another person has it, so the next one is shown.
    if (status === 409) next();
  }

  /** Does nothing while another request is under way. */
  function sent(request: (held: { readonly item: number; readonly lease: number }) => Promise<void>): void {
    if (item?.lease === null || item?.lease === undefined || isBusy.current) return;
    isBusy.current = true;
    setAll((before) => ({ ...before, isSending: true }));
    request({ item: item.id, lease: item.lease.id })
      .catch(failed)
      .finally(() => (isBusy.current = false));
  }

  return {
    item,
    ask: all.next?.ask ?? [],
    state: all.at === undefined ? (all.isLoading ? 'loading' : 'answering') : 'reading',
    error: all.at === undefined ? all.error : undefined,
    isSending: all.isSending,
    hasBack: (all.at ?? all.answered.length) > 0,
    next,
    back: () => setAll((before) => ({ ...before, at: Math.max(0, (before.at ?? before.answered.length) - 1) })),
    forward: () =>
      setAll((before) => ({
        ...before,
        at: before.at === undefined || before.at + 1 >= before.answered.length ? undefined : before.at + 1,
      })),
    answer: (answers, comment) =>
      sent(async (held) => {
        const body = { ...held, ...own, answers, ...(comment === '' ? {} : { comment }) };
        taken(await api.send('POST /queues/{name}/answers', { path: { name }, body }), showsAnswers);
      }),
    skip: (reason) =>
      sent(async (held) => taken(await api.send('POST /queues/{name}/skip', { path: { name }, body: { ...held, ...own, reason } }), false)),
    release: () =>
      sent(async (held) => {
        await api.send('DELETE /queues/{name}/leases/{item}', {
          path: { name, item: held.item },
          query: { lease: held.lease, ...own },
        });
        setAll((before) => ({ ...before, next: undefined, isSending: false }));
        onChange();
      }),
  };
}
