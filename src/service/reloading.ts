/**
 * Reads the configuration again when it is asked to, or when a file has changed, and puts it in force: one at a time, and whatever was asked
 * for meanwhile is one more time. A file with faults changes nothing.
 */
import { ConfigError } from '../config/diagnostic.ts';
import type { LoadedConfig } from '../config/load.ts';
import { differing, type Fingerprints } from '../config/fingerprint.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

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

export interface ReloadingOptions {
  /** Undefined: the service was started without a file. */
  readonly source: ReloadSource | undefined;
  /** Of what is in force at the start. */
  readonly prints: Fingerprints | undefined;
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

export const watchMsDefault = 2_000;
const restMsDefault = 250;
/** Faults that are told one by one; of more their number is told. */
const faultsToldMax = 20;

export function reloading({
  source,
  prints,
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
  let running = prints;
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

  function taken({ prints: next, warnings }: LoadedConfig): void {
    for (const { file, line, column, key, problem, todo } of warnings.slice(0, faultsToldMax))
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
    for (const { file, line, column, key, problem, todo } of faults.slice(0, faultsToldMax)) {
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
