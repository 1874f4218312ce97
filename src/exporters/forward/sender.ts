/** Forwards ready slices. One request at a time per partition keeps the order of a trace. Nothing goes while the circuit is open. */
import { setImmediate as turn } from 'node:timers/promises';
import type { SpansStatus } from '../../model/exporter-status.ts';
import { protobufOfJson } from '../../otlp/write/protobuf-of-json.ts';
import { pieces } from '../../otlp/cut/trace-extract.ts';
import { spliced, type Cut } from '../../otlp/cut/span-append.ts';
import { backoffMs } from '../../runtime/retry.ts';
import { runInTurns } from '../../runtime/cooperative.ts';
import { circuitBreaker, type BreakerOptions, type Circuit } from '../../runtime/circuit-breaker.ts';
import type { OutageLog } from '../delivery/outage-log.ts';
import { rejectedFault, exportOutcome, refusalNamed } from '../delivery/export-outcome.ts';
import type { HeldRequest, TraceSlice, HeldSpans, PlainBody } from './held-spans.ts';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import type { ExportOutcome } from '../exporter.ts';
import { logsUrl, otlpTransport, rejectedIn } from '../otlp/otlp-transport.ts';
import type { Context } from '../../telemetry/context.ts';

export type DestinationSettings = {
  /** The whole URL for spans; log records go to `/v1/logs` beside it. gRPC uses its host and port. */
  readonly tracesEndpoint: string;
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  readonly protocol: 'http/protobuf' | 'grpc';
  readonly compression: 'none' | 'gzip';
  readonly tls?: ClientTls;
};

export type ForwardOutcome = ExportOutcome & {
  /** Spans or records that a partial success rejects. */
  readonly rejected: number;
};

export interface Destination {
  /** True when log records in JSON must be encoded as protobuf. */
  readonly isProtobufOnly: boolean;
  /** Resolves, never rejects. */
  send(signal: 'traces' | 'logs', encoding: OtlpEncoding, body: Buffer): Promise<ForwardOutcome>;
  /** Ends the connections. */
  stop(): void;
}

/** Many tracing backends refuse log records; spans must not wait for them. */
const noLogs: ReadonlySet<number> = new Set([404, 405, 501]);

export function destination(settings: DestinationSettings): Destination {
  const wire = otlpTransport({ ...settings, urls: { traces: settings.tracesEndpoint, logs: logsUrl(settings.tracesEndpoint) } });
  return {
    isProtobufOnly: settings.protocol === 'grpc',
    async send(signal, encoding, body) {
      const answer = await wire.send(signal, encoding === 'json' ? 'application/json' : 'application/x-protobuf', body);
      if (signal === 'logs' && answer.kind === 'answered' && noLogs.has(answer.status))
        return { kind: 'failed', retryable: false, error: `status ${answer.status}`, rejected: 0 };
      return { ...refusalNamed(exportOutcome(answer), ['a key in headers']), rejected: rejectedIn(answer, signal, encoding) };
    },
    stop: wire.stop,
  };
}

export interface SenderOptions extends BreakerOptions, Context {
  readonly held: HeldSpans;
  readonly partitions: number;
  /** Reads the body of a request from the journal; `undefined` when it is damaged. */
  readonly read: (position: number) => Promise<PlainBody | undefined>;
  /** Called each time, as a reload may change it. */
  readonly destination: () => Destination | undefined;
  readonly outages: OutageLog;
}

export interface Sender {
  /** Sends ready slices as far as the limits allow. */
  pump(): void;
  circuit(): Circuit;
  status(): Pick<SpansStatus, 'circuit' | 'fault' | 'retryAtMs' | 'sending'>;
  /** Ends the wait of an open circuit. */
  wake(): void;
  /** Sends nothing more, and does not wait for requests in progress. */
  stop(): void;
}

/** Bytes of one request; a larger slice gets its own request. Far below the limits of receivers. */
const requestBytesMax = 2 * 1024 * 1024;
/** Bytes of a request that several partitions share. */
const sharedBytesMax = 256 * 1024;
const slicesPerRequest = 1_024;

interface Partition {
  readonly at: number;
  isBusy: boolean;
  /** Failures in a row. */
  attempts: number;
  /** Slices of the next request. A final refusal of several halves it, so that only refused slices are given up. */
  slicesMax: number;
}

interface OutgoingRequest {
  readonly slices: readonly TraceSlice[];
  readonly encoding: PlainBody['encoding'];
  readonly body: Buffer;
}

