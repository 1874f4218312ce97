/** The fields of a run that a configuration names in conditions, with their texts. A condition on a field holds when it holds for one of them. */
import type { Run } from '../../model/agent-trace.ts';
import { plainText } from '../../model/json.ts';

export const runFields = {
  agent: (run) => [run.trace.agent],
  service: (run) => [run.service],
  version: (run) => [run.serviceVersion],
  model: (run) => [run.trace.model, ...run.trace.modelCalls.map((call) => call.model)],
  input: (run) => [run.trace.input],
  final_response: (run) => [run.trace.finalResponse === undefined ? undefined : plainText(run.trace.finalResponse)],
  status: (run) => [run.trace.status],
  completeness: (run) => [run.completeness],
  tenant: (run) => [run.tenant],
  tool: (run) => run.trace.toolCalls.map((call) => call.name),
} as const satisfies { readonly [name: string]: (run: Run) => readonly (string | undefined)[] };

export type RunField = keyof typeof runFields;

export const runFieldNames = Object.keys(runFields) as readonly RunField[];

export function isRunField(name: string): name is RunField {
  return Object.hasOwn(runFields, name);
}
