/** The state of an answer of the API: that it is being loaded, or the fault and another try. Renders nothing once it is there. */
import type { Loaded, LoadedList } from '../api/use-api.ts';
import { ErrorBox } from './error-box.tsx';
import { Loading } from './page-frame.tsx';

export interface AnswerStateProps {
  readonly of: Loaded<unknown> | Pick<LoadedList<unknown>, 'rows' | 'isLoading' | 'error' | 'reload'>;
  /** Noun, as in "the runs". */
  readonly what: string;
}

export function AnswerState({ of, what }: AnswerStateProps) {
  const { error, isLoading, reload } = of;
  const isThere = 'rows' in of ? of.rows.length > 0 : of.value !== undefined;
  return (
    <>
      {error === undefined ? null : <ErrorBox error={error} onRetry={reload} />}
      {isLoading && !isThere ? <Loading what={what} /> : null}
    </>
  );
}
