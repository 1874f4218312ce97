/** A backend as a separate process, for as long as a trial takes, or one that runs already. */
import { serverProcess, type ServerProcess, type ServerProcessOptions } from '../server-process.ts';

export type BackendServer = Pick<ServerProcess, 'url' | 'stop'>;

/** Two minutes: such servers make their tables first. */
const withinMs = 120_000;

/** `url` is that of a running one, which stays untouched. Ends the script with 2 and a sentence when none can be started. */
export async function backendServer(url: string | undefined, options: Omit<ServerProcessOptions, 'withinMs'>): Promise<BackendServer> {
  if (url !== undefined) return { url: url.replace(/\/+$/, ''), stop: async () => undefined };
  try {
    return await serverProcess({ ...options, withinMs });
  } catch (error) {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}. Install it, or name one that runs with --url. --help shows the options.\n`,
    );
    process.exit(2);
  }
}
