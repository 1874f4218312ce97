/** Says which services are recognised by their first spans, and of which no run can come. */
import type { Sleep } from '../model/clock.ts';
import { noticeOf, recognition, type RecognitionOptions, type UnrecognisedNotice } from '../pipeline/reporting/recognition.ts';
import type { Ingest } from '../model/ingest.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';

const lookEveryMs = 1_000;

interface WatchLogger {
  info(fields: { readonly [field: string]: unknown }, message: string): void;
  warn(fields: { readonly [field: string]: unknown }, message: string): void;
}

export interface RecognitionWatch {
  /** Looks at what the other has taken. */
  watched(ingest: Ingest): Ingest;
  start(): PeriodicTask;
  standing(): readonly UnrecognisedNotice[];
}

export function recognitionWatch({
  collectors,
  dialects,
  clock,
  sleep,
  telemetry,
  logger,
  shown,
}: RecognitionOptions & {
  readonly sleep: Sleep;
  readonly telemetry: Telemetry;
  readonly logger: WatchLogger;
  readonly shown: (text: string) => string;
}): RecognitionWatch {
  const known = recognition({ collectors, clock, ...(dialects === undefined ? {} : { dialects }) });
  return {
    watched: (ingest) => ({
      ...ingest,
      async spans(tenant, spans, request) {
        await ingest.spans(tenant, spans, request);
        for (const { service, scope, dialects } of known.spans(tenant, spans))
          logger.info({ service, scope, dialects }, 'first spans of a service: its agent is recognised');
      },
      async logs(tenant, records, request) {
        await ingest.logs(tenant, records, request);
        known.records(tenant, records);
      },
    }),
    start: () =>
      periodicTask({
        everyMs: lookEveryMs,
        sleep,
        async work() {
          for (const one of known.due()) {
            const { service, scope, spans, names, keys, missing, todo } = noticeOf(one);
            logger.warn({ service, scope, spans, names, keys, missing, todo }, 'no agent is recognised in the spans of a service');
          }
          telemetry.set('tracejury.services.unrecognised', known.standing().length, {});
        },
        onFault: () => undefined,
      }),
    standing: () => known.standing().map((one) => noticeOf({ ...one, names: one.names.map(shown), keys: one.keys.map(shown) })),
  };
}