export function sender(options: SenderOptions): Sender {
  const { held, telemetry, outages, sleep } = options;
  const backend = circuitBreaker({ ...options, onHalfOpen: pump });
  const partitions = Array.from({ length: options.partitions }, (_, at): Partition => ({
    at,
    isBusy: false,
    attempts: 0,
    slicesMax: slicesPerRequest,
  }));
  /** Slices that are being sent. */
  const inProgress = new Set<readonly TraceSlice[]>();
  let isStopped = false;
  let fault: string | undefined;
  /** Ends the backoff of all partitions. */
  let rest = new AbortController();

  function maySend(): boolean {
    const circuit = backend.circuit();
    return !isStopped && (circuit === 'closed' || (circuit === 'half_open' && partitions.every(({ isBusy }) => !isBusy)));
  }

  function pump(): void {
    for (const partition of partitions) {
      const destination = options.destination();
      if (partition.isBusy || destination === undefined || !maySend()) continue;
      const { slices, from } = nextFrom(partition);
      if (slices.length > 0) void work(from, slices, destination);
    }
  }

  /** Adds ready slices of other partitions to a small request: a request costs as much as many spans. */
  function nextFrom(first: Partition): { readonly slices: readonly TraceSlice[]; readonly from: readonly Partition[] } {
    const slices = [...nextOf(held.ready(first.at), { slicesMax: first.slicesMax, bytesMax: requestBytesMax })];
    const from = [first];
    let bytes = bytesOf(slices);
    for (const partition of slices.some(isOfLogs) ? [] : partitions) {
      const slicesMax = Math.min(first.slicesMax, partition.slicesMax) - slices.length;
      if (partition.isBusy || partition === first || bytes >= sharedBytesMax || slices.length === 0 || slicesMax <= 0) continue;
      const more = nextOf(held.ready(partition.at), { slicesMax, bytesMax: sharedBytesMax - bytes });
      if (more.length === 0 || more.some(isOfLogs) || bytes + bytesOf(more) > requestBytesMax) continue;
      slices.push(...more);
      from.push(partition);
      bytes += bytesOf(more);
    }
    return { slices, from };
  }

  async function work(from: readonly Partition[], slices: readonly TraceSlice[], destination: Destination): Promise<void> {
    for (const partition of from) partition.isBusy = true;
    inProgress.add(slices);
    held.markSending(slices);
    const request = await requestOf(slices);
    const signal = slices[0]?.request.signal ?? 'traces';
    if (request !== undefined) await noteOutcome(from, request, await destination.send(signal, request.encoding, request.body));
    inProgress.delete(slices);
    for (const partition of from) partition.isBusy = false;
    pump();
  }

  async function noteOutcome(from: readonly Partition[], { slices }: OutgoingRequest, outcome: ForwardOutcome): Promise<void> {
    if (isStopped && outcome.kind === 'failed') return;
    const isTaken = outcome.kind === 'sent';
    telemetry.add('tracejury.forward.requests', 1, { 'tracejury.outcome': isTaken ? 'sent' : outcome.retryable ? 'retried' : 'refused' });
    // Many backends refuse every request with log records.
    const isReported = outcome.kind === 'sent' || outcome.retryable || !slices.some(isOfLogs);
    if (isTaken) outages.sent();
    else if (isReported) outages.failed(outcome);
    fault = isTaken || !outcome.retryable ? undefined : outcome.error;
    if (!isTaken && outcome.retryable) return await backOff(from, outcome.retryAfterMs);
    backend.succeeded();
    outages.circuit('closed');
    const isHalved = !isTaken && slices.length > 1;
    for (const partition of from) {
      partition.attempts = 0;
      if (isHalved) partition.slicesMax = Math.ceil(slices.length / 2);
      else if (isTaken) partition.slicesMax = Math.min(slicesPerRequest, partition.slicesMax * 2);
    }
    if (isHalved) return;
    const items = slices.reduce((sum, slice) => sum + slice.items, 0);
    const refused = isTaken ? Math.min(outcome.rejected, items) : items;
    if (refused > 0 && isReported) outages.givenUp(isTaken ? { error: rejectedFault } : outcome, refused);
    done(slices, items - refused, 'forwarded');
    if (refused > 0) telemetry.add('tracejury.forward.spans', refused, { 'tracejury.outcome': 'refused' });
  }

  function done(slices: readonly TraceSlice[], items: number, outcome: 'forwarded' | 'unreadable'): void {
    const isLogs = slices[0]?.request.signal === 'logs';
    if (items > 0)
      telemetry.add('tracejury.forward.spans', items, { 'tracejury.outcome': isLogs && outcome === 'forwarded' ? 'log_request' : outcome });
    for (const slice of slices) held.gone(slice);
  }

  async function backOff(from: readonly Partition[], retryAfterMs: number | undefined): Promise<void> {
    const hasOpened = backend.failed(retryAfterMs);
    const { signal } = rest;
    if (hasOpened) outages.circuit('open');
    for (const partition of from) partition.attempts++;
    if (!hasOpened && backend.circuit() === 'closed')
      await sleep(backoffMs(Math.max(...from.map(({ attempts }) => attempts)), options), signal);
  }

  /** `undefined` when no body can be read. */
  async function requestOf(slices: readonly TraceSlice[]): Promise<OutgoingRequest | undefined> {
    const parts: OutgoingRequest[] = [];
    const byRequest = [...Map.groupBy(slices, ({ request }) => request)].sort(([one], [other]) => one.position - other.position);
    for (const [request, own] of byRequest) {
      const part = await partOf(request, own);
      if (part === undefined)
        done(
          own,
          own.reduce((sum, { items }) => sum + items, 0),
          'unreadable',
        );
      else parts.push({ ...part, slices: own });
    }
    const [first] = parts;
    if (first === undefined) return undefined;
    return {
      slices: parts.flatMap((part) => part.slices),
      encoding: first.encoding,
      body: parts.length === 1 ? first.body : Buffer.concat(parts.map(({ body }) => body)),
    };
  }

  async function partOf(request: HeldRequest, own: readonly TraceSlice[]): Promise<Omit<OutgoingRequest, 'slices'> | undefined> {
    try {
      const plain = request.body ?? (await options.read(request.position));
      if (plain === undefined) return undefined;
      // Log records in JSON stay what they are where they may.
      if (plain.encoding === 'json' && request.signal === 'logs' && options.destination()?.isProtobufOnly !== true)
        return { encoding: 'json', body: plain.bytes };
      const bytes = plain.encoding === 'json' ? await runInTurns(protobufOfJson(plain.bytes, request.signal), turn) : plain.bytes;
      if (bytes !== plain.bytes) held.rewritten(request, { bytes, encoding: 'protobuf' });
      return { encoding: 'protobuf', body: request.signal === 'logs' ? bytes : bodyOf(request, bytes, own) };
    } catch {
      return undefined;
    }
  }

  return {
    pump,
    circuit: backend.circuit,
    status() {
      const circuit = backend.circuit();
      const requests = new Set([...inProgress].flatMap((slices) => slices.map(({ request }) => request)));
      return { circuit, fault, retryAtMs: backend.retryAtMs(), sending: requests.size };
    },
    wake() {
      rest.abort();
      rest = new AbortController();
      backend.wake();
    },
    stop() {
      isStopped = true;
      rest.abort();
      backend.stop();
    },
  };
}

