/** Tool definitions from the configuration, for runs whose spans tell too little. */
import type { ToolDefinition } from '../../model/agent-trace.ts';

/**
 * What a run's spans tell comes first. Where they name tools, these were offered, and the configuration only fills in what the spans
 * lack; it adds no tool to them, for a call of a tool that was not offered must show. Where they name none, the configuration's list
 * was offered.
 */
export function offeredTools(told: readonly ToolDefinition[], configured: ReadonlyMap<string, ToolDefinition>): readonly ToolDefinition[] {
  if (told.length === 0) return [...configured.values()];
  return told.map((definition) => ({ ...configured.get(definition.name), ...definition }));
}
