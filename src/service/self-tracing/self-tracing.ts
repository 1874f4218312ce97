/**
 * Makes spans of the service itself: the duration and the wait of requests, closed runs, questions to judges, store batches and exports.
 * The service wraps its parts, which do not know about tracing. The spans contain no text of a run.
 */
import type { Run } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Exporter, ExportOutcome } from '../../exporters/exporter.ts';
import type { Clock } from '../../model/clock.ts';
import { derivedSpanId, derivedTraceId, type SpanId, type Tenant, type TraceId } from '../../model/ids.ts';
import type { Ingest } from '../../model/ingest.ts';
import type { JsonValue } from '../../model/json.ts';
import type { JudgeCall } from '../../model/judge-call.ts';
import { recentMap } from '../../model/recent-map.ts';
import { recentNumbers } from '../../model/recent-numbers.ts';
import type { ExportItem, ScoredRun } from '../../model/scored-run.ts';
import type { Store } from '../../model/store/store.ts';
import { errorType, runTargetId } from '../../model/verdict.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';

/** Wraps the parts of the service. */
export interface SelfTracing {
  readonly ingest: (of: Ingest) => Ingest;
  /** Wraps the receiver of requests that the journal has appended. */
  readonly gatherer: <Flow extends Gatherer>(of: Flow) => Flow;
  /** Wraps the part that closes and scores due runs. */
  readonly closer: <Flow extends Closer>(of: Flow) => Flow;
  /** Wraps the part that resumes judge jobs of the store. */
  readonly resumer: <Flow extends Resumer>(of: Flow) => Flow;
  readonly store: (of: Store) => Store;
  /** `name`: of the entry. */
  readonly exporter: (of: Exporter, name: string) => Exporter;
  /** Called with each scored run, and with each verdict of a judge. */
  readonly scored: (item: ScoredRun) => void;
  /** Sends waiting spans within the deadline. */
  stop(deadlineMs: number): Promise<void>;
}

type Gatherer = Pick<Pipeline, 'spans' | 'logs'>;
type Closer = Pick<Pipeline, 'advance'>;
type Resumer = Pick<Pipeline, 'resume'>;

export const noSelfTracing: SelfTracing = {
  ingest: (of) => of,
  gatherer: (of) => of,
  closer: (of) => of,
  resumer: (of) => of,
  store: (of) => of,
  exporter: (of) => of,
  scored: () => undefined,
  stop: async () => undefined,
};

/** An ended span. */
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

/** Makes and sends spans. */
export interface SpanSink {
  /** Deterministic: the same answer for the same id. */
  readonly isSampled: (traceId: TraceId) => boolean;
  /** Never throws and never waits. */
  readonly end: (span: OwnSpan) => void;
  stop(deadlineMs: number): Promise<void>;
}

export interface SelfTracingOptions {
  readonly sink: SpanSink;
  readonly clock: Clock;
  readonly randomBytes: (length: number) => Buffer;
  /** `true` while the trace is open: its first request came before, perhaps to an earlier process. */
  readonly isOpen: (tenant: Tenant, traceId: TraceId) => boolean;
}

/** Traces whose last request is remembered. */
const tracesMax = 20_000;
/** Runs of a batch, and traces of a request, that get a span. */
const runsMax = 64;
/** Closed runs and judge jobs whose times are kept to measure the wait for a judge. */
const jobsMax = 10_000;

type Attributes = OwnSpan['attributes'];

