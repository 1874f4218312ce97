/** Time-outs of an experiment. Tests hand in timers of their own. */
export interface Timers {
  /** Calls back once after so many milliseconds, unless the function it gives is called before. */
  after(ms: number, callback: () => void): () => void;
}

export const machineTimers: Timers = {
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    return () => clearTimeout(timer);
  },
};

/** Given in place of a result that came too late. */
export const outOfTime: unique symbol = Symbol('out of time');

/** The result of the work, or `outOfTime` when it takes longer; the work is told by its signal and its late result is dropped. */
export async function withinTime<Result>(
  work: (signal: AbortSignal) => Promise<Result>,
  ms: number,
  timers: Timers,
): Promise<Result | typeof outOfTime> {
  const abort = new AbortController();
  const working = work(abort.signal);
  return await new Promise((resolve, reject) => {
    const cancel = timers.after(ms, () => {
      abort.abort();
      resolve(outOfTime);
    });
    void working.then(resolve, reject).finally(cancel);
  });
}
