/** Groups tool spans into executions, as several instrumentations may report one execution. */
import { jsonText } from '../../model/json.ts';
import type { ToolFacts } from '../../../collectors/collector.ts';
import { isClassName } from '../../../collectors/parsing/tool-classes.ts';
import type { Node } from './span-tree.ts';

/** One execution, reported by one or several spans. */
export interface Execution {
  /** Without attempts that the framework repeated. */
  readonly nodes: readonly Node[];
  /** When the first attempt began. */
  readonly beganAtUnixNano: bigint;
  readonly name: string;
  readonly id: string | undefined;
  /** True when the name is the framework's spelling or class, or that of the span. */
  readonly nameIsGuess: boolean;
  /** True when only spans of a protocol report it, such as those of MCP, where the tool has the name that its server gives it. */
  readonly isProtocols: boolean;
}

/** Limit of ancestors that are searched for a span of the same execution. */
const outerSpansMax = 8;
/** Executions under one id that a span is compared with, and their last spans: what is further away is another call. */
const groupsMax = 16;
const membersMax = 8;

/**
 * Spans report one execution if they share the call id, are nested, or are siblings of two instrumentations. For ids in `shared`, which several calls
 * have, they must also overlap. One instrumentation that reports two sets of arguments under an id reports two calls.
 */
export function executionsOf(tools: readonly Node[], shared: ReadonlyMap<string, unknown>): readonly Execution[] {
  const groups: Node[][] = [];
  const groupOf = new Map<Node, Node[]>();
  const byId = new Map<string, Node[][]>();
  const byPlace = new Map<Node | undefined, Node[]>();
  for (const node of tools) {
    const id = node.reading.facts.tool?.id;
    const beside = byPlace.get(node.parent);
    const sibling = beside === undefined ? undefined : siblingOfOne(beside, node);
    const withId = id === undefined ? undefined : byId.get(id);
    const isShared = id !== undefined && shared.has(id);
    const sameId = withId?.slice(-groupsMax).find((some) => {
      const nearest = some.slice(-membersMax);
      return (!isShared || nearest.some((other) => overlap(other, node))) && !nearest.some((other) => tellsOther(other, node));
    });
    const group = sameId ?? outerGroup(node, groupOf) ?? (sibling === undefined ? undefined : groupOf.get(sibling));
    const members = group ?? [node];
    if (group === undefined) groups.push(members);
    else group.push(node);
    groupOf.set(node, members);
    if (id !== undefined && sameId === undefined) {
      if (withId === undefined) byId.set(id, [members]);
      else withId.push(members);
    }
    if (beside === undefined) byPlace.set(node.parent, [node]);
    else beside.push(node);
  }
  return groups.map(executionOf);
}

/** True when one instrumentation reports both spans with different arguments. */
function tellsOther({ span: first, reading: one }: Node, { span: second, reading: other }: Node): boolean {
  const [left, right] = [one.facts.tool?.arguments ?? undefined, other.facts.tool?.arguments ?? undefined];
  return (
    left !== undefined &&
    right !== undefined &&
    first.scope.name === second.scope.name &&
    first.parentSpanId === second.parentSpanId &&
    jsonText(left, { sortKeys: true }) !== jsonText(right, { sortKeys: true })
  );
}

function executionOf(group: readonly Node[]): Execution {
  const last = lastAttempts(group);
  const nodes = toldFirst(last);
  const first = last.length < group.length ? group[0] : nodes[0];
  let name: string | undefined;
  let id: string | undefined;
  let nameIsGuess = false;
  for (const {
    reading: {
      facts: { tool },
    },
  } of nodes) {
    // A reported name of one span comes before a guess of another.
    if (tool?.name !== undefined && (name === undefined || (nameIsGuess && !isGuess(tool)))) {
      name = tool.name;
      nameIsGuess = isGuess(tool);
    }
    id ??= tool?.id;
  }
  return {
    nodes,
    beganAtUnixNano: first?.span.startUnixNano ?? 0n,
    name: name ?? nodes[0]?.span.name ?? '',
    id,
    nameIsGuess,
    isProtocols: nodes.every(({ reading }) => reading.facts.tool?.insideCall === true),
  };
}

/** A framework that tries a call again writes another span after the one that failed. The last span shows how the call ended. */
function lastAttempts(group: readonly Node[]): readonly Node[] {
  if (group.length === 1) return group;
  // The latest start among the spans behind, by what attempts of one call have in common.
  const latest = new Map<Node | undefined, Map<string, bigint>>();
  return group
    .toReversed()
    .filter(({ parent, span: { scope, startUnixNano, endUnixNano }, reading: { facts } }) => {
      const starts = latest.get(parent) ?? new Map<string, bigint>();
      latest.set(parent, starts);
      const key = `${scope.name} ${facts.tool?.name}`;
      const next = starts.get(key) ?? -1n;
      if (startUnixNano > next) starts.set(key, startUnixNano);
      return next < endUnixNano || next <= startUnixNano;
    })
    .toReversed();
}

function isGuess({ name = '', nameIsGuess }: ToolFacts): boolean {
  return nameIsGuess === true || isClassName(name);
}

/**
 * A span that only the reader by evidence takes for the call, such as a chunk of a stream that names it, yields to a span that a collector reports.
 */
function toldFirst(group: readonly Node[]): readonly Node[] {
  if (group.length === 1) return group;
  const isRead = (node: Node): boolean => node.reading.evidence?.().tool !== undefined;
  return [...group.filter((node) => !isRead(node)), ...group.filter(isRead)];
}

/** Searches the nearest siblings in time. */
function siblingOfOne(beside: readonly Node[], node: Node): Node | undefined {
  for (let at = beside.length - 1; at >= Math.max(0, beside.length - 1 - outerSpansMax); at--) {
    const other = beside[at];
    if (other !== undefined && isSameExecution(other, node)) return other;
  }
  return undefined;
}

function outerGroup(node: Node, groupOf: ReadonlyMap<Node, Node[]>): Node[] | undefined {
  let at = node.parent;
  for (let steps = 0; at !== undefined && steps < outerSpansMax; steps++) {
    if (at.reading.facts.role === 'tool' && (node.reading.facts.tool?.insideCall === true || canBeOne(at, node))) return groupOf.get(at);
    at = at.parent;
  }
  return undefined;
}

/** True when two instrumentations report the same execution at the same time, or one reports its failure again. */
function isSameExecution(a: Node, b: Node): boolean {
  return (overlap(a, b) && a.span.scope.name !== b.span.scope.name && canBeOne(a, b)) || isFailureOf(a, b);
}

/** True when the later span reports only how the earlier one failed, and is named after its tool: `reserve_stock_error`. */
function isFailureOf(earlier: Node, later: Node): boolean {
  const { name, id, arguments: given, result } = later.reading.facts.tool ?? {};
  const { code, message } = earlier.span.status;
  return (
    code === 'error' &&
    message !== '' &&
    message === later.span.status.message &&
    name === `${earlier.reading.facts.tool?.name}_error` &&
    (id ?? given ?? result) === undefined
  );
}

function overlap(a: Node, b: Node): boolean {
  return a.span.startUnixNano <= b.span.endUnixNano && b.span.startUnixNano <= a.span.endUnixNano;
}

function canBeOne(a: Node, b: Node): boolean {
  const left = a.reading.facts.tool;
  const right = b.reading.facts.tool;
  return left?.name === right?.name && (left?.id === undefined || right?.id === undefined || left.id === right.id);
}
