/**
 * `npm run bench -- replay`: a replay of stored runs under another threshold and one new rule, beside a service on the same file. Runs a second,
 * resident memory at its most, and how long the service takes to answer while nothing, a dry replay or a writing one is in progress.
 *
 *   --runs N (100000)   --rate SPANS (500) a second that the service gets   --seconds N (20) without a replay
 */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request, Agent } from 'node:http';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { configFrom } from '../../builders/stored-runs.ts';
import { runnerArguments } from '../../runner-arguments.ts';
import { quantile } from '../overload/conditions.ts';
import { freshBodies } from '../overload/fresh-bodies.ts';
import { templateSpans } from '../overload/bed.ts';
import { measured } from '../server.ts';
import { filledStore } from './filled-store.ts';

const { values } = runnerArguments({
  options: {
    runs: { type: 'string', default: '100000' },
    rate: { type: 'string', default: '500' },
    seconds: { type: 'string', default: '20' },
  },
});
const [runs, rate, seconds] = [Number(values.runs), Number(values.rate), Number(values.seconds)];
const main = join(import.meta.dirname, '../../../src/cli/main.ts');
const dayMicros = 86_400_000_000;
const before = 'defaults, { use: tool_error, name: calls, threshold: 1 }';
const after = 'defaults, { use: tool_error, name: calls, threshold: 0.5 }, final_response_present';

interface Replay {
  readonly seconds: number;
  /** CPU time of all its threads. */
  readonly cpuSeconds: number;
  readonly looked: number;
  readonly residentMib: number;
  readonly flips: number;
}

const folder = mkdtempSync(join(tmpdir(), 'tracejury-replay-bench-'));
try {
  const at = `store: { url: "sqlite:${join(folder, 'tracejury.db')}", keep: { runs: 3650d, content: 3650d } }\njournal: { url: "disk:${join(folder, 'journal')}" }\nlisten: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\n`;
  const [old, next] = [join(folder, 'old.yaml'), join(folder, 'new.yaml')];
  writeFileSync(old, `evaluators: [ ${before} ]\n${at}`);
  writeFileSync(next, `evaluators: [ ${after} ]\n${at}`);
  const store = await sqliteStore(join(folder, 'tracejury.db'));
  const stored = await filledStore(store, configFrom(`evaluators: [ ${before} ]`), { runs, before: Date.now() * 1_000 - dayMicros });
  await store.stop();
  console.log(`${stored} runs are stored; the load of the machine is ${load()}`);
  const service = await measured('../../src/cli/main.ts', ['serve', '-c', old], { lastLine: /^Evaluators/m, asStarted: true });
  const agents = steadyAgents(service.otlpUrl);
  try {
    await pause(5_000);
    agents.take();
    await pause(seconds * 1_000);
    console.log('| replay | runs a second | s | CPU ms a run | RSS MiB | flips | answers | p50 ms | p99 ms | max ms | load |');
    console.log('|---|---|---|---|---|---|---|---|---|---|---|');
    row('none', undefined, agents.take());
    for (const [name, words] of [
      ['dry', []],
      ['--write', ['--write']],
      ['--write --rate 200, of 4,000 runs', ['--write', '--rate', '200', '--limit', '4000', '--anew']],
    ] as const) {
      const done = await replayed([...words, '-c', next, '--until', '12h']);
      row(name, done, agents.take());
    }
  } finally {
    await agents.stop();
    await service.stop();
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function row(name: string, done: Replay | undefined, latenciesMs: readonly number[]): void {
  const told =
    done === undefined
      ? ['–', '–', '–', '–']
      : [
          (done.looked / done.seconds).toFixed(0),
          done.seconds.toFixed(0),
          ((done.cpuSeconds / done.looked) * 1_000).toFixed(2),
          done.residentMib.toFixed(0),
          String(done.flips),
        ];
  const answers = [0.5, 0.99, 1].map((share) => quantile(latenciesMs, share).toFixed(1));
  console.log(`| ${[name, ...told, latenciesMs.length, ...answers, load()].join(' | ')} |`);
}

function load(): string {
  return loadavg()[0]?.toFixed(1) ?? '';
}

async function replayed(words: readonly string[]): Promise<Replay> {
  const startMs = performance.now();
  const child = fork(main, ['replay', '--format', 'json', ...words], { silent: true });
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => void (said += chunk.toString()));
  child.stderr?.pipe(process.stderr);
  let [residentMib, cpuSeconds] = [0, 0];
  const looking = setInterval(() => {
    residentMib = Math.max(residentMib, peakMib(child));
    cpuSeconds = Math.max(cpuSeconds, cpuOf(child));
  }, 100);
  const [code] = await once(child, 'exit');
  clearInterval(looking);
  if (code !== 0) throw new Error(`the replay ended with ${code}: ${said}`);
  const report = JSON.parse(said) as { runs: number; evaluators: readonly { verdicts: { to_pass: number; to_fail: number } }[] };
  const flips = report.evaluators.reduce((sum, { verdicts }) => sum + verdicts.to_pass + verdicts.to_fail, 0);
  return { seconds: (performance.now() - startMs) / 1_000, cpuSeconds, looked: report.runs, residentMib, flips };
}

/** User and system time, in hundredths of a second on Linux. */
function cpuOf({ pid }: ChildProcess): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

/** `VmHWM`: the most that was resident. */
function peakMib({ pid }: ChildProcess): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;
  } catch {
    return 0;
  }
}

/** Sends spans at the rate, and notes how long each answer takes. */
function steadyAgents(url: string): { take(): readonly number[]; stop(): Promise<void> } {
  const bodies = freshBodies({ seed: 5, spans: templateSpans, sender: 1 });
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  let latenciesMs: number[] = [];
  let stopped = false;
  const send = (body: Buffer): Promise<void> =>
    new Promise((resolve) => {
      const startMs = performance.now();
      const ended = (): void => {
        latenciesMs.push(performance.now() - startMs);
        resolve();
      };
      const headers = { 'content-type': 'application/x-protobuf', 'content-length': body.length };
      const out = request(`${url}/v1/traces`, { method: 'POST', agent, headers }, (response) => response.resume().once('end', ended));
      out.once('error', () => resolve());
      out.end(body);
    });
  const working = (async () => {
    const startMs = performance.now();
    const underWay = new Set<Promise<void>>();
    for (let spans = 0; !stopped; await pause(5))
      while (spans < ((performance.now() - startMs) / 1_000) * rate) {
        const next = bodies.next();
        const one = send(next.body).finally(() => underWay.delete(one));
        underWay.add(one);
        spans += next.spans;
      }
    await Promise.all(underWay);
  })();
  return {
    take() {
      const taken = latenciesMs;
      latenciesMs = [];
      return taken;
    },
    async stop() {
      stopped = true;
      await working;
      agent.destroy();
    },
  };
}
