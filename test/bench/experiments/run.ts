/**
 * `npm run bench -- experiments`: what an experiment takes beside the agent. The same agent runs `--examples` times (default 500), four at the same
 * time: first without the command against an endpoint that takes everything, then as an experiment. It waits for `--wait` milliseconds (default 1500), as agents
 * wait for their model: without that, four of them that only start keep two cores busy. The last line is the difference of one example, from the
 * start of the first agent to the last result; the work of the command before it is separate.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../../src/cli/commands/index.ts';
import { allResults } from '../../../src/model/store/experiment-store.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { openStore } from '../../../src/stores/index.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({
  options: {
    examples: { type: 'string', default: '500' },
    concurrency: { type: 'string', default: '4' },
    wait: { type: 'string', default: '1500' },
  },
});
const [examples, concurrency, waitMs] = [Number(values.examples), Number(values.concurrency), Number(values.wait)];
/** A hundredth of a second on every Linux that Node runs on. */
const tickMs = 10;
const highShare = 0.95;
const agentEnv = { ...process.env, AGENT_WAIT_MS: String(waitMs) };
const agent = join(import.meta.dirname, '../../cli/experiment/agent.ts');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-bench-'));
try {
  const alone = await timed(alonePass);
  const whole = await timed(experimentPass);
  const { agentsMs, gapsMs } = await agentsTook();
  const each = (ms: number): string => ((ms * concurrency) / examples).toFixed(1);
  console.log(
    `agent alone              ${(alone.tookMs / 1_000).toFixed(2)} s, ${each(alone.tookMs)} ms an example at ${concurrency} places`,
  );
  console.log(`as an experiment         ${(agentsMs / 1_000).toFixed(2)} s, ${each(agentsMs)} ms an example at ${concurrency} places`);
  console.log(
    `start and report         ${((whole.tookMs - agentsMs) / 1_000).toFixed(2)} s, once: configuration, evaluators and store are loaded`,
  );
  console.log(
    `processor time           ${((whole.cpuMs - alone.cpuMs) / examples).toFixed(1)} ms an example more than starting the agents alone`,
  );
  console.log(
    `of the agents            ${(alone.agentsCpuMs / examples).toFixed(1)} ms an example alone, ${(whole.agentsCpuMs / examples).toFixed(1)} ms in the experiment`,
  );
  console.log(
    `from end to next start   ${gapsMs[Math.floor(gapsMs.length / 2)]?.toFixed(1)} ms at the median, ${gapsMs[Math.floor(gapsMs.length * highShare)]?.toFixed(1)} ms at 95 of 100`,
  );
  console.log(`overhead of an example   ${each(agentsMs - alone.tookMs)} ms at its place`);
} finally {
  rmSync(folder, { recursive: true });
}

interface Took {
  readonly tookMs: number;
  /** CPU time of this process, without the agents. */
  readonly cpuMs: number;
  readonly agentsCpuMs: number;
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const [start, cpu, agents] = [performance.now(), process.cpuUsage(), endedChildrenCpuMs()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { tookMs: performance.now() - start, cpuMs: (user + system) / 1_000, agentsCpuMs: endedChildrenCpuMs() - agents };
}

/** CPU time of all child processes that have ended; only Linux has it. */
function endedChildrenCpuMs(): number {
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * tickMs;
}

async function alonePass(): Promise<void> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.setHeader('content-type', 'application/json').end('{}'));
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const queue = Array.from({ length: examples }, (_, at) => at).values();
  const worker = async (): Promise<void> => {
    for (const at of queue) {
      const traceId = (at + 1).toString(16).padStart(32, '0');
      const env = {
        ...agentEnv,
        TRACEPARENT: `00-${traceId}-00000000000000aa-01`,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      };
      await ended(spawn(process.execPath, [agent], { stdio: ['pipe', 'ignore', 'inherit'], env }), `question ${at} wait`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  server.close();
}

/** From the first start of an agent to the end of the last, and how long a place was free between two agents, as the results say. */
async function agentsTook(): Promise<{ readonly agentsMs: number; readonly gapsMs: readonly number[] }> {
  const store = await openStore({ scheme: 'sqlite', rest: join(folder, 'tracejury.db') });
  try {
    const { experiments } = store;
    const [experiment] = (await experiments.list({ limit: 1 })).experiments;
    if (experiment === undefined) throw new Error('the store has no experiment');
    const results = await allResults(experiments, experiment);
    const [starts, ends] = [results.map(({ beganAt }) => beganAt), results.map(({ endedAt }) => endedAt)];
    const [sortedStarts, sortedEnds] = [starts.toSorted((a, b) => a - b), ends.toSorted((a, b) => a - b)];
    // The start of a next agent takes the place that has been free the longest.
    const gaps = sortedStarts.slice(concurrency).map((start, at) => (start - (sortedEnds[at] ?? start)) / 1_000);
    return { agentsMs: (Math.max(...ends) - Math.min(...starts)) / 1_000, gapsMs: gaps.toSorted((a, b) => a - b) };
  } finally {
    await store.stop();
  }
}

/** Runs in this process, so that its processor time is only that of the runner. */
async function experimentPass(): Promise<void> {
  const dataset = join(folder, 'dataset.jsonl');
  const config = join(folder, 'tracejury.yaml');
  writeFileSync(
    dataset,
    Array.from({ length: examples }, (_, at) => `${JSON.stringify({ id: String(at), input: `question ${at} wait` })}\n`).join(''),
  );
  writeFileSync(config, `store: { url: 'sqlite:${join(folder, 'tracejury.db')}' }\n`);
  const words = ['experiment', 'run', '-c', config, '--dataset', dataset, '--name', 'bench', '--concurrency', String(concurrency)];
  const code = await runCommandLine({
    words: [...words, '--', process.execPath, agent],
    commands,
    version: '',
    env: agentEnv,
    say: () => undefined,
    complain: console.error,
  });
  if (code !== 0) throw new Error(`the experiment ended with ${code}`);
}

async function ended(child: ReturnType<typeof spawn>, input: string): Promise<void> {
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve) => void child.once('exit', (status) => resolve(status)));
  if (code !== 0) throw new Error(`the command ended with ${code}`);
}
