/** A progress bar for a terminal. */

interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

interface Progress {
  readonly show: (done: number) => void;
  /** Removes the bar. */
  readonly end: () => void;
}

const width = 30;

/** Estimates the time left. Work from before counts as done, but not for the pace. */
interface Pace {
  readonly nowMs: () => number;
  readonly before: number;
}

/** Shows a bar on a terminal, and nothing elsewhere. Given a pace, it shows the time left. */
export function progressBar(stream: ProgressStream, total: number, pace?: Pace): Progress {
  if (stream.isTTY !== true || total === 0) return { show() {}, end() {} };
  const startMs = pace?.nowMs() ?? 0;
  let drawn = '';
  return {
    show(done) {
      const filled = Math.floor((done / total) * width);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${total}${pace === undefined ? '' : timeLeft(done, total, pace, startMs)}`;
      if (bar === drawn) return;
      drawn = bar;
      stream.write(pace === undefined ? `\r${bar}` : `\r${bar}\u001b[K`);
    },
    end: () => stream.write('\r\u001b[K'),
  };
}

function timeLeft(done: number, total: number, { nowMs, before }: Pace, startMs: number): string {
  if (done <= before || done >= total) return '';
  const seconds = Math.ceil((((nowMs() - startMs) / (done - before)) * (total - done)) / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  const [hours = 0, minutes = 0, rest = 0] = parts;
  const text = hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min ${rest} s` : `${rest} s`;
  return `, about ${text} left`;
}
