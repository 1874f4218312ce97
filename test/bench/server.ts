/** A server under measurement: a separate process that reports its CPU time. */
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Profiler } from 'node:inspector';
import { join } from 'node:path';
import type { Usage } from './usage.ts';

export interface Measured {
  readonly pid: number;
  /** Its first lines. */
  readonly said: string;
  readonly otlpUrl: string;
  /** Undefined: it has no metrics page. */
  readonly consoleUrl: string | undefined;
  usage(): Promise<Usage>;
  /** CPU time of the main thread, while the work is done. */
  profiled(work: () => Promise<void>): Promise<Profiler.Profile>;
  stop(): Promise<void>;
}

export interface ServerOptions {
  /** It is ready when it has said this. */
  readonly lastLine: RegExp;
  /** The same flags as in `npm start`. */
  readonly asStarted?: boolean;
}

/** Flags of the script `start` in package.json. */
const startFlags = ['--max-semi-space-size=4', '--initial-old-space-size=128'];
const startEnvironment = { MALLOC_ARENA_MAX: '1', MALLOC_TRIM_THRESHOLD_: '131072' };

const startWithinMs = 30_000;
const stopWithinMs = 30_000;

export async function measured(file: string, args: readonly string[], options: ServerOptions): Promise<Measured> {
  const { lastLine, asStarted = false } = options;
  const child = fork(join(import.meta.dirname, file), [...args], {
    execArgv: ['--import', join(import.meta.dirname, 'usage.ts'), ...(asStarted ? startFlags : [])],
    silent: true,
    env: { ...process.env, ...(asStarted ? startEnvironment : {}) },
  });
  child.stderr?.pipe(process.stderr);
  const said = await firstLines(child, lastLine);
  const urlAfter = (word: string): string | undefined => new RegExp(`^${word} +(http://\\S+)`, 'm').exec(said)?.[1];
  const otlpUrl = urlAfter('OTLP');
  if (otlpUrl === undefined) throw new Error(`${file} said no address: ${said}`);
  return {
    pid: child.pid ?? 0,
    said,
    otlpUrl,
    consoleUrl: urlAfter('Console'),
    usage: async () => (await told(child, 'usage')) as Usage,
    async profiled(work) {
      await told(child, 'startProfile');
      await work();
      return (await told(child, 'stopProfile')) as Profiler.Profile;
    },
    async stop() {
      const ended = once(child, 'exit', { signal: AbortSignal.timeout(stopWithinMs) });
      child.kill('SIGTERM');
      await ended.catch(() => child.kill('SIGKILL'));
    },
  };
}

async function told(child: ChildProcess, question: string): Promise<unknown> {
  child.send(question);
  const [answer] = await once(child, 'message');
  return answer;
}

/** Its output until it is ready. */
function firstLines(child: ChildProcess, lastLine: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    const timer = setTimeout(() => reject(new Error(`it did not start: ${said}`)), startWithinMs);
    child.once('exit', (code) => reject(new Error(`it ended with ${code}: ${said}`)));
    child.stdout?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (!lastLine.test(said)) return;
      clearTimeout(timer);
      resolve(said);
    });
  });
}
