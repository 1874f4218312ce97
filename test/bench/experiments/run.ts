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
import { runnerArguments } from '../../runner-arguments.ts';

const { values } = runnerArguments({
  options: { examples: { type: 'string', default: '500' }, concurrency: { type: 'string', default: '4' } },
});
const [examples, concurrency] = [Number(values.examples), Number(values.concurrency)];
const agent = join(import.meta.dirname, '../../cli/experiment/agent.ts');
const main = join(import.meta.dirname, '../../../src/cli/main.ts');
const folder = mkdtempSync(join(tmpdir(), 'tracejury-bench-'));
try {
  const alone = await timed(alonePass);
  const whole = await timed(experimentPass);
  const each = (ms: number): string => ((ms * concurrency) / examples).toFixed(1);
  console.log(`agent alone            ${(alone / 1_000).toFixed(2)} s, ${each(alone)} ms of one of ${concurrency} places`);
  console.log(`as an experiment       ${(whole / 1_000).toFixed(2)} s, ${each(whole)} ms of one of ${concurrency} places`);
  console.log(`overhead of an example ${((whole - alone) / examples).toFixed(1)} ms of the whole, ${each(whole - alone)} ms of its place`);
} finally {
  rmSync(folder, { recursive: true });
}

async function timed(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
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

async function experimentPass(): Promise<void> {
  const dataset = join(folder, 'dataset.jsonl');
  writeFileSync(
    dataset,
    Array.from({ length: examples }, (_, at) => `${JSON.stringify({ id: String(at), input: `question ${at}` })}\n`).join(''),
  );
  const words = [
    'experiment',
    'run',
    '--dataset',
    dataset,
    '--name',
    'bench',
    '--concurrency',
    String(concurrency),
    '--',
    process.execPath,
    agent,
  ];
  await ended(spawn(process.execPath, [main, ...words], { cwd: folder, stdio: ['pipe', 'ignore', 'inherit'] }), '');
}

async function ended(child: ReturnType<typeof spawn>, input: string): Promise<void> {
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve) => void child.once('exit', (status) => resolve(status)));
  if (code !== 0) throw new Error(`the command ended with ${code}`);
}
