/**
 * Reads the configuration again when it is asked to, or when a file has changed, and puts it in force: one at a time, and whatever was asked
 * for meanwhile is one more time. A file with faults changes nothing.
 */
import type { Logger } from 'pino';
import type { Collector } from '../../collectors/collector.ts';
import { configuredCollector } from '../../collectors/configured/dialect.ts';
import type { Config } from '../config/config.ts';
import { ConfigError } from '../config/diagnostic.ts';
import { configuredRedaction } from '../config/entries/redaction.ts';
import { differing, type Fingerprints } from '../config/fingerprint.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { PipelineSettings } from '../pipeline/pipeline.ts';
import { taskGroups, type TaskGroups } from '../pipeline/reporting/task-groups.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { MetricFamily, MetricRegistry } from '../telemetry/registry.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ApiDeps } from '../web/api/route.ts';

/** The configuration's file, as far as reloading goes. */
export interface ReloadSource {
  readonly file: string;
  /** Rejects with a ConfigError with all faults. */
  read(): Promise<LoadedConfig>;
  /** How the files stand, when they stand differently than at the last `read`; undefined: as then. */
  change(): Promise<string | undefined>;
}

interface ReloadLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface ReloadingOptions {
  /** Undefined: the service was started without a file. */
  readonly source: ReloadSource | undefined;
  /** Of what is in force at the start. */
  readonly fingerprints: Fingerprints | undefined;
  /** Puts it in force, whole or not at all. */
  readonly exchange: (loaded: LoadedConfig) => void;
  /** Resolves when what left at earlier reloads has made room. */
  readonly room: () => Promise<void>;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly logger: ReloadLogger;
  /** How often the files are looked at. A change counts when it has stood for as long. */
  readonly watchMs?: number;
  /** Between two reloads: reading takes the time of requests. */
  readonly restMs?: number;
}

export interface Reloading {
  /** Never waits, never throws. What is asked for before `begin` is done then; after `stop` nothing is. */
  request(): void;
  /** The service is up. */
  begin(): void;
  stop(): void;
}

const watchMsDefault = 2_000;
const restMsDefault = 250;
/** Faults that are told one by one; of more their number is told. */
const faultsLoggedMax = 20;

export function reloading({
  source,
  fingerprints,
  exchange,
  room,
  telemetry,
  clock,
  sleep,
  logger,
  watchMs = watchMsDefault,
  restMs = restMsDefault,
}: ReloadingOptions): Reloading {
  const ended = new AbortController();
  /** What runs: of keys that need a restart what was there at the start. */
  let running = fingerprints;
  let wanted = false;
  let begun = false;
  let working: Promise<void> | undefined;
  let watching: PeriodicTask | undefined;

  async function work(from: ReloadSource): Promise<void> {
    while (wanted && !ended.signal.aborted) {
      await room();
      wanted = false;
      if (!ended.signal.aborted) await once(from);
      await sleep(restMs, ended.signal);
    }
  }

  async function once(from: ReloadSource): Promise<void> {
    try {
      const loaded = await from.read();
      // A stop has begun while it was read: nobody is there to take it.
      if (ended.signal.aborted) return;
      exchange(loaded);
      taken(loaded);
    } catch (error) {
      refused(error);
    }
  }

  function taken({ fingerprints: next, warnings }: LoadedConfig): void {
    for (const { file, line, column, key, problem, todo } of warnings.slice(0, faultsLoggedMax))
      logger.warn({ file, line, column, key, problem, todo }, 'the configuration has a warning');
    const waiting = running === undefined ? [] : differing(running.restart, next.restart);
    const changed = running === undefined ? [] : differing(running.sections, next.sections);
    running = { sections: next.sections, restart: running?.restart ?? next.restart };
    count(changed.length === 0 ? 'unchanged' : 'applied', waiting.length);
    if (waiting.length > 0)
      logger.warn(
        { keys: waiting },
        'these keys of the configuration hold only after a restart; until then the service goes on with what they were when it started',
      );
    logger.info(
      { changed },
      changed.length === 0 ? 'the configuration was read again and is the same' : 'the configuration was read again and is in force',
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
        'the configuration could not be put in force; the one before goes on',
      );
      return;
    }
    const { faults } = error;
    for (const { file, line, column, key, problem, todo } of faults.slice(0, faultsLoggedMax)) {
      logger.error(
        { file, line, column, key, problem, todo, faults: faults.length },
        'the configuration has a fault and was not taken; the one before goes on',
      );
    }
  }

  function pump(): void {
    if (source === undefined || !begun || !wanted || ended.signal.aborted) return;
    working ??= work(source).finally(() => {
      working = undefined;
      pump();
    });
  }

  function request(): void {
    if (ended.signal.aborted) return;
    if (source === undefined) return logger.warn({}, 'there is no configuration file to read again: the service was started without -c');
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
    stop() {
      ended.abort();
      void watching?.stop();
    },
  };
}

