/** Starts Phoenix for a trial or a bench: over a separate folder, on one port. `pip install arize-phoenix` brings it. */
import type { ServerProcessOptions } from '../../server-process.ts';

export function phoenixServer(command: string): Omit<ServerProcessOptions, 'withinMs'> {
  return {
    command,
    args: () => ['serve'],
    env: ({ port, folder }) => ({
      PHOENIX_WORKING_DIR: folder,
      PHOENIX_HOST: '127.0.0.1',
      PHOENIX_PORT: String(port),
      PHOENIX_GRPC_PORT: '0',
      PHOENIX_TELEMETRY_ENABLED: 'false',
    }),
    probe: { path: '/healthz' },
  };
}
