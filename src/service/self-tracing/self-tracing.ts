/**
 * Spans of the service itself: what a request, the close of a run, a question to a judge, a batch of the store and an export took. The parts know nothing of
 * them: each is wrapped where the service connects it. No text of a run is in them.
 */
import { createHash } from 'node:crypto';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Exporter, ExportOutcome } from '../../exporters/exporter.ts';
import type { Clock } from '../../model/clock.ts';
import { parseSpanId, parseTraceId, type SpanId, type TraceId } from '../../model/ids.ts';
import type { Ingest } from '../../model/ingest.ts';
import type { JsonValue } from '../../model/json.ts';
import type { JudgeCall } from '../../model/judge-call.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { Store } from '../../model/store/store.ts';
import { errorType, runTargetId } from '../../model/verdict.ts';

/** The identity on every part while the service makes no spans of itself. */
export interface SelfTracing {
  readonly ingest: (of: Ingest) => Ingest;
  readonly store: (of: Store) => Store;
  readonly exporter: (of: Exporter) => Exporter;
  /** Called with each scored run, and with each verdict of a judge. */
  readonly scored: (item: ScoredRun) => void;
  /** Sends what is left, within the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

export const noSelfTracing: SelfTracing = {
  ingest: (of) => of,
  store: (of) => of,
  exporter: (of) => of,
  scored: () => undefined,
  stop: async () => undefined,
};

/** A span that has ended. */
export interface OwnSpan {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly parentSpanId?: SpanId;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  /** Milliseconds since the epoch. */
  readonly startMs: number;
  readonly endMs: number;
  readonly attributes: { readonly [name: string]: JsonValue };
  readonly links: readonly RunLink[];
  readonly events: readonly { readonly name: string; readonly atMs: number; readonly attributes: { readonly [name: string]: JsonValue } }[];
  /** `error.type` when the work failed. */
  readonly fault?: string;
}

export interface RunLink {
  readonly traceId: string;
  readonly spanId: string;
}

/** Makes spans and sends them: the OpenTelemetry SDK. */
export interface SpanSink {
  /** Whether a trace of the service gets its spans: the same answer for the same id. */
  readonly isSampled: (traceId: TraceId) => boolean;
  /** Never throws and never waits. */
  readonly end: (span: OwnSpan) => void;
  stop(deadlineMs: number): Promise<void>;
}

export interface SelfTracingOptions {
  readonly sink: SpanSink;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Buffer;
}

/** Runs of a batch that get a span, and traces of a request that get a link. */
const runsMax = 64;
/** Runs whose close is remembered, to tell how long a judge let them wait. */
const closesMax = 10_000;

type Attributes = OwnSpan['attributes'];

export function selfTracing({ sink, clock, randomBytes }: SelfTracingOptions): SelfTracing {
  const closedMs = new Map<string, number>();
  /** By the hash of the run, so that a span made after a restart stands in the same trace. */
  const placeOf = (key: RunKey, revision: number): { readonly traceId: TraceId; readonly rootId: SpanId } => {
    const text = `${key.tenant}/${runTargetId(key)}`;
    return { traceId: traceIdOf(`run ${text}`), rootId: spanIdOf(`run ${text} ${revision}`) };
  };

  function child(
    run: Placed,
    span: Omit<OwnSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'links' | 'events'> & Partial<Pick<OwnSpan, 'events'>>,
    parent?: SpanId,
  ): SpanId {
    const { traceId, rootId } = placeOf(run, run.revision);
    const spanId = freshId(randomBytes);
    sink.end({ events: [], ...span, traceId, spanId, parentSpanId: parent ?? rootId, links: [linkTo(run)] });
    return spanId;
  }

  const isSampled = (run: RunKey): boolean => sink.isSampled(placeOf(run, 1).traceId);

  function closed(item: ScoredRun): void {
    const { run } = item;
    const { traceId, rootId } = placeOf(run, run.revision);
    const [startMs, endMs] = [Number(run.endUnixNano / 1_000_000n), clock.nowMs()];
    if (item.asked === true) {
      closedMs.set(closeKey(run), endMs);
      const [oldest] = closedMs.keys();
      if (closedMs.size > closesMax && oldest !== undefined) closedMs.delete(oldest);
    }
    sink.end({
      traceId,
      spanId: rootId,
      name: 'close run',
      kind: 'internal',
      // The agent may have another clock.
      startMs: Math.min(startMs, endMs),
      endMs,
      attributes: {
        ...aboutRun(run),
        [wire.completeness]: run.completeness,
        [wire.revision]: run.revision,
        [wire.judgesAsked]: item.asked === true,
        [wire.failedNames]: failedNames(item),
      },
      links: [linkTo(run)],
      events: [],
    });
  }

  function judged(item: ScoredRun): void {
    const { run, calls = [], decisions, evaluations } = item;
    const [decision] = decisions;
    if (decision === undefined) return;
    const endMs = clock.nowMs();
    const firstMs = calls.length === 0 ? endMs : Math.min(...calls.map(({ startMs }) => startMs));
    const startMs = Math.min(closedMs.get(closeKey(run)) ?? firstMs, firstMs);
    const [verdict] = evaluations.map((one) => one.verdict);
    const fault = verdict?.kind === 'failed' ? errorType(verdict.error) : undefined;
    const parent = child(run, {
      name: `judge ${decision.name}`,
      kind: 'internal',
      startMs,
      endMs,
      attributes: {
        ...aboutRun(run),
        [wire.evaluationName]: decision.name,
        [wire.evaluatorId]: decision.evaluator,
        [wire.decision]: decision.decision,
        [wire.judgeWait]: (firstMs - startMs) / 1_000,
      },
      ...(fault === undefined ? {} : { fault }),
    });
    for (const call of calls) asked(run, call, parent);
  }

  function asked(run: Run, call: JudgeCall, parent: SpanId): void {
    const fault = call.error === undefined ? undefined : errorType(call.error);
    child(
      run,
      {
        name: `${call.operation} ${call.model}`,
        kind: 'client',
        startMs: call.startMs,
        endMs: call.endMs,
        attributes: {
          [wire.operation]: call.operation,
          [wire.provider]: call.provider,
          [wire.requestModel]: call.model,
          [wire.judge]: call.judge,
          [wire.serverAddress]: call.server.address,
          [wire.serverPort]: call.server.port,
          ...(call.tokens === undefined ? {} : { [wire.inputTokens]: call.tokens.input, [wire.outputTokens]: call.tokens.output }),
        },
        events: call.retries.map(({ atMs, error }) => ({
          name: wire.judgeRetry,
          atMs,
          attributes: { [wire.errorType]: errorType(error) },
        })),
        ...(fault === undefined ? {} : { fault }),
      },
      parent,
    );
  }

  /** Runs the work and makes a span of it in the trace of each of the runs that are sampled. */
  async function timed<Result>(
    runs: readonly Placed[],
    span: { readonly name: string; readonly kind: OwnSpan['kind']; readonly attributes: Attributes },
    work: () => Promise<Result>,
    faultOf: (result: Result) => string | undefined = () => undefined,
  ): Promise<Result> {
    const sampled = runs.filter(isSampled).slice(0, runsMax);
    if (sampled.length === 0) return await work();
    const startMs = clock.nowMs();
    const done = (fault: string | undefined): void => {
      for (const run of sampled)
        child(run, {
          ...span,
          startMs,
          endMs: clock.nowMs(),
          attributes: { ...aboutRun(run), ...span.attributes },
          ...(fault === undefined ? {} : { fault }),
        });
    };
    try {
      const result = await work();
      done(faultOf(result));
      return result;
    } catch (error) {
      done(errorName(error));
      throw error;
    }
  }

  async function request(signal: 'traces' | 'logs', items: readonly Carried[], bytes: number, work: () => Promise<void>): Promise<void> {
    const traceId = traceIdOf(randomBytes(16).toString('hex'));
    // The backend may send our own spans back: a span for each of these would never end.
    if (!sink.isSampled(traceId) || items.every((item) => item.attribute(wire.generated) === true)) return await work();
    const startMs = clock.nowMs();
    const done = (fault?: string): void =>
      sink.end({
        traceId,
        spanId: freshId(randomBytes),
        name: `ingest ${signal}`,
        kind: 'server',
        startMs,
        endMs: clock.nowMs(),
        attributes: { [wire.requestBytes]: bytes, [wire.requestItems]: items.length },
        links: firstOfTraces(items),
        events: [],
        ...(fault === undefined ? {} : { fault }),
      });
    try {
      await work();
      done();
    } catch (error) {
      done(errorName(error));
      throw error;
    }
  }

  return {
    ingest: (of) => ({
      ...of,
      spans: (tenant, spans, received) => request('traces', spans, received.body.length, () => of.spans(tenant, spans, received)),
      logs: (tenant, records, received) => request('logs', records, received.body.length, () => of.logs(tenant, records, received)),
    }),
    store: (of) => ({
      ...of,
      write: (items, exports) =>
        timed(
          items.map(({ run }) => run),
          { name: 'store write', kind: 'client', attributes: { [wire.batchRuns]: items.length } },
          () => of.write(items, exports),
        ),
    }),
    exporter: (of) => {
      // Nothing leaves the process by such a one.
      if (of.isVolatile === true) return of;
      const span = { name: `export ${of.id}`, kind: 'client', attributes: {} } as const;
      const faultOf = (outcome: ExportOutcome): string | undefined => (outcome.kind === 'failed' ? errorType(outcome.error) : undefined);
      return { ...of, send: (item) => timed([item.run], span, () => of.send(item), faultOf) };
    },
    scored(item) {
      if (!isSampled(item.run)) return;
      if (item.answered === true) judged(item);
      else closed(item);
    },
    stop: (deadlineMs) => sink.stop(deadlineMs),
  };
}

/** A run, as its spans are placed and linked. */
type Placed = Pick<Run, 'tenant' | 'traceId' | 'spanId' | 'spanTraceId' | 'revision' | 'service'> & {
  readonly trace: Pick<Run['trace'], 'agent'>;
};

interface Carried {
  readonly traceId?: string | undefined;
  readonly spanId?: string | undefined;
  attribute(key: string): unknown;
}

function aboutRun({ trace: { agent }, service, tenant }: Placed): Attributes {
  return {
    ...(agent === undefined ? {} : { [wire.targetAgent]: agent }),
    ...(service === undefined ? {} : { [wire.targetService]: service }),
    ...(tenant === '' ? {} : { [wire.tenant]: tenant }),
  };
}

function failedNames({ evaluations }: ScoredRun): readonly string[] {
  return evaluations.flatMap(({ key, verdict }) => (verdict.kind === 'scored' && verdict.passed === false ? [key.name] : []));
}

function linkTo({ traceId, spanTraceId = traceId, spanId }: Placed): RunLink {
  return { traceId: spanTraceId, spanId };
}

function firstOfTraces(items: readonly Carried[]): readonly RunLink[] {
  const first = new Map<string, RunLink>();
  for (const { traceId, spanId } of items) {
    if (first.size === runsMax) break;
    if (traceId !== undefined && spanId !== undefined && !first.has(traceId)) first.set(traceId, { traceId, spanId });
  }
  return [...first.values()];
}

function closeKey(run: Placed): string {
  return `${run.tenant}/${runTargetId(run)}/${run.revision}`;
}

/** A name of the program's own, never a text of the error. */
function errorName(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

function hashed(text: string): string {
  return createHash('sha256').update(`tracejury ${text}`).digest('hex');
}

function traceIdOf(text: string): TraceId {
  const id = parseTraceId(hashed(text).slice(0, 32));
  if (id === undefined) throw new Error('a SHA-256 with a row of zeros');
  return id;
}

function spanIdOf(text: string): SpanId {
  const id = parseSpanId(hashed(text).slice(32, 48));
  if (id === undefined) throw new Error('a SHA-256 with a row of zeros');
  return id;
}

function freshId(randomBytes: (length: number) => Buffer): SpanId {
  return spanIdOf(randomBytes(16).toString('hex'));
}