// The configuration that is in force: what may change while the service runs. Everything else stands as it was at the start.

export interface SettingsInForce {
  readonly config: () => Config;
  /** What the pipeline does with runs, derived from `config`. */
  readonly rules: () => RunRules;
  readonly redaction: () => RunRules['redaction'];
  /** The text without what `redact` removes. */
  readonly redactedText: (text: string) => string;
  /** True: `redact` removes nothing from the text. */
  readonly isUnredacted: (text: string) => boolean;
  /** Derives the rules of the next configuration, and may throw. The function that it returns puts both in force, and does not throw. */
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

/** A logger whose fields lose what `redact` removes. */
export function redactedLogger(logger: Logger, settings: SettingsInForce): Logger {
  return logger.child({}, { formatters: { log: (fields) => settings.redaction()?.fields(fields) ?? fields } });
}

/** Metrics that depend on the time alone, such as those of task groups, are computed for each snapshot. */
export function metricsSnapshot(telemetry: MetricRegistry, settings: SettingsInForce): readonly MetricFamily[] {
  settings.rules().groups.tell(telemetry);
  return telemetry.snapshot();
}

// From a configuration to what the pipeline does with runs. What did not change stays what it is, with all that it remembers.

export interface RunRules extends PipelineSettings {
  readonly dialects: readonly Collector[];
  readonly groups: TaskGroups;
}

/** `before`: what is in force, and the configuration that it came from. */
function runRules(config: Config, telemetry: Telemetry, before?: { readonly config: Config; readonly rules: RunRules }): RunRules {
  const keepsRedaction = before !== undefined && isSame(before.config.redact, config.redact);
  const redaction = keepsRedaction ? before.rules.redaction : configuredRedaction(config.redact, telemetry);
  // The names of tasks are held as they were redacted, so they go with the rules.
  const keepsGroups = keepsRedaction && isSame(before.config.groups, config.groups);
  const groups = keepsGroups
    ? before.rules.groups
    : taskGroups(config.groups, telemetry, redaction === undefined ? {} : { redacted: redaction.text });
  const keepsDialects = before !== undefined && isSame(before.config.dialects, config.dialects);
  return {
    plan: config.evaluators,
    closing: config.closing,
    tools: config.tools,
    dialects: keepsDialects ? before.rules.dialects : config.dialects.map(configuredCollector),
    prices: config.prices,
    groups,
    ...(redaction === undefined ? {} : { redaction }),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return jsonText(one as JsonValue, { sortKeys: true }) === jsonText(other as JsonValue, { sortKeys: true });
}

// Runs whose `tracestate` claims a smaller probability than is believed: counted for the API, and told in the log once.

export interface RaisedProbabilities extends Readonly<ApiDeps['upstream']> {
  /** Such a run has come. */
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
          'a run claims in tracestate a smaller probability than limits.upstream_probability and counts as if it had that one; further runs are counted in tracejury_sampling_raised_total',
        );
    },
  };
}
