/** Cuts the texts of a run that identify something, before rules, stores and exporters see the run. */
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import { identityText, isLongIdentity } from '../../model/identity-text.ts';

/** The same run when no text is too long. `redacted`: applied before the cut, as a rule of redaction may not match a text that is cut. */
export function withBoundedNames(run: Run, redacted: (text: string) => string = (text) => text): Run {
  const { trace, service, serviceVersion } = run;
  const isLong = (text: string | undefined): boolean => text !== undefined && isLongIdentity(text);
  const { agent, sessionId, userId, model, toolCalls, toolDefinitions, modelCalls, subAgents } = trace;
  const hasLong =
    [agent, sessionId, userId, model, service, serviceVersion].some(isLong) ||
    toolCalls.some(({ name, toolId }) => isLong(name) || isLong(toolId)) ||
    toolDefinitions.some(({ name }) => isLong(name)) ||
    modelCalls.some((call) => isLong(call.model)) ||
    subAgents.some((sub) => isLong(sub.agent) || isLong(sub.viaTool));
  if (!hasLong) return run;
  const cut = (text: string): string => (isLong(text) ? identityText(redacted(text)) : text);
  /** The members of these names that are there. */
  const withCut = <Of extends object>(of: Of, ...names: readonly (keyof Of)[]): Of => ({
    ...of,
    ...Object.fromEntries(names.flatMap((name) => (typeof of[name] === 'string' ? [[name, cut(of[name])]] : []))),
  });
  const bounded: AgentTrace = {
    ...withCut(trace, 'agent', 'sessionId', 'userId', 'model'),
    toolCalls: toolCalls.map((call) => withCut(call, 'name', 'toolId')),
    toolDefinitions: toolDefinitions.map((definition) => withCut(definition, 'name')),
    modelCalls: modelCalls.map((call) => withCut(call, 'model')),
    subAgents: subAgents.map((sub) => withCut(sub, 'agent', 'viaTool')),
  };
  return { ...withCut(run, 'service', 'serviceVersion'), trace: bounded };
}
