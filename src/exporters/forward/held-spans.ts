/**
 * Spans and log records that wait to be forwarded. A request is cut into slices, one per trace. A slice waits until its trace has no open
 * run, or until its age reaches `hold`. Then it is ready in the partition of its trace, which keeps the order of arrival. Pure under its
 * clock.
 */
import type { SpanId, Tenant } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import { wire } from '../../model/attributes.ts';
import type { Addition } from '../../otlp/cut/span-append.ts';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import { traceKey } from '../../pipeline/gathering/trace-table.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { protobufWriter, type ProtobufWriter } from '../../otlp/write/protobuf-writer.ts';
import { resultsOf, type EvaluationAttributes } from '../otlp/evaluation-span.ts';
import { writeAddition } from '../../otlp/write/outgoing-items.ts';
import type { Context } from '../../telemetry/context.ts';

/** A received body, inflated. */
export interface PlainBody {
  readonly bytes: Buffer;
  readonly encoding: OtlpEncoding;
}

/** A request with slices that are not forwarded yet. */
export interface HeldRequest {
  /** Position in the journal. */
  readonly position: number;
  readonly signal: 'traces' | 'logs';
  readonly arrivedMs: number;
  /** `undefined` when the sender must read it from the journal. */
  body: PlainBody | undefined;
  /** Views of the body by trace id; absent until the body is cut. */
  pieces?: ReadonlyMap<string, readonly Buffer[]>;
  /** Number of its slices, and of those that are not forwarded yet. */
  all: number;
  left: number;
  /** True when its slices together are the whole request. */
  isEntire: boolean;
}

/** The spans of one trace in one request, or the log records of a request. */
export interface TraceSlice {
  readonly request: HeldRequest;
  /** Key of its trace; empty for log records. */
  readonly key: string;
  readonly traceId: string;
  readonly partition: number;
  /** Span ids; `undefined` for all spans of the trace in the request. */
  readonly only: ReadonlySet<string> | undefined;
  /** Spans, or requests of log records. */
  readonly items: number;
  readonly bytes: number;
  readonly additions: Map<string, Addition>;
  /** Ids of its spans, while verdicts can be added to them. */
  ids: readonly SpanId[];
  /** True when it is older than `hold` and its run has no verdict yet. */
  isUnscored: boolean;
}

export interface NewSpans {
  readonly position: number;
  readonly tenant: Tenant;
  readonly spans: readonly Span[];
  readonly body: PlainBody | undefined;
  /** False when the receiver rejected a part of the request. */
  readonly isWhole: boolean;
}

export interface HeldSpans {
  /** `awaits`: whether the trace with this key may get a verdict for the first time. */
  takeSpans(request: NewSpans, awaits: (key: string) => boolean): void;
  takeLogs(request: Pick<NewSpans, 'position' | 'body'>): void;
  /** Adds verdicts to held spans that are not being sent. Returns false when the agent's span is not held. */
  scored(item: ExportItem): boolean;
  /** No run of these traces is open, so their slices are ready. */
  settled(keys: readonly string[]): void;
  /** Slices of this age are ready as well. */
  expire(holdMs: number): void;
  /** Ready slices of a partition, in order. */
  ready(partition: number): Iterable<TraceSlice>;
  /** No verdict is added from now on: the destination may have the spans although its answer was lost. */
  markSending(slices: readonly TraceSlice[]): void;
  /** The slice is forwarded or given up. */
  gone(slice: TraceSlice): void;
  /** Replaces the body after a change of encoding. */
  rewritten(request: HeldRequest, body: PlainBody): void;
  /** The lowest position of a held request. */
  oldest(): number | undefined;
  isHeld(key: string): boolean;
  oldestMs(): number | undefined;
  /** Held requests. */
  size(): number;
  /** Held slices. */
  slices(): number;
  /** Ready slices. */
  readySize(): number;
}

export interface HeldSpansOptions extends Pick<Context, 'clock' | 'telemetry'> {
  readonly partitions: number;
  /** Bytes of bodies in memory; the journal has the others. */
  readonly bodyBytesMax: number;
  readonly openSpansMax?: number;
}

interface HeldTrace {
  readonly slices: Set<TraceSlice>;
  /** Ready slices that take verdicts. */
  readonly open: Set<TraceSlice>;
  readonly bySpan: Map<SpanId, TraceSlice>;
}

/** Spans of ready slices that take verdicts: some ten megabytes. Beyond it, verdicts go in an evaluation span. */
const openSpansMaxDefault = 50_000;

