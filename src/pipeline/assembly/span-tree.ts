/** The spans of one trace as a tree, with the facts of the collectors. */
import type { SpanId } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import type { SpanReading } from './span-facts.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { compare, sortedBy } from '../../model/nano-time.ts';

/** Spans per step, which takes some milliseconds. A smaller trace is one step. */
export const spansPerStep = 500;

export interface Node {
  readonly span: Span;
  readonly reading: SpanReading;
  /** Time of arrival, in epoch milliseconds. */
  readonly arrivedMs: number;
  /** Position in the order of arrival. */
  readonly arrival: number;
  /** End of the operation, when another span reports it. */
  readonly endedAtUnixNano?: bigint;
  readonly parent: Node | undefined;
  /** Sorted by start time. */
  readonly children: readonly Node[];
  /** The missing parent of the topmost ancestor; `undefined` when all spans up to the root are there. */
  readonly awaits: Awaited | undefined;
}

export interface Awaited {
  readonly spanId: SpanId;
  /** True when the parent is in another process, so that it may come late or never. */
  readonly elsewhere: boolean;
}

interface Draft extends Node {
  parent: Draft | undefined;
  children: Draft[];
  awaits: Awaited | undefined;
  /** Position in the order of start times. */
  place: number;
}

export interface Tree {
  /** Spans without a parent or with a missing one, by start time. */
  readonly roots: readonly Node[];
  readonly nodes: readonly Node[];
}

/** A node without a parent yet, for one tree. */
export function looseNode(span: Span, arrivedMs: number, reading: SpanReading, arrival: number): Node {
  const node: Draft = { span, reading, arrivedMs, arrival, parent: undefined, children: [], awaits: undefined, place: 0 };
  return node;
}

/** Builds the tree and sorts the list. Replaces noise spans by their children, and cuts cycles. */
export function* tree(loose: Node[]): Steps<Tree> {
  const all = loose as Draft[];
  const isLong = all.length > spansPerStep;
  const byId = new Map<SpanId, Draft>();
  for (const node of all) byId.set(node.span.spanId, node);
  if (isLong) yield;
  // When spans share an id, the last one counts.
  const once = byId.size === all.length ? all : [...byId.values()];
  const nodes = sortedBy(once.some(isNoise) ? once.filter((node) => !isNoise(node)) : once, byStart);
  if (isLong) yield;
  const aboveNoise = new Map<Draft, Above>();
  for (const node of nodes) hang(node, byId, aboveNoise);
  handOver(nodes);
  if (isLong) yield;
  nodes.forEach((node, place) => void (node.place = place));
  // A parent that began before its child cannot be part of a cycle.
  if (!nodes.every((node) => node.parent === undefined || node.parent.place < node.place)) cutCycles(nodes);
  const roots: Draft[] = [];
  for (const node of nodes) (node.parent?.children ?? roots).push(node);
  for (const root of roots) if (root.awaits !== undefined) for (const node of below(root)) (node as Draft).awaits = root.awaits;
  return { roots, nodes };
}

/** Links traces with agents to the beginning of their chain: such agents take over from each other, none works inside another. */
function handOver(nodes: readonly Draft[]): void {
  const linked = nodes.filter((node) => node.parent !== undefined && node.span.parentSpanId === undefined);
  if (linked.length === 0) return;
  const withAgent = new Set(nodes.filter((node) => node.reading.facts.role === 'agent').map((node) => node.span.traceId));
  for (const node of linked) {
    if (!withAgent.has(node.span.traceId)) continue;
    const seen = new Set([node]);
    let top = node;
    while (top.parent !== undefined && !seen.has(top.parent)) {
      top = top.parent;
      seen.add(top);
    }
    if (top.parent === undefined && top !== node) node.parent = top;
  }
}

/** The linked span that a message span continues. */
function linkedSpan({ span, reading }: Draft): SpanId | undefined {
  return reading.facts.followsLinks === true ? span.links[0]?.spanId : undefined;
}

function isNoise(node: Draft): boolean {
  return node.reading.facts.role === 'noise';
}

type Above = Pick<Draft, 'parent' | 'awaits'>;

const top: Above = { parent: undefined, awaits: undefined };

function hang(node: Draft, byId: ReadonlyMap<SpanId, Draft>, aboveNoise: Map<Draft, Above>): void {
  const id = node.span.parentSpanId ?? linkedSpan(node);
  const named = id === undefined ? undefined : byId.get(id);
  const { parent, awaits } =
    named === undefined || isNoise(named) ? livingParent(node, byId, aboveNoise) : { parent: named, awaits: undefined };
  node.parent = parent;
  node.awaits = awaits;
}

/** The nearest ancestor that is not noise. Every link of a noise chain remembers the end, so it is walked once. */
function livingParent(node: Draft, byId: ReadonlyMap<SpanId, Draft>, aboveNoise: Map<Draft, Above>): Above {
  const chain = new Set<Draft>();
  let at = node;
  let end = top;
  for (;;) {
    const id = at.span.parentSpanId ?? linkedSpan(at);
    if (id === undefined) break;
    const parent = byId.get(id);
    if (parent === undefined) {
      end = { parent: undefined, awaits: { spanId: id, elsewhere: isElsewhere(at.span) } };
      break;
    }
    if (!isNoise(parent)) {
      end = { parent, awaits: undefined };
      break;
    }
    const known = aboveNoise.get(parent);
    if (known !== undefined) {
      end = known;
      break;
    }
    if (chain.has(parent)) break;
    chain.add(parent);
    at = parent;
  }
  for (const link of chain) aboveNoise.set(link, end);
  return end;
}

/** OTLP span flags: bit 8 states that bit 9 is valid, bit 9 that the parent is in another process. */
function isElsewhere(span: Span): boolean {
  return (span.flags & 0x300) === 0x300;
}

/** True when the span has no parent in its process. */
export function isRoot(span: Span): boolean {
  return span.parentSpanId === undefined || isElsewhere(span);
}

/** Makes one span of every cycle a root. Visits each span once. */
function cutCycles(nodes: readonly Draft[]): void {
  const done = new Set<Draft>();
  for (const node of nodes) {
    const path = new Set<Draft>();
    let at: Draft | undefined = node;
    while (at !== undefined && !done.has(at) && !path.has(at)) {
      path.add(at);
      at = at.parent;
    }
    if (at !== undefined && path.has(at)) at.parent = undefined;
    for (const one of path) done.add(one);
  }
}

/**
 * Sorts by start, then by arrival. SDKs that round to milliseconds give successive spans the same start; exporters send spans as they end, so arrival
 * gives the order.
 */
export function byStart(a: Pick<Node, 'span' | 'arrival'>, b: Pick<Node, 'span' | 'arrival'>): number {
  return compare(a.span.startUnixNano, b.span.startUnixNano) || a.arrival - b.arrival;
}

/** All descendants of a node, parents before children. `enter` may reject a subtree. */
export function below(node: Node, enter: (child: Node) => boolean = () => true): Node[] {
  const found: Node[] = [];
  const waiting = node.children.toReversed();
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (!enter(next)) continue;
    found.push(next);
    for (let at = next.children.length - 1; at >= 0; at--) {
      const child = next.children[at];
      if (child !== undefined) waiting.push(child);
    }
  }
  return found;
}
