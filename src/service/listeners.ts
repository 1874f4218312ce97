/** Builds the listeners from the configuration: OTLP over HTTP and gRPC, and the console. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { isLoopback } from '../config/entries/address.ts';
import { JuryError } from '../model/errors.ts';
import { hostRule, type HostRule } from '../model/http-hosts.ts';
import type { Ingest } from '../model/ingest.ts';
import { readBody } from '../receivers/body.ts';
import type { ByteLease, ByteLeases } from '../receivers/byte-budget.ts';
import { connectionTracker } from '../receivers/connection-tracker.ts';
import { otlpGrpcReceiver } from '../receivers/grpc/otlp-grpc.ts';
import { otlpHttpReceiver } from '../receivers/http/otlp-http.ts';
import type { Receiver } from '../receivers/receiver.ts';
import { tlsOptions } from '../receivers/tls.ts';
import { bufferPool, type BufferPool } from '../runtime/buffer-pool.ts';
import { clock, type ConnectionShares, packageVersion } from './node-runtime.ts';
import { grpcReserveShare } from './overload.ts';
import { keptSpans } from '../stores/span-archiver.ts';
import { runReader, type TraceSource } from '../web/run-reader.ts';
import type { RunKey } from '../model/agent-trace.ts';
import type { Store } from '../model/store/store.ts';
import { openMetricsContentType, openMetricsPieces } from '../telemetry/openmetrics.ts';
import type { MetricFamily, MetricRegistry } from '../telemetry/registry.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { evaluabilityRows } from '../web/api/evaluability.ts';
import type { ApiDeps, OtlpAddresses } from '../web/api/route.ts';
import { consoleListener, type ConsoleListener, type ConsoleOptions } from '../web/console.ts';
import { waitingListener, type WaitingConsole } from '../web/waiting-console.ts';

/** `dist/console`: of the checkout, or beside the built program. */
const consoleFiles = join(import.meta.dirname, import.meta.filename.endsWith('.ts') ? '../../dist/console' : '../../console');

export function receiversOf(
  config: Config,
  leases: ByteLeases,
  connections: ConnectionShares,
  parts: { readonly telemetry: Telemetry; readonly logger: Logger; readonly ingest: Ingest; readonly buffers: BufferPool },
): { readonly http: Receiver; readonly grpc: Receiver } {
  const { bodyBytes, inflatedBytes, memoryBytes } = config.limits;
  const shared = {
    ...parts,
    clock,
    limits: { bodyBytes, inflatedBytes },
    tokens: config.listen.tokens.filter(({ may }) => may.includes('ingest')),
    ...(config.listen.tls === undefined ? {} : { tls: config.listen.tls }),
  };
  return {
    http: otlpHttpReceiver({
      ...shared,
      ...config.listen.otlpHttp,
      hosts: hostsOf(config, 'otlpHttp', 'ingest'),
      lease: leases({ keepFreeBytes: memoryBytes * grpcReserveShare }),
      bounds: { connectionsMax: connections.http },
    }),
    grpc: otlpGrpcReceiver({
      ...shared,
      ...config.listen.otlpGrpc,
      hosts: hostsOf(config, 'otlpGrpc', 'ingest'),
      lease: leases({ keepFreeBytes: 0 }),
      bounds: { connectionsMax: connections.grpc },
    }),
  };
}

/** Applies to the next handshakes of a service that was started with TLS. The loader of the configuration has checked the certificates. */
export function renewCertificates(
  {
    http,
    grpc,
    console: page,
  }: { readonly http: Receiver; readonly grpc: Receiver; readonly console: Pick<ConsoleListener, 'renew'> | undefined },
  started: Config['listen'],
  { tls }: Config['listen'],
): void {
  if (tls === undefined || started.tls === undefined) return;
  const { cert, key } = tls;
  const { clientCa } = started.tls;
  for (const receiver of [http, grpc])
    receiver.renew({ cert, key, ...(clientCa === undefined ? {} : { clientCa: tls.clientCa ?? clientCa }) });
  page?.renew(tlsOptions({ cert, key }));
}

