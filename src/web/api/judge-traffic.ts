/** Requests to judges since the start of the service, read from its metrics. */
import { wire } from '../../model/attributes.ts';
import type { JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import type { MetricFamily, MetricPoint } from '../../telemetry/registry.ts';

const circuits = ['closed', 'half_open', 'open'] as const;
const judgeLabel = 'tracejury.judge';
const outcomeLabel = 'tracejury.outcome';

interface JudgeMetrics {
  readonly judge: string;
  /** Points of the judge, and of one outcome. */
  readonly points: (metric: string, outcome?: string) => readonly NumberPoint[];
}

const sum =
  (metric: string, outcome?: string) =>
  ({ points }: JudgeMetrics): number =>
    sumOf(points(metric, outcome));
/** Null when the metric has no point of the judge. */
const sumOrNull =
  (metric: string, outcome?: string) =>
  ({ points }: JudgeMetrics): number | null =>
    points(metric).length === 0 ? null : sumOf(points(metric, outcome));

export const judgeTraffic = api.resource<JudgeMetrics>()('JudgeTraffic', {
  judge: { ...api.text, description: 'Name of a judge, of a queue of judges, or `http:NAME` for calls of an evaluator over HTTP.' },
  answered: [{ ...api.count, description: 'Requests with an answer.' }, sum('tracejury.judge.requests', 'answered')],
  failed: [api.count, sum('tracejury.judge.requests', 'failed')],
  retried: [api.count, sum('tracejury.judge.requests', 'retried')],
  cached: [
    api.countOrNull('Questions that the cache answered. Null when the judge has no cache.'),
    sumOrNull('tracejury.judge.answers', 'cached'),
  ],
  not_cached: [api.countOrNull('Questions that the judge had to answer.'), sumOrNull('tracejury.judge.answers', 'asked')],
  waiting: [
    { ...api.count, description: 'Pairs of run and evaluator that wait in the store or are in progress.' },
    sum('tracejury.judge.jobs.waiting'),
  ],
  oldest_seconds: [
    api.numberOrNull('Age of the oldest such pair. Null when not known.'),
    ({ points }) => points('tracejury.judge.jobs.age').reduce<number | null>((most, { value }) => Math.max(most ?? value, value), null),
  ],
  circuit: [
    {
      enum: [...circuits, null],
      description: '`open`: the service asks nothing, because the judge failed too often. Null when no circuit breaker is known.',
    },
    ({ points }) => circuits[points('tracejury.judge.circuit')[0]?.value ?? -1],
  ],
  tokens: [{ ...api.count, description: 'Input and output tokens.' }, sum('tracejury.evaluation.tokens')],
  cost_usd: [
    api.numberOrNull('Cost in US dollars. Null when the judge has no price, or nothing was asked.'),
    sumOrNull('tracejury.evaluation.cost'),
  ],
});

/** A row for each judge with requests, a queue or a circuit, by name. */
export function judgeTrafficRows(families: readonly MetricFamily[]): readonly JsonObject[] {
  const named = ['requests', 'answers', 'circuit', 'jobs.waiting'].flatMap((name) => numbersOf(families, `tracejury.judge.${name}`));
  const names = new Set(named.flatMap(({ labels }) => labels[judgeLabel] ?? []));
  return [...names].sort().map((judge) =>
    judgeTraffic.write({
      judge,
      points: (metric, outcome) =>
        numbersOf(families, metric).filter(
          ({ labels }) => labels[judgeLabel] === judge && (outcome === undefined || labels[outcomeLabel] === outcome),
        ),
    }),
  );
}

/** How long the verdicts of one evaluator took, as counts between the edges of a histogram. */
interface Latency {
  readonly name: string;
  readonly edges: readonly number[];
  readonly counts: readonly number[];
  readonly verdicts: number;
  readonly seconds: number;
}

export const judgeLatency = api.resource<Latency>()('JudgeLatency', {
  name: { ...api.text, description: 'Name of an evaluator.' },
  verdicts: { ...api.count, description: 'Verdicts behind the figures.' },
  mean_seconds: [
    api.numberOrNull('From the choice of the run to its verdict, with the time in the queue.'),
    ({ verdicts, seconds }) => (verdicts === 0 ? null : seconds / verdicts),
  ],
  p50_seconds: [
    api.numberOrNull('Read from the buckets of a histogram; longer times count as the last edge.'),
    (latency) => quantileOfBuckets(latency, 0.5),
  ],
  p95_seconds: [api.numberOrNull('The same.'), (latency) => quantileOfBuckets(latency, 0.95)],
});

/** A row for each evaluator with a judge or an endpoint that has reached verdicts, by name. */
export function judgeLatencyRows(families: readonly MetricFamily[]): readonly (JsonObject & { readonly name: string })[] {
  const family = families.find(({ name }) => name === 'tracejury.evaluation.duration');
  const edges = family?.row.buckets;
  if (family === undefined || edges === undefined) return [];
  const points = family.points.flatMap((point) =>
    point.kind === 'histogram' && point.labels['tracejury.evaluator.kind'] !== 'rule' ? [point] : [],
  );
  const byName = Map.groupBy(points, ({ labels }) => labels[wire.evaluationName] ?? '');
  return [...byName]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, own]) => {
      const counts = edges.concat(0).map((_, at) => own.reduce((all, point) => all + (point.counts[at] ?? 0), 0));
      const verdicts = counts.reduce((sum, one) => sum + one, 0);
      const seconds = own.reduce((sum, point) => sum + point.sum, 0);
      return { ...judgeLatency.write({ name, edges, counts, verdicts, seconds }), name };
    });
}

/** Linear within a bucket. Values beyond the last edge count as the edge. `null` without a value. */
function quantileOfBuckets({ edges, counts, verdicts }: Latency, share: number): number | null {
  if (verdicts === 0) return null;
  let left = share * verdicts;
  for (const [at, inBucket] of counts.entries()) {
    if (left > inBucket) {
      left -= inBucket;
      continue;
    }
    const [low, high] = [at === 0 ? 0 : (edges[at - 1] ?? 0), edges[at]];
    return high === undefined ? low : low + ((high - low) * left) / inBucket;
  }
  return edges.at(-1) ?? null;
}

type NumberPoint = Extract<MetricPoint, { readonly kind: 'number' }>;

function numbersOf(families: readonly MetricFamily[], metric: string): readonly NumberPoint[] {
  return families.find(({ name }) => name === metric)?.points.filter((point) => point.kind === 'number') ?? [];
}

function sumOf(points: readonly NumberPoint[]): number {
  return points.reduce((sum, { value }) => sum + value, 0);
}
