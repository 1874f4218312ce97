/** The configuration that is in force: what may change while the service runs. Everything else stands as it was at the start. */
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { MetricFamily, MetricRegistry } from '../telemetry/registry.ts';
import { runRules, type RunRules } from './pipeline-settings.ts';

export interface SettingsInForce {
  readonly config: () => Config;
  /** What the pipeline does with runs, derived from `config`. */
  readonly rules: () => RunRules;
  readonly redaction: () => RunRules['redaction'];
  /** The text without what `redact` removes. */
  readonly redactedText: (text: string) => string;
  /** Derives the rules of the next configuration, and may throw. The function that it returns puts both in force, and does not throw. */
  prepare(next: Config): () => RunRules;
}

export function settingsInForce(config: Config, telemetry: MetricRegistry): SettingsInForce {
  let current = { config, rules: runRules(config, telemetry) };
  return {
    config: () => current.config,
    rules: () => current.rules,
    redaction: () => current.rules.redaction,
    redactedText: (text) => current.rules.redaction?.text(text) ?? text,
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
