/** What open traces cost: CPU time of a further span when few or many are open, and memory of each span that is held. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { below, tell } from './conditions.ts';

interface Held {
  readonly held: number;
  readonly bytesPerSpan: number;
  readonly microsPerSpan: number;
  readonly wireBytesPerSpan: number;
}

const counts = [100, 10_000, 100_000] as const;
const growthMax = 1.3;
const kibPerSpanMax = 2.5;
const mib = 1024 * 1024;

export function openTracesBench({ passes, measuredSpans }: { readonly passes: number; readonly measuredSpans: number }): boolean {
  // By turns, so that a busy moment meets all of them.
  const rounds = Array.from({ length: passes }, () => counts.map((traces) => hold(traces, measuredSpans)));
  const best = counts.map((_, at) => Math.min(...rounds.map((round) => round[at]?.microsPerSpan ?? Infinity)));
  const large = rounds.map((round) => round[1]).filter((one) => one !== undefined);
  const [few = 1, some = 1, many = 1] = best;
  const bytes = Math.min(...large.map(({ bytesPerSpan }) => bytesPerSpan));
  process.stdout.write(`\nCPU time of a further span, best of ${passes}: ${counts.map((traces, at) => `${traces} open ${(best[at] ?? 0).toFixed(1)} µs`).join(', ')}. A span has ${Math.round(large[0]?.wireBytesPerSpan ?? 0)} bytes on the wire.\n`);
  return tell('Open traces', [
    below('CPU time of a span, 10 000 open traces, of 100', growthMax, some / few, '×', 2),
    below('CPU time of a span, 100 000 open traces, of 100', growthMax, many / few, '×', 2),
    below(`growth of the resident memory for a held span, ${counts[1]} traces`, kibPerSpanMax, bytes / 1024, 'KiB', 2),
  ]);
}

function hold(traces: number, measuredSpans: number): Held {
  const heap = Math.max(512, Math.ceil((traces * 12 * 12_000) / mib));
  return JSON.parse(execFileSync(process.execPath, [`--max-old-space-size=${heap}`, join(import.meta.dirname, 'hold.ts'), String(traces), String(measuredSpans)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })) as Held;
}
