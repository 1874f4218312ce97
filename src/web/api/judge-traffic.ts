/** Requests to judges since the start of the service, read from its metrics. */
import type { JsonObject } from '../../model/json.ts';
import type { MetricFamily, MetricPoint } from '../../telemetry/registry.ts';
import { wire } from '../../model/attributes.ts';
import { count, object, text } from './route.ts';

const circuits = ['closed', 'half_open', 'open'] as const;
const judgeLabel = 'tracejury.judge';
const outcomeLabel = 'tracejury.outcome';

/** A row for each judge with requests, a queue or a circuit, by name. */
export function judgeTrafficRows(families: readonly MetricFamily[]): readonly JsonObject[] {
  const points = (metric: string): readonly NumberPoint[] => numbersOf(families, metric);
  const [requests, answers, circuit] = [
    points('tracejury.judge.requests'),
    points('tracejury.judge.answers'),
    points('tracejury.judge.circuit'),
  ];
  const [waiting, age] = [points('tracejury.judge.jobs.waiting'), points('tracejury.judge.jobs.age')];
  const [cost, tokens] = [points('tracejury.evaluation.cost'), points('tracejury.evaluation.tokens')];
  const names = new Set([requests, answers, circuit, waiting].flat().flatMap(({ labels }) => labels[judgeLabel] ?? []));
  return [...names].sort().map((name) => {
    const own = (of: readonly NumberPoint[]): readonly NumberPoint[] => of.filter(({ labels }) => labels[judgeLabel] === name);
    const ended = (of: readonly NumberPoint[], outcome: string): number =>
      sumOf(own(of).filter(({ labels }) => labels[outcomeLabel] === outcome));
    const [state] = own(circuit);
    return {
      judge: name,
      answered: ended(requests, 'answered'),
      failed: ended(requests, 'failed'),
      retried: ended(requests, 'retried'),
      cached: own(answers).length === 0 ? null : ended(answers, 'cached'),
      not_cached: own(answers).length === 0 ? null : ended(answers, 'asked'),
      waiting: sumOf(own(waiting)),
      oldest_seconds: own(age).length === 0 ? null : Math.max(...own(age).map(({ value }) => value)),
      circuit: state === undefined ? null : (circuits[state.value] ?? null),
      tokens: sumOf(own(tokens)),
      cost_usd: own(cost).length === 0 ? null : sumOf(own(cost)),
    };
  });
}

/** A row for each evaluator with a judge or an endpoint that has reached verdicts, by name. */
export function judgeLatencyRows(families: readonly MetricFamily[]): readonly JsonObject[] {
  const family = families.find(({ name }) => name === 'tracejury.evaluation.duration');
  const edges = family?.row.buckets;
  if (family === undefined || edges === undefined) return [];
  const points = family.points.filter((point) => point.kind === 'histogram' && point.labels['tracejury.evaluator.kind'] !== 'rule');
  const byName = Map.groupBy(points, ({ labels }) => labels[wire.evaluationName] ?? '');
  return [...byName]
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, own]) => {
      const counts = edges
        .concat(0)
        .map((_, at) => own.reduce((all, point) => all + (point.kind === 'histogram' ? (point.counts[at] ?? 0) : 0), 0));
      const all = counts.reduce((sum, one) => sum + one, 0);
      const seconds = own.reduce((sum, point) => sum + (point.kind === 'histogram' ? point.sum : 0), 0);
      return {
        name,
        verdicts: all,
        mean_seconds: all === 0 ? null : seconds / all,
        p50_seconds: quantileOfBuckets(edges, counts, 0.5),
        p95_seconds: quantileOfBuckets(edges, counts, 0.95),
      };
    });
}

/** Linear within a bucket. The last edge stands for values beyond it. `null` without a value. */
function quantileOfBuckets(edges: readonly number[], counts: readonly number[], share: number): number | null {
  const all = counts.reduce((sum, one) => sum + one, 0);
  if (all === 0) return null;
  let left = share * all;
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

const numberOrNull = (description: string): JsonObject => ({ type: ['number', 'null'], description });

export const judgeTrafficSchemas: { readonly [name: string]: JsonObject } = {
  JudgeTraffic: object({
    judge: { ...text, description: 'Name of a judge, of a queue of judges, or `http:NAME` for calls of an evaluator over HTTP.' },
    answered: { ...count, description: 'Requests with an answer.' },
    failed: count,
    retried: count,
    cached: { type: ['integer', 'null'], minimum: 0, description: 'Questions that the cache answered. Null: the judge has no cache.' },
    not_cached: { type: ['integer', 'null'], minimum: 0, description: 'Questions that the judge had to answer.' },
    waiting: { ...count, description: 'Pairs of run and evaluator that wait in the store or are in progress.' },
    oldest_seconds: numberOrNull('Age of the oldest such pair. Null: not known.'),
    circuit: {
      enum: [...circuits, null],
      description: '`open`: the service asks nothing, because the judge failed too often. Null: no circuit breaker is known.',
    },
    tokens: { ...count, description: 'Input and output tokens.' },
    cost_usd: numberOrNull('In US dollars. Null: the judge has no price, or nothing was asked.'),
  }),
  JudgeLatency: object({
    name: { ...text, description: 'Of an evaluator.' },
    verdicts: { ...count, description: 'Verdicts behind the figures.' },
    mean_seconds: numberOrNull('From the choice of the run to its verdict, with the time in the queue.'),
    p50_seconds: numberOrNull('Read from the buckets of a histogram; the last edge stands for longer times.'),
    p95_seconds: numberOrNull('The same.'),
  }),
  JudgeDay: object({
    day: { type: 'string', format: 'date', description: 'In UTC.' },
    judge: { type: ['string', 'null'], description: 'Null: the budget of an evaluator.' },
    evaluator: { type: ['string', 'null'], description: 'Null: of a judge.' },
    cost_usd: { type: 'number', minimum: 0 },
    requests: count,
    input_tokens: count,
    output_tokens: count,
  }),
};
