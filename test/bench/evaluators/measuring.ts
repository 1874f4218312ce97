/** CPU time of this process, all its threads, for one run of a piece of work; pieces take turns within each pass, in changing order. */

/** Synchronous work, or work that must be waited for. */
export type Work = { readonly kind: 'now'; readonly run: () => unknown } | { readonly kind: 'later'; readonly run: () => Promise<unknown> };

export interface Piece {
  readonly work: Work;
  /** Runs of one batch, found when it warmed up. */
  readonly times: number;
  /** Microseconds of one run, one figure a pass. */
  readonly micros: number[];
}

export interface Timing {
  readonly batchMs: number;
  readonly warmUpMs: number;
  readonly passes: number;
}

const timesMax = 1_000_000;

/** Warmed up, so that compiled code is measured; the batch is as many runs as fit in its time. */
export async function warmedUp(work: Work, { batchMs, warmUpMs }: Timing): Promise<Piece> {
  let times = 1;
  let took = await cpuMicros(work, times);
  for (let spent = took; spent < warmUpMs * 1_000; spent += took) {
    if (took < batchMs * 500) times = Math.min(timesMax, times * 2);
    took = await cpuMicros(work, times);
  }
  return { work, times: Math.max(1, Math.min(timesMax, Math.round((times * batchMs * 1_000) / Math.max(took, 1)))), micros: [] };
}

export async function measure(pieces: readonly Piece[], { passes }: Timing, onPass: (pass: number) => void): Promise<void> {
  for (let pass = 1; pass <= passes; pass++) {
    // Every second pass goes backwards: what runs before leaves its garbage to what runs after.
    for (const { work, times, micros } of pass % 2 === 0 ? pieces.toReversed() : pieces)
      micros.push((await cpuMicros(work, times)) / times);
    onPass(pass);
  }
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

async function cpuMicros(work: Work, times: number): Promise<number> {
  const before = process.cpuUsage();
  if (work.kind === 'now') for (let time = 0; time < times; time++) work.run();
  else for (let time = 0; time < times; time++) await work.run();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}
