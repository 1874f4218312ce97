/** The service of a trial as a separate process, over one folder, to be signalled, killed and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { ended } from '../ended-process.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { eventually } from '../service/running.ts';
import { listOf } from './doubled.ts';
import type { World } from './world.ts';

export interface Host {
  /** HTTP status; undefined without an answer. */
  send(spans: readonly Span[]): Promise<number | undefined>;
  /** The decisions on the runs of a trace, from the API. */
  decisions(traceId: string): Promise<readonly JsonObject[]>;
  /** Every run that the API knows. */
  runs(): Promise<readonly JsonObject[]>;
  /** One run, whole. */
  run(traceId: string, spanId: string): Promise<JsonObject>;
  metrics(): Promise<string>;
  /** Sends a signal and waits for nothing. */
  signal(name: NodeJS.Signals): void;
  isRunning(): boolean;
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void>;
}

export interface HostFolder {
  /** The file of the store. */
  readonly store: string;
  /** Starts over the files of the process before: in a world of its choice, or as the delivered command line. Rejects with its output when it does not come up. */
  start(world?: World): Promise<Host>;
  /** Ends what still runs, and takes the folder away. */
  remove(): Promise<void>;
}

/** `yaml` is added to a configuration that places all files. */
export function hostFolder(yaml: string): HostFolder {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-fault-'));
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(
    file,
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }
closing: { settle: 10ms, quiet: 1s }
store: { url: "sqlite:${join(folder, 'store.db')}", content: all }
journal: { url: "disk:${join(folder, 'journal')}" }
limits: { journal_bytes: 256MiB }
${yaml}
`,
  );
  const children: ChildProcess[] = [];
  return {
    store: join(folder, 'store.db'),
    async start(world) {
      const entry =
        world === undefined
          ? [join(import.meta.dirname, '../../src/cli/main.ts'), 'serve']
          : [fileURLToPath(new URL('serve.ts', import.meta.url)), JSON.stringify(world)];
      const child = spawn(process.execPath, [...entry, '-c', file], { stdio: ['ignore', 'pipe', 'pipe'] });
      children.push(child);
      const said = await saidAtStart(child);
      const address = (word: string): string => new RegExp(`^${word} +(http://\\S+)`, 'm').exec(said)?.[1] ?? '';
      return hostAt(child, address('OTLP'), address('Console'));
    },
    async remove() {
      await Promise.all(children.map((child) => ended(child, 'SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Its output until it is up. */
async function saidAtStart(child: ChildProcess): Promise<string> {
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  try {
    return await eventually(() => {
      if (/^Evaluators/m.test(said)) return said;
      if (child.exitCode !== null || child.signalCode !== null) throw new Error(said);
      return undefined;
    }, 'the service is up');
  } catch (error) {
    // One that hangs must not keep the folder from the next one.
    await ended(child, 'SIGKILL');
    throw error;
  }
}

function hostAt(child: ChildProcess, otlp: string, page: string): Host {
  const json = async (path: string): Promise<JsonObject> => (await (await fetch(`${page}/api/v1/${path}`)).json()) as JsonObject;
  return {
    async send(spans) {
      const body = new Uint8Array(gzipSync(writeTraces(spans, 'protobuf')));
      try {
        const { status } = await fetch(`${otlp}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
          body,
        });
        return status;
      } catch {
        return undefined;
      }
    },
    async runs() {
      const found: JsonObject[] = [];
      for (let cursor = ''; ;) {
        const some = await json(`runs?limit=200${cursor}`);
        found.push(...listOf(some, 'runs'));
        if (typeof some['next'] !== 'string') return found;
        cursor = `&cursor=${some['next']}`;
      }
    },
    decisions: async (traceId) => listOf(await json(`decisions/${traceId}`), 'decisions'),
    run: (traceId, spanId) => json(`runs/${traceId}/${spanId}`),
    metrics: async () => (await fetch(`${page}/metrics`)).text(),
    signal: (name) => void child.kill(name),
    isRunning: () => child.exitCode === null && child.signalCode === null,
    end: async (signal) => void (await ended(child, signal)),
  };
}
