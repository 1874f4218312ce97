/** The spans of one trace as a tree, with what the collectors tell about each. */
import type { SpanId } from '../model/ids.ts';
import type { Span } from '../model/span.ts';
import type { Told } from './facts.ts';

export interface Node {
  readonly span: Span;
  readonly told: Told;
  /** When the span reached us, in milliseconds. */
  readonly arrivedMs: number;
  readonly parent: Node | undefined;
  /** In order of start time. */
  readonly children: readonly Node[];
}

interface Draft extends Node {
  parent: Draft | undefined;
  children: Draft[];
}

export interface Tree {
  /** Spans without a parent, and spans whose parent has not arrived. In order of start time. */
  readonly roots: readonly Node[];
  readonly nodes: readonly Node[];
  /** Ids of parents that have not arrived. */
  readonly missingParents: ReadonlySet<SpanId>;
}

/** Builds the tree. Noise spans are taken out and their children given to their parent; a cycle of parents is cut. */
export function tree(held: readonly { readonly span: Span; readonly told: Told; readonly arrivedMs: number }[]): Tree {
  const byId = new Map<SpanId, Draft>();
  for (const { span, told, arrivedMs } of held) byId.set(span.spanId, { span, told, arrivedMs, parent: undefined, children: [] });
  const missingParents = new Set<SpanId>();
  const nodes = [...byId.values()].filter((node) => !isNoise(node)).sort(byStart);
  const aboveNoise = new Map<Draft, Draft | undefined>();
  for (const node of nodes) node.parent = livingParent(node, byId, missingParents, aboveNoise);
  cutCycles(nodes);
  const roots: Draft[] = [];
  for (const node of nodes) (node.parent?.children ?? roots).push(node);
  return { roots, nodes, missingParents };
}

function isNoise(node: Draft): boolean {
  return node.told.facts.role === 'noise';
}

/** The nearest parent that is not noise. A chain of noise is walked once: every link of it remembers the end. */
function livingParent(node: Draft, byId: ReadonlyMap<SpanId, Draft>, missing: Set<SpanId>, aboveNoise: Map<Draft, Draft | undefined>): Draft | undefined {
  const chain = new Set<Draft>();
  let at: Draft | undefined = node;
  for (;;) {
    const id: SpanId | undefined = at.span.parentSpanId;
    const parent: Draft | undefined = id === undefined ? undefined : byId.get(id);
    if (id !== undefined && parent === undefined) missing.add(id);
    at = parent;
    if (at === undefined || !isNoise(at) || chain.has(at)) break;
    if (aboveNoise.has(at)) {
      at = aboveNoise.get(at);
      break;
    }
    chain.add(at);
  }
  const end = at === undefined || isNoise(at) ? undefined : at;
  for (const link of chain) aboveNoise.set(link, end);
  return end;
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

export function byStart(a: { readonly span: Span }, b: { readonly span: Span }): number {
  return compare(a.span.startUnixNano, b.span.startUnixNano) || compare(b.span.endUnixNano, a.span.endUnixNano) || (a.span.spanId < b.span.spanId ? -1 : 1);
}

export function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** All nodes below one, without itself, parents before children. `enter` may refuse a subtree. */
export function below(node: Node, enter: (child: Node) => boolean = () => true): readonly Node[] {
  const found: Node[] = [];
  const waiting = [...node.children].reverse();
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
