/** Runs of an agent with a normal process, and runs that deviate from it. */
import type { AgentTrace, ToolCall } from '../../src/model/agent-trace.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ProcessModel } from '../../src/model/process-model.ts';
import { mergedProcess, observedProcess } from '../../src/analytics/process-learning.ts';
import { agentTrace, call, spanId } from './agent-trace.ts';

/** One call after another, with span ids from 1. A list within the list is one model message. */
export function runOf(steps: readonly (string | readonly string[])[], given: JsonObject = {}): AgentTrace {
  let number = 0;
  const toolCalls = steps.flatMap((step, turn) =>
    (typeof step === 'string' ? [step] : step).map((name): ToolCall => {
      number++;
      return call({ name, spanId: spanId(number), turn: turn + 1, arguments: given });
    }),
  );
  return agentTrace({ agent: 'support', toolCalls });
}

/** Learnt from this number of copies of each run. */
export function processOf(runs: readonly (readonly [trace: AgentTrace, times: number])[]): ProcessModel {
  return mergedProcess(
    ...runs.flatMap(([trace, times]) => {
      const observed = observedProcess(trace);
      return observed === undefined ? [] : Array.from({ length: times }, () => observed);
    }),
  );
}
