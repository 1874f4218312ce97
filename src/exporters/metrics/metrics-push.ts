/** Pushes the service's own metrics over OTLP/HTTP. A failed push is not repeated: counters are cumulative, so the next push covers it. */
import type { Clock } from '../../model/clock.ts';
import type { JsonObject } from '../../model/json.ts';
import { rejectedItems } from '../../otlp/read/responses.ts';
import type { MetricFamily, MetricPoint } from '../../telemetry/registry.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { exportOutcome, refusalNamed, failureReason } from '../delivery/export-outcome.ts';
import type { ExportOutcome } from '../exporter.ts';
import { httpClient, type Answer } from '../delivery/http-client.ts';
import { metricsRequest } from '../../otlp/write/metrics.ts';

export interface MetricsPushSettings {
  /** The whole URL, with the path of the metrics signal. */
  readonly url: string;
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  readonly intervalMs: number;
  readonly temporality: 'cumulative' | 'delta';
  readonly tls?: ClientTls;
}

export interface MetricsPushOptions extends Pick<MetricsPushSettings, 'url' | 'headers' | 'temporality' | 'tls'> {
  /** Attributes of the resource that counts. */
  readonly resource: JsonObject;
  readonly snapshot: () => readonly MetricFamily[];
  readonly clock: Clock;
  /** Start of the registry, in epoch milliseconds. */
  readonly startMs: number;
  /** Longest time for one request. */
  readonly timeoutMs: number;
  /** True when the first delta begins now, because another destination got the earlier counts. */
  readonly fromNow?: boolean;
  /** Values of one request. */
  readonly pointsMax?: number;
}

/** `reason`: a word of low cardinality. `fault`: the error. `todo`: the remedy. */
export type PushOutcome =
  | { readonly outcome: 'sent' | 'rejected' }
  | { readonly outcome: 'failed'; readonly reason: string; readonly fault: string; readonly todo: string };

export interface MetricsPush {
  /** Resolves, never rejects. One at a time. */
  push(): Promise<PushOutcome>;
  /** Ends the connections and the request in progress. */
  stop(): void;
}

/** About half a megabyte of histograms, which are written in one go within some ten milliseconds. */
const pointsMaxDefault = 1_000;

export function metricsPush({
  url,
  headers,
  tls,
  temporality,
  resource,
  snapshot,
  clock,
  startMs,
  timeoutMs,
  fromNow = false,
  pointsMax = pointsMaxDefault,
}: MetricsPushOptions): MetricsPush {
  const client = httpClient({ tls, timeoutMs });
  const request = { url, headers: { ...headers, 'content-type': 'application/x-protobuf' } };
  /** The state at the last successful push, the base of deltas. */
  let taken: { readonly families: readonly MetricFamily[]; readonly atMs: number } =
    fromNow && temporality === 'delta' ? { families: snapshot(), atMs: clock.nowMs() } : { families: [], atMs: startMs };
  let isOver = false;

  async function send(families: readonly MetricFamily[], nowMs: number): Promise<PushOutcome> {
    const sinceMs = temporality === 'delta' ? taken.atMs : startMs;
    return outcomeOf(
      await client.send(request, metricsRequest({ resource, families, temporality, sinceMs, nowMs, exemplarsSinceMs: taken.atMs })),
    );
  }

  return {
    async push() {
      const [families, nowMs] = [snapshot(), clock.nowMs()];
      const changed = temporality === 'delta' ? since(taken.families, families) : families;
      let outcome: PushOutcome = { outcome: 'sent' };
      for (const part of inParts(changed, pointsMax)) {
        if (isOver) return { outcome: 'failed', reason: 'stopped', fault: 'stopped', todo: '' };
        const own = await send(part, nowMs);
        if (own.outcome === 'failed') return own;
        if (own.outcome === 'rejected') outcome = own;
      }
      taken = { families: temporality === 'delta' ? families : [], atMs: nowMs };
      return outcome;
    },
    stop() {
      isOver = true;
      client.stop();
    },
  };
}

/** Sends a request without metrics. Resolves, never rejects. */
export async function probeMetrics({ url, headers, tls }: Pick<MetricsPushSettings, 'url' | 'headers' | 'tls'>): Promise<ExportOutcome> {
  const client = httpClient({ tls });
  const answer = await client.send({ url, headers: { ...headers, 'content-type': 'application/x-protobuf' } }, new Uint8Array());
  client.stop();
  return refusalNamed(exportOutcome(answer), ['a key in headers']);
}

/** Splits metrics into requests of at most `pointsMax` points; one metric may span several. */
function inParts(families: readonly MetricFamily[], pointsMax: number): readonly (readonly MetricFamily[])[] {
  const parts: MetricFamily[][] = [];
  let room = 0;
  for (const { points, ...family } of families) {
    for (let from = 0; from < points.length;) {
      if (room === 0) {
        parts.push([]);
        room = pointsMax;
      }
      const some = points.slice(from, from + room);
      parts.at(-1)?.push({ ...family, points: some });
      from += some.length;
      room -= some.length;
    }
  }
  return parts;
}

function outcomeOf(answer: Answer): PushOutcome {
  const outcome = refusalNamed(exportOutcome(answer), ['a key in headers']);
  if (outcome.kind === 'failed') return { outcome: 'failed', fault: outcome.error, ...failureReason(outcome) };
  return { outcome: answer.kind === 'answered' && rejectedItems(answer.body, 'metrics', 'protobuf') > 0 ? 'rejected' : 'sent' };
}

/** The change of each series; series without a change are left out. Gauges keep their value. */
function since(before: readonly MetricFamily[], now: readonly MetricFamily[]): readonly MetricFamily[] {
  const known = new Map(before.map(({ name, points }) => [name, points]));
  return now.map((family) => {
    if (family.row.kind === 'gauge') return family;
    // By identity of the labels, which a series keeps: texts of 100,000 series would take more than 0.1 s.
    const earlier = new Map(known.get(family.name)?.map((point) => [point.labels, point]));
    return { ...family, points: family.points.flatMap((point) => difference(earlier.get(point.labels), point)) };
  });
}

function difference(before: MetricPoint | undefined, now: MetricPoint): readonly MetricPoint[] {
  if (now.kind === 'number') {
    const value = now.value - (before?.kind === 'number' ? before.value : 0);
    return value === 0 ? [] : [{ ...now, value }];
  }
  const from = before?.kind === 'histogram' ? before : undefined;
  const counts = now.counts.map((count, at) => count - (from?.counts[at] ?? 0));
  return counts.every((count) => count === 0) ? [] : [{ ...now, counts, sum: now.sum - (from?.sum ?? 0) }];
}
