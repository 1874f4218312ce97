/**
 * `npm run bench -- eval`: CPU time of `tracejury eval` over recorded runs in OTLP JSON lines, and beside it of agentevals
 * (`agentevals-cli` on PyPI) on the same file, by turns. The runs follow the conventions for generative AI, which both read. Without an eval
 * set agentevals reads and converts the runs and evaluates none.
 *
 *   --runs N   (1000)      --passes N   (3)      --agentevals FOLDER   a virtual environment that has it
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { runnerArguments } from '../../runner-arguments.ts';
import { spansPerTrace, workload } from '../workload.ts';

const { values } = runnerArguments({
  options: {
    runs: { type: 'string', default: '1000' },
    passes: { type: 'string', default: '3' },
    agentevals: { type: 'string' },
  },
});
const launcher = join(import.meta.dirname, '../../../bin/tracejury.cjs');
/** CPU time of ended children and theirs in /proc/self/stat, counted from the state. */
const [childUserAt, childSystemAt] = [13, 14];
const ticksPerSecond = 100;

const folder = mkdtempSync(join(tmpdir(), 'tracejury-bench-'));
try {
  const file = join(folder, 'runs.jsonl');
  const { spans, bytes } = recorded(file, Number(values.runs));
  const rows: readonly { readonly name: string; readonly command: readonly [string, ...string[]] }[] = [
    { name: 'tracejury eval', command: [process.execPath, launcher, 'eval', file] },
    ...(values.agentevals === undefined
      ? []
      : [
          {
            name: 'agentevals run',
            command: [join(values.agentevals, 'bin/agentevals'), 'run', file, '-f', 'otlp-json', '-o', 'summary'] as const,
          },
        ]),
  ];
  const seconds = new Map<string, number[]>(rows.map(({ name }) => [name, []]));
  for (let pass = 0; pass < Number(values.passes); pass++)
    for (const { name, command } of rows) seconds.get(name)?.push(await cpuSecondsOf(command));
  const [own = 0, other] = rows.map(({ name }) => median(seconds.get(name) ?? []));
  for (const { name } of rows) {
    const middle = median(seconds.get(name) ?? []);
    console.log(`${name.padEnd(16)} ${middle.toFixed(2)} s = ${((middle * 1e6) / spans).toFixed(0)} µs a span`);
  }
  if (other !== undefined) console.log(`agentevals takes ${(other / own).toFixed(1)} × the CPU time`);
  console.log(`${spans / spansPerTrace} runs, ${spans} spans, ${bytes} bytes, medians of ${values.passes} passes`);
} finally {
  rmSync(folder, { recursive: true });
}

/** Every second run of the workload follows the conventions. */
function recorded(file: string, runs: number): { readonly spans: number; readonly bytes: number } {
  const { bodies } = workload({ seed: 1, spans: runs * 2 * spansPerTrace });
  const all = bodies.flatMap((body) => readTraces(body, 'protobuf').spans);
  const traces = new Set(all.flatMap((span) => (span.attribute('gen_ai.operation.name') === undefined ? [] : [span.traceId])));
  const kept = Map.groupBy(
    all.filter(({ traceId }) => traces.has(traceId)),
    ({ traceId }) => traceId,
  );
  const lines = [...kept.values()].flatMap((spans) => [writeTraces(spans, 'json'), Buffer.from('\n')]);
  const bytes = Buffer.concat(lines);
  writeFileSync(file, bytes);
  return { spans: [...kept.values()].reduce((sum, { length }) => sum + length, 0), bytes: bytes.length };
}

/** All processes of the command. */
async function cpuSecondsOf([program, ...args]: readonly [string, ...string[]]): Promise<number> {
  const before = endedChildren();
  const [code] = await once(spawn(program, args, { stdio: 'ignore' }), 'exit');
  // Both exit with 1 for runs that fail.
  if (code !== 0 && code !== 1) throw new Error(`${program} ${args.join(' ')} ended with ${String(code)}`);
  return endedChildren() - before;
}

function endedChildren(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[childUserAt]) + Number(fields[childSystemAt])) / ticksPerSecond;
}

function median(all: readonly number[]): number {
  return all.toSorted((a, b) => a - b)[all.length >> 1] ?? 0;
}
