/** Computes rates and the agreement of judges from the store once a minute, and publishes them as gauges. */
import { agreementOf, type JudgeAgreement } from '../analytics/judge-agreement.ts';
import { type EvaluatorRate, peopleKinds, rates } from '../analytics/rates.ts';
import { wire } from '../model/attributes.ts';
import type { Sleep } from '../model/clock.ts';
import { noTenant } from '../model/ids.ts';
import type { Ingest } from '../model/ingest.ts';
import { annotationRowsMax } from '../model/store/annotation-store.ts';
import type { Store } from '../model/store/store.ts';
import { noticeOf, recognition, type RecognitionOptions, type UnrecognisedNotice } from '../pipeline/reporting/recognition.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { Estimate, NotEstimable } from '../statistics/estimate.ts';
import type { MetricName } from '../telemetry/metrics.ts';
import { type MetricRegistry, withdraw } from '../telemetry/registry.ts';
import type { Labels, Telemetry } from '../telemetry/telemetry.ts';
import type { TaskContext } from '../telemetry/context.ts';

interface FiguresOptions extends Omit<TaskContext, 'telemetry'> {
  readonly store: Pick<Store, 'verdicts' | 'annotations'>;
  /** False while another process on the same store publishes the gauges. Default: this process does. */
  readonly isOwn?: () => boolean;
  readonly telemetry: Pick<MetricRegistry, 'replace'>;
}

const everyMs = 60_000;
const dayMicros = 86_400_000_000;
/** The API reads more runs than the gauges do. */
export const runsMax = 20_000;
const agentsMax = 20;
const tenantsMax = 20;
const agreementDays = 30;

/** Gauges of the store as a whole. */
const published = [
  'tracejury.rate',
  'tracejury.rate.judged',
  'tracejury.rate.runs',
  'tracejury.rate.labels',
  'tracejury.rate.uncovered',
  'tracejury.judge.agreement',
] as const satisfies readonly MetricName[];

interface Point {
  readonly labels: Labels;
  readonly value: number;
}

export function figures({ store, isOwn = () => true, telemetry, clock, sleep, onFault }: FiguresOptions): PeriodicTask {
  async function compute(): Promise<void> {
    if (!isOwn()) {
      withdraw(telemetry, published);
      return;
    }
    const to = Math.floor(clock.nowMs() * 1_000);
    const rated = (await rates(store, { from: to - dayMicros, to, kinds: peopleKinds, runsMax, agentsMax, tenantsMax })).rates.filter(
      ({ tenant }) => tenant !== noTenant,
    );
    const gauges: readonly (readonly [MetricName, readonly Point[]])[] = [
      ['tracejury.rate', rated.flatMap((one) => limits({ ...rateLabels(one), 'tracejury.corrected': String(one.corrected) }, one.rate))],
      ['tracejury.rate.judged', rated.flatMap((one) => limits(rateLabels(one), one.judged))],
      ['tracejury.rate.runs', rated.map((one) => ({ labels: rateLabels(one), value: one.judged.kind === 'estimated' ? one.judged.n : 0 }))],
      ['tracejury.rate.labels', rated.map((one) => ({ labels: rateLabels(one), value: one.labels }))],
      [
        'tracejury.rate.uncovered',
        rated.flatMap((one) => (one.coverage.kind === 'estimated' ? [{ labels: rateLabels(one), value: one.coverage.uncovered }] : [])),
      ],
    ];
    for (const [metric, points] of gauges) telemetry.replace(metric, points);
    const rows = await store.annotations.onRuns({ from: to - agreementDays * dayMicros, to, kinds: peopleKinds, limit: annotationRowsMax });
    telemetry.replace(
      'tracejury.judge.agreement',
      agreementOf(rows)
        .judges.filter(({ about }) => about === 'run')
        .flatMap(agreementPoints),
    );
  }

  return periodicTask({ everyMs, sleep, work: compute, onFault });
}

/** Labels of a rate. Only the default tenant has gauges; the API reports the others. */
function rateLabels({ name, agent, tenant }: EvaluatorRate): Labels {
  return { [wire.evaluationName]: name, [wire.agentName]: agent ?? '', [wire.tenant]: tenant ?? '' };
}

function agreementPoints({ name, version, model, rates: { precision, recall }, kappa }: JudgeAgreement): readonly Point[] {
  const labels = { [wire.evaluationName]: name, [wire.evaluatorVersion]: String(version), [wire.requestModel]: model ?? '' };
  return Object.entries({ precision, recall, kappa }).flatMap(([figure, value]) =>
    limits({ ...labels, 'tracejury.figure': figure }, value),
  );
}

/** A figure that cannot be estimated has no sample: 0 would be a figure. */
function limits(labels: Labels, value: Estimate | NotEstimable): readonly Point[] {
  if (value.kind === 'not_estimable') return [];
  return (['point', 'low', 'high'] as const).map((bound) => ({ labels: { ...labels, 'tracejury.bound': bound }, value: value[bound] }));
}

const checkEveryMs = 1_000;

interface WatchLogger {
  info(fields: { readonly [field: string]: unknown }, message: string): void;
  warn(fields: { readonly [field: string]: unknown }, message: string): void;
}

/** Logs which services are recognised by their first spans, and which services no run can come from. */
export interface RecognitionWatch {
  /** Observes requests after `ingest` has accepted them. */
  watched(ingest: Ingest): Ingest;
  start(): PeriodicTask;
  reported(): readonly UnrecognisedNotice[];
}

export function recognitionWatch({
  collectors,
  dialects,
  clock,
  sleep,
  rest,
  telemetry,
  logger,
  redactedText,
}: RecognitionOptions & {
  readonly sleep: Sleep;
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: Sleep | undefined;
  readonly telemetry: Telemetry;
  readonly logger: WatchLogger;
  readonly redactedText: (text: string) => string;
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
        everyMs: checkEveryMs,
        sleep,
        rest,
        hasWork: known.isWaiting,
        async work() {
          for (const one of known.due()) {
            const { service, scope, spans, names, keys, missing, todo } = noticeOf(one);
            logger.warn({ service, scope, spans, names, keys, missing, todo }, 'no agent is recognised in the spans of a service');
          }
          telemetry.set('tracejury.services.unrecognised', known.reported().length);
        },
        onFault: () => undefined,
      }),
    reported: () =>
      known.reported().map((one) => noticeOf({ ...one, names: one.names.map(redactedText), keys: one.keys.map(redactedText) })),
  };
}