export function selfTracing({ sink, clock, randomBytes, isOpen }: SelfTracingOptions): SelfTracing {
  /** Time of the last request, by the service's own trace. */
  const requests = recentNumbers(tracesMax);
  const closedMs = recentNumbers(jobsMax);
  /** Jobs that were taken out of the store. */
  const jobs = recentMap<string, { readonly offeredMs: number; readonly resumedMs: number }>(jobsMax);
  /** Keyed by the decisions of an item, which the stored item and the sent item share. */
  const scoredMs = new WeakMap<ExportItem['decisions'], number>();
  /** When the journal had a request, by its first span or record. */
  const appendedMs = new WeakMap<object, number>();
  let advancedMs: number | undefined;
  const storing = { name: 'store write', wait: 'wait for batch', doing: 'write batch', tried: new WeakSet<ExportItem['decisions']>() };

  function record(run: Placed, span: Unplaced, place: { readonly parentSpanId: SpanId; readonly spanId?: SpanId }): SpanId {
    const spanId = place.spanId ?? freshId(randomBytes);
    sink.end({ events: [], ...span, traceId: placeOf(run).traceId, parentSpanId: place.parentSpanId, spanId, links: [linkTo(run)] });
    return spanId;
  }

  /** A wait, or work without attributes. */
  function step(run: Placed, name: string, { parentSpanId, startMs, endMs }: Step): void {
    record(run, { name, kind: 'internal', startMs: Math.min(startMs, endMs), endMs, attributes: {} }, { parentSpanId });
  }

  const isSampled = (run: Placed): boolean => sink.isSampled(placeOf(run).traceId);

  function closed(item: ScoredRun): void {
    const { run } = item;
    const { traceId, firstId, closeId } = placeOf(run);
    const endMs = clock.nowMs();
    if (item.asked === true) closedMs.set(closeKey(run), endMs);
    const evaluatedFromMs = advancedMs ?? endMs;
    // The next run of the same turn is scored after this one.
    if (advancedMs !== undefined) advancedMs = endMs;
    const startMs = Math.min(requests.get(traceId) ?? evaluatedFromMs, evaluatedFromMs);
    const parentSpanId = record(
      run,
      {
        name: 'close run',
        kind: 'internal',
        startMs,
        endMs,
        attributes: {
          ...aboutRun(run),
          [wire.completeness]: run.completeness,
          [wire.revision]: run.revision,
          [wire.judgesAsked]: item.asked === true,
          [wire.failedNames]: failedNames(item),
        },
      },
      { parentSpanId: firstId, spanId: closeId },
    );
    if (startMs < evaluatedFromMs) step(run, 'wait for more spans', { parentSpanId, startMs, endMs: evaluatedFromMs });
    if (evaluatedFromMs < endMs) step(run, 'evaluate rules', { parentSpanId, startMs: evaluatedFromMs, endMs });
  }

  function judged(item: ScoredRun): void {
    const { run, calls = [], decisions, evaluations } = item;
    const [decision] = decisions;
    if (decision === undefined) return;
    const endMs = clock.nowMs();
    const firstMs = calls.length === 0 ? endMs : Math.min(...calls.map(({ startMs }) => startMs));
    const key = jobKey(run, decision.name);
    const { offeredMs = closedMs.get(closeKey(run)) ?? firstMs, resumedMs } = jobs.get(key) ?? {};
    jobs.delete(key);
    const startMs = Math.min(offeredMs, firstMs);
    const [verdict] = evaluations.map((one) => one.verdict);
    const fault = verdict?.kind === 'failed' ? errorType(verdict.error) : undefined;
    const parentSpanId = record(
      run,
      {
        name: `judge ${decision.name}`,
        kind: 'internal',
        startMs,
        endMs,
        attributes: {
          ...aboutRun(run),
          [wire.evaluationName]: decision.name,
          [wire.evaluatorId]: decision.evaluator,
          [wire.decision]: decision.decision,
          ...(decision.reason === undefined ? {} : { [wire.decisionReason]: errorType(decision.reason) }),
          [wire.judgeWait]: (firstMs - startMs) / 1_000,
        },
        ...(fault === undefined ? {} : { fault }),
      },
      { parentSpanId: placeOf(run).closeId },
    );
    if (resumedMs !== undefined) step(run, 'wait in judge queue', { parentSpanId, startMs, endMs: Math.min(resumedMs, firstMs) });
    step(run, 'wait for judge', { parentSpanId, startMs: Math.min(resumedMs ?? startMs, firstMs), endMs: firstMs });
    for (const call of calls) asked(run, call, parentSpanId);
  }

  function asked(run: Run, call: JudgeCall, parentSpanId: SpanId): void {
    const fault = call.error === undefined ? undefined : errorType(call.error);
    record(
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
          [wire.judgeAttempts]: call.retries.length + 1,
          ...(call.tokens === undefined ? {} : { [wire.inputTokens]: call.tokens.input, [wire.outputTokens]: call.tokens.output }),
        },
        events: call.retries.map(({ atMs, error }) => ({
          name: wire.judgeRetry,
          atMs,
          attributes: { [wire.errorType]: errorType(error) },
        })),
        ...(fault === undefined ? {} : { fault }),
      },
      { parentSpanId },
    );
  }

  /** Runs the work and makes a span of it in the trace of each sampled item, from the time it was scored. */
  async function timed<Result>(
    items: readonly ExportItem[],
    { name, attributes, wait, doing, tried }: Timed,
    work: () => Promise<Result>,
    faultOf: (result: Result) => string | undefined = () => undefined,
  ): Promise<Result> {
    const sampled = items.filter(({ run }) => isSampled(run)).slice(0, runsMax);
    if (sampled.length === 0) return await work();
    const beganMs = clock.nowMs();
    const done = (fault: string | undefined): void => {
      const endMs = clock.nowMs();
      for (const { run, decisions } of sampled) {
        // A retry did not wait for its turn.
        const waitedMs = tried.has(decisions) ? undefined : scoredMs.get(decisions);
        tried.add(decisions);
        const startMs = Math.min(waitedMs ?? beganMs, beganMs);
        const parentSpanId = record(
          run,
          {
            name,
            kind: waitedMs === undefined ? 'client' : 'internal',
            startMs,
            endMs,
            attributes: { ...aboutRun(run), ...attributes },
            ...(fault === undefined ? {} : { fault }),
          },
          { parentSpanId: placeOf(run).closeId },
        );
        if (waitedMs === undefined) continue;
        step(run, wait, { parentSpanId, startMs, endMs: beganMs });
        step(run, doing, { parentSpanId, startMs: beganMs, endMs });
      }
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

  /** The parts of a request by sampled trace. */
  function sharesOf(tenant: Tenant, items: readonly Carried[]): readonly Share[] {
    const shares = new Map<TraceId, Share | undefined>();
    let sampled = 0;
    for (const item of items) {
      // A backend may send the service's own spans back: a span for each of them would form an endless loop.
      if (item.traceId === undefined || item.attribute(wire.generated) === true) continue;
      let share = shares.get(item.traceId);
      if (share === undefined && !shares.has(item.traceId) && sampled < runsMax) {
        const place = tracePlace(tenant, item.traceId);
        if (sink.isSampled(place.traceId)) {
          sampled++;
          const isFirst = !requests.has(place.traceId) && !isOpen(tenant, item.traceId);
          share = { ...place, isFirst, items: 0, linked: undefined, isRoot: false, agentTraceId: item.traceId };
        }
        shares.set(item.traceId, share);
      }
      if (share === undefined) continue;
      share.items++;
      if (item.spanId === undefined || share.isRoot) continue;
      share.isRoot = item.parentSpanId === undefined;
      if (share.isRoot || share.linked === undefined) share.linked = item.spanId;
    }
    return [...shares.values()].filter((share) => share !== undefined);
  }

  async function request({ signal, tenant, items, bytes }: Request, work: () => Promise<void>): Promise<void> {
    const shares = sharesOf(tenant, items);
    if (shares.length === 0) return await work();
    const startMs = clock.nowMs();
    for (const { traceId } of shares) requests.set(traceId, startMs);
    const done = (fault?: string): void => {
      const endMs = clock.nowMs();
      const hadMs = appendedMs.get(items[0] ?? {});
      for (const { traceId, firstId, isFirst, agentTraceId, linked, items: own } of shares) {
        const links = linked === undefined ? [] : [{ traceId: agentTraceId, spanId: linked }];
        const spanId = isFirst ? firstId : freshId(randomBytes);
        sink.end({
          traceId,
          spanId,
          ...(isFirst ? {} : { parentSpanId: firstId }),
          name: `ingest ${signal}`,
          kind: 'server',
          startMs,
          endMs,
          attributes: { [wire.requestBytes]: bytes, [wire.requestItems]: items.length, [wire.traceItems]: own },
          links,
          events: [],
          ...(fault === undefined ? {} : { fault }),
        });
        const steps = [
          ['append to journal', startMs, hadMs ?? endMs] as const,
          ...(hadMs === undefined ? [] : [['gather spans', hadMs, endMs] as const]),
        ];
        for (const [name, fromMs, toMs] of steps)
          sink.end({
            traceId,
            spanId: freshId(randomBytes),
            parentSpanId: spanId,
            name,
            kind: 'internal',
            startMs: fromMs,
            endMs: toMs,
            attributes: {},
            links,
            events: [],
          });
      }
    };
    try {
      await work();
      done();
    } catch (error) {
      done(errorName(error));
      throw error;
    }
  }

  function appended([first]: readonly object[]): void {
    if (first !== undefined) appendedMs.set(first, appendedMs.get(first) ?? clock.nowMs());
  }

  return {
    ingest: (of) => ({
      ...of,
      spans: (tenant, spans, received) =>
        request({ signal: 'traces', tenant, items: spans, bytes: received.body.length }, () => of.spans(tenant, spans, received)),
      logs: (tenant, records, received) =>
        request({ signal: 'logs', tenant, items: records, bytes: received.body.length }, () => of.logs(tenant, records, received)),
    }),
    gatherer: (of) => ({
      ...of,
      spans(tenant, spans, ...places) {
        appended(spans);
        of.spans(tenant, spans, ...places);
      },
      logs(tenant, records, ...places) {
        appended(records);
        of.logs(tenant, records, ...places);
      },
    }),
    closer: (of) => ({
      ...of,
      advance(piecesMax) {
        advancedMs = clock.nowMs();
        try {
          of.advance(piecesMax);
        } finally {
          advancedMs = undefined;
        }
      },
    }),
    resumer: (of) => ({
      ...of,
      resume(job, done, as) {
        if (isSampled(job.run)) jobs.set(jobKey(job.run, job.name), { offeredMs: job.offeredAt / 1_000, resumedMs: clock.nowMs() });
        of.resume(job, done, as);
      },
    }),
    store: (of) => ({
      ...of,
      write: (items, exports) =>
        timed(items, { ...storing, attributes: { [wire.batchRuns]: items.length } }, () => of.write(items, exports)),
    }),
    exporter: (of, name) => {
      // A volatile exporter sends nothing out of the process.
      if (of.isVolatile === true) return of;
      const sending: Timed = {
        name: `export ${name}`,
        wait: 'wait for exporter',
        doing: 'send to backend',
        attributes: { [wire.exporter]: of.id },
        tried: new WeakSet(),
      };
      const faultOf = (outcome: ExportOutcome): string | undefined => (outcome.kind === 'failed' ? errorType(outcome.error) : undefined);
      return { ...of, send: (item) => timed([item], sending, () => of.send(item), faultOf) };
    },
    scored(item) {
      if (!isSampled(item.run)) return;
      scoredMs.set(item.decisions, clock.nowMs());
      if (item.answered === true) judged(item);
      else closed(item);
    },
    stop: (deadlineMs) => sink.stop(deadlineMs),
  };
}

/** The fields of a run that place and link its spans. */
type Placed = Pick<Run, 'tenant' | 'traceId' | 'spanId' | 'spanTraceId' | 'revision' | 'service'> & {
  readonly trace: Pick<Run['trace'], 'agent'>;
};

type Unplaced = Pick<OwnSpan, 'name' | 'kind' | 'startMs' | 'endMs' | 'attributes' | 'fault'> & Partial<Pick<OwnSpan, 'events'>>;

interface Step {
  readonly parentSpanId: SpanId;
  readonly startMs: number;
  readonly endMs: number;
}

/** Work that items wait for. */
interface Timed {
  readonly name: string;
  readonly attributes: Attributes;
  /** Names of the spans below it: the wait, and the work. */
  readonly wait: string;
  readonly doing: string;
  /** Decisions of the items that were tried. */
  readonly tried: WeakSet<ExportItem['decisions']>;
}

interface Carried {
  readonly traceId: TraceId;
  readonly spanId?: SpanId | undefined;
  readonly parentSpanId?: SpanId | undefined;
  attribute(key: string): unknown;
}

interface Request {
  readonly signal: 'traces' | 'logs';
  readonly tenant: Tenant;
  readonly items: readonly Carried[];
  readonly bytes: number;
}

/** The part of a request that belongs to one trace. */
interface Share extends TracePlace {
  readonly agentTraceId: TraceId;
  /** `true` for the first request of the trace. */
  readonly isFirst: boolean;
  items: number;
  /** The span without a parent, otherwise the first span. */
  linked: SpanId | undefined;
  isRoot: boolean;
}

/** The service's own trace about a trace of an agent, and the span of its first request. */
interface TracePlace {
  readonly traceId: TraceId;
  readonly firstId: SpanId;
}

/** Hashes place a span after a restart in the same trace. */
function tracePlace(tenant: Tenant, traceId: TraceId): TracePlace {
  const text = `trace ${tenant}/${traceId}`;
  return { traceId: traceIdOf(text), firstId: spanIdOf(text) };
}

function placeOf(run: Placed): TracePlace & { readonly closeId: SpanId } {
  return { ...tracePlace(run.tenant, run.traceId), closeId: spanIdOf(`run ${closeKey(run)}`) };
}

function jobKey(run: Placed, name: string): string {
  return `${closeKey(run)}/${name}`;
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

function closeKey(run: Placed): string {
  return `${run.tenant}/${runTargetId(run)}/${run.revision}`;
}

/** A code or class name, never the text of the error: it may contain content of a run. */
function errorName(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'unknown';
}

function traceIdOf(text: string): TraceId {
  return derivedTraceId(`tracejury ${text}`);
}

function spanIdOf(text: string): SpanId {
  return derivedSpanId(`tracejury ${text}`, 32);
}

function freshId(randomBytes: (length: number) => Buffer): SpanId {
  return spanIdOf(randomBytes(16).toString('hex'));
}
