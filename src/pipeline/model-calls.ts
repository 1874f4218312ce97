/** The requests to models among an agent's spans, each once. */
import type { SpanFacts } from '../../collectors/collector.ts';
import type { AgentTrace, ModelCall } from '../model/agent-trace.ts';
import { joined } from './facts.ts';
import { compare } from './times.ts';
import type { Node } from './tree.ts';

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
export function withoutNestedModels(own: readonly Node[]): readonly Node[] {
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
    better.set(outer, only === undefined ? { role: 'step' } : joined(outer.told.facts, only.told.facts));
    if (only !== undefined) dropped.add(only);
  }
  return own.filter((node) => !dropped.has(node)).map((node) => {
    const facts = better.get(node);
    return facts === undefined ? node : { ...node, told: { ...node.told, facts } };
  });
}

function enclosedBy(parent: Node | undefined, enclosed: ReadonlyMap<Node, Enclosed>): Enclosed {
  if (parent === undefined) return { outer: undefined, depth: 0 };
  const above = enclosed.get(parent) ?? { outer: undefined, depth: 0 };
  return isModel(parent) ? { outer: above.outer ?? parent, depth: above.depth + 1 } : above;
}

function isModel(node: Node): boolean {
  return node.told.facts.role === 'model';
}

/** In order of start time. */
export function modelSpans(own: readonly Node[]): readonly Node[] {
  return own.filter(isModel).sort((a, b) => compare(a.span.startUnixNano, b.span.startUnixNano));
}

/** What the calls tell together; a number that none of them tells is absent. */
export function tokensOf(calls: readonly ModelCall[]): AgentTrace['tokens'] {
  const sum = (key: 'inputTokens' | 'outputTokens'): number | undefined => {
    const told = calls.flatMap((call) => call[key] ?? []);
    return told.length === 0 ? undefined : told.reduce((total, number) => total + number, 0);
  };
  const [input, output] = [sum('inputTokens'), sum('outputTokens')];
  return input === undefined && output === undefined ? undefined : { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) };
}
