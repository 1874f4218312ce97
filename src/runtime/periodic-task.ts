/** Repeats work with a rest between two rounds, until it is stopped. */
import type { Sleep } from '../model/clock.ts';

export interface PeriodicTaskOptions {
  /** Length of a rest; a function is called before each rest. */
  readonly everyMs: number | (() => number);
  readonly sleep: Sleep;
  /** Rests while no work is left; they may take longer. When omitted, all rests are alike. */
  readonly rest?: Sleep | undefined;
  /** Called before each rest. `true`: the next round has work. Default: it has none unless something comes. */
  readonly hasWork?: () => boolean;
  /** Begins nothing more once the signal is aborted. */
  readonly work: (shutdown: AbortSignal) => Promise<void> | void;
  /** Called when a round fails; the next round follows after the rest. */
  readonly onFault: (error: unknown) => void;
  /** Rests before the first round. */
  readonly restsFirst?: boolean;
}

export interface PeriodicTask {
  /** Ends the current rest early; between two rests, the next one. */
  wake(): void;
  /** Resolves when the running round has ended. Begins no other round. May be called twice. */
  stop(): Promise<void>;
}

export function periodicTask(options: PeriodicTaskOptions): PeriodicTask {
  const { everyMs, sleep, rest: idle = sleep, hasWork = () => false, work, onFault, restsFirst = false } = options;
  const shutdown = new AbortController();
  let resting = new AbortController();

  async function rest(): Promise<void> {
    await (hasWork() ? sleep : idle)(typeof everyMs === 'number' ? everyMs : everyMs(), resting.signal);
    resting = new AbortController();
  }

  async function round(): Promise<void> {
    try {
      await work(shutdown.signal);
    } catch (error) {
      onFault(error);
    }
  }

  async function loop(): Promise<void> {
    if (restsFirst) await rest();
    while (!shutdown.signal.aborted) {
      await round();
      if (!shutdown.signal.aborted) await rest();
    }
  }

  const running = loop();
  return {
    wake: () => resting.abort(),
    async stop() {
      shutdown.abort();
      resting.abort();
      await running;
    },
  };
}
