/** The name of a graph that works inside other spans, for a run that no span names. */
import { isAgentNode } from '../../../collectors/parsing/graph-agent.ts';
import type { AgentScope } from './agent-scopes.ts';
import { isStep } from './implied-agents.ts';
import { bareName, ownName } from './span-facts.ts';
import type { Node } from './span-tree.ts';

/** The span whose direct children are the nodes of a prebuilt agent has its name. Several such spans name none. */
export function graphName({ node, frames, own }: Pick<AgentScope, 'node' | 'frames' | 'own'>): string | undefined {
  const graphs = new Set<Node>();
  for (const one of own) if (one.parent !== undefined && isStep(one) && isAgentNode(bareName(one.span))) graphs.add(one.parent);
  if (graphs.size === 0) return undefined;
  const names = new Set(
    [...(node === undefined ? [] : [node]), ...frames, ...own].flatMap((one) => (graphs.has(one) ? (ownName(one.span) ?? []) : [])),
  );
  const [only, ...others] = names;
  return others.length === 0 ? only : undefined;
}
