/**
 * `npm run bench -- start`: CPU time of `--help`, of `eval` of one run and of a service until it is ready, each beside that of `node -e 0`. The
 * first round fills the compile cache and does not count. Linux counts in hundredths of a second.
 *
 *   --rounds N   (10)      --program FILE   launcher of a package, such as node_modules/tracejury/bin/tracejury.cjs (that of this checkout)
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { runnerArguments } from '../runner-arguments.ts';
import { cpuMicrosOf } from './forward/process-cpu.ts';
import { residentMib } from './overload/process-size.ts';

const { values } = runnerArguments({
  options: {
    rounds: { type: 'string', default: '10' },
    program: { type: 'string', default: join(import.meta.dirname, '../../bin/tracejury.cjs') },
  },
});
const rounds = Number(values.rounds);
const top = join(import.meta.dirname, '../..');
const program = resolve(values.program);
const run = join(top, 'test/fixtures/recordings/js-ai-sdk-v6/sequential/request-01.binpb');
const restMs = 3_000;
/** V8 collects a heap that is at rest after eight seconds, and once more. */
const longRestMs = 15_000;
/** CPU time of ended children in /proc/self/stat, counted from the state. */
const [childUserAt, childSystemAt] = [13, 14];

interface Cost {
  readonly cpuSeconds: number;
  /** At `restMs`. */
  readonly restMib?: number;
  /** At `longRestMs`, in the last round. */
  readonly longRestMib?: number;
}

const folder = mkdtempSync(join(tmpdir(), 'tracejury-start-'));
const config = join(folder, 'tracejury.yaml');
writeFileSync(config, 'listen: { otlp_http: 127.0.0.1:0, otlp_grpc: 127.0.0.1:0, console: 127.0.0.1:0 }\n');
const starts: { readonly [name: string]: (isLast: boolean) => Promise<Cost> } = {
  'node -e 0': () => ended(['-e', '0']),
  '--help': () => ended([program, '--help']),
  'eval of one run': () => ended([program, 'eval', run]),
  ready: (isLast) => ready(isLast, ['--max-semi-space-size=4', program, 'serve', '-c', config]),
};

const costs = new Map<string, Cost[]>();
for (let round = 0; round <= rounds; round++)
  for (const [name, start] of Object.entries(starts)) {
    const cost = await start(round === rounds);
    if (round > 0) costs.set(name, [...(costs.get(name) ?? []), cost]);
  }
rmSync(folder, { recursive: true });
const base = mean(costs.get('node -e 0') ?? []);
for (const [name, all] of costs) {
  const { restMib, longRestMib } = all.at(-1) ?? {};
  const memory =
    restMib === undefined || longRestMib === undefined
      ? ''
      : `, ${Math.round(restMib)} MiB after ${restMs / 1_000} s, ${Math.round(longRestMib)} MiB after ${longRestMs / 1_000} s`;
  console.log(`${name.padEnd(16)} ${mean(all).toFixed(3)} s = ${(mean(all) / base).toFixed(1)} × node -e 0${memory}`);
}

function mean(all: readonly Cost[]): number {
  return all.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0) / all.length;
}

async function ended(args: readonly string[]): Promise<Cost> {
  const before = endedChildren();
  const child = spawn(process.execPath, args, { stdio: 'ignore', env: environment() });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${String(code)}`);
  return { cpuSeconds: endedChildren() - before };
}

async function ready(isLast: boolean, args: readonly string[]): Promise<Cost> {
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'], env: environment() });
  const ending = once(child, 'exit');
  const [said] = await once(child.stdout, 'data');
  if (!String(said).startsWith('OTLP')) throw new Error(String(said));
  const pid = child.pid ?? 0;
  const cpuSeconds = cpuMicrosOf(pid) / 1e6;
  await pause(restMs);
  const restMib = residentMib(pid);
  if (isLast) await pause(longRestMs - restMs);
  const longRestMib = isLast ? residentMib(pid) : undefined;
  child.kill('SIGTERM');
  await ending;
  return { cpuSeconds, restMib, ...(longRestMib === undefined ? {} : { longRestMib }) };
}

/** In seconds. */
function endedChildren(): number {
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[childUserAt]) + Number(fields[childSystemAt])) / 100;
}

/** Its own cache: another one may hold more or less. */
function environment(): NodeJS.ProcessEnv {
  return { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
}
