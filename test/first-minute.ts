/**
 * The first minute of a user: `npm start`, one batch of spans, the scores on the metrics page, a signal, an orderly end.
 * Uses the default addresses, as the README does, unless one of them is taken. The last line is `N passed, M failed`.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type IncomingHttpHeaders } from 'node:http2';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

interface Ports {
  readonly otlpHttp: number;
  readonly otlpGrpc: number;
  readonly console: number;
}

interface Probe {
  readonly name: string;
  readonly holds: () => Promise<boolean>;
}

const defaults: Ports = { otlpHttp: 4318, otlpGrpc: 4317, console: 4380 };
const startWithinMs = 30_000;
/** The default `closing` waits less than six seconds before a run is scored. */
const scoreWithinMs = 20_000;
const stopWithinMs = 10_000;
const pauseMs = 100;

const agent = 'first-minute-agent';
const traceId = 'f1257c0ffee0000000000000000000a1';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-first-minute-'));
const { ports, args } = await addresses();
const service = spawn('npm', ['start', ...args], { stdio: ['ignore', 'inherit', 'pipe'], detached: true });
let warned = false;
service.stderr.on('data', (chunk: Buffer) => {
  process.stderr.write(chunk);
  warned ||= /^\(node:\d+\) .*Warning/m.test(chunk.toString());
});
let passed = 0;
let failed = 0;
for (const { name, holds } of probes()) {
  const startedMs = performance.now();
  const ok = await holds().catch((error: unknown) => {
    say(String(error));
    return false;
  });
  if (ok) passed++;
  else failed++;
  say(`${ok ? 'ok    ' : 'FAILED'}  ${name} (${Math.round(performance.now() - startedMs)} ms)`);
}
if (isRunning()) endGroup(service);
rmSync(folder, { recursive: true });
say(`${passed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

function probes(): readonly Probe[] {
  const otlp = `http://127.0.0.1:${ports.otlpHttp}`;
  const page = `http://127.0.0.1:${ports.console}`;
  return [
    { name: 'it becomes ready', holds: () => within(startWithinMs, async () => (await status(`${page}/readyz`)) === 200) },
    { name: 'its console opens in a browser', holds: async () => (await text(`${page}/`)).includes('/assets/') },
    { name: 'it answers that it lives', holds: async () => (await status(`${page}/livez`)) === 200 },
    {
      name: 'it accepts a run of an agent as OTLP',
      holds: async () => (await status(`${otlp}/v1/traces`, post(JSON.stringify(spans())))) === 200,
    },
    {
      name: 'it refuses what is not OTLP with 400',
      holds: async () => (await status(`${otlp}/v1/traces`, post('{ "resourceSpans": 7'))) === 400,
    },
    { name: 'it accepts OTLP over gRPC', holds: async () => (await grpcStatus(`http://127.0.0.1:${ports.otlpGrpc}`)) === '0' },
    {
      name: 'the run is counted under its agent',
      holds: () => within(scoreWithinMs, async () => isCounted(await text(`${page}/metrics`), 'tracejury_runs')),
    },
    {
      name: 'its verdicts are counted',
      holds: () => within(scoreWithinMs, async () => isCounted(await text(`${page}/metrics`), 'tracejury_evaluation_results')),
    },
    { name: 'Node warns of nothing', holds: async () => !warned },
    { name: 'SIGTERM to npm start ends it with exit code 0', holds: stops },
    { name: 'nothing listens afterwards', holds: () => areFree([ports.otlpHttp, ports.otlpGrpc, ports.console]) },
  ];
}

async function stops(): Promise<boolean> {
  service.kill('SIGTERM');
  const endMs = performance.now() + stopWithinMs;
  while (performance.now() < endMs && isRunning()) await pause(pauseMs);
  if (service.exitCode !== 0) say(isRunning() ? 'it is still running' : `it ended with ${service.exitCode ?? service.signalCode}`);
  return service.exitCode === 0;
}

