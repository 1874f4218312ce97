/**
 * The exporters that are configured, each behind its queue. An entry of the configuration keeps its queue as long as it goes to the same
 * place: another key or encoding holds for what waits as well. What waits for a place that is no longer named is still sent there, for a while.
 */
import type { ExporterConfig } from '../config/config.ts';
import type { Exporter, ScoredRun } from '../exporters/exporter.ts';
import { exporters } from '../exporters/index.ts';
import { outbox, type Outbox } from '../exporters/outbox.ts';
import { jsonText } from '../model/json.ts';
import type { Sleep } from '../model/clock.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { exchangeable, type Exchangeable } from './exchangeable.ts';
import { clock, sleep } from './machine.ts';

export interface OutboxesOptions {
  readonly entries: readonly ExporterConfig[];
  readonly telemetry: Telemetry;
  /** Told of scores that were given up because their exporter is no longer configured. */
  readonly onGivenUp: (exporter: string, items: number) => void;
  readonly leavingMs?: number;
}

export interface Outboxes {
  /** Never waits, never throws. */
  offer(item: ScoredRun, bytes: number): void;
  /** Of all items that were ever offered, so many of the first ones no exporter holds any more. */
  settled(): number;
  /** Makes ready for other entries; what it gives back puts them in place, and does not fail. */
  prepare(entries: readonly ExporterConfig[]): () => void;
  /** Resolves when there is room for entries to leave. */
  room(): Promise<void>;
  /** Sends what is there, gives up what is left at the deadline; tells how many these are. May be called twice. */
  stop(deadlineMs: number): Promise<number>;
}

/** How long what waits for an entry that is no longer there is still sent. */
export const leavingMsDefault = 60_000;
/** Entries that leave at the same time: each holds a queue. */
const leavingMax = 4;

interface Place {
  config: ExporterConfig;
  readonly exporter: Exchangeable<Exporter>;
  readonly box: Outbox;
  /** Items that had been offered when it came. */
  readonly from: number;
}

interface Leaving {
  readonly place: Place;
  /** Items that had been offered when it left. */
  readonly until: number;
  readonly drained: Promise<number>;
}

export function outboxes({ entries, telemetry, onGivenUp, leavingMs = leavingMsDefault }: OutboxesOptions): Outboxes {
  const ending = new AbortController();
  const leaving = new Set<Leaving>();
  let places: readonly Place[] = [];
  let offered = 0;
  let stopped: Promise<number> | undefined;

  /** At the end nobody waits for an exporter that has left. */
  const untilEnd: Sleep = (ms, signal) => sleep(ms, signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]));

  function exporterOf(config: ExporterConfig): Exporter {
    return exporters[config.to](config.to === 'metrics' ? {} : config, { telemetry });
  }

  function placeOf(config: ExporterConfig): Place {
    const first = exporterOf(config);
    const exporter = exchangeable(first);
    const sends: Exporter = { id: first.id, send: (item) => exporter.use((current) => current.send(item)), stop: exporter.stop };
    return { config, exporter, from: offered, box: outbox({ exporter: sends, telemetry, clock, random: Math.random, sleep: untilEnd }) };
  }

  /** An entry that is the same stays what it is; else one that goes to the same place is changed; else it is new. */
  function placed(next: readonly ExporterConfig[]): readonly { readonly config: ExporterConfig; readonly before: Place | undefined }[] {
    const free = new Set(places);
    const take = (fits: (place: Place) => boolean): Place | undefined => {
      const found = [...free].find(fits);
      if (found !== undefined) free.delete(found);
      return found;
    };
    const same = new Map(next.map((config) => [config, take((place) => textOf(place.config) === textOf(config))] as const));
    return next.map((config) => ({ config, before: same.get(config) ?? take((place) => destination(place.config) === destination(config)) }));
  }

  function prepare(next: readonly ExporterConfig[]): () => void {
    const ready = placed(withMetrics(next)).map(({ config, before }) => {
      if (before === undefined) return { place: placeOf(config), take: () => undefined };
      if (textOf(before.config) === textOf(config)) return { place: before, take: () => undefined };
      const exporter = exporterOf(config);
      const take = (): void => {
        before.config = config;
        before.exporter.exchange(exporter);
      };
      return { place: before, take };
    });
    return () => {
      const before = places;
      places = ready.map(({ place }) => place);
      for (const { take } of ready) take();
      for (const place of before) if (!places.includes(place)) leave(place);
    };
  }

  function leave(place: Place): void {
    const own: Leaving = { place, until: offered, drained: place.box.stop(leavingMs) };
    leaving.add(own);
    void own.drained.then((items) => {
      leaving.delete(own);
      if (items > 0) onGivenUp(place.config.to, items);
    });
  }

  async function stop(deadlineMs: number): Promise<number> {
    const over = new AbortController();
    const left = Promise.all([...leaving].map(({ drained }) => drained));
    const own = Promise.all(places.map(({ box }) => box.stop(deadlineMs)));
    await Promise.race([Promise.all([left, own]), sleep(deadlineMs, over.signal)]);
    over.abort();
    const kept = await own;
    ending.abort();
    return [...kept, ...(await left)].reduce((sum, items) => sum + items, 0);
  }

  prepare(entries)();
  return {
    offer(item, bytes) {
      offered++;
      for (const { box } of places) box.offer(item, bytes);
    },
    settled() {
      const here = places.map(({ from, box }) => from + box.settled());
      const gone = [...leaving].map(({ place, until }) => place.from + place.box.settled() < until ? place.from + place.box.settled() : Infinity);
      return Math.min(offered, ...here, ...gone);
    },
    prepare,
    async room() {
      while (leaving.size >= leavingMax) await Promise.race([...leaving].map(({ drained }) => drained));
    },
    stop: (deadlineMs) => (stopped ??= stop(deadlineMs)),
  };
}

/** The metrics page is always there, whether or not it is named. */
function withMetrics(entries: readonly ExporterConfig[]): readonly ExporterConfig[] {
  return entries.some(({ to }) => to === 'metrics') ? entries : [...entries, { to: 'metrics' }];
}

function destination(config: ExporterConfig): string {
  return JSON.stringify([config.to, config.to === 'metrics' ? '' : config.tracesEndpoint]);
}

function textOf(config: ExporterConfig): string {
  return jsonText(config, { sortKeys: true });
}
