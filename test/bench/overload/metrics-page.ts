/** Sums of the service's own metrics. */

export interface Page {
  /** Sum of all samples with this name and these labels. */
  sum(name: string, labels?: { readonly [label: string]: string }): number;
  /** Sums by the value of one label. */
  by(name: string, label: string): ReadonlyMap<string, number>;
}

export async function metricsPage(consoleUrl: string): Promise<Page> {
  const lines = (await (await fetch(`${consoleUrl}/metrics`, { signal: AbortSignal.timeout(30_000) })).text()).split('\n');
  const samplesOf = (name: string): readonly string[] => lines.filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `));
  return {
    sum: (name, labels = {}) =>
      samplesOf(name)
        .filter((line) => Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`)))
        .reduce((sum, line) => sum + valueOf(line), 0),
    by(name, label) {
      const sums = new Map<string, number>();
      for (const line of samplesOf(name)) {
        const value = new RegExp(`${label}="([^"]*)"`).exec(line)?.[1] ?? '';
        sums.set(value, (sums.get(value) ?? 0) + valueOf(line));
      }
      return sums;
    },
  };
}

function valueOf(line: string): number {
  return Number(line.replace(/ # .*/, '').split(' ').at(-1));
}
