/** A gathering under a clock that is moved by hand. It notes when each run closes, and packs some of what is idle when time passes. */
import { collectors } from '../../collectors/index.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { manualClock } from '../../src/model/clock.ts';
import { noTenant, type Tenant } from '../../src/model/ids.ts';
import type { LogRecord, Span } from '../../src/model/span.ts';
import { gathering } from '../../src/pipeline/gathering/gatherer.ts';
import { type ClosingTimes, defaultClosing, defaultGroupLimits, type GroupLimits } from '../../src/pipeline/gathering/close-policy.ts';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { slabCompaction } from '../../src/service/close-scheduler.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';

export interface Gathered {
  readonly spans: (...spans: readonly Span[]) => void;
  readonly spansOf: (tenant: Tenant, ...spans: readonly Span[]) => void;
  readonly records: (...records: readonly LogRecord[]) => void;
  /** Lets time pass; runs close at the moments that the gathering names. */
  readonly pass: (ms: number) => void;
  /** True when a request has begun whose spans are not here yet, from now on. */
  readonly receive: (isReceiving: () => boolean) => void;
  readonly closeAll: () => void;
  readonly relieve: () => void;
  readonly isOldestActive: () => boolean;
  /** All that has closed: `500 ms: run 1, complete, revision 1`. Takes it out. */
  readonly closed: () => readonly string[];
  readonly runs: () => readonly Run[];
  readonly count: (metric: MetricName, reason?: string) => number;
  readonly bytes: () => number;
  readonly openBytes: () => number;
  readonly traces: () => number;
}

const packsMax = 6;
const tracesPerPack = 4;

/** The times that a configuration with `settle` sets. */
const configured: ClosingTimes = { ...defaultClosing, batchedSettleMs: defaultClosing.settleMs };

export function gathered(limits: Partial<GroupLimits> = {}, closing = configured): Gathered {
  const clock = manualClock(0);
  const telemetry = metricRegistry();
  let receiving = (): boolean => false;
  const gather = gathering({
    collectors,
    clock,
    telemetry,
    closing,
    limits: { ...defaultGroupLimits, ...limits },
    compaction: slabCompaction(),
    isReceiving: () => receiving(),
  });
  const lines: string[] = [];
  const runs: Run[] = [];
  // Spans from plain data take long to pack: what takes many steps is tried with the first of them.
  let packs = 0;
  const pack = (): void => {
    if (packs++ < packsMax) gather.packIdle(tracesPerPack);
  };
  const keep = (closed: readonly Run[]): void => {
    for (const run of closed) {
      runs.push(run);
      const sub = run.parent === undefined ? '' : ` under ${Number.parseInt(run.parent.spanId, 16)}`;
      lines.push(`${clock.nowMs()} ms: run ${Number.parseInt(run.spanId, 16)}${sub}, ${run.completeness}, revision ${run.revision}`);
    }
  };
  const changed = (change: () => void): void => {
    change();
    keep(gather.due(0));
  };
  return {
    spans: (...spans) => changed(() => gather.addSpans(noTenant, spans)),
    spansOf: (tenant, ...spans) => changed(() => gather.addSpans(tenant, spans)),
    records: (...records) => changed(() => gather.addRecords(noTenant, records)),
    pass(ms) {
      const end = clock.nowMs() + ms;
      keep(gather.due());
      pack();
      for (let next = gather.nextDueMs(); next !== undefined && next <= end; next = gather.nextDueMs()) {
        clock.advance(Math.max(0, next - clock.nowMs()));
        keep(gather.due());
        pack();
      }
      clock.advance(end - clock.nowMs());
      pack();
    },
    receive: (isReceiving) => void (receiving = isReceiving),
    closeAll: () => keep(gather.closeAll()),
    relieve: () => changed(gather.relieve),
    isOldestActive: gather.isOldestActive,
    closed: () => lines.splice(0),
    runs: () => runs,
    count(metric, reason) {
      const points = telemetry.snapshot().find((family) => family.name === metric)?.points ?? [];
      return points.reduce(
        (sum, point) =>
          point.kind === 'number' && (reason === undefined || Object.values(point.labels).includes(reason)) ? sum + point.value : sum,
        0,
      );
    },
    bytes: gather.bytes,
    openBytes: gather.openBytes,
    traces: gather.traces,
  };
}
