/**
 * `npm run bench:experiments`: what an experiment takes beside the agent. The same agent runs `--examples` times (default 500), four at the same
 * time: first alone against an endpoint that takes everything, then as an experiment. The last line is the difference of one example.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { commands } from '../../../src/cli/commands/index.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({
  options: { examples: { type: 'string', default: '500' }, concurrency: { type: 'string', default: '4' } },
});
const [examples, concurrency] = [Number(values.examples), Number(values.concurrency)];
const agent = join(import.meta.dirname, '../../cli/experiment/agent.ts');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-bench-'));
try {
  const alone = await timed(alonePass);
  const whole = await timed(experimentPass);
  const each = (ms: number): string => ((ms * concurrency) / examples).toFixed(1);
  console.log(
    `agent alone              ${(alone.tookMs / 1_000).toFixed(2)} s, ${each(alone.tookMs)} ms an example at ${concurrency} places`,
  );
  console.log(
    `as an experiment         ${(whole.tookMs / 1_000).toFixed(2)} s, ${each(whole.tookMs)} ms an example at ${concurrency} places`,
  );
  console.log(
    `processor time           ${((whole.cpuMs - alone.cpuMs) / examples).toFixed(1)} ms an example more than starting the agents alone`,
  );
  console.log(`overhead of an example   ${each(whole.tookMs - alone.tookMs)} ms at its place`);
} finally {
  rmSync(folder, { recursive: true });
}

interface Took {
  readonly tookMs: number;
  /** Of this process, without the agents. */
  readonly cpuMs: number;
}

async function timed(work: () => Promise<void>): Promise<Took> {
  const [start, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { tookMs: performance.now() - start, cpuMs: (user + system) / 1_000 };
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
        ...process.env,
        TRACEPARENT: `00-${traceId}-00000000000000aa-01`,
        OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      };
      await ended(spawn(process.execPath, [agent], { stdio: ['pipe', 'ignore', 'inherit'], env }), `question ${at}`);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  server.close();
}

/** In this process, so that its processor time is that of the runner alone. */
async function experimentPass(): Promise<void> {
  const dataset = join(folder, 'dataset.jsonl');
  const config = join(folder, 'tracejury.yaml');
  writeFileSync(
    dataset,
    Array.from({ length: examples }, (_, at) => `${JSON.stringify({ id: String(at), input: `question ${at}` })}\n`).join(''),
  );
  writeFileSync(config, `store: { url: 'sqlite:${join(folder, 'tracejury.db')}' }\n`);
  const words = ['experiment', 'run', '-c', config, '--dataset', dataset, '--name', 'bench', '--concurrency', String(concurrency)];
  const code = await runCommandLine({
    words: [...words, '--', process.execPath, agent],
    commands,
    version: '',
    env: process.env,
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
