/** Time as the scoring needs it. Tests hand in a clock of their own. */

export interface ProcessTimers {
  /** Calls back once, unless the function it gives is called before. It keeps the process alive only with `keepsAlive`. */
  after(ms: number, callback: () => void, keepsAlive?: boolean): () => void;
  /** Calls back once, when the turn of the event loop that runs now has ended. It never keeps the process alive. */
  soon(callback: () => void): void;
}

export const machineTimers: ProcessTimers = {
  after(ms, callback, keepsAlive = false) {
    const timer = setTimeout(callback, Math.min(ms, 2_147_483_647));
    if (!keepsAlive) timer.unref();
    return () => clearTimeout(timer);
  },
  soon(callback) {
    setImmediate(callback).unref();
  },
};
