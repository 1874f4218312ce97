/** A server as a separate process, on a free port of loopback and over a separate folder, for as long as a trial or a bench takes. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './builders/free-port.ts';

export interface ServerProcess {
  readonly url: string;
  readonly pid: number;
  /** The folder goes with it. */
  stop(): Promise<void>;
}

interface Place {
  readonly port: number;
  readonly folder: string;
}

export interface ServerProcessOptions {
  /** A name, or a path from where the trial was started. */
  readonly command: string;
  /** May write files into the folder. */
  readonly args: (at: Place) => readonly string[];
  readonly env?: (at: Place) => { readonly [name: string]: string };
  /** A successful answer to this means that it is up. */
  readonly probe: { readonly path: string } & RequestInit;
  readonly withinMs: number;
}

const lookEveryMs = 100;
const saidCharsMax = 4_000;

/** Rejects when it cannot be started, or is not up in time. */
export async function serverProcess({
  command,
  args,
  env = () => ({}),
  probe: { path, ...request },
  withinMs,
}: ServerProcessOptions): Promise<ServerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-server-'));
  const at = { port: await freePort(), folder };
  // A separate group: such servers have workers.
  const child = spawn(command.includes('/') ? resolve(command) : command, args(at), {
    stdio: ['ignore', 'pipe', 'pipe'],
    cwd: folder,
    detached: true,
    env: { ...process.env, ...env(at) },
  });
  let said = '';
  let fault: string | undefined;
  const hear = (chunk: Buffer): void => void (said = `${said}${chunk.toString()}`.slice(-saidCharsMax));
  child.stdout.on('data', hear);
  child.stderr.on('data', hear);
  child.on('error', (error) => (fault = error.message));
  const isOver = (): boolean => child.exitCode !== null || child.signalCode !== null;
  const url = `http://127.0.0.1:${at.port}`;
  const stop = async (): Promise<void> => {
    if (!isOver() && child.pid !== undefined) {
      const exit = once(child, 'exit');
      process.kill(-child.pid, 'SIGTERM');
      await exit;
    }
    rmSync(folder, { recursive: true, force: true });
  };
  for (
    const endMs = performance.now() + withinMs;
    (await fetch(`${url}${path}`, request).catch(() => undefined))?.ok !== true;
    await pause(lookEveryMs)
  ) {
    if (fault === undefined && !isOver() && performance.now() < endMs) continue;
    await stop();
    throw new Error(`${command} did not start: ${fault ?? said}`);
  }
  return { url, pid: child.pid ?? 0, stop };
}
