/**
 * What is to go on. A request that came is cut into parcels, one for each trace in it. A parcel waits until nothing of its trace is open any more, or until
 * it is `hold` old; then it is ready, in a lane that all parcels of its trace go through, in the order in which they came. Pure under its clock.
 */
import type { Clock } from '../../model/clock.ts';
import type { SpanId, Tenant } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import { wire } from '../../model/attributes.ts';
import type { Addition } from '../../otlp/cut/span-append.ts';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import { traceKey } from '../../pipeline/gathering/trace-table.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { verdictFields } from './verdict-fields.ts';

/** A body as it came, inflated. */
export interface PlainBody {
  readonly bytes: Buffer;
  readonly encoding: OtlpEncoding;
}

/** A request of which something has not gone on. */
export interface HeldRequest {
  /** Where the journal has it. */
  readonly position: number;
  readonly signal: 'traces' | 'logs';
  readonly arrivedMs: number;
  /** Undefined: it is read from the journal when it is needed. */
  body: PlainBody | undefined;
  /** What the body has of each trace, by trace id, once it has been cut: views of the body. */
  pieces?: ReadonlyMap<string, readonly Buffer[]>;
  /** Parcels that it was cut into, and those of them that have not gone on. */
  all: number;
  left: number;
  /** True: its parcels together are all that it brought. */
  isEntire: boolean;
}

export interface Parcel {
  readonly request: HeldRequest;
  /** Of its trace; empty for log records. */
  readonly key: string;
  readonly traceId: string;
  readonly partition: number;
  /** Span ids; undefined: all that the request has of the trace. */
  readonly only: ReadonlySet<string> | undefined;
  /** Spans, or requests of log records. */
  readonly items: number;
  readonly bytes: number;
  readonly additions: Map<string, Addition>;
  /** Of its spans, while verdicts can still be written on them. */
  ids: readonly SpanId[];
  /** True: it is older than `hold`, and has no verdict of its run so far. */
  isUnscored: boolean;
}

export interface NewSpans {
  readonly position: number;
  readonly tenant: Tenant;
  readonly spans: readonly Span[];
  readonly body: PlainBody | undefined;
  /** False: something in the request was rejected, and does not go on. */
  readonly isWhole: boolean;
}

export interface HeldSpans {
  /** `awaits`: whether the trace with this key may get a verdict for the first time. */
  takeSpans(request: NewSpans, awaits: (key: string) => boolean): void;
  takeLogs(request: Pick<NewSpans, 'position' | 'body'>): void;
  /** Writes the verdicts on the spans that wait, also on those that are ready and were not on their way yet. False: the agent's span is not among them. */
  scored(item: ExportItem): boolean;
  /** Nothing of these traces is open any more: their parcels are ready. */
  settled(keys: readonly string[]): void;
  /** What is so old is ready as well. */
  expire(holdMs: number): void;
  /** What is ready in a lane, in order. */
  ready(partition: number): Iterable<Parcel>;
  /** They go on now, or are tried to: no verdict is written on them any more, for the target may have them although it did not say so. */
  markSending(parcels: readonly Parcel[]): void;
  /** It has gone on, or never will. */
  gone(parcel: Parcel): void;
  /** It was written in another encoding. */
  rewritten(request: HeldRequest, body: PlainBody): void;
  /** The lowest position of a request of which something has not gone on. */
  oldest(): number | undefined;
  isHeld(key: string): boolean;
  oldestMs(): number | undefined;
  /** Requests. */
  size(): number;
  /** Of all of them, those that have not gone on. */
  parcels(): number;
  /** Parcels that are ready. */
  readySize(): number;
}

export interface HeldSpansOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly partitions: number;
  /** Of bodies that are held in memory; the journal has the others. */
  readonly bodyBytesMax: number;
  readonly openSpansMax?: number;
}

interface HeldTrace {
  readonly parcels: Set<Parcel>;
  /** Ready, and open for verdicts. */
  readonly open: Set<Parcel>;
  readonly bySpan: Map<SpanId, Parcel>;
}

/** Spans of parcels that are ready and open for verdicts: some ten megabytes. Of more, those that become ready later get a span of ours. */
const openSpansMaxDefault = 50_000;

