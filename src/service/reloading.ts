/**
 * Reloads the configuration on request or when a file has changed. One reload runs at a time; requests during it cause one more.
 * A file with faults changes nothing.
 */
import type { Logger } from 'pino';
import type { Collector } from '../../collectors/collector.ts';
import { configuredCollector } from '../../collectors/configured/dialect.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/diagnostic.ts';
import { configuredRedaction } from '../config/entries/redaction.ts';
import { differing, sharedFingerprint, type Fingerprints } from '../config/fingerprint.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Run } from '../model/agent-trace.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { RunFigures } from '../model/scored-run.ts';
import type { PipelineSettings } from '../pipeline/pipeline.ts';
import { runFigures } from '../pipeline/reporting/run-figures.ts';
import { taskGroups, type TaskGroups } from '../pipeline/reporting/task-groups.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { MetricFamily, MetricRegistry } from '../telemetry/registry.ts';
import type { ConfigRemark, ConfigStatus } from '../model/service-status.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ApiDeps } from '../web/api/route.ts';
import type { Context } from '../telemetry/context.ts';

/** The files of the configuration. */
export interface ReloadSource {
  readonly file: string;
  /** Rejects with a ConfigError that lists all faults. */
  read(): Promise<LoadedConfig>;
  /** The state of the files when it differs from the last `read`, otherwise `undefined`. */
  change(): Promise<string | undefined>;
}

/** A configuration as people read it, with masked secrets. */
export type ReadConfig = Pick<LoadedConfig, 'printed' | 'warnings'>;

interface ReloadLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface ReloadingOptions extends Context {
  /** `undefined` when the service was started without a file. */
  readonly source: ReloadSource | undefined;
  /** Fingerprints of the configuration at the start. */
  readonly fingerprints: Fingerprints | undefined;
  /** The configuration at the start, as shown to people; omitted when no page shows it. */
  readonly read?: ReadConfig;
  /** Applies all of it or throws. */
  readonly exchange: (loaded: LoadedConfig) => Promise<void> | void;
  /** Resolves when another removed exporter may drain. */
  readonly room: () => Promise<void>;
  readonly logger: ReloadLogger;
  /** Between two checks of the files. A change counts when two checks in a row see it. */
  readonly watchMs?: number;
  /** Between two reloads: each takes time from requests. */
  readonly restMs?: number;
}

export interface Reloading {
  /** Never waits, never throws. A request before `begin` runs then; a request after `stop` does nothing. */
  request(): void;
  begin(): void;
  /** The configuration in force, and what became of the last reload. */
  status(): ConfigStatus;
  /** Hash of the settings in force that replicas have in common. Empty without fingerprints. */
  fingerprint(): string;
  stop(): void;
}

const watchMsDefault = 2_000;
const restMsDefault = 250;
/** Each log line of a fault has the total number as well. */
const faultsLoggedMax = 20;
/** Warnings and faults that the status lists. */
const remarksMax = 100;

