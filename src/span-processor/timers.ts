/** Time as the scoring needs it. Tests hand in a clock of their own. */

export interface ProcessTimers {
  /** Calls back once, unless the function it gives is called before. It never keeps the process alive. */
  after(ms: number, callback: () => void): () => void;
  /** Calls back once, when the turn of the event loop that runs now has ended. It never keeps the process alive. */
  soon(callback: () => void): void;
}

export const machineTimers: ProcessTimers = {
  after(ms, callback) {
    const timer = setTimeout(callback, Math.min(ms, 2_147_483_647));
    timer.unref();
    return () => clearTimeout(timer);
  },
  soon(callback) {
    setImmediate(callback).unref();
  },
};
