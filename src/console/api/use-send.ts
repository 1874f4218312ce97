/** Hook that sends changes for a component: what failed stands until the next attempt. */
import { useCallback, useState } from 'preact/hooks';
import type { ApiFailure } from './client.ts';
import { failureOf } from './use-api.ts';

export interface Sending {
  /** True while a change is in progress. */
  readonly isSending: boolean;
  readonly error: ApiFailure | undefined;
  /** Does the work; any error of it becomes `error`. Resolves with whether it succeeded. */
  readonly send: (work: () => Promise<void>) => Promise<boolean>;
}

export function useSend(): Sending {
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<ApiFailure>();
  const send = useCallback(async (work: () => Promise<void>): Promise<boolean> => {
    setSending(true);
    setError(undefined);
    const failure = await work().then(() => undefined, failureOf);
    setError(failure);
    setSending(false);
    return failure === undefined;
  }, []);
  return { isSending, error, send };
}
