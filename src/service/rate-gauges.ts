/** Rates and agreement as gauges, reckoned anew from the store now and then: what dashboards and alerts look at. */
import { agreementOf, type JudgeAgreement } from '../analytics/judge-agreement.ts';
import { peopleKinds, rates, type EvaluatorRate } from '../analytics/rates.ts';
import { annotationRowsMax } from '../model/store/annotation-store.ts';
import { wire } from '../model/attributes.ts';
import { noTenant } from '../model/ids.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { Estimate, NotEstimable } from '../statistics/estimate.ts';
import type { Store } from '../model/store/store.ts';
import type { MetricName } from '../telemetry/metrics.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { Labels } from '../telemetry/telemetry.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';

export interface FiguresOptions {
  readonly store: Pick<Store, 'verdicts' | 'annotations'>;
  readonly telemetry: Pick<MetricRegistry, 'replace'>;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly onFault: (error: unknown) => void;
}

const everyMs = 60_000;
const dayMicros = 86_400_000_000;
/** What is looked at each time; the API looks at more. */
const runsMax = 20_000;
const agentsMax = 20;
const tenantsMax = 20;
const agreementDays = 30;

interface Point {
  readonly labels: Labels;
  readonly value: number;
}

export function figures({ store, telemetry, clock, sleep, onFault }: FiguresOptions): PeriodicTask {
  async function reckon(): Promise<void> {
    const to = Math.floor(clock.nowMs() * 1_000);
    const told = (await rates(store, { from: to - dayMicros, to, kinds: peopleKinds, runsMax, agentsMax, tenantsMax })).rates.filter(
      ({ tenant }) => tenant !== noTenant,
    );
    const gauges: readonly (readonly [MetricName, readonly Point[]])[] = [
      ['tracejury.rate', told.flatMap((one) => limits({ ...rateLabels(one), 'tracejury.corrected': String(one.corrected) }, one.rate))],
      ['tracejury.rate.judged', told.flatMap((one) => limits(rateLabels(one), one.judged))],
      ['tracejury.rate.runs', told.map((one) => ({ labels: rateLabels(one), value: one.judged.kind === 'estimated' ? one.judged.n : 0 }))],
      ['tracejury.rate.labels', told.map((one) => ({ labels: rateLabels(one), value: one.labels }))],
      [
        'tracejury.rate.uncovered',
        told.flatMap((one) => (one.coverage.kind === 'estimated' ? [{ labels: rateLabels(one), value: one.coverage.uncovered }] : [])),
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

  return periodicTask({ everyMs, sleep, work: reckon, onFault });
}

/** The rates of the default tenant alone have no labels of their own: they are told by the API. */
function rateLabels({ name, agent, tenant }: EvaluatorRate): Labels {
  return { [wire.evaluationName]: name, [wire.agentName]: agent ?? '', [wire.tenant]: tenant ?? '' };
}

function agreementPoints({ name, version, model, rates: { precision, recall }, kappa }: JudgeAgreement): readonly Point[] {
  const labels = { [wire.evaluationName]: name, [wire.evaluatorVersion]: String(version), [wire.requestModel]: model ?? '' };
  return Object.entries({ precision, recall, kappa }).flatMap(([figure, value]) =>
    limits({ ...labels, 'tracejury.figure': figure }, value),
  );
}

/** What cannot be told has no sample: 0 would be a figure. */
function limits(labels: Labels, value: Estimate | NotEstimable): readonly Point[] {
  if (value.kind === 'not_estimable') return [];
  return (['point', 'low', 'high'] as const).map((bound) => ({ labels: { ...labels, 'tracejury.bound': bound }, value: value[bound] }));
}