export function heldSpans({ clock, telemetry, partitions, bodyBytesMax, openSpansMax = openSpansMaxDefault }: HeldSpansOptions): HeldSpans {
  const requests = new Map<number, HeldRequest>();
  const traces = new Map<string, HeldTrace>();
  /** All that wait, oldest first. */
  const waiting = new Set<Parcel>();
  const ready = Array.from({ length: partitions }, () => new Set<Parcel>());
  /** Parcels that have not gone on, by the key of their trace. */
  const left = new Map<string, number>();
  const added = verdictFields();
  let bodyBytes = 0;
  let parcelCount = 0;
  let openSpans = 0;

  function requestOf(position: number, signal: HeldRequest['signal'], body: PlainBody | undefined): HeldRequest {
    const keeps = body !== undefined && bodyBytes + body.bytes.length <= bodyBytesMax;
    if (keeps) bodyBytes += body.bytes.length;
    const request: HeldRequest = {
      position,
      signal,
      arrivedMs: clock.nowMs(),
      body: keeps ? body : undefined,
      all: 0,
      left: 0,
      isEntire: true,
    };
    requests.set(position, request);
    return request;
  }

  function add(parcel: Parcel, waits: boolean): void {
    parcelCount++;
    parcel.request.all++;
    parcel.request.left++;
    left.set(parcel.key, (left.get(parcel.key) ?? 0) + 1);
    if (!waits) {
      // What came before it goes before it.
      settle(parcel.key);
      ready[parcel.partition]?.add(parcel);
      return;
    }
    const trace = traces.get(parcel.key) ?? { parcels: new Set<Parcel>(), open: new Set<Parcel>(), bySpan: new Map<SpanId, Parcel>() };
    traces.set(parcel.key, trace);
    trace.parcels.add(parcel);
    waiting.add(parcel);
    for (const id of parcel.ids) trace.bySpan.set(id, parcel);
  }

  /** Nothing of its trace is open any more, or it has waited for long enough. */
  function release(parcel: Parcel, trace: HeldTrace): void {
    waiting.delete(parcel);
    trace.parcels.delete(parcel);
    trace.open.add(parcel);
    openSpans += parcel.ids.length;
    ready[parcel.partition]?.add(parcel);
  }

  function shut(parcel: Parcel, trace: HeldTrace): void {
    if (!trace.open.delete(parcel)) return;
    openSpans -= parcel.ids.length;
    for (const id of parcel.ids) if (trace.bySpan.get(id) === parcel) trace.bySpan.delete(id);
    parcel.ids = [];
    if (trace.parcels.size === 0 && trace.open.size === 0) traces.delete(parcel.key);
  }

  function settle(key: string): void {
    const trace = traces.get(key);
    if (trace === undefined) return;
    for (const parcel of trace.parcels) release(parcel, trace);
    for (const parcel of trace.open) shut(parcel, trace);
  }

  function forget(request: HeldRequest): void {
    bodyBytes -= request.body?.bytes.length ?? 0;
    request.body = undefined;
    delete request.pieces;
    requests.delete(request.position);
  }

  return {
    takeSpans({ position, tenant, spans, body, isWhole }, awaits) {
      const request = requestOf(position, 'traces', body);
      request.isEntire = isWhole;
      for (const [traceId, all] of Map.groupBy(spans, (span) => span.traceId)) {
        const own = all.filter((span) => span.attribute(wire.generated) !== true);
        if (own.length < all.length) telemetry.add('tracejury.forward.spans', all.length - own.length, { 'tracejury.outcome': 'own' });
        if (own.length < all.length) request.isEntire = false;
        if (own.length === 0) continue;
        const key = traceKey(tenant, traceId);
        const ids = own.map(({ spanId }) => spanId);
        const only = isWhole && own.length === all.length ? undefined : new Set<string>(ids);
        const bytes = own.reduce((sum, { wireBytes }) => sum + wireBytes, 0);
        add(
          {
            request,
            key,
            traceId,
            partition: Number.parseInt(traceId.slice(-4), 16) % partitions,
            only,
            items: own.length,
            bytes,
            additions: new Map(),
            ids,
            isUnscored: false,
          },
          awaits(key),
        );
      }
      if (request.left === 0) forget(request);
    },
    takeLogs({ position, body }) {
      const request = requestOf(position, 'logs', body);
      add(
        {
          request,
          key: '',
          traceId: '',
          partition: position % partitions,
          only: undefined,
          items: 1,
          bytes: body?.bytes.length ?? 0,
          additions: new Map(),
          ids: [],
          isUnscored: false,
        },
        false,
      );
    },
    scored(item) {
      const { tenant, traceId, spanTraceId = traceId, spanId, session, partOf } = item.run;
      // What is said of a whole session, or taken back, is no word on this run.
      if (session !== undefined || partOf !== undefined) return false;
      const trace = traces.get(traceKey(tenant, spanTraceId));
      // One word on a span: a second one, of a judge or of a newer revision, needs a span of its own.
      const own = trace?.bySpan.get(spanId);
      if (trace === undefined || own === undefined || own.additions.has(spanId)) return false;
      for (const [id, addition] of added(item, (one) => trace.bySpan.has(one)))
        trace.bySpan.get(id)?.additions.set(id, joined(trace.bySpan.get(id)?.additions.get(id), addition));
      for (const parcel of trace.open) parcel.isUnscored = false;
      return true;
    },
    settled(keys) {
      for (const key of keys) settle(key);
    },
    expire(holdMs) {
      const now = clock.nowMs();
      for (const parcel of waiting) {
        if (parcel.request.arrivedMs + holdMs > now) return;
        const trace = traces.get(parcel.key);
        if (trace === undefined) continue;
        parcel.isUnscored = true;
        release(parcel, trace);
        if (openSpans > openSpansMax) shut(parcel, trace);
      }
    },
    ready: (partition) => ready[partition] ?? [],
    markSending(some) {
      for (const parcel of some) {
        const trace = traces.get(parcel.key);
        if (trace !== undefined) shut(parcel, trace);
        if (parcel.isUnscored) telemetry.add('tracejury.forward.unscored', parcel.items);
        parcel.isUnscored = false;
      }
    },
    gone(parcel) {
      ready[parcel.partition]?.delete(parcel);
      parcelCount--;
      const others = (left.get(parcel.key) ?? 1) - 1;
      if (others > 0) left.set(parcel.key, others);
      else left.delete(parcel.key);
      if (--parcel.request.left === 0) forget(parcel.request);
    },
    rewritten(request, body) {
      if (request.body === undefined) return;
      bodyBytes += body.bytes.length - request.body.bytes.length;
      request.body = body;
    },
    oldest: () => (requests.size === 0 ? undefined : [...requests.keys()].reduce((least, position) => Math.min(least, position))),
    isHeld: (key) => left.has(key),
    oldestMs: () => requests.values().next().value?.arrivedMs,
    size: () => requests.size,
    parcels: () => parcelCount,
    readySize: () => ready.reduce((sum, own) => sum + own.size, 0),
  };
}

/** A tool span may be told of by two agents. */
function joined(before: Addition | undefined, addition: Addition): Addition {
  return before === undefined ? addition : (endUnixNano) => Buffer.concat([before(endUnixNano), addition(endUnixNano)]);
}
