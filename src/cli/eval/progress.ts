/** A bar on a terminal while runs are scored; anywhere else nothing. */
export interface ProgressStream {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  readonly show: (done: number) => void;
  /** Takes the bar away. */
  readonly end: () => void;
}

const width = 30;

export function progressBar(stream: ProgressStream, total: number): Progress {
  if (stream.isTTY !== true || total === 0) return { show() {}, end() {} };
  let drawn = '';
  return {
    show(done) {
      const filled = Math.floor((done / total) * width);
      const bar = `${'█'.repeat(filled)}${'░'.repeat(width - filled)} ${done}/${total}`;
      if (bar === drawn) return;
      drawn = bar;
      stream.write(`\r${bar}`);
    },
    end: () => stream.write('\r\u001b[K'),
  };
}
