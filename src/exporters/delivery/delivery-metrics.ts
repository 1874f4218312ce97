/** Metrics, log lines and status of one exporter's queue. */
import type { Clock } from '../../model/clock.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { Circuit } from '../../runtime/circuit-breaker.ts';
import { outageLog, type OutageLog, type OutageLogger } from './outage-log.ts';
import type { ScoresStatus } from '../../model/exporter-status.ts';
import type { PerRunQueue } from './per-run-queue.ts';
import type { DeliveryWorker } from './delivery-worker.ts';
import type { OutboxRows } from './outbox-rows.ts';

/**
 * `replaced` by a newer revision before it was sent; `passed`: delivered in another way; `resumed`: a row that an earlier process wrote.
 */
type ItemOutcome = 'sent' | 'retried' | 'failed' | 'dropped' | 'replaced' | 'passed' | 'resumed';

export interface DeliveryMetrics extends OutageLog {
  count(outcome: ItemOutcome, items?: number): void;
  queue(held: PerRunQueue, rows: OutboxRows | undefined): void;
  status(
    held: PerRunQueue,
    rows: OutboxRows | undefined,
    backend: Pick<DeliveryWorker, 'circuit' | 'fault' | 'retryAtMs' | 'sending'>,
  ): ScoresStatus;
  dead(rows: OutboxRows | undefined): void;
}

const circuitLevels: { readonly [circuit in Circuit]: number } = { closed: 0, half_open: 1, open: 2 };

export function deliveryMetrics({
  name,
  telemetry,
  clock,
  logger,
}: {
  readonly name: string;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly logger?: OutageLogger | undefined;
}): DeliveryMetrics {
  const outages = outageLog({ name: () => name, what: 'scores', telemetry, clock, logger });
  const labels = { 'tracejury.exporter': name };
  const notStored = (held: PerRunQueue): number => held.size() - held.rows();
  const toSend = (held: PerRunQueue, rows: OutboxRows | undefined): number => notStored(held) + (rows?.waiting() ?? 0);

  return {
    ...outages,
    count(outcome, items = 1) {
      if (outcome === 'sent') outages.sent();
      telemetry.add('tracejury.exporter.items', items, { ...labels, 'tracejury.outcome': outcome });
    },
    status(held, rows, backend) {
      const [oldest] = held.all();
      return {
        sends: 'scores',
        ...outages.past(),
        circuit: backend.circuit(),
        fault: backend.fault(),
        retryAtMs: backend.retryAtMs(),
        toSend: toSend(held, rows),
        notStored: notStored(held),
        sending: backend.sending(),
        oldestAtMs: oldest?.offeredMs,
      };
    },
    queue(held, rows) {
      const nowMs = clock.nowMs();
      const [oldest] = held.all();
      const elsewhere = rows !== undefined && rows.waiting() > held.rows() ? (rows.oldestMs() ?? nowMs) : nowMs;
      telemetry.set('tracejury.exporter.queue', toSend(held, rows), labels);
      telemetry.set('tracejury.exporter.lag', Math.max(0, nowMs - Math.min(oldest?.offeredMs ?? nowMs, elsewhere)) / 1000, labels);
    },
    dead(rows) {
      if (rows !== undefined) telemetry.set('tracejury.exporter.dead', rows.deadLetters(), labels);
    },
    circuit(circuit, isKnown) {
      telemetry.set('tracejury.exporter.circuit', circuitLevels[circuit], labels);
      outages.circuit(circuit, isKnown);
    },
  };
}