/** Over TLS a foreign host name fails at the certificate. On loopback people click the warning away, so the console checks the name there. */
function hostsOf({ listen }: Config, listener: 'otlpHttp' | 'otlpGrpc' | 'console', permission: 'ingest' | 'read'): HostRule {
  const asksToken = listen.tokens.some(({ may }) => may.includes(permission)) || (listener === 'console' && listen.oidc !== undefined);
  return hostRule({
    listensOn: listen[listener].host,
    isOpen: !asksToken && (listen.tls === undefined || (listener === 'console' && isLoopback(listen.console.host))),
    allowedHosts: listen.allowedHosts ?? [],
    allowedOrigins: listen.allowedOrigins ?? [],
    loopbackOnly: listener === 'console',
  });
}

interface ConsoleParts
  extends
    Omit<ApiDeps, 'clock' | 'spans' | 'runs' | 'metrics' | 'evaluability' | 'isIngestTokenNeeded'>,
    Pick<ConsoleOptions, 'refresh' | 'signIns'> {
  readonly connectionsMax: number;
  readonly lease: ByteLease;
  readonly telemetry: MetricRegistry;
  readonly logger: Logger;
  /** The folder of a full disk, `undefined` when none is full. */
  readonly fullFolder: () => string | undefined;
  /** Why the journal cannot be used; `undefined` while it can. */
  readonly journalFault: () => string | undefined;
  /** Seconds for which the database is away; `undefined` while it answers. */
  readonly storeAwaySeconds: () => number | undefined;
  /** False when all requests are refused, including those of modest clients. */
  readonly takesRequests: () => boolean;
  readonly snapshot: () => readonly MetricFamily[];
  readonly onApiRequest: () => void;
}

export function consoleOf(
  config: Config,
  state: Readonly<ListenState>,
  {
    connectionsMax,
    lease,
    telemetry,
    logger,
    fullFolder,
    journalFault,
    storeAwaySeconds,
    takesRequests,
    snapshot,
    onApiRequest,
    refresh,
    signIns,
    ...api
  }: ConsoleParts,
): ReturnType<typeof consoleListener> {
  const {
    console: { host, port },
    tls,
  } = config.listen;
  return consoleListener({
    host,
    port,
    // People use a browser and a token: the console requires no client certificate.
    ...(tls === undefined ? {} : { tls: tlsOptions({ cert: tls.cert, key: tls.key }) }),
    hosts: hostsOf(config, 'console', 'read'),
    tokens: config.listen.tokens,
    nowMs: clock.nowMs,
    secret: () => randomBytes(32).toString('base64url'),
    notReady: () =>
      notReady(state, fullFolder()) ?? journalFault() ?? (takesRequests() ? undefined : awayText(storeAwaySeconds(), refusedText)),
    degraded: () => awayText(storeAwaySeconds(), takenText),
    otlp: () => state.otlp,
    metricsPage: () => openMetricsPieces(snapshot()),
    ...(refresh === undefined ? {} : { refresh }),
    metricsContentType: openMetricsContentType,
    readBody: consoleBody(lease),
    onApiRequest,
    onBusy: () => telemetry.add('tracejury.console.busy', 1),
    onSignInRefused: () => telemetry.add('tracejury.console.sign_ins.refused', 1),
    onStreams: (open) => telemetry.set('tracejury.console.streams', open),
    version: packageVersion(),
    onMcpCall: (tool, outcome) => telemetry.add('tracejury.mcp.calls', 1, { 'tracejury.mcp.tool': tool, 'tracejury.outcome': outcome }),
    connections: connectionTracker({ transport: 'console', max: connectionsMax, telemetry, clock }),
    api: {
      ...api,
      clock,
      isIngestTokenNeeded: config.listen.tokens.some(({ may }) => may.includes('ingest')),
      spans: async ({ tenant, traceId }) => await keptSpans(await api.store.spans(tenant, traceId)),
      runs: runReader({ source: storedSpans(api.store), telemetry }),
      metrics: snapshot,
      evaluability: () => evaluabilityRows(snapshot()),
    },
    onFault: (error) => logger.error({ error: error.stack ?? error.message }, 'the console failed to answer a request'),
    files: consoleFiles,
    docs: join(consoleFiles, '../../docs'),
    signIns,
    ...(config.listen.oidc === undefined ? {} : { people: config.listen.oidc }),
  });
}

