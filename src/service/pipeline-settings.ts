/** From a configuration to what the pipeline does with runs. What did not change stays what it is, with all that it remembers. */
import type { Config } from '../config/config.ts';
import { configuredRedaction } from '../config/entries/redaction.ts';
import { jsonText, type JsonValue } from '../model/json.ts';
import type { PipelineSettings } from '../pipeline/pipeline.ts';
import { taskGroups, type TaskGroups } from '../pipeline/reporting/task-groups.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface RunRules extends PipelineSettings {
  readonly groups: TaskGroups;
}

/** `before`: what is in force, and the configuration that it came from. */
export function runRules(config: Config, telemetry: Telemetry, before?: { readonly config: Config; readonly rules: RunRules }): RunRules {
  const keepsRedaction = before !== undefined && isSame(before.config.redact, config.redact);
  const redaction = keepsRedaction ? before.rules.redaction : configuredRedaction(config.redact, telemetry);
  // The names of tasks are held as they were redacted, so they go with the rules.
  const keepsGroups = keepsRedaction && isSame(before.config.groups, config.groups);
  const groups = keepsGroups
    ? before.rules.groups
    : taskGroups(config.groups, telemetry, redaction === undefined ? {} : { redacted: redaction.text });
  return {
    plan: config.evaluators,
    closing: config.closing,
    tools: config.tools,
    prices: config.prices,
    groups,
    ...(redaction === undefined ? {} : { redaction }),
  };
}

function isSame(one: unknown, other: unknown): boolean {
  return jsonText(one as JsonValue, { sortKeys: true }) === jsonText(other as JsonValue, { sortKeys: true });
}
