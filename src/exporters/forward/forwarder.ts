/**
 * In-line: what agents send goes on to one target, their spans with the verdicts of their run on them. The journal has everything until it has gone on;
 * memory holds bodies as far as a bound, and a list of what waits.
 */
import type { Clock, Sleep } from '../../model/clock.ts';
import type { EntryStatus } from '../../model/exporter-status.ts';
import type { LogRecord } from '../../model/span.ts';
import { wire } from '../../model/attributes.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { outageLog, type OutageLogger } from '../delivery/outage-log.ts';
import { heldSpans, type NewSpans, type PlainBody } from './held-spans.ts';
import { sender } from './sender.ts';
import { destination, type Destination, type DestinationSettings } from './destination.ts';
import { periodicTask, type PeriodicTask } from '../../runtime/periodic-task.ts';

export type ForwardSettings = DestinationSettings & {
  /** Of the entry, in metrics and in the log. */
  readonly name?: string;
  /** How long spans wait for the verdicts of their run. */
  readonly holdMs: number;
};

export interface SpanForwarder {
  /** False: nothing that comes now goes on. */
  wants(): boolean;
  spans(request: NewSpans): void;
  logs(request: Pick<NewSpans, 'position' | 'body'> & { readonly records: readonly LogRecord[] }): void;
  /** Before anybody else is given the verdicts. True: they are on the agent's span; false: they need a span of their own. */
  scored(item: ExportItem): boolean;
  /** Nothing of the traces with these keys is open any more. What was scored in the same turn still counts. */
  settled(keys: readonly string[]): void;
  /** The lowest position that the journal must keep. */
  oldest(): number | undefined;
  isHeld(key: string): boolean;
  /** Share of the requests, and of the traces in them, that may wait; from 1 on no more is to be taken. */
  fill(): number;
  /** What waits to go on, and how the target does; of none that is not in the configuration, unless something is held for it. */
  statuses(): readonly EntryStatus[];
  /** Undefined: nothing more is taken, and what is held goes on at once. */
  exchange(settings: ForwardSettings | undefined): void;
  start(): void;
  /** Sends what is ready, until the deadline at the latest; tells how many requests have not gone on. May be called twice, and without `start`. */
  stop(deadlineMs: number): Promise<number>;
}

export interface SpanForwarderOptions {
  readonly settings: ForwardSettings | undefined;
  /** True: the trace with this key may get a verdict for the first time. */
  readonly awaits: (key: string) => boolean;
  readonly read: (position: number) => Promise<PlainBody | undefined>;
  /** Of bodies that are held in memory. */
  readonly bodyBytesMax: number;
  readonly requestsMax?: number;
  /** What one request brought of one trace is one. */
  readonly parcelsMax?: number;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly random: () => number;
  readonly telemetry: Telemetry;
  readonly logger?: OutageLogger | undefined;
}

/** One request is under way in each. */
const partitions = 4;
const tickEveryMs = 100;
/** A run has waited five times as long to be settled. */
const gatherMs = 100;
/** Some hundred bytes each, beside their bodies. */
const requestsMaxDefault = 100_000;
const parcelsMaxDefault = 200_000;
const circuits = ['closed', 'half_open', 'open'] as const;

export function spanForwarder({
  requestsMax = requestsMaxDefault,
  parcelsMax = parcelsMaxDefault,
  ...options
}: SpanForwarderOptions): SpanForwarder {
  const { telemetry, clock, sleep, awaits } = options;
  const held = heldSpans({ ...options, partitions });
  const ended = new AbortController();
  let settings = options.settings;
  let place: Destination | undefined = settings === undefined ? undefined : destination(settings);
  /** Of the entry that what is held came for. */
  let name = settings?.name ?? 'forward';
  const news = outageLog({ name: () => name, what: 'spans', telemetry, clock, logger: options.logger });
  const out = sender({ ...options, held, partitions, outages: news, destination: () => place });
  let settledKeys: string[] = [];
  let isDue = false;
  /** Something that came goes on as it came. */
  let hurries = false;
  let isGathering = false;
  let ticking: PeriodicTask | undefined;
  let stopped: Promise<number> | undefined;

  /** After the turn: what closes together goes together, and a trace is told to be settled before its verdicts are made. */
  function soon(isHurried: boolean): void {
    hurries ||= isHurried;
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      held.settled(settledKeys);
      settledKeys = [];
      if (hurries) out.pump();
      else void gathered();
      hurries = false;
    });
  }

  /** A run that is ready waits a little for what becomes ready beside it: a request costs as much as many spans. What nothing is waited for goes at once. */
  async function gathered(): Promise<void> {
    if (isGathering || held.readySize() === 0) return;
    isGathering = true;
    await sleep(gatherMs, ended.signal);
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
    ended.abort();
    await ticking?.stop();
    held.settled(settledKeys);
    settledKeys = [];
    out.pump();
    // A target that is down is not waited for: the journal has what waits for it.
    for (let waitedMs = 0; held.readySize() > 0 && out.circuit() === 'closed' && waitedMs < deadlineMs; waitedMs += stepMs)
      await sleep(stepMs);
    out.stop();
    place?.stop();
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
    fill: () => Math.max(held.size() / requestsMax, held.parcels() / parcelsMax),
    statuses() {
      const isConfigured = settings !== undefined;
      if (!isConfigured && held.size() === 0) return [];
      return [
        {
          name,
          kind: 'forward',
          isConfigured,
          status: { sends: 'spans', ...news.past(), ...out.status(), toSend: held.size(), oldestAtMs: held.oldestMs() },
        },
      ];
    },
    exchange(next) {
      const isSamePlace = next === undefined || placeText(next) === placeText(settings);
      settings = next;
      name = next === undefined ? name : (next.name ?? 'forward');
      if (isSamePlace || next === undefined) return;
      place?.stop();
      place = destination(next);
      out.wake();
    },
    start() {
      ticking ??= periodicTask({ everyMs: tickEveryMs, sleep, work: tick, onFault: () => undefined, restsFirst: true });
    },
    stop: (deadlineMs) => (stopped ??= stop(deadlineMs)),
  };
}

const stepMs = 10;

function placeText(settings: ForwardSettings | undefined): string {
  return JSON.stringify([settings?.tracesEndpoint, settings?.headers, settings?.protocol, settings?.compression, settings?.tls]);
}
