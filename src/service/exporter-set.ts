/**
 * The configured exporters, each behind its queue. An entry keeps its queue while its destination is the same: another key or encoding applies
 * to waiting items as well. A removed entry still sends its waiting items for a while.
 */
import type { Logger } from 'pino';
import type { ExporterConfig } from '../config/config.ts';
import { deliveryQueue, type DeliveryQueue } from '../exporters/delivery/delivery-queue.ts';
import type { RowStore } from '../exporters/delivery/outbox-rows.ts';
import type { Exporter, ExportOutcome } from '../exporters/exporter.ts';
import { exporters } from '../exporters/index.ts';
import type { ExporterDeps, ExporterSettings } from '../exporters/settings.ts';
import type { Sleep } from '../model/clock.ts';
import type { EntryStatus } from '../model/exporter-status.ts';
import type { PeopleNotice } from '../model/issue-notice.ts';
import { jsonText } from '../model/json.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import { type Delivered, lowest, noItems, upTo, type Watermark } from '../model/watermark.ts';
import { exchangeable, type Exchangeable } from './hot-swap.ts';
import { clock, sleep } from './node-runtime.ts';
import type { PendingExports, UnsentItems } from '../stores/run-writer.ts';
import type { RestingContext } from '../telemetry/context.ts';

interface ExporterSetOptions extends Pick<RestingContext, 'telemetry' | 'rest'> {
  readonly entries: readonly ExporterConfig[];
  readonly logger?: Pick<Logger, 'info' | 'warn'>;
  /** Called when a removed exporter drops its waiting items. */
  readonly onGivenUp: (exporter: string, items: number) => void;
  readonly drainMs?: number;
  /** Age at which an unsent item becomes a row of the store. Default: that of the queue. */
  readonly rowAfterMs?: number;
  /** Wraps each exporter. */
  readonly traced?: (exporter: Exporter, name: string) => Exporter;
}

export interface ExporterSet extends UnsentItems {
  /** Never waits, never throws. `except`: exporters of this kind have the item already. */
  offer(item: Delivered<ScoredRun>, bytes: number, except?: ExporterConfig['to']): void;
  /** Continues with the unsent items of the store. `owner`: see `DeliveryQueue`. Rejects when it cannot be read. */
  open(store: RowStore, owner?: string): Promise<void>;
  statuses(): readonly EntryStatus[];
  /** Notifies people of an alert or of issues over the exporter of this name. Resolves with `undefined` when there is none, or when it notifies no one. */
  notify(name: string, notice: PeopleNotice): Promise<ExportOutcome | undefined>;
  /** Counts again after another writer has changed the rows of the store. */
  recount(): Promise<void>;
  /** Every item up to here is sent or in the store. */
  settled(): Watermark;
  /** Prepares other entries, and may fail. The returned function applies them and does not fail. */
  prepare(entries: readonly ExporterConfig[]): () => void;
  /** Resolves when another removed entry may drain. */
  room(): Promise<void>;
  /** Sends waiting items and drops the rest at the deadline. Resolves with the number of dropped items. May be called twice. */
  stop(deadlineMs: number): Promise<number>;
}

/** Time for which a removed entry still sends its waiting items. */
const drainMsDefault = 60_000;
/** Removed entries that drain at the same time: each holds a queue. */
const drainingMax = 4;

interface Place {
  config: ExporterConfig;
  readonly exporter: Exchangeable<Exporter>;
  readonly queue: DeliveryQueue;
}

interface Draining {
  readonly place: Place;
  /** The last item that was offered before its removal. */
  readonly until: Watermark;
  readonly drained: Promise<number>;
}

