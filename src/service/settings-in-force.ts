/** The configuration that is in force: what may change while the service runs. Everything else stands as it was at the start. */
import type { Logger } from 'pino';
import type { Collector } from '../../collectors/collector.ts';
import { configuredCollector } from '../../collectors/configured/dialect.ts';
import type { Config } from '../config/config.ts';
import type { MetricFamily, MetricRegistry } from '../telemetry/registry.ts';
import { configuredRedaction } from '../config/entries/redaction.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { PipelineSettings } from '../pipeline/pipeline.ts';
import { taskGroups, type TaskGroups } from '../pipeline/reporting/task-groups.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

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
