/** Scores runs in the process of the agent: reads ended spans and makes evaluation spans. */
import type { SpanExporter } from '@opentelemetry/sdk-trace-base';
import { collectors } from '../../collectors/index.ts';
import type { ConfiguredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import { evaluators as members } from '../../evaluators/index.ts';
import { spansOf } from '../exporters/otlp/item-spans.ts';
import { spanDetails, type SpanDetail } from '../exporters/otlp/evaluation-span.ts';
import { refuseUnanswered, type UsableEvaluator, type UsableJudge } from '../library/evaluate.ts';
import { readyEvaluator } from '../library/factory.ts';
import { spanOf, type SdkSpan } from '../library/readable-span.ts';
import type { Run } from '../model/agent-trace.ts';
import { wire } from '../model/attributes.ts';
import type { Clock } from '../model/clock.ts';
import { noTenant } from '../model/ids.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import type { Span } from '../model/span.ts';
import { defaultClosing, defaultGroupLimits } from '../pipeline/gathering/close-policy.ts';
import type { PlannedEvaluator, ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { askOf, runJudge, type AskEnd, type Call } from '../pipeline/jury/judge-driver.ts';
import { pipeline } from '../pipeline/pipeline.ts';
import { contained } from '../runtime/contained.ts';
import { noTelemetry } from '../telemetry/telemetry.ts';
import { type ProcessTimers, sentSpans, type SentSpans } from './span-sender.ts';

export interface SpanProcessorOptions {
  /** Made by factories of `tracejury/evaluators`, or objects of the evaluator contract. Default: the rules that are on without a configuration. */
  readonly evaluators?: readonly UsableEvaluator[];
  /** The judge of judge evaluators, such as `openAiCompatibleJudge` of `tracejury/judges`. */
  readonly judge?: UsableJudge;
  /** Sends a document to an endpoint and gives its JSON answer, for evaluators over HTTP. */
  readonly call?: Call;
  /** Content of an evaluation span, as `detail` of the exporter `span_events`. Default: `lean`. */
  readonly detail?: SpanDetail;
  /** Share of runs, 0 to 1, that evaluators with a judge or an endpoint score. Default: 1. */
  readonly sample?: number;
  /** Default: OTLP over HTTP by the `OTEL_EXPORTER_OTLP_…` variables. The processor shuts it down. */
  readonly exporter?: SpanExporter;
  /** Milliseconds from the end of a complete run to its score, and from the last span of an incomplete one. Default: 500 and 5,000. */
  readonly settleMs?: number;
  readonly quietMs?: number;
  /** Most waiting spans; the processor drops and counts later ones. Default: 20,000. */
  readonly spansMax?: number;
  /** Bytes of open traces, estimated. Beyond them the oldest close early. Default: 64 MiB. */
  readonly bytesMax?: number;
  /** Most evaluation spans that wait for the exporter; the processor drops and counts later ones. Default: 2,048. */
  readonly exportsMax?: number;
  /** Most runs that wait for a judge; the processor counts later ones and asks no question. Default: 100. */
  readonly judgeQueueMax?: number;
  /** Concurrent runs with a judge. Default: 4. */
  readonly judgeConcurrency?: number;
  /** Deadline of `forceFlush` and `shutdown` in milliseconds. Default: 10,000. */
  readonly deadlineMs?: number;
  /** Receives each scored run, and each verdict of a judge. The processor counts its errors, rejections included. */
  readonly onScored?: (item: ScoredRun) => unknown;
}

export interface SpanProcessorStats {
  /** `taken`: gathered. `invalid`: never recorded, broken, or an evaluation span. `dropped`: beyond the limit, or after the shutdown. */
  readonly spans: { readonly taken: number; readonly invalid: number; readonly dropped: number };
  readonly runs: { readonly scored: number };
  readonly judges: { readonly asked: number; readonly overloaded: number };
  readonly exports: { readonly sent: number; readonly failed: number; readonly dropped: number };
  /** Caught errors. */
  readonly faults: number;
}

/** The limit of the service. */
const questionsMax = 50;
/** Time of one turn of the event loop. */
const sliceMs = 5;
const sliceSpans = 200;
const piecesPerSlice = 20;
/** Estimated bytes of a span without attributes, and of an attribute without its text. */
const spanBytes = 200;
const attributeBytes = 16;

export interface ProcessScoring {
  ended(span: SdkSpan): void;
  flush(): Promise<void>;
  shutdown(): Promise<void>;
  stats(): SpanProcessorStats;
}

export function processScoring(
  options: SpanProcessorOptions & { readonly exporter: SpanExporter },
  { clock, timers }: { readonly clock: Clock; readonly timers: ProcessTimers },
): ProcessScoring {
  const settings = checked(options);
  const { spansMax, judgeQueueMax, judgeConcurrency, deadlineMs, settleMs } = settings;
  const counts = { taken: 0, invalid: 0, dropped: 0, scored: 0, asked: 0, overloaded: 0, faults: 0 };
  const sending: SentSpans = sentSpans({
    exporter: options.exporter,
    waitingMax: settings.exportsMax,
    timers,
    onIdle: () => progress(),
  });
  const ask = askOf(options.judge ?? {}, options.call);
  const toAsk: (() => Promise<void>)[] = [];
  let asking = 0;
  const waiting: SdkSpan[] = [];
  let isPlanned = false;
  let cancelDue: (() => void) | undefined;
  let stopped: Promise<void> | undefined;
  const context = evaluationContext();
  /** Flushes that wait for judges and exports. */
  const flushes = new Set<() => void>();

  const flow = pipeline({
    collectors,
    plan: settings.plan,
    // Spans come in the order in which they end, several at once by chance.
    closing: { ...defaultClosing, settleMs, batchedSettleMs: settleMs, quietMs: settings.quietMs },
    context,
    clock,
    telemetry: noTelemetry,
    limits: { ...defaultGroupLimits, bytesMax: settings.bytesMax, tombstonesMax: 10_000 },
    deliver,
    ask: judge,
  });

  /** Errors of the processor never reach the agent. */
  function safely(work: () => unknown): void {
    contained(work, () => counts.faults++);
  }

  function deliver(item: ScoredRun): void {
    if (item.answered !== true) counts.scored++;
    safely(() => options.onScored?.(item));
    safely(() => sending.add(spansOf(item, options)));
  }

  function judge(run: Run, { configured, expected }: ToJudge, done: (end: AskEnd) => void): void {
    if (toAsk.length >= judgeQueueMax) {
      counts.overloaded++;
      return done({ kind: 'overload', reason: 'queue_full' });
    }
    toAsk.push(async () => {
      counts.asked++;
      const verdict = await runJudge(configured.judge(run.trace, expected, context), ask, {
        questionsMax,
        threshold: configured.threshold,
      });
      safely(() => done({ kind: 'judged', verdict }));
    });
    askNext();
  }

  function askNext(): void {
    while (asking < judgeConcurrency) {
      const next = toAsk.shift();
      if (next === undefined) return;
      asking++;
      void next()
        .catch(() => counts.faults++)
        .finally(() => {
          asking--;
          askNext();
          progress();
        });
    }
  }

  /** Works on one slice: gathers waiting spans and scores due runs. */
  function work(untilMs: number): void {
    while (waiting.length > 0 && clock.nowMs() < untilMs) takeSome();
    if (waiting.length === 0)
      do safely(() => flow.advance(piecesPerSlice));
      while (isDue() && clock.nowMs() < untilMs);
  }

  function takeSome(): void {
    const spans = waiting.splice(0, sliceSpans).flatMap((one): readonly Span[] => {
      try {
        const span = spanOf(one);
        if (span !== undefined && span.attribute(wire.generated) !== true) return [{ ...span, wireBytes: bytesOf(span) }];
      } catch {
        counts.faults++;
      }
      counts.invalid++;
      return [];
    });
    counts.taken += spans.length;
    for (const own of Map.groupBy(spans, ({ traceId }) => traceId).values()) safely(() => flow.spans(noTenant, own));
  }

  const isDue = (): boolean => (flow.nextDueMs() ?? Infinity) <= clock.nowMs();

  function plan(): void {
    if (isPlanned) return;
    isPlanned = true;
    cancelDue?.();
    timers.soon(() => {
      isPlanned = false;
      work(clock.nowMs() + sliceMs);
      if (waiting.length > 0 || isDue()) plan();
      else planDue();
    });
  }

  function planDue(): void {
    cancelDue?.();
    const dueMs = flow.nextDueMs();
    if (dueMs !== undefined && stopped === undefined) cancelDue = timers.after(Math.max(1, dueMs - clock.nowMs()), plan);
  }

  /** After an answer of a judge or the last export, waiting flushes check again. */
  function progress(): void {
    for (const proceed of flushes) proceed();
  }

  /** Resolves when judges have answered and scores are sent. */
  async function drained(untilMs: number): Promise<void> {
    while ((asking > 0 || toAsk.length > 0 || sending.isBusy()) && clock.nowMs() < untilMs) {
      await new Promise<void>((resolve) => {
        const proceed = (): void => {
          cancel();
          flushes.delete(proceed);
          resolve();
        };
        const cancel = timers.after(Math.max(1, untilMs - clock.nowMs()), proceed, true);
        flushes.add(proceed);
      });
    }
  }

  /** Keeps the process alive while a caller waits. */
  const pause = (ms: number): Promise<void> => new Promise((resolve) => void timers.after(ms, resolve, true));

  /** Works slice by slice, with turns of the agent in between. */
  async function workAll(untilMs: number): Promise<void> {
    for (;;) {
      work(clock.nowMs() + sliceMs);
      if ((waiting.length === 0 && !isDue()) || clock.nowMs() >= untilMs) return;
      await pause(0);
    }
  }

  async function flush(): Promise<void> {
    const untilMs = clock.nowMs() + deadlineMs;
    await workAll(untilMs);
    // A complete run waits this long for late spans.
    if (flow.nextDueMs() !== undefined) await pause(Math.min(settleMs + 1, deadlineMs));
    await workAll(untilMs);
    await drained(untilMs);
    planDue();
  }

  async function end(): Promise<void> {
    const untilMs = clock.nowMs() + deadlineMs;
    await workAll(untilMs);
    safely(() => flow.finish());
    await drained(untilMs);
    cancelDue?.();
    counts.dropped += waiting.splice(0).length;
    const shutDown = async (): Promise<void> => await options.exporter.shutdown();
    await Promise.race([shutDown().catch(() => counts.faults++), pause(Math.max(1, untilMs - clock.nowMs()))]);
  }

  return {
    ended(span) {
      if (stopped !== undefined || waiting.length >= spansMax) {
        counts.dropped++;
        return;
      }
      waiting.push(span);
      safely(plan);
    },
    flush: () => (stopped === undefined ? flush() : stopped),
    shutdown: () => (stopped ??= end()),
    stats: () => ({
      spans: { taken: counts.taken, invalid: counts.invalid, dropped: counts.dropped },
      runs: { scored: counts.scored },
      judges: { asked: counts.asked, overloaded: counts.overloaded },
      exports: sending.counts(),
      faults: counts.faults,
    }),
  };
}

interface CheckedOptions extends Required<
  Pick<
    SpanProcessorOptions,
    'settleMs' | 'quietMs' | 'spansMax' | 'bytesMax' | 'exportsMax' | 'judgeQueueMax' | 'judgeConcurrency' | 'deadlineMs'
  >
> {
  readonly plan: readonly PlannedEvaluator[];
}

const defaults = {
  settleMs: defaultClosing.settleMs,
  quietMs: defaultClosing.quietMs,
  spansMax: 20_000,
  bytesMax: 64 * 1024 * 1024,
  exportsMax: 2_048,
  judgeQueueMax: 100,
  judgeConcurrency: 4,
  deadlineMs: 10_000,
} as const;

/** Throws a TypeError that lists all faults. */
function checked({ evaluators, judge, call, sample = 1, detail = 'lean', ...numbers }: SpanProcessorOptions): CheckedOptions {
  const faults: string[] = [];
  if (!spanDetails.includes(detail)) faults.push(`detail must be ${spanDetails.join(' or ')}, not ${String(detail)}.`);
  if (!(sample >= 0 && sample <= 1)) faults.push(`sample must be a share from 0 to 1, not ${String(sample)}.`);
  const given = Object.fromEntries(
    Object.entries(defaults).map(([name, preset]) => {
      const value = numbers[name as keyof typeof defaults] ?? preset;
      if (!Number.isFinite(value) || value < (name === 'settleMs' || name === 'quietMs' ? 0 : 1))
        faults.push(`${name} must be a number from 1, settleMs and quietMs from 0.`);
      return [name, value];
    }),
  ) as Omit<CheckedOptions, 'plan'>;
  if (faults.length > 0) throw new TypeError(faults.join(' '));
  const ready: readonly ConfiguredEvaluator[] = (evaluators ?? members.filter(({ onByDefault }) => onByDefault)).map((one) =>
    readyEvaluator(one),
  );
  const names = ready.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new TypeError(`Two evaluators have the name ${twice}: give one a different name.`);
  for (const one of ready) refuseUnanswered(one, { judge, call });
  return {
    ...given,
    plan: ready.map((configured) => ({
      configured,
      sampleRate: configured.kind === 'rule' ? 1 : sample,
      ...(configured.kind === 'judge' ? { judge: 'given' } : {}),
    })),
  };
}

/** Estimates the bytes of a span: the SDK does not report them. */
function bytesOf(span: Span): number {
  let bytes = spanBytes + span.name.length;
  for (const part of [span, ...span.events])
    for (const key of part.attributeKeys()) {
      const value = part.attribute(key);
      bytes +=
        key.length + attributeBytes + (typeof value === 'string' ? value.length : Array.isArray(value) ? JSON.stringify(value).length : 0);
    }
  return bytes;
}
