/** Puts runs into annotation queues, as the rules of the configuration say, and keeps the queues up to date. */
import type { Config } from '../config/config.ts';
import type { QueueRule } from '../config/entries/queue-entry.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { QueueCounts, QueueStore } from '../model/store/queue-store.ts';
import type { Store } from '../model/store/store.ts';
import { annotationQueues, type AnnotationQueues, enteringOf } from '../queues/annotation-queues.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { RunWriter } from '../stores/run-writer.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { SettingsInForce } from './reloading.ts';
import { type RuleMatcher, ruleMatcher, type RuleMatcherOptions } from './rule-matcher.ts';

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
      const outcomes = await store.queues.add({
        ...enteringOf(rule, Math.floor(clock.nowMs() * 1_000)),
        items: runs.map((run) => ({ ...run, why: rule.whenText ?? '' })),
        addedBy: `rule ${rule.name}`,
        reopens: false,
      });
      return new Map([...Map.groupBy(outcomes, (outcome) => outcome)].map(([outcome, own]) => [outcome, own.length]));
    },
    count: (rule, outcome, runs) => telemetry.add('tracejury.queues.runs', runs, { 'tracejury.queue': rule, 'tracejury.outcome': outcome }),
  });
}

/** The rules of queues that have one. */
export function rulesOfQueues({ queues }: Pick<Config, 'queues'>): readonly QueueRule[] {
  return queues.flatMap((queue) => (queue.when === undefined ? [] : [{ ...queue, when: queue.when }]));
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

/** Of the evaluators that have one, by name. */
export function thresholdsOf({ evaluators }: Pick<Config, 'evaluators'>): ReadonlyMap<string, number> {
  return new Map(evaluators.flatMap(({ configured: { name, threshold } }) => (threshold === null ? [] : [[name, threshold] as const])));
}

interface QueueUpkeepOptions {
  readonly store: { readonly queues: Pick<QueueStore, 'upkeep' | 'counts'> };
  readonly config: () => Pick<Config, 'queues'>;
  readonly telemetry: Pick<MetricRegistry, 'add' | 'replace'>;
  readonly logger: { warn(fields: { readonly [field: string]: unknown }, message: string): void };
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** Rests while there is no work. Default: `sleep`. */
  readonly rest?: Sleep | undefined;
  readonly onFault: (error: unknown) => void;
}

export const queueUpkeepMs = 30_000;
/** Rows of one transaction. */
const rowsAtOnce = 1_000;

/** Expires items, counts leases that have ended, and publishes the state of each queue. */
export function queueUpkeep({ store, config, telemetry, logger, clock, sleep, rest, onFault }: QueueUpkeepOptions): PeriodicTask {
  async function work(shutdown: AbortSignal): Promise<void> {
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