export function exporterSetOf({
  entries,
  telemetry,
  logger,
  onGivenUp,
  drainMs = drainMsDefault,
  rowAfterMs,
  traced = (exporter) => exporter,
  rest,
}: ExporterSetOptions): ExporterSet {
  const ending = new AbortController();
  const draining = new Set<Draining>();
  /** Drained, but some of their runs are not stored yet: with each run the writer stores its unsent items. */
  let unwritten: readonly Draining[] = [];
  let store: RowStore | undefined;
  let owner: string | undefined;
  let places: readonly Place[] = [];
  let offered = noItems;
  let stopped: Promise<number> | undefined;

  /** The stop of the set ends every wait, those of draining exporters too. */
  const untilEndOf =
    (wait: Sleep): Sleep =>
    (ms, signal) =>
      wait(ms, signal === undefined ? ending.signal : AbortSignal.any([signal, ending.signal]));
  const untilEnd = untilEndOf(sleep);

  function placeOf(config: ExporterConfig): Place {
    const first = traced(configuredExporter(config, { telemetry, clock, sleep: untilEnd }), config.name);
    const exporter = exchangeable(first);
    const sends: Exporter = {
      id: first.id,
      ...(first.isVolatile === true ? { isVolatile: true } : {}),
      ...(first.itemsAtOnce === undefined ? {} : { itemsAtOnce: first.itemsAtOnce }),
      send: (item) => exporter.use((current) => current.send(item)),
      stop: exporter.stop,
    };
    // A new configuration applies to waiting items as well.
    const held: { place?: Place } = {};
    const limits = (now = held.place?.config ?? config) => ({
      missingMs: Infinity,
      ...(now.to === 'metrics' ? { attempts: 1, ageMs: Infinity } : now.giveUp),
    });
    const options = {
      get attemptsMax() {
        return limits().attempts;
      },
      get giveUpMs() {
        return limits().ageMs;
      },
      get missingMs() {
        return limits().missingMs;
      },
      name: config.name,
      after: offered,
      ...(rowAfterMs === undefined ? {} : { rowAfterMs }),
      exporter: sends,
      telemetry,
      logger,
      clock,
      random: Math.random,
      sleep: untilEnd,
      rest: rest === undefined ? undefined : untilEndOf(rest),
    };
    return (held.place = { config, exporter, queue: deliveryQueue(options) });
  }

  /** An equal entry keeps its place, an entry with the same destination changes the place, and any other entry is new. */
  function placed(next: readonly ExporterConfig[]): readonly { readonly config: ExporterConfig; readonly before: Place | undefined }[] {
    const free = new Set(places);
    const take = (fits: (place: Place) => boolean): Place | undefined => {
      const found = [...free].find(fits);
      if (found !== undefined) free.delete(found);
      return found;
    };
    const same = new Map(next.map((config) => [config, take((place) => textOf(place.config) === textOf(config))] as const));
    return next.map((config) => ({
      config,
      before: same.get(config) ?? take((place) => destination(place.config) === destination(config)),
    }));
  }

  function prepare(next: readonly ExporterConfig[]): () => void {
    const ready = placed(withMetrics(next)).map(({ config, before }) => {
      if (before === undefined) return { place: placeOf(config), take: () => undefined };
      if (textOf(before.config) === textOf(config)) return { place: before, take: () => undefined };
      const exporter = traced(configuredExporter(config, { telemetry, clock, sleep: untilEnd }), config.name);
      const take = (): void => {
        before.config = config;
        before.exporter.exchange(exporter);
        before.queue.wake();
      };
      return { place: before, take };
    });
    return () => {
      const before = places;
      places = ready.map(({ place }) => place);
      for (const { take } of ready) take();
      for (const place of before) if (!places.includes(place)) drain(place);
      for (const place of places) if (!before.includes(place)) void opened(place).catch(() => undefined);
    };
  }

  function drain(place: Place): void {
    const own: Draining = { place, until: offered, drained: place.queue.stop(drainMs) };
    draining.add(own);
    void own.drained.then((items) => {
      draining.delete(own);
      if (store?.isDurable !== true) return items > 0 ? onGivenUp(place.config.to, items) : undefined;
      unwritten = [...unwritten.filter((one) => isHeld(one)), own];
      // Its rows are for an entry of the same name, if there is one.
      return void recount().catch(() => undefined);
    });
  }

  function isHeld({ place, until }: Draining): boolean {
    return place.queue.settled() < until;
  }

  async function opened({ config, queue }: Place): Promise<void> {
    if (store !== undefined && config.to !== 'metrics') await queue.open(store, owner);
  }

  async function recount(): Promise<void> {
    await Promise.all(places.map(({ queue }) => queue.recount()));
  }

  /** Logs items of exporters that are not in the configuration. The store deletes them when they are too old. */
  async function logUnconfigured({ exports }: RowStore): Promise<void> {
    const names = new Set(places.map(({ config }) => config.name));
    const unconfigured = (await exports.counts()).filter(({ exporter }) => !names.has(exporter));
    if (unconfigured.length === 0) return;
    logger?.info(
      { waiting: Object.fromEntries(unconfigured.map(({ exporter, waiting, dead }) => [exporter, waiting + dead])) },
      'the store holds scores for exporters that are not configured',
    );
  }

  function pending(items: readonly Delivered<ScoredRun>[]): PendingExports {
    unwritten = unwritten.filter((one) => isHeld(one));
    const boxes = [...places, ...[...draining, ...unwritten].map(({ place }) => place)].map(({ queue }) => queue);
    const exports = items.flatMap((item) => boxes.flatMap((queue) => queue.pending(item) ?? []));
    return {
      exports: exports.map(({ row }) => row),
      written(rows) {
        for (const [at, one] of exports.entries()) one.written(rows[at]);
        for (const { id } of items) for (const queue of boxes) queue.runStored(id);
      },
    };
  }

  async function stop(deadlineMs: number): Promise<number> {
    const over = new AbortController();
    const left = Promise.all([...draining].map(({ drained }) => drained));
    const own = Promise.all(places.map(({ queue }) => queue.stop(deadlineMs)));
    await Promise.race([Promise.all([left, own]), sleep(deadlineMs, over.signal)]);
    over.abort();
    const kept = await own;
    ending.abort();
    return [...kept, ...(await left)].reduce((sum, items) => sum + items, 0);
  }

  prepare(entries)();
  return {
    offer(item, bytes, except) {
      offered = upTo(item.id);
      for (const { config, queue } of places) {
        if (config.to === except) queue.pass(item.id);
        else queue.offer(item, bytes);
      }
    },
    settled() {
      const gone = [...draining, ...unwritten].filter((one) => isHeld(one)).map(({ place }) => place);
      return lowest([offered, ...[...places, ...gone].map(({ queue }) => queue.settled())]);
    },
    async open(given, name) {
      [store, owner] = [given, name];
      for (const place of places) await opened(place);
      await logUnconfigured(given);
    },
    pending,
    statuses: () =>
      places
        .filter(({ config }) => config.to !== 'metrics')
        .map(({ config: { name, to }, queue }) => ({ name, kind: to, isConfigured: true, status: queue.status() })),
    notify: async (name, notice) =>
      await places.find(({ config }) => config.name === name)?.exporter.use(async (current) => await current.notify?.(notice)),
    recount,
    prepare,
    async room() {
      while (draining.size >= drainingMax) await Promise.race([...draining].map(({ drained }) => drained));
    },
    stop: (deadlineMs) => (stopped ??= stop(deadlineMs)),
  };
}

/** The metrics page is always there, whether or not it is named. */
function withMetrics(entries: readonly ExporterConfig[]): readonly ExporterConfig[] {
  return entries.some(({ to }) => to === 'metrics') ? entries : [...entries, { to: 'metrics', name: 'metrics' }];
}

function destination(config: ExporterConfig): string {
  return JSON.stringify([
    config.to,
    ...(config.to === 'metrics'
      ? []
      : config.to === 'span_events' || config.to === 'forward'
        ? [config.tracesEndpoint]
        : config.to === 'log_events'
          ? [config.logsEndpoint]
          : config.to === 'webhook'
            ? [config.webhook.url]
            : [config.endpoint, config.keys.project ?? '', config.keys.workspace ?? '']),
  ]);
}

/** The target of pushed metrics makes no difference here. */
function textOf(config: ExporterConfig): string {
  return config.to === 'metrics' ? 'metrics' : jsonText(config, { sortKeys: true });
}

export function configuredExporter(config: ExporterConfig, parts: ExporterDeps): Exporter {
  const make: (settings: ExporterSettings, parts: ExporterDeps) => Exporter = exporters[config.to];
  return make(config.to === 'metrics' ? {} : config, parts);
}
