/** The service as a separate process over one folder, to be signalled, killed and started again. */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ended } from '../ended-process.ts';
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';
import type { Span } from '../../src/model/span.ts';
import { writeTraces } from '../../src/otlp/write/write.ts';
import { eventually } from './running.ts';

export interface ServiceProcess {
  readonly pid: number;
  readonly otlp: string;
  readonly console: string;
  /** HTTP status; undefined without an answer within this time. */
  send(spans: readonly Span[], withinMs?: number): Promise<number | undefined>;
  runs(): Promise<readonly JsonObject[]>;
  /** The metrics page. */
  metrics(): Promise<string>;
  /** Its output so far, with log lines. */
  said(): string;
  hangUp(): void;
  /** Gives its exit code; undefined: it was killed. */
  end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | undefined>;
}

export interface ServiceFolder {
  readonly path: string;
  /** Writes the configuration: where everything lies, and this. */
  configure(yaml: string): void;
  /** Over what the process before has left. `meanwhile` may send SIGHUP while it starts. */
  start(meanwhile?: (hangUp: () => void) => Promise<void>): Promise<ServiceProcess>;
  /** Ends what still runs, and takes the folder away. */
  remove(): Promise<void>;
}

/** `clockMs`: what the clock of the machine is off by; `content`: whose content the store keeps; `descriptors`: how many the process may have; `listen`: further keys of `listen`; `isRelative`: the configuration names no folder of this machine. */
export function serviceFolder({
  content = 'all',
  descriptors,
  listen,
  store,
  journal,
  closing = 'settle: 10ms, quiet: 1s',
  isRelative = false,
  clockMs,
  env,
}: {
  readonly content?: 'all' | 'none';
  readonly descriptors?: number;
  readonly listen?: string;
  /** URLs in place of a file and of a folder here. */
  readonly store?: string;
  readonly journal?: string;
  readonly closing?: string;
  readonly isRelative?: boolean;
  readonly clockMs?: number;
  /** Variables beside those of this process. */
  readonly env?: { readonly [name: string]: string };
} = {}): ServiceFolder {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-process-'));
  const file = join(folder, 'tracejury.yaml');
  const at = (name: string): string => (isRelative ? `./${name}` : join(folder, name));
  const configure = (yaml: string): void =>
    writeFileSync(
      file,
      `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0"${listen === undefined ? '' : `, ${listen}`} }
closing: { ${closing} }
store: { url: "${store ?? `sqlite:${at('store.db')}`}", content: ${content} }
journal: { url: "${journal ?? `disk:${at('journal')}`}" }
limits: { journal_bytes: 256MiB }
${yaml}
`,
    );
  configure('');
  const children: ChildProcess[] = [];
  return {
    path: folder,
    configure,
    async start(meanwhile) {
      const words = [
        process.execPath,
        ...(clockMs === undefined ? [] : ['--import', offBy(clockMs)]),
        join(import.meta.dirname, '../../src/cli/main.ts'),
        'serve',
        '-c',
        isRelative ? basename(file) : file,
      ];
      const limited = descriptors === undefined ? words : ['sh', '-c', `ulimit -n ${descriptors}; exec "$@"`, 'sh', ...words];
      const child = spawn(limited[0] ?? '', limited.slice(1), {
        stdio: ['ignore', 'pipe', 'pipe'],
        ...(isRelative ? { cwd: folder } : {}),
        ...(env === undefined ? {} : { env: { ...process.env, ...env } }),
      });
      children.push(child);
      const said = saidBy(child);
      await meanwhile?.(() => void child.kill('SIGHUP'));
      await untilUp(child, said);
      const address = (word: string): string => new RegExp(`^${word} +(http://\\S+)`, 'm').exec(said())?.[1] ?? '';
      return serviceAt(child, said, address('OTLP'), address('Console'));
    },
    async remove() {
      await Promise.all(children.map((child) => ended(child, 'SIGKILL')));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A module that sets the clock of a process before anything reads it. */
function offBy(clockMs: number): string {
  return `data:text/javascript,Object.defineProperty(performance, 'timeOrigin', { value: performance.timeOrigin + ${clockMs} })`;
}

function saidBy(child: ChildProcess): () => string {
  let said = '';
  child.stdout?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()));
  return () => said;
}

async function untilUp(child: ChildProcess, said: () => string): Promise<void> {
  await eventually(
    () => {
      if (/^Evaluators/m.test(said())) return true;
      if (child.exitCode !== null) throw new Error(said());
      return undefined;
    },
    'the service is up',
    { everyMs: 10, looksMax: 6_000 },
  );
}

function serviceAt(child: ChildProcess, said: () => string, otlp: string, page: string): ServiceProcess {
  return {
    pid: child.pid ?? 0,
    otlp,
    console: page,
    async send(spans, withinMs) {
      const body = new Uint8Array(gzipSync(writeTraces(spans, 'protobuf')));
      try {
        const { status } = await fetch(`${otlp}/v1/traces`, {
          method: 'POST',
          headers: { 'content-type': 'application/x-protobuf', 'content-encoding': 'gzip' },
          body,
          ...(withinMs === undefined ? {} : { signal: AbortSignal.timeout(withinMs) }),
        });
        return status;
      } catch {
        return undefined;
      }
    },
    async runs() {
      const found: JsonObject[] = [];
      for (let cursor = ''; ;) {
        const page_ = (await (await fetch(`${page}/api/v1/runs?limit=200${cursor}`)).json()) as JsonObject;
        if (isJsonArray(page_['runs'] ?? null)) found.push(...(page_['runs'] as readonly JsonObject[]));
        if (typeof page_['next'] !== 'string') return found;
        cursor = `&cursor=${page_['next']}`;
      }
    },
    metrics: async () => (await fetch(`${page}/metrics`)).text(),
    said,
    hangUp: () => void child.kill('SIGHUP'),
    end: (signal) => ended(child, signal),
  };
}
