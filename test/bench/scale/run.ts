/**
 * `npm run bench -- scale`: CPU time and peak memory of hard cases for the gathering, at half the size and the full one: a ratio near 2 means that
 * the cost grows with the spans, one near 4 that it grows with their square.
 *
 *   --only TEXT   scenarios whose name holds it
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { scenarios } from './scenarios.ts';
import { runnerArguments } from '../../runner-arguments.ts';

interface Measured {
  readonly spans: number;
  readonly cpuMicros: number;
  readonly stallMs: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  readonly heldBytes: number;
  readonly runs: number;
  readonly revisions: number;
}

/** Growth beyond this is not linear any more, however noisy the machine. */
const growthMax = 3;
const { values } = runnerArguments({ options: { only: { type: 'string', default: '' } } });

const mib = (bytes: number): string => (bytes / 1024 / 1024).toFixed(0);
let isQuadratic = false;
console.log('| scenario | spans | CPU s | µs/span | × from half | longest turn ms | spans MiB | heap MiB | RSS MiB | runs | revisions |');
console.log('|---|---|---|---|---|---|---|---|---|---|---|');
for (const [index, { name }] of scenarios.entries()) {
  if (!name.includes(values.only)) continue;
  const [half, full] = [measured(index, 0.5), measured(index, 1)];
  const growth = full.cpuMicros / half.cpuMicros;
  isQuadratic ||= growth > growthMax;
  const cells = [
    name,
    full.spans,
    (full.cpuMicros / 1e6).toFixed(1),
    (full.cpuMicros / full.spans).toFixed(0),
    growth.toFixed(1),
    full.stallMs.toFixed(0),
    mib(full.heldBytes),
    mib(full.heapBytes),
    mib(full.rssBytes),
    full.runs,
    full.revisions,
  ];
  console.log(`| ${cells.join(' | ')} |`);
}
process.exitCode = isQuadratic ? 1 : 0;

function measured(index: number, share: number): Measured {
  return JSON.parse(
    execFileSync(process.execPath, [join(import.meta.dirname, 'measure.ts'), String(index), String(share)], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  ) as Measured;
}
