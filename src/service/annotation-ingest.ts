/** Requests whose spans and records tell verdicts of others: these are kept as well, before the request counts as taken. */
import type { Annotation } from '../model/store/annotation-store.ts';
import type { Clock } from '../model/clock.ts';
import { JuryError, isDiskFull } from '../model/errors.ts';
import { annotationsOfRecords, annotationsOfSpans } from '../pipeline/evaluation/foreign-annotations.ts';
import type { Ingest } from '../model/ingest.ts';
import type { Annotating } from './annotation-writer.ts';

export interface AnnotatedIngestOptions {
  readonly ingest: Ingest;
  /** Undefined: the store is not open. */
  readonly annotating: () => Pick<Annotating, 'take'> | undefined;
  readonly clock: Clock;
}

/** Of one transaction. */
const annotationsAtOnceMax = 1_000;

export function annotatedIngest({ ingest, annotating, clock }: AnnotatedIngestOptions): Ingest {
  /** No word is newer than now: it would outlast every later one. */
  async function keep(found: readonly Annotation[]): Promise<void> {
    const own = annotating();
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
