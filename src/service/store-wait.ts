/** Waits for a database that is away when the service starts. */
import { JuryError } from '../model/errors.ts';
import type { Sleep } from '../model/clock.ts';
import { backoffMs } from '../runtime/retry.ts';

export interface StoreWait {
  /** Called with each cause that differs from the one before. Attempts go on when it resolves. */
  readonly onAway: (cause: JuryError) => Promise<void>;
  /** Called when an attempt succeeds after others have failed. */
  readonly onThere: () => void;
  readonly sleep: Sleep;
  readonly random: () => number;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

const rests = { firstRestMs: 500, longestRestMs: 10_000 };

/** Resolves with what `open` opens. Rejects with its error unless that is STORE_AWAY, and with STOPPING when `signal` ends the wait. */
export async function whenThere<Store>(open: () => Promise<Store>, { onAway, onThere, sleep, random, signal }: StoreWait): Promise<Store> {
  let said = '';
  for (let attempt = 1; ; attempt++) {
    try {
      const opened = await open();
      if (attempt > 1) onThere();
      return opened;
    } catch (error) {
      if (!(error instanceof JuryError) || error.code !== 'STORE_AWAY') throw error;
      if (error.message !== said) await onAway(error);
      said = error.message;
    }
    await sleep(backoffMs(attempt, { ...rests, random }), signal);
    if (signal?.aborted === true) throw new JuryError('STOPPING', 'The store was not open yet.');
  }
}