export function reloading({
  source,
  fingerprints,
  read,
  exchange,
  room,
  telemetry,
  clock,
  sleep,
  logger,
  watchMs = watchMsDefault,
  restMs = restMsDefault,
}: ReloadingOptions): Reloading {
  const shutdown = new AbortController();
  /** In force; keys that need a restart keep the fingerprint of the start. */
  let running = fingerprints;
  let status: Omit<ConfigStatus, 'file'> = {
    readAtMs: clock.nowMs(),
    printed: read?.printed,
    warnings: remarks(read?.warnings ?? []),
    waiting: [],
    refused: [],
  };
  let wanted = false;
  let begun = false;
  let working: Promise<void> | undefined;
  let watching: PeriodicTask | undefined;

  async function work(from: ReloadSource): Promise<void> {
    while (wanted && !shutdown.signal.aborted) {
      await room();
      wanted = false;
      if (!shutdown.signal.aborted) await once(from);
      await sleep(restMs, shutdown.signal);
    }
  }

  async function once(from: ReloadSource): Promise<void> {
    try {
      const loaded = await from.read();
      if (shutdown.signal.aborted) return;
      await exchange(loaded);
      applied(loaded);
    } catch (error) {
      refused(error);
    }
  }

  function applied({ fingerprints: next, printed, warnings }: LoadedConfig): void {
    for (const { file, line, column, key, problem, todo } of warnings.slice(0, faultsLoggedMax))
      logger.warn({ file, line, column, key, problem, todo }, 'the configuration has a warning');
    const waiting = running === undefined ? [] : differing(running.restart, next.restart);
    const changed = running === undefined ? [] : differing(running.sections, next.sections);
    running = { sections: next.sections, restart: running?.restart ?? next.restart };
    status = { readAtMs: clock.nowMs(), printed, warnings: remarks(warnings), waiting, refused: [] };
    count(changed.length === 0 ? 'unchanged' : 'applied', waiting.length);
    if (waiting.length > 0)
      logger.warn(
        { keys: waiting },
        'these keys of the configuration take effect after a restart; until then the service keeps their values from its start',
      );
    logger.info(
      { changed },
      changed.length === 0 ? 'the configuration was reloaded without a change' : 'the configuration was reloaded and is in force',
    );
  }

  function count(outcome: 'applied' | 'unchanged', waiting: number): void {
    telemetry.add('tracejury.config.reloads', 1, { 'tracejury.outcome': outcome });
    telemetry.set('tracejury.config.loaded', clock.nowMs() / 1_000);
    telemetry.set('tracejury.config.refused', 0);
    telemetry.set('tracejury.config.waiting', waiting);
  }

  function refused(error: unknown): void {
    telemetry.add('tracejury.config.reloads', 1, { 'tracejury.outcome': 'refused' });
    telemetry.set('tracejury.config.refused', 1);
    if (!(error instanceof ConfigError)) {
      logger.error(
        { error: error instanceof Error ? (error.stack ?? error.message) : 'unknown' },
        'the configuration could not be applied; the previous one remains in force',
      );
      status = { ...status, refused: [notApplied(source?.file ?? '')] };
      return;
    }
    const { faults } = error;
    status = { ...status, refused: remarks(faults) };
    for (const { file, line, column, key, problem, todo } of faults.slice(0, faultsLoggedMax)) {
      logger.error(
        { file, line, column, key, problem, todo, faults: faults.length },
        'the configuration has a fault and was refused; the previous one remains in force',
      );
    }
  }

  function pump(): void {
    if (source === undefined || !begun || !wanted || shutdown.signal.aborted) return;
    working ??= work(source).finally(() => {
      working = undefined;
      pump();
    });
  }

  function request(): void {
    if (shutdown.signal.aborted) return;
    if (source === undefined) return logger.warn({}, 'there is no configuration file to reload: the service was started without -c');
    wanted = true;
    pump();
  }

  function watch(from: ReloadSource): PeriodicTask {
    let before: string | undefined;
    return periodicTask({
      everyMs: watchMs,
      sleep,
      async work() {
        if (working !== undefined) return;
        const now = await from.change();
        // An editor may still write the file, so a change counts when it is the same twice.
        if (now !== undefined && now === before) request();
        before = now;
      },
      onFault: refused,
      restsFirst: true,
    });
  }

  return {
    request,
    begin() {
      begun = true;
      telemetry.set('tracejury.config.loaded', clock.nowMs() / 1_000);
      pump();
      if (source !== undefined) watching = watch(source);
    },
    status: () => ({ file: source?.file, ...status }),
    fingerprint: () => (running === undefined ? '' : sharedFingerprint(running)),
    stop() {
      shutdown.abort();
      void watching?.stop();
    },
  };
}

function remarks(all: readonly ConfigRemark[]): readonly ConfigRemark[] {
  return all.slice(0, remarksMax).map(({ file, line, column, key, problem, todo }) => ({ file, line, column, key, problem, todo }));
}

