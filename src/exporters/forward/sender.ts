/** Sends what is ready on: no two requests at a time with something of one lane, so that what belongs together stays in order; nothing while the circuit is open. */
import { setImmediate as turn } from 'node:timers/promises';
import type { Clock, Sleep } from '../../model/clock.ts';
import type { SpansStatus } from '../../model/exporter-status.ts';
import { protobufOfJson } from '../../otlp/write/protobuf-of-json.ts';
import { pieces } from '../../otlp/cut/trace-extract.ts';
import { spliced, type Cut } from '../../otlp/cut/span-append.ts';
import { backoffMs } from '../../runtime/backoff.ts';
import { runInTurns } from '../../runtime/cooperative.ts';
import { circuitBreaker, type BreakerOptions, type Circuit } from '../../runtime/circuit-breaker.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { OutageLog } from '../delivery/outage-log.ts';
import { rejectedFault } from '../delivery/export-outcome.ts';
import type { HeldRequest, Parcel, HeldSpans, PlainBody } from './held-spans.ts';
import type { ForwardOutcome, Destination } from './destination.ts';

export interface SenderOptions extends BreakerOptions {
  readonly held: HeldSpans;
  readonly partitions: number;
  /** The body of a request that is not in memory. Undefined: it is damaged. */
  readonly read: (position: number) => Promise<PlainBody | undefined>;
  /** Asked each time: it may be another one. */
  readonly destination: () => Destination | undefined;
  readonly telemetry: Telemetry;
  readonly outages: OutageLog;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

export interface Sender {
  /** Sends what may be sent now. */
  pump(): void;
  circuit(): Circuit;
  status(): Pick<SpansStatus, 'circuit' | 'fault' | 'retryAtMs' | 'sending'>;
  /** Tries a target that is left alone at once. */
  wake(): void;
  /** Nothing is sent any more; what is under way is not waited for. */
  stop(): void;
}

/** Of one request; a parcel that is larger goes alone. Far below what receivers take. */
const requestBytesMax = 2 * 1024 * 1024;
/** Of one that goes through several lanes: beyond it each goes by itself. */
const sharedBytesMax = 256 * 1024;
const parcelsPerRequest = 1_024;

interface Partition {
  readonly at: number;
  isBusy: boolean;
  /** Failures in a row. */
  attempts: number;
  /** Parcels in the next request. Halved when the target refuses several for good, so that only those are given up that it does not want. */
  parcelsMax: number;
}

interface Made {
  readonly parcels: readonly Parcel[];
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
    parcelsMax: parcelsPerRequest,
  }));
  /** What is on its way. */
  const underWay = new Set<readonly Parcel[]>();
  let isStopped = false;
  let fault: string | undefined;
  /** Ends the rests of the lanes. */
  let rest = new AbortController();

  function maySend(): boolean {
    const circuit = backend.circuit();
    return !isStopped && (circuit === 'closed' || (circuit === 'half_open' && partitions.every(({ isBusy }) => !isBusy)));
  }

  function pump(): void {
    for (const partition of partitions) {
      const destination = options.destination();
      if (partition.isBusy || destination === undefined || !maySend()) continue;
      const { parcels, from } = nextFrom(partition);
      if (parcels.length > 0) void work(from, parcels, destination);
    }
  }

  /** While it is little, what is ready in other lanes goes along: a request costs as much as many spans. */
  function nextFrom(first: Partition): { readonly parcels: readonly Parcel[]; readonly from: readonly Partition[] } {
    const parcels = [...nextOf(held.ready(first.at), { parcelsMax: first.parcelsMax, bytesMax: requestBytesMax })];
    const from = [first];
    let bytes = bytesOf(parcels);
    for (const partition of parcels.some(isOfLogs) ? [] : partitions) {
      const parcelsMax = Math.min(first.parcelsMax, partition.parcelsMax) - parcels.length;
      if (partition.isBusy || partition === first || bytes >= sharedBytesMax || parcels.length === 0 || parcelsMax <= 0) continue;
      const more = nextOf(held.ready(partition.at), { parcelsMax, bytesMax: sharedBytesMax - bytes });
      if (more.length === 0 || more.some(isOfLogs) || bytes + bytesOf(more) > requestBytesMax) continue;
      parcels.push(...more);
      from.push(partition);
      bytes += bytesOf(more);
    }
    return { parcels, from };
  }

  async function work(from: readonly Partition[], parcels: readonly Parcel[], destination: Destination): Promise<void> {
    for (const partition of from) partition.isBusy = true;
    underWay.add(parcels);
    held.markSending(parcels);
    const made = await madeOf(parcels);
    const signal = parcels[0]?.request.signal ?? 'traces';
    if (made !== undefined) await noteOutcome(from, made, await destination.send(signal, made.encoding, made.body));
    underWay.delete(parcels);
    for (const partition of from) partition.isBusy = false;
    pump();
  }

  async function noteOutcome(from: readonly Partition[], { parcels }: Made, outcome: ForwardOutcome): Promise<void> {
    if (isStopped && outcome.kind === 'failed') return;
    const isTaken = outcome.kind === 'sent';
    telemetry.add('tracejury.forward.requests', 1, { 'tracejury.outcome': isTaken ? 'sent' : outcome.retryable ? 'retried' : 'refused' });
    // Many a backend has no place for log records, and says so of each.
    const isOfNews = outcome.kind === 'sent' || outcome.retryable || !parcels.some(isOfLogs);
    if (isTaken) outages.sent();
    else if (isOfNews) outages.failed(outcome);
    fault = isTaken || !outcome.retryable ? undefined : outcome.error;
    if (!isTaken && outcome.retryable) return await rested(from, outcome.retryAfterMs);
    backend.succeeded();
    outages.circuit('closed');
    const isHalved = !isTaken && parcels.length > 1;
    for (const partition of from) {
      partition.attempts = 0;
      if (isHalved) partition.parcelsMax = Math.ceil(parcels.length / 2);
      else if (isTaken) partition.parcelsMax = Math.min(parcelsPerRequest, partition.parcelsMax * 2);
    }
    if (isHalved) return;
    const items = parcels.reduce((sum, parcel) => sum + parcel.items, 0);
    const refused = isTaken ? Math.min(outcome.rejected, items) : items;
    if (refused > 0 && isOfNews) outages.givenUp(isTaken ? { error: rejectedFault } : outcome, refused);
    done(parcels, items - refused, 'forwarded');
    if (refused > 0) telemetry.add('tracejury.forward.spans', refused, { 'tracejury.outcome': 'refused' });
  }

  function done(parcels: readonly Parcel[], items: number, outcome: 'forwarded' | 'unreadable'): void {
    const isLogs = parcels[0]?.request.signal === 'logs';
    if (items > 0)
      telemetry.add('tracejury.forward.spans', items, { 'tracejury.outcome': isLogs && outcome === 'forwarded' ? 'log_request' : outcome });
    for (const parcel of parcels) held.gone(parcel);
  }

  async function rested(from: readonly Partition[], retryAfterMs: number | undefined): Promise<void> {
    const hasOpened = backend.failed(retryAfterMs);
    const { signal } = rest;
    if (hasOpened) outages.circuit('open');
    for (const partition of from) partition.attempts++;
    if (!hasOpened && backend.circuit() === 'closed')
      await sleep(backoffMs(Math.max(...from.map(({ attempts }) => attempts)), options), signal);
  }

  /** Undefined: nothing of it can be read any more. */
  async function madeOf(parcels: readonly Parcel[]): Promise<Made | undefined> {
    const parts: Made[] = [];
    const byRequest = [...Map.groupBy(parcels, ({ request }) => request)].sort(([one], [other]) => one.position - other.position);
    for (const [request, own] of byRequest) {
      const part = await partOf(request, own);
      if (part === undefined)
        done(
          own,
          own.reduce((sum, { items }) => sum + items, 0),
          'unreadable',
        );
      else parts.push({ ...part, parcels: own });
    }
    const [first] = parts;
    if (first === undefined) return undefined;
    return {
      parcels: parts.flatMap((part) => part.parcels),
      encoding: first.encoding,
      body: parts.length === 1 ? first.body : Buffer.concat(parts.map(({ body }) => body)),
    };
  }

  async function partOf(request: HeldRequest, own: readonly Parcel[]): Promise<Omit<Made, 'parcels'> | undefined> {
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
      const requests = new Set([...underWay].flatMap((parcels) => parcels.map(({ request }) => request)));
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

/** Of one signal; log records, which may be JSON, by themselves. */
function nextOf(
  ready: Iterable<Parcel>,
  { parcelsMax, bytesMax }: { readonly parcelsMax: number; readonly bytesMax: number },
): readonly Parcel[] {
  const parcels: Parcel[] = [];
  let bytes = 0;
  for (const parcel of ready) {
    const [first] = parcels;
    if (first !== undefined && (parcels.length >= parcelsMax || bytes + parcel.bytes > bytesMax || isOfLogs(first) || isOfLogs(parcel)))
      break;
    parcels.push(parcel);
    bytes += parcel.bytes;
  }
  return parcels;
}

function isOfLogs({ request }: Parcel): boolean {
  return request.signal === 'logs';
}

function bytesOf(parcels: readonly Parcel[]): number {
  return parcels.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** What comes in the order of the body, and whole, is the body. Of a request with many traces each goes in its own time: it is cut once. */
function bodyOf(request: HeldRequest, bytes: Buffer, own: readonly Parcel[]): Buffer {
  if (own.length === request.all && request.isEntire && own.every(isUntouched)) return bytes;
  if (own.length === request.all || request.body === undefined) return spliced(bytes, cutsOf(own));
  const cut = (request.pieces ??= new Map([...pieces(bytes, 'traces')].map(([traceId, found]) => [traceId, found.pieces])));
  return Buffer.concat(
    own.flatMap((parcel) => {
      const found = cut.get(parcel.traceId) ?? [];
      return isUntouched(parcel) ? found : [spliced(Buffer.concat(found), cutsOf([parcel]))];
    }),
  );
}

function isUntouched({ only, additions }: Parcel): boolean {
  return only === undefined && additions.size === 0;
}

/** Two tenants may have a trace of one id, but not in one request. */
function cutsOf(parcels: readonly Parcel[]): ReadonlyMap<string, Cut> {
  return new Map(parcels.map(({ traceId, only, additions }) => [traceId, { only, additions }]));
}