/** One agent that calls one tool with arguments that its definition allows. */
function spans(): object {
  const endNano = BigInt(Date.now()) * 1_000_000n;
  const span = (spanId: string, name: string, attributes: object, parentSpanId?: string): object => ({
    traceId,
    spanId,
    parentSpanId,
    name,
    kind: 1,
    startTimeUnixNano: String(endNano - 1_000_000_000n),
    endTimeUnixNano: String(endNano),
    attributes: Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: String(value) } })),
  });
  const root = span('a000000000000001', `invoke_agent ${agent}`, { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': agent });
  const tool = span(
    'a000000000000002',
    'execute_tool get_weather',
    {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'get_weather',
      'gen_ai.tool.call.arguments': '{"city":"Oslo"}',
      'gen_ai.tool.call.result': '{"celsius":4}',
    },
    'a000000000000001',
  );
  return {
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'first-minute' } }] },
        scopeSpans: [{ scope: { name: 'first-minute' }, spans: [root, tool] }],
      },
    ],
  };
}

function isCounted(metricsPage: string, metric: string): boolean {
  return metricsPage.split('\n').some((line) => line.startsWith(metric) && line.includes(`"${agent}"`) && !/ 0(\.0)?$/.test(line));
}

async function addresses(): Promise<{ readonly ports: Ports; readonly args: readonly string[] }> {
  if (await areFree(Object.values(defaults) as readonly number[])) return { ports: defaults, args: [] };
  const [otlpHttp, otlpGrpc, console] = await Promise.all([freePort(), freePort(), freePort()]);
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(file, `listen: { otlp_http: 127.0.0.1:${otlpHttp}, otlp_grpc: 127.0.0.1:${otlpGrpc}, console: 127.0.0.1:${console} }\n`);
  say(`A default address is taken, so this runs on ${otlpHttp}, ${otlpGrpc} and ${console}.`);
  return { ports: { otlpHttp, otlpGrpc, console }, args: ['--', '-c', file] };
}

async function areFree(wanted: readonly number[]): Promise<boolean> {
  const taken = await Promise.all(wanted.map(async (port) => (await listen(port)) === undefined));
  return !taken.includes(true);
}

async function freePort(): Promise<number> {
  const port = await listen(0);
  if (port === undefined) throw new Error('no free port on the loopback address');
  return port;
}

/** Listens for a moment: the port, or undefined when it is taken. */
function listen(port: number): Promise<number | undefined> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : undefined));
    });
  });
}

async function within(limitMs: number, holds: () => Promise<boolean>): Promise<boolean> {
  const endMs = performance.now() + limitMs;
  while (performance.now() < endMs && isRunning()) {
    if (await holds().catch(() => false)) return true;
    await pause(pauseMs);
  }
  return false;
}

function post(body: string): RequestInit {
  return { method: 'POST', headers: { 'content-type': 'application/json' }, body };
}

async function status(url: string, request: RequestInit = {}): Promise<number> {
  const response = await fetch(url, { ...request, signal: AbortSignal.timeout(stopWithinMs) });
  await response.arrayBuffer();
  return response.status;
}

async function text(url: string): Promise<string> {
  const response = await fetch(url, { signal: AbortSignal.timeout(stopWithinMs) });
  return response.text();
}

/** The answer to an ExportTraceServiceRequest with nothing in it. */
async function grpcStatus(url: string): Promise<unknown> {
  const session = connect(url);
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject);
      const request = session.request({
        ':method': 'POST',
        ':path': '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
        'content-type': 'application/grpc',
        te: 'trailers',
      });
      request.on('trailers', (trailers: IncomingHttpHeaders) => resolve(trailers['grpc-status']));
      request
        .on('error', reject)
        .on('close', () => reject(new Error('no trailers')))
        .resume();
      request.end(Buffer.alloc(5));
    });
  } finally {
    session.close();
  }
}

function isRunning(): boolean {
  return service.exitCode === null && service.signalCode === null;
}

/** The group is only that of `npm start`. */
function endGroup(child: ChildProcess): void {
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
