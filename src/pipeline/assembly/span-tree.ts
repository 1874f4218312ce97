/** The spans of one trace as a tree, with what the collectors tell about each. */
import type { SpanId } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import type { SpanReading } from './span-facts.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { compare, sortedBy } from '../../model/nano-time.ts';

/** Spans that one step reads, or makes runs of; a step takes some milliseconds. A smaller trace is one step. */
export const spansPerStep = 500;

export interface Node {
  readonly span: Span;
  readonly reading: SpanReading;
  /** When the span reached us, in milliseconds. */
  readonly arrivedMs: number;
  /** Its place in the order in which the spans arrived. */
  readonly arrival: number;
  /** When what the span began ended, where another span tells it. */
  readonly endedAtUnixNano?: bigint;
  readonly parent: Node | undefined;
  /** In order of start time. */
  readonly children: readonly Node[];
  /** The parent that the topmost span above this one names and that has not arrived. Undefined: all the way to the root is there. */
  readonly awaits: Awaited | undefined;
}

export interface Awaited {
  readonly spanId: SpanId;
  /** It is in another process, so it may come much later, or never. */
  readonly elsewhere: boolean;
}

interface Draft extends Node {
  parent: Draft | undefined;
  children: Draft[];
  awaits: Awaited | undefined;
  /** Its place in the order of start time. */
  place: number;
}

export interface Tree {
  /** Spans without a parent, and spans whose parent has not arrived. In order of start time. */
  readonly roots: readonly Node[];
  readonly nodes: readonly Node[];
}

/** A node that hangs nowhere yet, for one tree. */
export function looseNode(span: Span, arrivedMs: number, reading: SpanReading, arrival: number): Node {
  const node: Draft = { span, reading, arrivedMs, arrival, parent: undefined, children: [], awaits: undefined, place: 0 };
  return node;
}

/** Builds the tree of loose nodes; the list is put in order. Noise spans are taken out and their children given to their parent; a cycle of parents is cut. */
export function* tree(loose: Node[]): Steps<Tree> {
  const all = loose as Draft[];
  const isLong = all.length > spansPerStep;
  const byId = new Map<SpanId, Draft>();
  for (const node of all) byId.set(node.span.spanId, node);
  if (isLong) yield;
  // Of spans with one id the last one counts.
  const once = byId.size === all.length ? all : [...byId.values()];
  const nodes = sortedBy(once.some(isNoise) ? once.filter((node) => !isNoise(node)) : once, byStart);
  if (isLong) yield;
  const aboveNoise = new Map<Draft, Above>();
  for (const node of nodes) hang(node, byId, aboveNoise);
  handOver(nodes);
  if (isLong) yield;
  nodes.forEach((node, place) => void (node.place = place));
  // Below what began before it nothing goes round in a circle.
  if (!nodes.every((node) => node.parent === undefined || node.parent.place < node.place)) cutCycles(nodes);
  const roots: Draft[] = [];
  for (const node of nodes) (node.parent?.children ?? roots).push(node);
  for (const root of roots) if (root.awaits !== undefined) for (const node of below(root)) (node as Draft).awaits = root.awaits;
  return { roots, nodes };
}

/** Traces that hold an agent hang on the beginning of what they go on with: the agents took over from one another, none works inside another. */
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

/** What a span without a parent goes on with. */
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

/** The nearest parent that is not noise. A chain of noise is walked once: every link of it remembers the end. */
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

/** OTLP span flags: bit 8 says that bit 9 is known, bit 9 that the parent is in another process. */
function isElsewhere(span: Span): boolean {
  return (span.flags & 0x300) === 0x300;
}

/** True: nothing is above it in its process. */
export function isRoot(span: Span): boolean {
  return span.parentSpanId === undefined || isElsewhere(span);
}

/** Makes one span of every cycle a root. Each span is walked over once. */
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
 * The order in which things began. SDKs that stamp whole milliseconds give one start to what happened one after the other; exporters send spans as
 * they end, so the order of arrival tells which was first.
 */
export function byStart(a: Pick<Node, 'span' | 'arrival'>, b: Pick<Node, 'span' | 'arrival'>): number {
  return compare(a.span.startUnixNano, b.span.startUnixNano) || a.arrival - b.arrival;
}

/** All nodes below one, without itself, parents before children. `enter` may refuse a subtree. */
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
