/** Writes annotations to the store: it redacts them first and counts the outcome of each. */
import { annotationId, type Annotation, type TakenAnnotation } from '../model/store/annotation-store.ts';
import type { Clock } from '../model/clock.ts';
import { redactedAnnotation } from '../redaction/annotation.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { Store } from '../model/store/store.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import { JuryError, isDiskFull } from '../model/errors.ts';
import { annotationsOfRecords, annotationsOfSpans } from '../pipeline/evaluation/foreign-annotations.ts';
import type { Ingest } from '../model/ingest.ts';
import type { TaskContext } from '../telemetry/context.ts';

export interface AnnotationWriterOptions extends TaskContext {
  readonly store: Pick<Store, 'annotations'>;
  /** The rules in force. */
  readonly redaction: () => Redaction | undefined;
  /** Maximum time that an annotation waits for its run. */
  readonly waitMs: () => number;
}

export interface AnnotationWriter {
  /** Resolves with the outcome of each annotation once the store has them. Rejects when it stored none. */
  take(annotations: readonly Annotation[]): Promise<readonly TakenAnnotation[]>;
  /** Resolves with `false` when there is no such annotation. Rejects when the store fails. */
  remove(id: string): Promise<boolean>;
  stop(): Promise<void>;
}

const expireEveryMs = 60_000;
const expiredAtOnceMax = 1_000;

export function annotationWriter({
  store: { annotations: kept },
  telemetry,
  clock,
  sleep,
  redaction,
  waitMs,
  onFault,
}: AnnotationWriterOptions): AnnotationWriter {
  async function expire(shutdown: AbortSignal): Promise<void> {
    let expired = expiredAtOnceMax;
    while (expired === expiredAtOnceMax && !shutdown.aborted) {
      expired = await kept.expire({ before: Math.floor((clock.nowMs() - waitMs()) * 1_000), limit: expiredAtOnceMax });
      if (expired > 0) telemetry.add('tracejury.annotations', expired, { 'tracejury.outcome': 'expired' });
    }
    telemetry.set('tracejury.annotations.waiting', await kept.waiting());
  }

  const expiry = periodicTask({ everyMs: expireEveryMs, sleep, work: expire, onFault });
  return {
    async take(annotations) {
      if (annotations.length === 0) return [];
      const own = redaction();
      const written = annotations.map((annotation) => redactedAnnotation(annotation, own));
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
    stop: expiry.stop,
  };
}

interface AnnotationIngestOptions {
  readonly ingest: Ingest;
  /** `undefined` until the store is open. */
  readonly writer: () => Pick<AnnotationWriter, 'take'> | undefined;
  readonly clock: Clock;
}

/** Annotations in one transaction. */
const annotationsAtOnceMax = 1_000;

/** Stores the verdicts of others that spans and log records carry, before the request is acknowledged. */
export function annotationIngest({ ingest, writer, clock }: AnnotationIngestOptions): Ingest {
  /** An annotation from the future counts as one of now: no later one would replace it otherwise. */
  async function keep(found: readonly Annotation[]): Promise<void> {
    const own = writer();
    const now = Math.floor(clock.nowMs() * 1_000);
    try {
      for (let at = 0; at < found.length; at += annotationsAtOnceMax) {
        await own?.take(found.slice(at, at + annotationsAtOnceMax).map((one) => (one.at > now ? { ...one, at: now } : one)));
      }
    } catch (error) {
      // The client sends the request again; the gatherer and the store ignore what they have already.
      throw new JuryError(
        'STORE_REFUSED',
        isDiskFull(error)
          ? 'It carries annotations that could not be stored: the disk is full.'
          : 'It carries annotations that could not be stored.',
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
