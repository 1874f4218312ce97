/** What a configuration says about runs that are still gathered. It may be exchanged while they are. */
import type { ToolDefinition } from '../../model/agent-trace.ts';
import { defaultClosing, type ClosingTimes } from './close-policy.ts';

export interface GatheringSettings {
  readonly closing?: ClosingTimes;
  /** Definitions for runs whose spans carry none. */
  readonly tools?: readonly ToolDefinition[];
}

interface InForce {
  readonly closing: ClosingTimes;
  /** By name. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
}

export function inForce({ closing = defaultClosing, tools = [] }: GatheringSettings): InForce {
  return { closing, tools: new Map(tools.map((definition) => [definition.name, definition] as const)) };
}
