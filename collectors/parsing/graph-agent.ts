/** The agent that a step of a LangGraph graph works for, by LangChain's metadata on every span of a graph, under any instrumentation. */

/** Nodes of a prebuilt agent. A subgraph with such a node is an agent. Source: `create_agent`, `create_react_agent`. */
export const agentNodes: ReadonlySet<string> = new Set(['agent', 'model', 'tools']);

/** True for a node of a prebuilt agent: some instrumentations write it in place of the agent's name. */
export function isAgentNode(name: string | undefined): boolean {
  return name !== undefined && agentNodes.has(name);
}

/**
 * `text` gives a member of the metadata. `lc_agent_name` is the name itself; older versions have it only as the node that holds the subgraph:
 * `langgraph_checkpoint_ns` is `refund_desk:<id>|agent:<id>`.
 */
export function graphAgent(text: (name: string) => string | undefined): string | undefined {
  const name = text('lc_agent_name');
  if (name !== undefined && name !== '') return name;
  const nodes = (text('langgraph_checkpoint_ns') ?? '').split('|').map((part) => part.slice(0, part.lastIndexOf(':')));
  const [holder = '', node = ''] = nodes.slice(-2);
  return nodes.length > 1 && agentNodes.has(node) && !agentNodes.has(holder) && holder !== '' ? holder : undefined;
}
