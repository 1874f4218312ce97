/** Between those who say something of runs and the store: what is redacted is taken away first, and everything is counted. */
import { createHash } from 'node:crypto';
import { annotationId, type Annotation, type TakenAnnotation } from '../model/store/annotation-store.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { Store } from '../model/store/store.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import { JuryError, isDiskFull } from '../model/errors.ts';
import { annotationsOfRecords, annotationsOfSpans } from '../pipeline/evaluation/foreign-annotations.ts';
import type { Ingest } from '../model/ingest.ts';

export interface AnnotationWriterOptions {
  readonly store: Pick<Store, 'annotations'>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Asked for each time. */
  readonly redaction: () => Redaction | undefined;
  /** How long an annotation waits for its run; asked for each time. */
  readonly waitMs: () => number;
  readonly onFault: (error: unknown) => void;
}

export interface AnnotationWriter {
  /** When it resolves, they are kept; gives the fate of each. Rejects when none was. */
  take(annotations: readonly Annotation[]): Promise<readonly TakenAnnotation[]>;
  /** Whether it was there. Rejects when nothing was taken back. */
  remove(id: string): Promise<boolean>;
  stop(): Promise<void>;
}

const tendEveryMs = 60_000;
const expiredAtOnceMax = 1_000;
/** Words of ours, which agreement goes by. */
const ownLabels: ReadonlySet<string> = new Set(['pass', 'fail']);

export function annotationWriter({
  store: { annotations: kept },
  telemetry,
  clock,
  sleep,
  redaction,
  waitMs,
  onFault,
}: AnnotationWriterOptions): AnnotationWriter {
  async function tend(ended: AbortSignal): Promise<void> {
    let expired = expiredAtOnceMax;
    while (expired === expiredAtOnceMax && !ended.aborted) {
      expired = await kept.expire({ before: Math.floor((clock.nowMs() - waitMs()) * 1_000), limit: expiredAtOnceMax });
      if (expired > 0) telemetry.add('tracejury.annotations', expired, { 'tracejury.outcome': 'expired' });
    }
    telemetry.set('tracejury.annotations.waiting', await kept.waiting());
  }

  const tending = periodicTask({ everyMs: tendEveryMs, sleep, work: tend, onFault });
  return {
    async take(annotations) {
      if (annotations.length === 0) return [];
      const own = redaction();
      const written = own === undefined ? annotations : annotations.map((annotation) => redacted(annotation, own));
      const fates = await kept.write(written, Math.floor(clock.nowMs() * 1_000));
      for (const [at, fate] of fates.entries())
        telemetry.add('tracejury.annotations', 1, {
          'tracejury.annotator.kind': annotations[at]?.kind ?? '',
          'tracejury.outcome': fate === 'too_many' || fate === 'full' ? 'refused' : fate,
        });
      return written.map((annotation, at) => {
        const fate = fates[at] ?? 'full';
        return { fate, id: fate === 'attached' || fate === 'waiting' ? annotationId(annotation) : undefined };
      });
    },
    async remove(id) {
      const isGone = await kept.remove(id);
      if (isGone) telemetry.add('tracejury.annotations', 1, { 'tracejury.outcome': 'deleted' });
      return isGone;
    },
    stop: tending.stop,
  };
}

/** An annotator's id stays one, so that two people stay two. */
function redacted(annotation: Annotation, { text }: Redaction): Annotation {
  const { by, label, explanation } = annotation;
  const redactedBy = text(by);
  return {
    ...annotation,
    by: redactedBy === by ? by : `redacted-${createHash('sha256').update(by).digest('hex').slice(0, 16)}`,
    label: label === undefined || ownLabels.has(label) ? label : text(label),
    explanation: text(explanation),
  };
}

// Requests whose spans and records tell verdicts of others: these are kept as well, before the request counts as taken.

interface AnnotationIngestOptions {
  readonly ingest: Ingest;
  /** Undefined: the store is not open. */
  readonly writer: () => Pick<AnnotationWriter, 'take'> | undefined;
  readonly clock: Clock;
}

/** Of one transaction. */
const annotationsAtOnceMax = 1_000;

export function annotationIngest({ ingest, writer, clock }: AnnotationIngestOptions): Ingest {
  /** No word is newer than now: it would outlast every later one. */
  async function keep(found: readonly Annotation[]): Promise<void> {
    const own = writer();
    const now = Math.floor(clock.nowMs() * 1_000);
    try {
      for (let at = 0; at < found.length; at += annotationsAtOnceMax) {
        await own?.take(found.slice(at, at + annotationsAtOnceMax).map((one) => (one.at > now ? { ...one, at: now } : one)));
      }
    } catch (error) {
      // Whoever sent them sends them again: spans that are there already are passed over, and so is the same word.
      throw new JuryError(
        'STORE_REFUSED',
        isDiskFull(error) ? 'It tells verdicts that could not be stored: the disk is full.' : 'It tells verdicts that could not be stored.',
        error,
      );
    }
  }

  return {
    ...ingest,
    async spans(tenant, spans, request) {
      await ingest.spans(tenant, spans, request);
      const found = annotationsOfSpans(tenant, spans);
      if (found.length > 0) await keep(found);
    },
    async logs(tenant, records, request) {
      await ingest.logs(tenant, records, request);
      const found = annotationsOfRecords(tenant, records);
      if (found.length > 0) await keep(found);
    },
  };
}
