/** Stages of an agent's work: spans that an SDK marks as agents although no other agent works in them. */
import type { SpanFacts } from '../../../collectors/collector.ts';
import { givenAgentName } from './span-facts.ts';
import type { Node } from './span-tree.ts';

/** Deeper agents count as steps of the one above. No real trace nests so deep, and a hostile one must not exhaust the stack. */
export const agentDepthMax = 64;

/** A span without a name, inside an agent that has one or whose method is a sibling of its method, is a stage of its work. */
export function isStage(node: Node, agents: ReadonlySet<Node>): boolean {
  if (isTurn(node)) return true;
  const { role, agentName } = node.reading.facts;
  if (role === 'agent' ? agentName !== undefined : givenAgentName(node.reading.facts) !== undefined) return false;
  let at = node.parent;
  for (let depth = 0; at !== undefined && depth < agentDepthMax; depth++) {
    if (agents.has(at))
      return at.reading.facts.role === 'agent' && (givenAgentName(at.reading.facts) !== undefined || isMethodBeside(node, at));
    if (at.reading.facts.role === 'tool') return false;
    at = at.parent;
  }
  return false;
}

/**
 * True when both spans are named after methods of one class, for one question: `AgentWorkflow.run`, `AgentWorkflow.setup_agent`. Another question and
 * another answer belong to another run.
 */
function isMethodBeside({ span: { name }, reading: { facts } }: Node, { span: { name: outer }, reading: around }: Node): boolean {
  const isOther = (key: 'input' | 'output'): boolean =>
    typeof facts[key] === 'string' && typeof around.facts[key] === 'string' && facts[key] !== around.facts[key];
  if (isOther('input') && isOther('output')) return false;
  const dot = outer.lastIndexOf('.');
  return dot > 0 && name !== outer && name.lastIndexOf('.') === dot && name.startsWith(outer.slice(0, dot + 1));
}

/** Some write a span for each turn of an agent, with the agent's name and what it gave: it was asked nothing, unlike the agent around it. */
function isTurn({ parent, reading: { facts } }: Node): boolean {
  const around = parent?.reading.facts;
  const name = givenAgentName(facts);
  return (
    around?.role === 'agent' &&
    name !== undefined &&
    name === givenAgentName(around) &&
    !isAsked(facts) &&
    isAsked(around) &&
    (around.output ?? around.outputMessages) !== undefined
  );
}

function isAsked({ input, inputMessages }: SpanFacts): boolean {
  return (input ?? inputMessages) !== undefined;
}