export function heldSpans({ clock, telemetry, partitions, bodyBytesMax, openSpansMax = openSpansMaxDefault }: HeldSpansOptions): HeldSpans {
  const requests = new Map<number, HeldRequest>();
  const traces = new Map<string, HeldTrace>();
  /** Waiting slices, oldest first. */
  const waiting = new Set<TraceSlice>();
  const ready = Array.from({ length: partitions }, () => new Set<TraceSlice>());
  /** Number of held slices by the key of their trace. */
  const left = new Map<string, number>();
  const added = verdictFields();
  let bodyBytes = 0;
  let sliceCount = 0;
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

  function add(slice: TraceSlice, waits: boolean): void {
    sliceCount++;
    slice.request.all++;
    slice.request.left++;
    left.set(slice.key, (left.get(slice.key) ?? 0) + 1);
    if (!waits) {
      // Earlier slices of the trace go first.
      settle(slice.key);
      ready[slice.partition]?.add(slice);
      return;
    }
    const trace = traces.get(slice.key) ?? {
      slices: new Set<TraceSlice>(),
      open: new Set<TraceSlice>(),
      bySpan: new Map<SpanId, TraceSlice>(),
    };
    traces.set(slice.key, trace);
    trace.slices.add(slice);
    waiting.add(slice);
    for (const id of slice.ids) trace.bySpan.set(id, slice);
  }

  /** Its trace has no open run, or it has waited for `hold`. */
  function release(slice: TraceSlice, trace: HeldTrace): void {
    waiting.delete(slice);
    trace.slices.delete(slice);
    trace.open.add(slice);
    openSpans += slice.ids.length;
    ready[slice.partition]?.add(slice);
  }

  function shut(slice: TraceSlice, trace: HeldTrace): void {
    if (!trace.open.delete(slice)) return;
    openSpans -= slice.ids.length;
    for (const id of slice.ids) if (trace.bySpan.get(id) === slice) trace.bySpan.delete(id);
    slice.ids = [];
    if (trace.slices.size === 0 && trace.open.size === 0) traces.delete(slice.key);
  }

  function settle(key: string): void {
    const trace = traces.get(key);
    if (trace === undefined) return;
    for (const slice of trace.slices) release(slice, trace);
    for (const slice of trace.open) shut(slice, trace);
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
      // Verdicts on a session, and withdrawn runs, do not concern this run's spans.
      if (session !== undefined || partOf !== undefined) return false;
      const trace = traces.get(traceKey(tenant, spanTraceId));
      // A span takes verdicts once. Later ones, of a judge or a newer revision, need an evaluation span.
      const own = trace?.bySpan.get(spanId);
      if (trace === undefined || own === undefined || own.additions.has(spanId)) return false;
      for (const [id, addition] of added(item, (one) => trace.bySpan.has(one)))
        trace.bySpan.get(id)?.additions.set(id, joined(trace.bySpan.get(id)?.additions.get(id), addition));
      for (const slice of trace.open) slice.isUnscored = false;
      return true;
    },
    settled(keys) {
      for (const key of keys) settle(key);
    },
    expire(holdMs) {
      const now = clock.nowMs();
      for (const slice of waiting) {
        if (slice.request.arrivedMs + holdMs > now) return;
        const trace = traces.get(slice.key);
        if (trace === undefined) continue;
        slice.isUnscored = true;
        release(slice, trace);
        if (openSpans > openSpansMax) shut(slice, trace);
      }
    },
    ready: (partition) => ready[partition] ?? [],
    markSending(some) {
      for (const slice of some) {
        const trace = traces.get(slice.key);
        if (trace !== undefined) shut(slice, trace);
        if (slice.isUnscored) telemetry.add('tracejury.forward.unscored', slice.items);
        slice.isUnscored = false;
      }
    },
    gone(slice) {
      ready[slice.partition]?.delete(slice);
      sliceCount--;
      const others = (left.get(slice.key) ?? 1) - 1;
      if (others > 0) left.set(slice.key, others);
      else left.delete(slice.key);
      if (--slice.request.left === 0) forget(slice.request);
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
    slices: () => sliceCount,
    readySize: () => ready.reduce((sum, own) => sum + own.size, 0),
  };
}

/** Two agents may have verdicts on one tool span. */
function joined(before: Addition | undefined, addition: Addition): Addition {
  return before === undefined ? addition : (endUnixNano) => Buffer.concat([before(endUnixNano), addition(endUnixNano)]);
}

/** Gives fields by span id. `isHere` decides whether the span takes fields. Verdicts on any other span go to the agent's span and name theirs. */
export type VerdictFields = (item: ExportItem, isHere: (spanId: SpanId) => boolean) => ReadonlyMap<SpanId, Addition>;

/** All calls share one buffer. */
export function verdictFields(): VerdictFields {
  const out = protobufWriter();
  return (item, isHere) => additionsOf(item, isHere, out);
}

function additionsOf(item: ExportItem, isHere: (spanId: SpanId) => boolean, out: ProtobufWriter): ReadonlyMap<SpanId, Addition> {
  const { attributes, verdicts, parts } = resultsOf(item);
  const { spanId: agent } = item.run;
  const events = new Map<SpanId, EvaluationAttributes[]>([[agent, [...verdicts]]]);
  for (const { spanId = agent, attributes: part } of parts) {
    const on = isHere(spanId) ? spanId : agent;
    const known = events.get(on);
    if (known === undefined) events.set(on, [part]);
    else known.push(part);
  }
  return new Map([...events].map(([spanId, own]) => [spanId, additionOf(spanId === agent ? attributes : {}, own, out)]));
}

/** Events carry the end time of the span, as a backend may hide events outside it. */
function additionOf(attributes: EvaluationAttributes, events: readonly EvaluationAttributes[], out: ProtobufWriter): Addition {
  return (endUnixNano) => {
    out.restart();
    writeAddition(out, {
      attributes,
      events: events.map((own) => ({ name: wire.evaluationEvent, timeUnixNano: endUnixNano, attributes: own })),
    });
    return out.result();
  };
}
