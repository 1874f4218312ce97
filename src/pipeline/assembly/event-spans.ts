/** Joins spans that each report one event of a request or call. */
import type { SpanFacts } from '../../../collectors/collector.ts';
import { compare } from '../../model/nano-time.ts';
import { canonical } from './requested-calls.ts';
import { joined } from './span-facts.ts';
import type { Node } from './span-tree.ts';

/** The nodes in order. The node of a begin event gets all facts, and the node of the end event becomes a step. */
export function withJoinedEvents(nodes: readonly Node[]): readonly Node[] {
  const events = nodes.filter(({ reading }) => reading.facts.event !== undefined);
  if (events.length === 0) return nodes;
  const better = new Map<Node, Node>();
  const isReported = reportedElsewhere(nodes);
  for (const group of Map.groupBy(events, placeOf).values()) joinGroup(group, isReported, better);
  return nodes.map((node) => better.get(node) ?? node);
}

function placeOf({ span, reading }: Node): string {
  return `${span.traceId}/${span.parentSpanId ?? ''}/${reading.facts.event?.of ?? ''}`;
}

/** Matches tools whose calls also have ordinary spans. */
function reportedElsewhere(nodes: readonly Node[]): (facts: SpanFacts) => boolean {
  const names = new Set<string>();
  for (const { reading } of nodes)
    if (reading.facts.role === 'tool' && reading.facts.tool?.name !== undefined) names.add(lettersOf(reading.facts.tool.name));
  return ({ tool }) => tool?.name !== undefined && names.has(lettersOf(tool.name));
}

function joinGroup(group: readonly Node[], isReported: (facts: SpanFacts) => boolean, better: Map<Node, Node>): void {
  const inOrder = group.toSorted((a, b) => compare(a.span.startUnixNano, b.span.startUnixNano));
  const of = (phase: 'begin' | 'end'): Node[] => inOrder.filter(({ reading }) => reading.facts.event?.phase === phase);
  const ends = of('end');
  for (const begin of of('begin')) {
    // Concurrent calls end in any order; the end event repeats the arguments.
    const same = ends.findIndex((end) => argumentsOf(end) === argumentsOf(begin));
    const [end] = ends.splice(Math.max(same, 0), 1);
    const facts = joined(end?.reading.facts.event?.facts ?? {}, begin.reading.facts.event?.facts ?? {});
    if (facts.role === undefined || isReported(facts)) continue;
    better.set(begin, replaced(begin, facts, end));
    if (end !== undefined) better.set(end, replaced(end, { role: 'step' }));
  }
  // Ends without a begin event: the call began before the instrumentation.
  for (const end of ends) {
    const facts = end.reading.facts.event?.facts;
    if (facts?.role !== undefined && !isReported(facts)) better.set(end, replaced(end, facts));
  }
}

function argumentsOf({ reading }: Node): string {
  const tool = reading.facts.event?.facts.tool;
  return tool === undefined ? '' : canonical(tool);
}

function replaced(node: Node, facts: SpanFacts, end?: Node): Node {
  return {
    ...node,
    reading: { ...node.reading, facts },
    ...(end === undefined ? {} : { endedAtUnixNano: end.span.endUnixNano }),
  };
}

/** Letters and digits in lower case, as frameworks spell a tool's name in their own way: `findOrder` is find_order. */
export function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}
