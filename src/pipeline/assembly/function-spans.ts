/** The application's function spans that ran a tool: no attribute gives their kind, but they are named after a call that a model requested. */
import { isAnswerTool } from '../../../collectors/parsing/tool-classes.ts';
import { countBelow, sortedBy } from '../../model/nano-time.ts';
import type { Requested } from './requested-calls.ts';
import { byStart, type Node } from './span-tree.ts';

/** Spans with the name of a call that are looked at for it: those that began first after its request. */
const namesakesMax = 64;

/**
 * The application's own function spans, which have no tool facts. Such a span ran a call if its name matches and it ran between request and
 * result; of several the one that failed. Each span serves one call.
 */
export function runsAmong(own: readonly Node[]): (one: Requested) => Node | undefined {
  let byName: ReadonlyMap<string, { readonly nodes: readonly Node[]; readonly starts: readonly bigint[] }> | undefined;
  const taken = new Set<Node>();
  return ({ call: { name }, requestedAtUnixNano, askedAfterUnixNano, answeredBy }) => {
    if (isAnswerTool(name)) return undefined;
    // Computed lazily, as most calls have a tool span.
    byName ??= stepsByName(own);
    const { nodes = [], starts = [] } = byName.get(lastWord(name)) ?? {};
    const from = countBelow(starts, askedAfterUnixNano ?? requestedAtUnixNano);
    const inTime = nodes
      .slice(from, from + namesakesMax)
      .filter(
        (node) =>
          !taken.has(node) &&
          isNamedAfter(node.span.name, name) &&
          (answeredBy === undefined || node.span.endUnixNano <= answeredBy.span.startUnixNano),
      );
    const node = inTime.find(hasFailed) ?? inTime[0];
    if (node !== undefined) taken.add(node);
    return node;
  };
}

function stepsByName(own: readonly Node[]): ReadonlyMap<string, { readonly nodes: readonly Node[]; readonly starts: readonly bigint[] }> {
  const steps = own.filter(({ reading: { facts } }) => facts.role === undefined || facts.role === 'step');
  const groups = Map.groupBy(sortedBy(steps, byStart), ({ span }) => lastWord(span.name));
  return new Map([...groups].map(([word, nodes]) => [word, { nodes, starts: nodes.map(({ span }) => span.startUnixNano) }]));
}

/** The last word of a name, which a span and the tool that it is named after share. */
export function lastWord(name: string): string {
  let start = name.length;
  while (start > 0 && /\w/.test(name.charAt(start - 1))) start--;
  return name.slice(start);
}

export function hasFailed({ span }: Node): boolean {
  return span.status.code === 'error' || span.events.some(({ name }) => name === 'exception');
}

/** Matches `reserve_stock`, `tool reserve_stock` and `shop.reserve_stock`. */
function isNamedAfter(span: string, tool: string): boolean {
  return span.endsWith(tool) && !/\w/.test(span.charAt(span.length - tool.length - 1));
}
