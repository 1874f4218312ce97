/** Puts runs into annotation queues, as the rules of the configuration say, and keeps the queues up to date. */
import type { Config } from '../config/config.ts';
import type { QueueRule } from '../config/entries/queue-entry.ts';
import { drawOf } from '../model/queue-draw.ts';
import type { RunExpression } from '../pipeline/evaluation/run-expression.ts';
import { drawnMax } from '../queues/queue-settings.ts';
import type { Clock } from '../model/clock.ts';
import type { QueueCounts, QueueStore } from '../model/store/queue-store.ts';
import type { EvaluatorKind } from '../model/verdict.ts';
import type { Store, StoredRun } from '../model/store/store.ts';
import { annotationQueues, type AnnotationQueues, enteringOf } from '../queues/annotation-queues.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { RunWriter } from '../stores/run-writer.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { SettingsInForce } from './reloading.ts';
import { type RuleMatcher, ruleMatcher, type RuleMatcherOptions } from './rule-matcher.ts';
import type { RestingContext } from '../telemetry/context.ts';

type QueueFillerOptions = Omit<RuleMatcherOptions<QueueRule>, 'keep' | 'count' | 'kind' | 'store'> & {
  readonly store: Pick<Store, 'run' | 'queues' | 'isDurable' | 'ruleMatches'>;
  readonly telemetry: Pick<Telemetry, 'add'>;
};

export function queueFiller(options: QueueFillerOptions): RuleMatcher {
  const { store, telemetry, clock } = options;
  return ruleMatcher({
    ...options,
    kind: 'queue',
    async keep(rule, runs) {
      const { whenText = '', draws } = rule;
      const name = queueOfRule(rule.name);
      const entering = enteringOf({ ...rule, name }, Math.floor(clock.nowMs() * 1_000));
      const addedBy = `rule ${name}`;
      const outcomes =
        draws === undefined
          ? await store.queues.add({
              ...entering,
              items: runs.map((run) => ({ ...run, why: whenText })),
              addedBy,
              reopens: false,
            })
          : await store.queues.draw({
              ...entering,
              addedBy,
              evaluator: draws,
              drawnMax: drawnMax(rule),
              items: runs.map((run) => ({ ...run, why: whyDrawn, draw: drawOf(run, judgedWith(run, draws)) })),
            });
      return new Map([...Map.groupBy(outcomes, (outcome) => outcome)].map(([outcome, own]) => [outcome, own.length]));
    },
    count: (rule, outcome, runs) =>
      telemetry.add('tracejury.queues.runs', runs, { 'tracejury.queue': queueOfRule(rule), 'tracejury.outcome': outcome }),
  });
}

const whyDrawn = 'drawn at random';
/** No queue has a space in its name. */
const drawingSuffix = ' drawn';

function queueOfRule(rule: string): string {
  return rule.endsWith(drawingSuffix) ? rule.slice(0, -drawingSuffix.length) : rule;
}

/** Probability with which the evaluator judged the run, without samplers before the service: a sender claims those. */
function judgedWith({ verdicts }: Pick<StoredRun, 'verdicts'>, evaluator: string): number {
  const judged = verdicts.filter(({ name, verdict }) => name === evaluator && (verdict === 'pass' || verdict === 'fail'));
  return Math.min(1, ...judged.map(({ sampleProbability, upstream = 1 }) => sampleProbability / upstream));
}

interface QueuesAndEvaluators extends Pick<Config, 'queues'> {
  readonly evaluators: readonly { readonly configured: { readonly name: string; readonly kind: EvaluatorKind } }[];
}

/** The rules that fill queues: their conditions, and for each queue about a judge the draw from the runs of its first judge. */
export function rulesOfQueues({ queues, evaluators }: QueuesAndEvaluators): readonly QueueRule[] {
  const sampled = new Set(evaluators.flatMap(({ configured: { name, kind } }) => (kind === 'rule' ? [] : [name])));
  return queues.flatMap((queue): readonly QueueRule[] => {
    const { name, when, random } = queue;
    const draws = queue.ask.find((question) => sampled.has(question.name))?.name;
    return [
      ...(when === undefined ? [] : [{ ...queue, when }]),
      ...(random === 0 || draws === undefined
        ? []
        : [{ ...queue, name: `${name}${drawingSuffix}`, when: hasVerdict(draws), sample: 1, draws }]),
    ];
  });
}

