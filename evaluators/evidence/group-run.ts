/** A run as one of several of its task: how long its way was, and whether it arrived. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { executedCalls, notCarried } from './calls.ts';
import type { GroupRun } from './convergence.ts';

export interface GroupRunOptions {
  /** What counts as a step; tool calls when left out. */
  readonly steps?: 'tool_calls' | 'tool_and_model_calls';
}

/** Steps are the tool calls that ran. It succeeded unless it ended in an error. Undefined: its spans carry no tool calls, so nobody knows. */
export function groupRun(trace: AgentTrace, { steps = 'tool_calls' }: GroupRunOptions = {}): GroupRun | undefined {
  if (notCarried(trace) !== undefined) return undefined;
  const models = steps === 'tool_calls' ? 0 : trace.modelCalls.length;
  return { steps: executedCalls(trace).length + models, success: trace.status === 'ok' };
}
