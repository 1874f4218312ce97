/** A console listener over an empty store, on a free port of loopback. */
import { runReader } from '../../src/web/run-reader.ts';
import { randomBytes } from 'node:crypto';
import { manualClock } from '../../src/model/clock.ts';
import { hostRule } from '../../src/model/http-hosts.ts';
import { annotationQueues } from '../../src/queues/annotation-queues.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import type { ApiDeps, Visit } from '../../src/web/api/route.ts';
import { consoleListener, type ConsoleListener, type ConsoleOptions } from '../../src/web/console.ts';
import { memoryStore } from './memory-store.ts';
import { serviceStatus } from './service-status.ts';

export interface OpenConsole {
  readonly url: string;
  readonly listener: ConsoleListener;
}

export async function openConsole(options: Partial<ConsoleOptions> = {}): Promise<OpenConsole> {
  const listener = consoleListener({
    host: '127.0.0.1',
    port: 0,
    hosts: hostRule({ listensOn: '127.0.0.1', isOpen: true, allowedHosts: [], allowedOrigins: [], loopbackOnly: true }),
    tokens: [],
    nowMs: () => 0,
    secret: () => randomBytes(32).toString('base64url'),
    version: '0.0.0',
    notReady: () => undefined,
    degraded: () => undefined,
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

/** The deps of a service that has seen nothing. */
export async function emptyApi(): Promise<ApiDeps> {
  const [store, clock] = [await memoryStore(), manualClock(0)];
  return {
    store,
    clock,
    spans: async () => undefined,
    runs: runReader({ source: async () => undefined, telemetry: noTelemetry }),
    exporters: { statuses: () => [], recount: async () => undefined },
    annotate: async () => [],
    unannotate: async () => false,
    queues: annotationQueues({
      store,
      settings: () => [],
      thresholds: () => new Map(),
      redaction: () => undefined,
      telemetry: noTelemetry,
      clock,
    }),
    removeProcess: async () => false,
    redacted: (example) => example,
    redactedText: (text) => text,
    mayBeRedacted: () => false,
    budgets: () => [],
    judgeOutages: () => [],
    upstream: { probabilityMin: 0.0001, raised: () => 0 },
    judges: () => [],
    evaluators: () => [],
    metrics: () => [],
    unrecognised: () => [],
    status: serviceStatus(),
    searches: () => true,
    refreshVersions: async () => true,
    alerts: () => [],
    alertNotes: { silence: async () => 'unknown', acknowledge: async () => 'unknown', lift: async () => false },
    loadDemo: async () => ({ spans: 0, runs: 0 }),
    isIngestTokenNeeded: false,
    evaluability: () => [],
  };
}

/** A caller who may do everything. */
export const anyVisit: Visit = {
  name: undefined,
  isPerson: false,
  rights: ['read', 'annotate', 'operate'],
  tenant: undefined,
  session: undefined,
  isSignInNeeded: false,
  ways: [],
  signIn: async () => 'refused',
  signOut: async () => undefined,
  otlp: undefined,
};
