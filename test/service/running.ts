/** A whole service on free ports, with what it is sent and what it sends. */
import { setTimeout as wait } from 'node:timers/promises';
import { ROOT_CONTEXT, trace as api, SpanStatusCode } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { pino, type Logger } from 'pino';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfigWithFiles } from '../../src/config/load.ts';
import { bufferPool, type BufferPool } from '../../src/runtime/buffer-pool.ts';
import { service } from '../../src/service.ts';
import { openSelfTracing } from '../../src/service/self-tracing/open.ts';
import type { FileLayer } from '../../src/journals/disk/file-system.ts';
import type { Memory } from '../../src/service/memory-guard.ts';
import { longSuite } from '../builders/property-runs.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { validators } from '../builders/validators.ts';

export interface Running {
  readonly otlp: string;
  /** Host and port of OTLP over gRPC. */
  readonly grpc: string;
  readonly console: string;
  metrics(): Promise<string>;
  stop(): Promise<void>;
}

export interface Surroundings {
  readonly closing?: string;
  readonly tokens?: string;
  readonly file?: string;
  readonly logger?: Logger;
  /** The service measures the pressure on itself. Without it or `files` it sheds nothing, however slow the machine is. */
  readonly memory?: Memory;
  readonly files?: FileLayer;
  /** Further keys of `listen`. */
  readonly listen?: string;
  readonly host?: string;
  /** Time that a stop waits for judges and backends. */
  readonly stopMs?: number;
}

/** `yaml` is added to a configuration that listens on free ports and closes runs quickly; `file` is where it is said to stand. */
export async function running(
  yaml: string,
  {
    closing = 'settle: 5ms, quiet: 50ms',
    tokens = '[]',
    file = 'test.yaml',
    logger = pino({ level: 'silent' }),
    memory,
    files,
    listen = '',
    host = '127.0.0.1',
    stopMs = 500,
  }: Surroundings = {},
): Promise<Running> {
  const text = `listen: { otlp_http: "${host}:0", otlp_grpc: "${host}:0", console: "${host}:0", tokens: ${tokens}${listen === '' ? '' : `, ${listen}`} }\nclosing: { ${closing} }\n${inMemory(yaml)}${yaml}`;
  const { config, printed, warnings } = await loadConfigWithFiles({ validators, file, text, env: {}, evaluators });
  const started = service({
    config,
    logger,
    stopMs,
    // A thread loads the modules of the store again: the long suite opens stores as the service does.
    storeInThread: longSuite,
    tracing: await openSelfTracing(config, {}),
    buffers: poisonedBuffers(),
    ...(memory === undefined ? {} : { memory }),
    ...(files === undefined ? {} : { files }),
    ...(memory === undefined && files === undefined ? { pressureSleep: manualSleep().sleep } : {}),
    read: { printed, warnings },
  });
  const { otlpHttp, otlpGrpc, console: page } = await started.start();
  return {
    otlp: otlpHttp,
    grpc: otlpGrpc,
    console: page,
    metrics: async () => (await fetch(`${page}/metrics`)).text(),
    stop: () => started.stop(),
  };
}

/** A body that is read after its last reader has released it is nonsense. */
export function poisonedBuffers(): BufferPool {
  return bufferPool({ freeBytesMax: 32 * 1024 * 1024, poisons: true });
}

/** Tests leave nothing behind unless they name a place for it. */
function inMemory(yaml: string): string {
  return ['store', 'journal']
    .filter((key) => !new RegExp(`^${key}:`, 'm').test(yaml))
    .map((key) => `${key}: { url: "memory:" }\n`)
    .join('');
}

/** The value of a sample on the metrics page; undefined when there is none with these labels. */
export function sample(page: string, name: string, labels: { readonly [label: string]: string } = {}): number | undefined {
  const line = page
    .split('\n')
    .find((one) =>
      one.startsWith(`${name}{`) || one.startsWith(`${name} `)
        ? Object.entries(labels).every(([label, value]) => one.includes(`${label}="${value}"`))
        : false,
    );
  return line === undefined ? undefined : Number(line.replace(/ # .*/, '').split(' ').at(-1));
}

export interface Patience {
  readonly everyMs: number;
  readonly looksMax: number;
}

/** Asks again until there is an answer; gives up after a time that no healthy machine needs. */
export async function eventually<T>(
  ask: () => Promise<T | undefined> | T | undefined,
  what: string,
  { everyMs, looksMax }: Patience = { everyMs: 10, looksMax: 6_000 },
): Promise<T> {
  for (let look = 0; look < looksMax; look++) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await wait(everyMs);
  }
  throw new Error(`never came: ${what}`);
}

/** An agent with two tool calls, the second failing, exported by the real SDK. Gives its trace id. */
export async function sendAgentRun(
  otlp: string,
  options: {
    readonly agent?: string;
    readonly input?: string;
    readonly fails?: boolean;
    /** The agent's span ends with this error. */
    readonly runError?: string;
    readonly resource?: { readonly [key: string]: string };
    /** Sends each span in a separate request. Default: one request with all spans, as a run whose spans come in several may close between two. */
    readonly spanBySpan?: boolean;
    /** Id of the person that the agent works for. */
    readonly user?: string;
    /** The headers of the request. */
    readonly headers?: { readonly [name: string]: string };
  } = {},
): Promise<{ readonly traceId: string; readonly spanId: string }> {
  const exporter = new OTLPTraceExporter({ url: `${otlp}/v1/traces`, headers: { ...options.headers } });
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', 'openinference.project.name': 'orders', ...options.resource }),
    spanProcessors: [options.spanBySpan === true ? new SimpleSpanProcessor(exporter) : new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('test-agent');
  const root = tracer.startSpan('run', {
    attributes: {
      'agent.name': options.agent ?? 'order_support',
      'session.id': 's-1',
      ...(options.user === undefined ? {} : { 'user.id': options.user }),
      'input.value': options.input ?? 'Where is A-1?',
      'output.value': 'It is on its way.',
    },
  });
  const context = api.setSpan(ROOT_CONTEXT, root);
  tracer
    .startSpan(
      'find',
      { attributes: { 'tool.name': 'find_order', 'input.value': '{"order_id":"A-1"}', 'output.value': '{"status":"sent"}' } },
      context,
    )
    .end();
  const second = tracer.startSpan(
    'notify',
    { attributes: { 'tool.name': 'notify', 'input.value': '{"order_id":"A-1"}', 'output.value': 'done' } },
    context,
  );
  if (options.fails !== false) second.setStatus({ code: SpanStatusCode.ERROR, message: 'mail server down' });
  second.end();
  if (options.runError !== undefined) root.setStatus({ code: SpanStatusCode.ERROR, message: options.runError });
  root.end();
  await provider.forceFlush();
  await provider.shutdown();
  return root.spanContext();
}