/** A fault that is not one of the file. Its text may hold anything, so only the log has it. */
function notApplied(file: string): ConfigRemark {
  const problem = 'the configuration could not be applied';
  return { file, line: 0, column: 0, key: '', problem, todo: 'The log of the service has the reason.' };
}

/** The settings that may change while the service runs. */
export interface SettingsInForce {
  readonly config: () => Config;
  /** The settings of the pipeline, derived from `config`. */
  readonly rules: () => RunRules;
  readonly redaction: () => RunRules['redaction'];
  /** The text without what `redact` removes. */
  readonly redactedText: (text: string) => string;
  /** `true` when `redact` removes nothing from the text. */
  readonly isUnredacted: (text: string) => boolean;
  /** Derives the rules of the next configuration, and may throw. The returned function puts both in force and does not throw. */
  prepare(next: Config): () => RunRules;
}

export function settingsInForce(config: Config, telemetry: MetricRegistry): SettingsInForce {
  let current = { config, rules: runRules(config, telemetry) };
  const redactedText = (text: string): string => current.rules.redaction?.text(text) ?? text;
  return {
    config: () => current.config,
    rules: () => current.rules,
    redaction: () => current.rules.redaction,
    redactedText,
    isUnredacted: (text) => redactedText(text) === text,
    prepare(next) {
      const rules = runRules(next, telemetry, current);
      return () => {
        current = { config: next, rules };
        return rules;
      };
    },
  };
}

/** Applies `redact` to the fields of log lines. */
export function redactedLogger(logger: Logger, settings: SettingsInForce): Logger {
  return logger.child({}, { formatters: { log: (fields) => settings.redaction()?.fields(fields) ?? fields } });
}

/** Metrics that depend only on the time, such as those of task groups, are computed for each snapshot. */
export function metricsSnapshot(telemetry: MetricRegistry, settings: SettingsInForce): readonly MetricFamily[] {
  settings.rules().groups.report(telemetry);
  return telemetry.snapshot();
}

export interface RunRules extends PipelineSettings {
  readonly dialects: readonly Collector[];
  readonly groups: TaskGroups;
  readonly figures: (run: Run) => RunFigures;
}

/** Parts of `before` whose settings are the same stay, with their state. */
function runRules(config: Config, telemetry: Telemetry, before?: { readonly config: Config; readonly rules: RunRules }): RunRules {
  const keepsRedaction = before !== undefined && isSame(before.config.redact, config.redact);
  const redaction = keepsRedaction ? before.rules.redaction : configuredRedaction(config.redact, telemetry);
  // Task groups hold redacted names, so they change with the redaction.
  const keepsGroups = keepsRedaction && isSame(before.config.groups, config.groups);
  const groups = keepsGroups
    ? before.rules.groups
    : taskGroups(config.groups, telemetry, redaction === undefined ? {} : { redacted: redaction.text });
  const keepsDialects = before !== undefined && isSame(before.config.dialects, config.dialects);
  return {
    plan: config.evaluators,
    closing: config.closing,
    tools: config.tools,
    versionKey: config.versionKey,
    dialects: keepsDialects ? before.rules.dialects : config.dialects.map(configuredCollector),
    prices: config.prices,
    groups,
    figures: runFigures({ prices: config.prices, taskOf: groups.taskOf }),
    ...(redaction === undefined ? {} : { redaction }),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return jsonText(one as JsonValue, { sortKeys: true }) === jsonText(other as JsonValue, { sortKeys: true });
}

/** Counts runs whose `tracestate` claims a probability below the limit, and logs the first one. */
export interface RaisedProbabilities extends Readonly<ApiDeps['upstream']> {
  readonly add: () => void;
}

export function raisedProbabilities(probabilityMin: number, logger: { warn(fields: object, message: string): void }): RaisedProbabilities {
  let runs = 0;
  return {
    probabilityMin,
    raised: () => runs,
    add() {
      runs++;
      if (runs === 1)
        logger.warn(
          { upstream_probability: probabilityMin },
          'a run claims a probability below limits.upstream_probability in tracestate and counts with that limit; tracejury_sampling_raised_total counts such runs',
        );
    },
  };
}
