/** Lets a number of pieces of work run at the same time. */

/** Lends the slot while `wait` runs, and takes one again before it returns. */
export type Lend = <T>(wait: () => Promise<T>) => Promise<T>;

/** Runs `wait` directly, for work without a slot. */
export const lendNothing: Lend = (wait) => wait();

export interface ConcurrencyLimiterOptions {
  /** Number of slots, read at each admission. */
  readonly concurrency: () => number;
  /** Work that may wait; more is rejected. */
  readonly waitingMax: number;
}

export interface ConcurrencyLimiter {
  /** `undefined` when the work is rejected, because too much waits or the limiter is closed. */
  run<T>(work: (lend: Lend) => Promise<T>): Promise<T | undefined>;
  /** Rejects what waits and what comes. Work that has begun goes on, and takes its slot again without waiting. */
  close(): void;
}

export function concurrencyLimiter({ concurrency, waitingMax }: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const waiting: ((isAdmitted: boolean) => void)[] = [];
  /** Work that lent its slot. It goes first, because it has begun. */
  const returning: ((isAdmitted: boolean) => void)[] = [];
  let used = 0;
  let isClosed = false;

  function admit(): void {
    while (used < concurrency()) {
      const next = returning.shift() ?? waiting.shift();
      if (next === undefined) return;
      used++;
      next(true);
    }
  }

  function release(): void {
    used--;
    admit();
  }

  /** Takes a free slot synchronously, so that the work begins before `run` returns. */
  function taken(): boolean {
    if (used >= concurrency() || returning.length + waiting.length > 0) return false;
    used++;
    return true;
  }

  async function granted(queue: ((isAdmitted: boolean) => void)[]): Promise<boolean> {
    const admitted = new Promise<boolean>((resolve) => queue.push(resolve));
    admit();
    return await admitted;
  }

  const lend: Lend = async (wait) => {
    release();
    try {
      return await wait();
    } finally {
      if (isClosed) used++;
      else if (!taken()) await granted(returning);
    }
  };

  return {
    async run(work) {
      if (isClosed) return undefined;
      if (!taken()) {
        if (used >= concurrency() && waiting.length >= waitingMax) return undefined;
        if (!(await granted(waiting))) return undefined;
      }
      try {
        return await work(lend);
      } finally {
        release();
      }
    },
    close() {
      isClosed = true;
      for (const reject of waiting.splice(0)) reject(false);
      for (const admitted of returning.splice(0)) {
        used++;
        admitted(true);
      }
    },
  };
}
