/**
 * Forwards received spans and log records to one destination, spans with the verdicts of their run. The journal keeps a request until it is
 * forwarded. Memory holds a bounded number of bodies and a list of waiting slices.
 */
import type { EntryStatus } from '../../model/exporter-status.ts';
import type { LogRecord } from '../../model/span.ts';
import { wire } from '../../model/attributes.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { outageLog, type OutageLogger } from '../delivery/outage-log.ts';
import { heldSpans, type NewSpans, type PlainBody } from './held-spans.ts';
import { sender, destination, type Destination, type DestinationSettings } from './sender.ts';
import { periodicTask, type PeriodicTask } from '../../runtime/periodic-task.ts';
import type { RestingContext } from '../../telemetry/context.ts';

export type ForwardSettings = DestinationSettings & {
  /** Name of the entry in metrics and log lines. */
  readonly name?: string;
  /** Time for which spans wait for the verdicts of their run. */
  readonly holdMs: number;
};

export interface SpanForwarder {
  /** False when new requests are not forwarded. */
  wants(): boolean;
  spans(request: NewSpans): void;
  logs(request: Pick<NewSpans, 'position' | 'body'> & { readonly records: readonly LogRecord[] }): void;
  /** Called before exporters get the item. Returns true when the verdicts are on the agent's span, and false when they need an evaluation span. */
  scored(item: ExportItem): boolean;
  /** These traces have no open run. Verdicts of the same turn still count. */
  settled(keys: readonly string[]): void;
  /** The lowest position that the journal must keep. */
  oldest(): number | undefined;
  isHeld(key: string): boolean;
  /** Share of the limits that waiting requests and slices use; receivers refuse from 1 on. */
  fill(): number;
  /** State of the destination and of waiting requests. A removed entry is listed while requests wait for it. */
  statuses(): readonly EntryStatus[];
  /** `undefined` removes the entry: held spans go at once and new ones are not forwarded. */
  exchange(settings: ForwardSettings | undefined): void;
  start(): void;
  /**
   * Sends ready slices until the deadline. Resolves with the number of requests that are not forwarded. May be called twice, and without
   * `start`.
   */
  stop(deadlineMs: number): Promise<number>;
}

export interface SpanForwarderOptions extends Omit<RestingContext, 'onFault'> {
  readonly settings: ForwardSettings | undefined;
  /** True when the trace with this key may get a verdict for the first time. */
  readonly awaits: (key: string) => boolean;
  readonly read: (position: number) => Promise<PlainBody | undefined>;
  /** Bytes of bodies in memory. */
  readonly bodyBytesMax: number;
  readonly requestsMax?: number;
  /** Limit of slices. */
  readonly slicesMax?: number;
  readonly random: () => number;
  readonly logger?: OutageLogger | undefined;
}

/** Each has one request in progress. */
const partitions = 4;
const tickEveryMs = 100;
/** Time for which ready slices gather for one request. A run waits five times as long to close. */
const gatherMs = 100;
/** Some hundred bytes each, beside their bodies. */
const requestsMaxDefault = 100_000;
const slicesMaxDefault = 200_000;
const circuits = ['closed', 'half_open', 'open'] as const;

export function spanForwarder({
  requestsMax = requestsMaxDefault,
  slicesMax = slicesMaxDefault,
  ...options
}: SpanForwarderOptions): SpanForwarder {
  const { telemetry, clock, sleep, awaits } = options;
  const held = heldSpans({ ...options, partitions });
  const shutdown = new AbortController();
  let settings = options.settings;
  let current: Destination | undefined = settings === undefined ? undefined : destination(settings);
  /** Name of the entry that held requests came for. */
  let name = settings?.name ?? 'forward';
  const outages = outageLog({ name: () => name, what: 'spans', telemetry, clock, logger: options.logger });
  const out = sender({ ...options, held, partitions, outages, destination: () => current });
  let settledKeys: string[] = [];
  let isDue = false;
  /** A part of the requests is forwarded unchanged. */
  let isUrgent = false;
  let isGathering = false;
  let ticking: PeriodicTask | undefined;
  let stopped: Promise<number> | undefined;

  /** Runs after the turn: runs that close together go together, and the pipeline reports a settled trace before its verdicts. */
  function soon(isUrgentNow: boolean): void {
    isUrgent ||= isUrgentNow;
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      held.settled(settledKeys);
      settledKeys = [];
      if (isUrgent) out.pump();
      else void gathered();
      isUrgent = false;
    });
  }

  /** Ready slices gather for a moment, as a request costs as much as many spans. Slices without a run go at once. */
  async function gathered(): Promise<void> {
    if (isGathering || held.readySize() === 0) return;
    isGathering = true;
    await sleep(gatherMs, shutdown.signal);
    isGathering = false;
    out.pump();
  }

  function tick(): void {
    held.expire(settings?.holdMs ?? 0);
    out.pump();
    observe();
  }

  function observe(): void {
    const oldestMs = held.oldestMs();
    telemetry.set('tracejury.forward.waiting', held.size());
    telemetry.set('tracejury.forward.lag', oldestMs === undefined ? 0 : Math.max(0, clock.nowMs() - oldestMs) / 1_000);
    telemetry.set('tracejury.forward.circuit', circuits.indexOf(out.circuit()));
  }

  async function stop(deadlineMs: number): Promise<number> {
    shutdown.abort();
    await ticking?.stop();
    held.settled(settledKeys);
    settledKeys = [];
    out.pump();
    // The journal keeps requests for a destination that is down, so the stop does not wait for it.
    for (let waitedMs = 0; held.readySize() > 0 && out.circuit() === 'closed' && waitedMs < deadlineMs; waitedMs += stepMs)
      await sleep(stepMs);
    out.stop();
    current?.stop();
    return held.size();
  }

  return {
    wants: () => settings !== undefined,
    spans(request) {
      const before = held.readySize();
      held.takeSpans(request, awaits);
      observe();
      soon(held.readySize() > before);
    },
    logs({ records, ...request }) {
      if (records.length > 0 && records.every((record) => record.attribute(wire.generated) === true)) return;
      held.takeLogs(request);
      observe();
      soon(true);
    },
    scored: held.scored,
    settled(keys) {
      if (held.size() === 0) return;
      settledKeys.push(...keys);
      soon(false);
    },
    oldest: held.oldest,
    isHeld: held.isHeld,
    fill: () => Math.max(held.size() / requestsMax, held.slices() / slicesMax),
    statuses() {
      const isConfigured = settings !== undefined;
      if (!isConfigured && held.size() === 0) return [];
      return [
        {
          name,
          kind: 'forward',
          isConfigured,
          status: { sends: 'spans', ...outages.past(), ...out.status(), toSend: held.size(), oldestAtMs: held.oldestMs() },
        },
      ];
    },
    exchange(next) {
      const isSameDestination = next === undefined || destinationText(next) === destinationText(settings);
      settings = next;
      name = next === undefined ? name : (next.name ?? 'forward');
      if (isSameDestination || next === undefined) return;
      current?.stop();
      current = destination(next);
      out.wake();
    },
    start() {
      ticking ??= periodicTask({
        everyMs: tickEveryMs,
        sleep,
        rest: options.rest,
        hasWork: () => held.size() > 0,
        work: tick,
        onFault: () => undefined,
        restsFirst: true,
      });
    },
    stop: (deadlineMs) => (stopped ??= stop(deadlineMs)),
  };
}

const stepMs = 10;

function destinationText(settings: ForwardSettings | undefined): string {
  return JSON.stringify([settings?.tracesEndpoint, settings?.headers, settings?.protocol, settings?.compression, settings?.tls]);
}
