/** Work, a rest, and the same work again, until it is stopped. */
import type { Sleep } from '../model/clock.ts';

export interface RepeatingOptions {
  /** Length of a rest. */
  readonly everyMs: number;
  readonly sleep: Sleep;
  /** Does not begin anything more once the signal is aborted. */
  readonly work: (ended: AbortSignal) => Promise<void>;
  /** Told when the work fails; it is tried again after the rest. */
  readonly onFault: (error: unknown) => void;
}

export interface Repeating {
  /** Resolves when the work under way has ended. May be called twice. */
  stop(): Promise<void>;
}

export function repeating({ everyMs, sleep, work, onFault }: RepeatingOptions): Repeating {
  const ended = new AbortController();

  async function loop(): Promise<void> {
    while (!ended.signal.aborted) {
      await work(ended.signal).catch(onFault);
      await sleep(everyMs, ended.signal);
    }
  }

  const working = loop();
  return {
    async stop() {
      ended.abort();
      await working;
    },
  };
}