/** Takes slices of one signal. A slice of log records gets its own request, because its body may be JSON. */
function nextOf(
  ready: Iterable<TraceSlice>,
  { slicesMax, bytesMax }: { readonly slicesMax: number; readonly bytesMax: number },
): readonly TraceSlice[] {
  const slices: TraceSlice[] = [];
  let bytes = 0;
  for (const slice of ready) {
    const [first] = slices;
    if (first !== undefined && (slices.length >= slicesMax || bytes + slice.bytes > bytesMax || isOfLogs(first) || isOfLogs(slice))) break;
    slices.push(slice);
    bytes += slice.bytes;
  }
  return slices;
}

function isOfLogs({ request }: TraceSlice): boolean {
  return request.signal === 'logs';
}

function bytesOf(slices: readonly TraceSlice[]): number {
  return slices.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Sends an untouched request unchanged. The body of a request whose traces go one by one is cut once. */
function bodyOf(request: HeldRequest, bytes: Buffer, own: readonly TraceSlice[]): Buffer {
  if (own.length === request.all && request.isEntire && own.every(isUntouched)) return bytes;
  if (own.length === request.all || request.body === undefined) return spliced(bytes, cutsOf(own));
  const cut = (request.pieces ??= new Map([...pieces(bytes, 'traces')].map(([traceId, found]) => [traceId, found.pieces])));
  return Buffer.concat(
    own.flatMap((slice) => {
      const found = cut.get(slice.traceId) ?? [];
      return isUntouched(slice) ? found : [spliced(Buffer.concat(found), cutsOf([slice]))];
    }),
  );
}

function isUntouched({ only, additions }: TraceSlice): boolean {
  return only === undefined && additions.size === 0;
}

/** Two tenants may have a trace of one id, but not in one request. */
function cutsOf(slices: readonly TraceSlice[]): ReadonlyMap<string, Cut> {
  return new Map(slices.map(({ traceId, only, additions }) => [traceId, { only, additions }]));
}
