/** The fields over which recordings are compared, as reports and lists name them. */

export const fields = [
  'agent_name',
  'session_id',
  'input',
  'system_prompt',
  'final_response',
  'status',
  'model',
  'llm_calls',
  'tokens.input',
  'tokens.output',
  'tool_calls',
  'tools',
  'sub_agents',
] as const;
export type Field = (typeof fields)[number] | 'runs';

/** `tool_calls[0].name: …` is one of tool calls; what names an agent first is of that sub-agent. */
export function fieldOf(difference: string): Field {
  const path = /^[^:]*/.exec(difference)?.[0] ?? '';
  return (
    fields.find((field) => path === field || path.startsWith(`${field}[`) || path.startsWith(`${field}.`)) ??
    (/\.tool_calls(?:\[|$)/.test(path) ? 'sub_agents' : 'runs')
  );
}