function storedSpans(store: Pick<Store, 'spans'>): (run: RunKey) => Promise<TraceSource | undefined> {
  return async ({ tenant, traceId }) => {
    const pieces = await store.spans(tenant, traceId);
    if (pieces.length === 0) return undefined;
    return {
      mark: pieces.map(({ digest, storedAt }) => `${digest} ${storedAt}`).join(),
      spans: pieces.reduce((sum, { spans }) => sum + spans, 0),
      bytes: pieces.reduce((sum, { body }) => sum + body.length, 0),
      load: () => keptSpans(pieces),
    };
  };
}

/** Reads bodies of console requests within the byte budget of all requests in flight. Rejects with an error that has the status of the answer. */
export function consoleBody(lease: ByteLease): (request: IncomingMessage, bytesMax: number) => Promise<Buffer> {
  return async (request, bytesMax) => {
    const taken = lease();
    try {
      const { body } = await readBody(request, {
        encoding: 'identity',
        bodyBytesMax: bytesMax,
        inflatedBytesMax: bytesMax,
        leasedBytes: 0,
        lease: taken,
        buffers: bufferPool({ freeBytesMax: 0 }),
        received: () => undefined,
      });
      return body.bytes;
    } catch (error) {
      throw Object.assign(new Error('the body could not be read'), { statusCode: error instanceof JuryError ? error.status : 400 });
    } finally {
      taken.release();
    }
  };
}

/** In the place of the console until the store is open. */
export function waitingConsole({ listen: { console: address, tls } }: Config, reason: () => string): WaitingConsole {
  return waitingListener({
    ...address,
    ...(tls === undefined ? {} : { tls: tlsOptions({ cert: tls.cert, key: tls.key }) }),
    reason,
  });
}

export interface ListenState {
  ready: boolean;
  /** Why the store cannot be opened yet; `undefined` when it is open, or was not tried. */
  away: string | undefined;
  stopping: boolean;
  /** Addresses of the OTLP receivers, `undefined` until they listen. */
  otlp: OtlpAddresses | undefined;
}

const takenText = 'The service takes requests, and what they bring waits for it.';
const refusedText = 'The service has no room left for what waits for it, and refuses requests.';

/** `consequence`: a sentence. `undefined` while the database answers. */
function awayText(seconds: number | undefined, consequence: string): string | undefined {
  return seconds === undefined ? undefined : `The database has not answered for ${seconds} seconds. ${consequence}`;
}

/** The reason why the service is not ready; `undefined` when it is. */
function notReady({ stopping, ready }: Readonly<ListenState>, fullFolder: string | undefined): string | undefined {
  if (stopping) return 'The service is stopping.';
  if (!ready) return 'The service is starting.';
  return fullFolder === undefined ? undefined : `The disk is full: no room in ${fullFolder}.`;
}

/**
 * Rejects with the system's error for the first address that is in use or not of this machine. Called before the service writes anything, so
 * that a start that cannot listen leaves nothing behind.
 */
export async function freeAddresses({ otlpHttp, otlpGrpc, console: page }: Config['listen']): Promise<void> {
  for (const { host, port } of [otlpHttp, otlpGrpc, page]) if (port !== 0) await claimed(host, port);
}

function claimed(host: string, port: number): Promise<void> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => server.close(() => resolve()));
  });
}
