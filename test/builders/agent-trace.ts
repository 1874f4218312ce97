/** Agent traces by hand: a test shows only what matters to it. */
import type { AgentTrace, ToolCall, ToolDefinition } from '../../src/model/agent-trace.ts';
import { parseSpanId } from '../../src/model/ids.ts';
import type { SpanId } from '../../src/model/ids.ts';

export function agentTrace(members: Partial<AgentTrace> = {}): AgentTrace {
  return {
    status: 'ok',
    toolCalls: [],
    toolDefinitions: [],
    modelCalls: [],
    documents: [],
    reasoningSteps: [],
    subAgents: [],
    toolCallsCarried: true,
    ...members,
  };
}

/** A call of the tool `t` that ran, without arguments, and returned ok. `undefined` takes a member away. */
export function call(members: { readonly [Key in keyof ToolCall]?: ToolCall[Key] | undefined } = {}): ToolCall {
  const all = { name: 't', arguments: {}, result: 'ok', executed: true, ...members };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as unknown as ToolCall;
}

export function tool(name: string, inputSchema?: ToolDefinition['inputSchema']): ToolDefinition {
  return inputSchema === undefined ? { name } : { name, inputSchema };
}

/** The span id that ends in this number. */
export function spanId(number: number): SpanId {
  const id = parseSpanId(number.toString(16).padStart(16, '0'));
  if (id === undefined) throw new Error(`${number} makes no span id`);
  return id;
}
