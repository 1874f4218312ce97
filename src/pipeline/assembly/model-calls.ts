/** The requests to models among an agent's spans, each once. */
import type { SpanFacts } from '../../../collectors/collector.ts';
import type { AgentTrace, ModelCall } from '../../model/agent-trace.ts';
import { joined } from './span-facts.ts';
import { sortedBy } from '../../model/nano-time.ts';
import { byStart, type Node } from './span-tree.ts';

interface Enclosed {
  /** The outermost model span around a node. */
  readonly outer: Node | undefined;
  /** How many model spans are around it. */
  readonly depth: number;
}

/**
 * One model span inside another: two instrumentations tell one request, and the inner span only fills in what the outer one lacks.
 * Several inside another: the outer one is a loop of requests, and the inner ones are the requests.
 * `own` has parents before their children.
 */
export function withoutNestedModels(all: readonly Node[]): readonly Node[] {
  const own = withoutTwins(all);
  if (!own.some(isInsideModel)) return own;
  const enclosed = new Map<Node, Enclosed>();
  const requests = new Map<Node, Node[]>();
  const dropped = new Set<Node>();
  for (const node of own) {
    const around = enclosedBy(node.parent, enclosed);
    enclosed.set(node, around);
    if (!isModel(node) || around.outer === undefined) continue;
    if (around.depth > 1) dropped.add(node);
    else {
      const list = requests.get(around.outer);
      if (list === undefined) requests.set(around.outer, [node]);
      else list.push(node);
    }
  }
  const better = new Map<Node, SpanFacts>();
  for (const [outer, inner] of requests) {
    const only = inner.length === 1 ? inner[0] : undefined;
    better.set(outer, only === undefined ? { role: 'step' } : joined(outer.reading.facts, only.reading.facts));
    if (only !== undefined) dropped.add(only);
  }
  return own
    .filter((node) => !dropped.has(node))
    .map((node) => {
      const facts = better.get(node);
      return facts === undefined ? node : { ...node, reading: { ...node.reading, facts } };
    });
}

/** Two instrumentations beside one another tell one request: the later one that tells nothing of its own only fills in what the first lacks. */
function withoutTwins(own: readonly Node[]): readonly Node[] {
  const scopes = new Set<string>();
  for (const node of own) if (isModel(node)) scopes.add(node.span.scope.name);
  if (scopes.size < 2) return own;
  const models = modelSpans(own);
  const twins = new Map<Node, Node>();
  for (const [at, node] of models.entries()) {
    const before = models[at - 1];
    if (before !== undefined && !twins.has(before) && areTwins(before, node)) twins.set(before, node);
  }
  if (twins.size === 0) return own;
  const dropped = new Set(twins.values());
  return own
    .filter((node) => !dropped.has(node))
    .map((node) => {
      const twin = twins.get(node);
      return twin === undefined ? node : { ...node, reading: { ...node.reading, facts: joined(node.reading.facts, twin.reading.facts) } };
    });
}

/** Told at the same time and place, with the same tokens, and only one of them tells the messages. */
function areTwins(a: Node, b: Node): boolean {
  const [left, right] = [a.reading.facts, b.reading.facts];
  return (
    a.parent === b.parent &&
    a.span.scope.name !== b.span.scope.name &&
    b.span.startUnixNano <= a.span.endUnixNano &&
    (left.outputMessages === undefined || right.outputMessages === undefined) &&
    left.inputTokens === right.inputTokens &&
    left.outputTokens === right.outputTokens
  );
}

function enclosedBy(parent: Node | undefined, enclosed: ReadonlyMap<Node, Enclosed>): Enclosed {
  if (parent === undefined) return { outer: undefined, depth: 0 };
  const above = enclosed.get(parent) ?? { outer: undefined, depth: 0 };
  return isModel(parent) ? { outer: above.outer ?? parent, depth: above.depth + 1 } : above;
}

/** Anything that has a model span inside it has something whose parent is a model span. */
function isInsideModel({ parent }: Node): boolean {
  return parent !== undefined && isModel(parent);
}

function isModel(node: Node): boolean {
  return node.reading.facts.role === 'model';
}

/** In order of start time. */
export function modelSpans(own: readonly Node[]): readonly Node[] {
  return sortedBy(own.filter(isModel), byStart);
}

/** What the calls tell together; a number that none of them tells is absent. */
export function tokensOf(calls: readonly ModelCall[]): AgentTrace['tokens'] {
  let input: number | undefined;
  let output: number | undefined;
  for (const { inputTokens, outputTokens } of calls) {
    if (inputTokens !== undefined) input = (input ?? 0) + inputTokens;
    if (outputTokens !== undefined) output = (output ?? 0) + outputTokens;
  }
  if (input === undefined) return output === undefined ? undefined : { output };
  return output === undefined ? { input } : { input, output };
}
