/** A console listener over an empty store, on a free port of loopback. */
import { manualClock } from '../../src/model/clock.ts';
import { hostRule } from '../../src/model/http-hosts.ts';
import type { ApiDeps } from '../../src/web/api/route.ts';
import { consoleListener, type ConsoleListener, type ConsoleOptions } from '../../src/web/console.ts';
import { memoryStore } from './memory-store.ts';

export interface OpenConsole {
  readonly url: string;
  readonly listener: ConsoleListener;
}

export async function openConsole(options: Partial<ConsoleOptions> = {}): Promise<OpenConsole> {
  const listener = consoleListener({
    host: '127.0.0.1',
    port: 0,
    hosts: hostRule({ listensOn: '127.0.0.1', isOpen: true, allowedHosts: [], allowedOrigins: [], loopbackOnly: true }),
    readTokens: [],
    operateTokens: [],
    annotateTokens: [],
    notReady: () => undefined,
    otlp: () => undefined,
    metricsPage: () => ['# EOF\n'],
    metricsContentType: 'text/plain',
    onFault: (error) => {
      throw error;
    },
    readBody: async (request) => Buffer.concat(await request.toArray()),
    api: await emptyApi(),
    ...options,
  });
  const { address } = await listener.listen();
  return { url: address, listener };
}

/** Of a service that has seen nothing. */
export async function emptyApi(): Promise<ApiDeps> {
  return {
    store: await memoryStore(),
    clock: manualClock(0),
    spans: async () => undefined,
    exporters: { statuses: () => [], recount: async () => undefined },
    annotate: async () => [],
    unannotate: async () => false,
    redacted: (example) => example,
    mayBeRedacted: () => false,
    budgets: () => [],
    upstream: { probabilityMin: 0.0001, raised: () => 0 },
    judges: () => [],
    evaluators: () => [],
    metrics: () => [],
    unrecognised: () => [],
    searches: () => true,
    refreshVersions: async () => true,
    alerts: () => [],
    evaluability: () => [],
  };
}
