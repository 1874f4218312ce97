/** Tool spans → executions: spans of several instrumentations that tell one execution count once. */
import type { Node } from './tree.ts';

/** One execution, as one or several spans tell it. */
export interface Execution {
  readonly nodes: readonly Node[];
  readonly name: string;
  readonly id: string | undefined;
}

/** A tool span looks this many spans up for an outer span of the same execution. */
const outerSpansMax = 8;

/** Two spans tell one execution: same call id, or one inside the other, or two instrumentations beside each other. */
export function executionsOf(tools: readonly Node[]): readonly Execution[] {
  const groups: Node[][] = [];
  const groupOf = new Map<Node, Node[]>();
  const byId = new Map<string, Node[]>();
  const byPlace = new Map<Node | undefined, Node[]>();
  for (const node of tools) {
    const id = node.told.facts.tool?.id;
    const beside = byPlace.get(node.parent) ?? [];
    const twin = beside.findLast((other) => isTwin(other, node));
    const group = (id === undefined ? undefined : byId.get(id)) ?? outerGroup(node, groupOf) ?? (twin === undefined ? undefined : groupOf.get(twin));
    const members = group ?? [];
    if (group === undefined) groups.push(members);
    members.push(node);
    groupOf.set(node, members);
    if (id !== undefined) byId.set(id, members);
    // Only neighbours in time can be twins: older ones need not be kept.
    byPlace.set(node.parent, [...beside.slice(-outerSpansMax), node]);
  }
  return groups.map((nodes) => {
    const facts = nodes.map((node) => node.told.facts.tool);
    return { nodes, name: facts.find((tool) => tool?.name !== undefined)?.name ?? nodes[0]?.span.name ?? '', id: facts.find((tool) => tool?.id !== undefined)?.id };
  });
}

function outerGroup(node: Node, groupOf: ReadonlyMap<Node, Node[]>): Node[] | undefined {
  let at = node.parent;
  for (let steps = 0; at !== undefined && steps < outerSpansMax; steps++) {
    if (at.told.facts.role === 'tool' && (node.told.facts.tool?.insideCall === true || canBeOne(at, node))) return groupOf.get(at);
    at = at.parent;
  }
  return undefined;
}

/** Told by two instrumentations at the same place and time. */
function isTwin(a: Node, b: Node): boolean {
  const overlap = a.span.startUnixNano <= b.span.endUnixNano && b.span.startUnixNano <= a.span.endUnixNano;
  return overlap && a.span.scope.name !== b.span.scope.name && canBeOne(a, b);
}

function canBeOne(a: Node, b: Node): boolean {
  const left = a.told.facts.tool;
  const right = b.told.facts.tool;
  return left?.name === right?.name && (left?.id === undefined || right?.id === undefined || left.id === right.id);
}
