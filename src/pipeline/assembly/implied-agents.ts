/**
 * Agents without a span. Frameworks write an agent's name on the steps of its graph, or run an agent inside a tool. The outermost span of such steps
 * represents the agent.
 */
import { givenAgentName } from './span-facts.ts';
import type { Node } from './span-tree.ts';

interface Found {
  /** Spans of agents. */
  readonly agents: ReadonlySet<Node>;
  /** Spans that do work, and all spans above them. */
  readonly working: ReadonlySet<Node>;
}

/** Limit of ancestors that are searched for a name. */
const spansUpMax = 32;

/** Spans that represent an agent, with its name; `undefined` when no span names it. `steps`: spans without a role, parents first. */
export function impliedAgents(steps: readonly Node[], found: Found): ReadonlyMap<Node, string | undefined> {
  const named = outermostNamed(steps, found);
  const implied = new Map<Node, string | undefined>();
  for (const [node, name] of named) implied.set(lifted(node, name, found), name);
  for (const node of steps)
    if (!implied.has(node) && node.parent?.reading.facts.role === 'tool' && isAtWork(node, { ...found, implied }))
      implied.set(node, undefined);
  return implied;
}

/** Steps that name a different agent from the one around them. Without a name around, at least two different names are required. */
function outermostNamed(steps: readonly Node[], { agents, working }: Found): ReadonlyMap<Node, string> {
  const apart = new Map<Node, string>();
  const beside = new Map<Node, Map<Node, string>>();
  for (const node of steps) {
    const name = givenAgentName(node.reading.facts);
    if (name === undefined || !working.has(node)) continue;
    const { around, holder } = surroundings(node, agents);
    if (around === name || holder === undefined) continue;
    if (around !== undefined) apart.set(node, name);
    else beside.set(holder, (beside.get(holder) ?? new Map<Node, string>()).set(node, name));
  }
  for (const group of beside.values()) if (new Set(group.values()).size > 1) for (const [node, name] of group) apart.set(node, name);
  return apart;
}

interface Surroundings {
  /** Name on the nearest named ancestor. */
  readonly around: string | undefined;
  /** The agent above, or the root. */
  readonly holder: Node | undefined;
}

function surroundings(node: Node, agents: ReadonlySet<Node>): Surroundings {
  let around: string | undefined;
  let at = node.parent;
  let holder = at;
  for (let depth = 0; at !== undefined && depth < spansUpMax; depth++) {
    holder = at;
    if (at.reading.facts.role !== 'workflow') around ??= givenAgentName(at.reading.facts);
    if (agents.has(at)) return { around, holder };
    at = at.parent;
  }
  return { around, holder: at === undefined ? holder : undefined };
}

/** The span around all steps of the agent; the node itself when there is none. */
function lifted(node: Node, name: string, { agents, working }: Found): Node {
  let found = node;
  for (let depth = 0; depth < spansUpMax; depth++) {
    const { parent } = found;
    const isStage = parent?.parent !== undefined && isStep(parent) && !agents.has(parent);
    if (!isStage || givenAgentName(parent.reading.facts) !== undefined) return found;
    const others = parent.children.filter((child) => child !== found && working.has(child));
    if (others.some((child) => givenAgentName(child.reading.facts) !== name)) return found;
    found = parent;
  }
  return found;
}

export function isStep({ reading: { facts } }: Node): boolean {
  return facts.role === undefined || facts.role === 'step';
}

/** True when a model and a tool work below the span. A tool by itself may call a model without being an agent. */
function isAtWork(node: Node, { agents, implied, working }: Found & { readonly implied: ReadonlyMap<Node, unknown> }): boolean {
  const roles = new Set<string>();
  const waiting = [node];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (agents.has(next) || implied.has(next)) return false;
    const { role } = next.reading.facts;
    if (role !== undefined) roles.add(role);
    for (const child of next.children) if (working.has(child)) waiting.push(child);
  }
  return roles.has('model') && roles.has('tool');
}