function hasVerdict(evaluator: string): RunExpression {
  const place = { part: 'verdict', evaluator } as const;
  return { kind: 'or', terms: (['pass', 'fail'] as const).map((text) => ({ kind: 'text', place, sign: '=', text }) as const) };
}

/** The filler of a service: by the rules in force, behind the writer of runs. */
export function queuesOfRules({
  settings,
  writer,
  ...deps
}: Pick<QueueFillerOptions, 'store' | 'takesLeft' | 'telemetry' | 'clock' | 'sleep' | 'rest' | 'onFault'> & {
  readonly settings: Pick<SettingsInForce, 'config'>;
  readonly writer: Pick<RunWriter, 'settled' | 'isBehind'>;
}): RuleMatcher {
  return queueFiller({ ...deps, rules: () => rulesOfQueues(settings.config()), settled: writer.settled, isBehind: writer.isBehind });
}

/** The queues of a service for its API. */
export function queuesInForce({
  settings,
  ...deps
}: {
  readonly store: Pick<Store, 'queues' | 'run'>;
  readonly settings: Pick<SettingsInForce, 'config' | 'redaction'>;
  readonly telemetry: Pick<Telemetry, 'add'>;
  readonly clock: Clock;
}): AnnotationQueues {
  return annotationQueues({
    ...deps,
    settings: () => settings.config().queues,
    thresholds: () => thresholdsOf(settings.config()),
    redaction: settings.redaction,
  });
}

/** Thresholds by the name of the evaluator, for those that have one. */
export function thresholdsOf({ evaluators }: Pick<Config, 'evaluators'>): ReadonlyMap<string, number> {
  return new Map(evaluators.flatMap(({ configured: { name, threshold } }) => (threshold === null ? [] : [[name, threshold] as const])));
}

interface QueueUpkeepOptions extends Omit<RestingContext, 'telemetry'> {
  readonly store: { readonly queues: Pick<QueueStore, 'upkeep' | 'counts'> };
  /** False while another process on the same store does it. Default: this process does. */
  readonly isOwn?: () => boolean;
  readonly config: () => Pick<Config, 'queues'>;
  readonly telemetry: Pick<MetricRegistry, 'add' | 'replace'>;
  readonly logger: { warn(fields: { readonly [field: string]: unknown }, message: string): void };
}

export const queueUpkeepMs = 30_000;
/** Rows of one transaction. */
const rowsAtOnce = 1_000;

/** Expires items, counts leases that have ended, and publishes the state of each queue. */
export function queueUpkeep({
  store,
  isOwn = () => true,
  config,
  telemetry,
  logger,
  clock,
  sleep,
  rest,
  onFault,
}: QueueUpkeepOptions): PeriodicTask {
  async function work(shutdown: AbortSignal): Promise<void> {
    if (!isOwn()) return publish([]);
    const people = new Map(config().queues.map((queue) => [queue.name, queue.people]));
    const expired = new Map<string, number>();
    for (let isMore = true; isMore && !shutdown.aborted;) {
      const found = await store.queues.upkeep({ at: Math.floor(clock.nowMs() * 1_000), people, limit: rowsAtOnce });
      for (const [queue, leases] of found.lapsed) telemetry.add('tracejury.queues.leases_expired', leases, { 'tracejury.queue': queue });
      for (const [queue, items] of found.expired) expired.set(queue, (expired.get(queue) ?? 0) + items);
      isMore = [found.expired, found.lapsed].some((counts) => sum(counts.values()) === rowsAtOnce);
    }
    for (const [queue, items] of expired)
      logger.warn({ queue, items }, 'items of a queue passed their due time without enough answers, and have expired');
    publish(await store.queues.counts({ now: Math.floor(clock.nowMs() * 1_000) }));
  }

  function publish(counts: readonly QueueCounts[]): void {
    const inForce = new Set(config().queues.map(({ name }) => name));
    telemetry.replace(
      'tracejury.queues.items',
      counts
        .filter(({ queue }) => inForce.has(queue))
        .flatMap((own) =>
          (['open', 'leased', 'done', 'skipped', 'expired'] as const).map((state) => ({
            labels: { 'tracejury.queue': own.queue, 'tracejury.state': state },
            value: state === 'open' ? own.open - own.leased : own[state],
          })),
        ),
    );
  }

  return periodicTask({ everyMs: queueUpkeepMs, sleep, rest, work, onFault });
}

function sum(values: Iterable<number>): number {
  return [...values].reduce((all, value) => all + value, 0);
}
