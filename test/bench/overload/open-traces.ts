/** The cost of open traces: CPU time of a further span when few or many are open, and memory of each span that is held. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { below, tell } from './conditions.ts';

interface Held {
  readonly held: number;
  readonly bytesPerSpan: number;
  readonly microsPerSpan: number;
  readonly wireBytesPerSpan: number;
}

/** The first is what the others are compared with. */
const counts = [100, 10_000, 100_000] as const;
const growthMax = 1.3;
const kibPerSpanMax = 2.5;
const mib = 1024 * 1024;

export interface OpenTracesBench {
  readonly passes: number;
  /** That are taken and measured while the others are held. */
  readonly measuredSpans: number;
  /** Larger numbers of open traces are left out. */
  readonly tracesMax: number;
}

export function openTracesBench({ passes, measuredSpans, tracesMax }: OpenTracesBench): boolean {
  const measured = counts.filter((traces) => traces <= tracesMax);
  // By turns, so that a busy moment meets all of them.
  const rounds = Array.from({ length: passes }, () => measured.map((traces) => hold(traces, measuredSpans)));
  const rows = measured.map((traces, at) => {
    const own = rounds.flatMap((round) => round[at] ?? []);
    return {
      traces,
      micros: Math.min(...own.map(({ microsPerSpan }) => microsPerSpan)),
      bytes: Math.min(...own.map(({ bytesPerSpan }) => bytesPerSpan)),
      wireBytes: own[0]?.wireBytesPerSpan ?? 0,
    };
  });
  const [few, ...more] = rows;
  if (few === undefined) throw new Error('there is nothing to measure');
  process.stdout.write(
    `\nCPU time of a further span, best of ${passes}: ${rows.map(({ traces, micros }) => `${traces} open ${micros.toFixed(1)} µs`).join(', ')}. A span has ${Math.round(few.wireBytes)} bytes on the wire.\n`,
  );
  return tell(
    'Open traces',
    more.flatMap(({ traces, micros, bytes }) => [
      below(`CPU time of a span, ${traces} open traces, of ${few.traces}`, growthMax, micros / few.micros, '×', 2),
      below(`growth of the resident memory for a held span, ${traces} traces`, kibPerSpanMax, bytes / 1024, 'KiB', 2),
    ]),
  );
}

function hold(traces: number, measuredSpans: number): Held {
  const heap = Math.max(512, Math.ceil((traces * 12 * 12_000) / mib));
  return JSON.parse(
    execFileSync(
      process.execPath,
      [`--max-old-space-size=${heap}`, join(import.meta.dirname, 'hold.ts'), String(traces), String(measuredSpans)],
      { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
    ),
  ) as Held;
}
