/** A backend as a process of its own, for as long as a trial takes, or one that runs already. */
import { serverProcess, type ServerProcess, type ServerProcessOptions } from '../server-process.ts';

export type BackendServer = Pick<ServerProcess, 'url' | 'stop'>;

/** Two minutes: such servers make their tables first. */
const withinMs = 120_000;

/** `url`: of one that runs, which is left alone. Rejects when none can be started. */
export async function backendServer(url: string | undefined, options: Omit<ServerProcessOptions, 'withinMs'>): Promise<BackendServer> {
  return url === undefined ? await serverProcess({ ...options, withinMs }) : { url: url.replace(/\/+$/, ''), stop: async () => undefined };
}
