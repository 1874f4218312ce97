/** A backend as a process of its own, for as long as a trial takes, or one that runs already. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface BackendServer {
  readonly url: string;
  stop(): Promise<void>;
}

export interface ServerOptions {
  readonly command: string;
  readonly args: (at: { readonly port: number; readonly folder: string }) => readonly string[];
  readonly env?: (at: { readonly port: number; readonly folder: string }) => { readonly [name: string]: string };
  /** Answered with 200 as soon as it is up. */
  readonly healthPath: string;
}

const lookEveryMs = 500;
/** Two minutes: such servers make their tables first. */
const looksMax = 240;

/** Rejects when it cannot be started. What it keeps goes with it. */
export async function startedServer({ command, args, env = () => ({}), healthPath }: ServerOptions): Promise<BackendServer> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-backend-'));
  const at = { port: await freePort(), folder };
  // A group of its own: such servers have workers.
  const child = spawn(command, args(at), { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder, detached: true, env: { ...process.env, ...env(at) } });
  let said = '';
  let fault: string | undefined;
  const hear = (chunk: Buffer): void => void (said = `${said}${chunk.toString()}`.slice(-4_000));
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.on('error', (error) => (fault = error.message));
  const url = `http://127.0.0.1:${at.port}`;
  const stop = async (): Promise<void> => {
    const ended = child.exitCode === null && child.pid !== undefined ? once(child, 'exit') : undefined;
    if (ended !== undefined) process.kill(-(child.pid ?? 0), 'SIGTERM');
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  for (let look = 0; (await fetch(`${url}${healthPath}`).catch(() => undefined))?.ok !== true; look++) {
    if (fault !== undefined || child.exitCode !== null || look === looksMax) {
      await stop();
      throw new Error(`${command} did not start: ${fault ?? said}`);
    }
    await pause(lookEveryMs);
  }
  return { url, stop };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
