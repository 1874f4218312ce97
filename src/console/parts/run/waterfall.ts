/**
 * The timeline of a run: spans as rows of a tree with their place in time. Spans are foreign data, so parents may be missing or form a
 * circle, and clocks may be wrong: each span has exactly one row, and the layout takes time in proportion to their number.
 */
import { microsOf } from './times.ts';

export interface TimelineSpan {
  readonly trace_id: string;
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly of_run: boolean;
  readonly name: string;
  readonly role: string | null;
  readonly agent: string | null;
  readonly tool: string | null;
  readonly model: string | null;
  readonly status: string;
  readonly started_at: string;
  readonly ended_at: string;
}

export interface WaterfallRow<Span extends TimelineSpan = TimelineSpan> {
  /** Key of the row: that of its span, or of its group. */
  readonly key: string;
  readonly span: Span;
  /** 0 for the outermost. */
  readonly depth: number;
  /** Place in the scale, 0 to 1. */
  readonly left: number;
  readonly width: number;
  readonly startMicros: number;
  /** Not negative. */
  readonly tookMicros: number;
  /** Spans below it, on all levels. */
  readonly below: number;
  readonly isOpen: boolean;
  /** Number of siblings at work at the same time, itself included. */
  readonly parallel: number;
  /** An agent below another one. */
  readonly isSubAgent: boolean;
  /** Number of calls in the row; omitted for a row of one span. */
  readonly grouped?: number;
  /** Note about an odd time or place. */
  readonly note: RowNote | undefined;
}

/** `parent_missing`: the store lacks its parent. `parent_loop`: it is its own ancestor. */
export type RowNote = 'parent_missing' | 'parent_loop' | 'ends_before_start' | 'outside_scale';

export interface Waterfall<Span extends TimelineSpan = TimelineSpan> {
  readonly rows: readonly WaterfallRow<Span>[];
  /** The scale. */
  readonly fromMicros: number;
  readonly toMicros: number;
  /** Spans that `isShown` leaves out. */
  readonly hidden: number;
}

export interface WaterfallOptions<Span extends TimelineSpan> {
  /** Rows whose spans below are not listed, by key. */
  readonly closed?: ReadonlySet<string>;
  /** Groups whose spans are listed one by one, by key. */
  readonly openGroups?: ReadonlySet<string>;
  /** Spans that are left out give their children to their parent. Default: all have a row. */
  readonly isShown?: (span: Span) => boolean;
  /** So many equal calls in a row become a group. */
  readonly groupFrom?: number;
  /** Id of a span that has a row to itself. */
  readonly apart?: string | undefined;
}

const groupFromDefault = 12;
/** A span that starts further from the middle of the run than this has a wrong clock, and does not stretch the scale. */
const farMicros = 86_400_000_000;

interface Node<Span extends TimelineSpan> {
  readonly span: Span;
  readonly key: string;
  readonly start: number;
  readonly end: number;
  readonly children: Node<Span>[];
  note: RowNote | undefined;
  below: number;
}

export function keyOf({ trace_id: trace, span_id: span }: Pick<TimelineSpan, 'trace_id' | 'span_id'>): string {
  return `${trace}/${span}`;
}

/** The spans as a tree with its scale: what stays while rows open and close. */
export interface SpanTree<Span extends TimelineSpan> extends Omit<Waterfall<Span>, 'rows'> {
  readonly roots: readonly Node<Span>[];
}

export function waterfall<Span extends TimelineSpan>(spans: readonly Span[], options: WaterfallOptions<Span> = {}): Waterfall<Span> {
  const tree = spanTree(spans, options.isShown);
  return { ...tree, rows: treeRows(tree, options) };
}

export function spanTree<Span extends TimelineSpan>(spans: readonly Span[], isShown: (span: Span) => boolean = () => true): SpanTree<Span> {
  const shown = spans.filter(isShown);
  const roots = treeOf(spans, shown);
  const nodes = countBelow(roots);
  const own = nodes.filter(({ span }) => span.of_run);
  const [fromMicros, toMicros] = scaleOf(own.length > 0 ? own : nodes, roots[0]?.start ?? 0);
  return { roots, fromMicros, toMicros, hidden: spans.length - shown.length };
}

/** Roots in the order of their spans, children by start. */
function treeOf<Span extends TimelineSpan>(spans: readonly Span[], shown: readonly Span[]): readonly Node<Span>[] {
  const all = new Map<string, Span>();
  for (const span of spans) if (!all.has(keyOf(span))) all.set(keyOf(span), span);
  const nodes = new Map<string, Node<Span>>();
  for (const span of shown) {
    const key = keyOf(span);
    if (nodes.has(key)) continue;
    const [start, end] = [numberOr(microsOf(span.started_at), 0), numberOr(microsOf(span.ended_at), 0)];
    nodes.set(key, {
      span,
      key,
      start,
      end: Math.max(start, end),
      children: [],
      note: end < start ? 'ends_before_start' : undefined,
      below: 0,
    });
  }
  const roots: Node<Span>[] = [];
  for (const node of nodes.values()) {
    const parent = shownParent(node.span, all, nodes);
    if (typeof parent === 'object') parent.children.push(node);
    else {
      if (parent === 'parent_missing') node.note ??= parent;
      roots.push(node);
    }
  }
  const reached = reachedFrom(roots);
  for (const node of nodes.values()) {
    if (reached.has(node)) continue;
    // All spans that no root reaches hang on a circle: its first span becomes a root.
    const parent = shownParent(node.span, all, nodes);
    if (typeof parent === 'object') parent.children.splice(parent.children.indexOf(node), 1);
    node.note = 'parent_loop';
    roots.push(node);
    reachedFrom([node], reached);
  }
  for (const { children } of nodes.values()) children.sort((one, other) => one.start - other.start);
  return roots;
}

/** The nearest ancestor with a row; `undefined` at the top. */
function shownParent<Span extends TimelineSpan>(
  span: Span,
  all: ReadonlyMap<string, Span>,
  nodes: ReadonlyMap<string, Node<Span>>,
): Node<Span> | 'parent_missing' | undefined {
  const passed = new Set<string>([keyOf(span)]);
  for (let at: Span = span; ;) {
    if (at.parent_span_id === null) return undefined;
    const key = keyOf({ trace_id: at.trace_id, span_id: at.parent_span_id });
    const node = nodes.get(key);
    if (node !== undefined) return node.span === span ? undefined : node;
    const next = all.get(key);
    if (next === undefined) return 'parent_missing';
    if (passed.has(key)) return undefined;
    passed.add(key);
    at = next;
  }
}

function reachedFrom<Span extends TimelineSpan>(roots: readonly Node<Span>[], reached = new Set<Node<Span>>()): Set<Node<Span>> {
  const next = [...roots];
  for (let node = next.pop(); node !== undefined; node = next.pop()) {
    if (reached.has(node)) continue;
    reached.add(node);
    next.push(...node.children);
  }
  return reached;
}

/** Gives all nodes, parents before their children. */
function countBelow<Span extends TimelineSpan>(roots: readonly Node<Span>[]): readonly Node<Span>[] {
  const inOrder: Node<Span>[] = [];
  const next = [...roots];
  for (let node = next.pop(); node !== undefined; node = next.pop()) {
    inOrder.push(node);
    next.push(...node.children);
  }
  for (const node of inOrder.toReversed()) node.below = node.children.reduce((sum, { below }) => sum + below + 1, 0);
  return inOrder;
}

/** The root of few spans gives the time of the run, and the middle one of many. */
function scaleOf<Span extends TimelineSpan>(nodes: readonly Node<Span>[], rootStart: number): readonly [from: number, to: number] {
  const starts = nodes.map(({ start }) => start).filter((at) => at > 0);
  const middle = starts.length < 3 ? rootStart : (starts.toSorted((one, other) => one - other)[Math.floor((starts.length - 1) / 2)] ?? 0);
  let [from, to] = [Infinity, -Infinity];
  for (const { start, end } of nodes) {
    for (const at of [start, end]) {
      if (Math.abs(at - middle) > farMicros) continue;
      from = Math.min(from, at);
      to = Math.max(to, at);
    }
  }
  return from === Infinity ? [0, 0] : [from, to];
}

interface Listing<Span extends TimelineSpan> extends WaterfallOptions<Span> {
  readonly fromMicros: number;
  readonly toMicros: number;
}

interface Pending<Span extends TimelineSpan> {
  readonly node: Node<Span>;
  readonly depth: number;
  readonly parallel: number;
  /** True below an agent. */
  readonly inAgent: boolean;
  readonly group?: readonly Node<Span>[];
}

export function treeRows<Span extends TimelineSpan>(
  { roots, fromMicros, toMicros }: SpanTree<Span>,
  options: Omit<WaterfallOptions<Span>, 'isShown'> = {},
): readonly WaterfallRow<Span>[] {
  const listing: Listing<Span> = { ...options, fromMicros, toMicros };
  const rows: WaterfallRow<Span>[] = [];
  const next: Pending<Span>[] = pendingOf(roots, { depth: 0, inAgent: false }, listing).toReversed();
  for (let one = next.pop(); one !== undefined; one = next.pop()) {
    const { node, depth, inAgent, group } = one;
    rows.push(rowOf(one, listing));
    if (group !== undefined || listing.closed?.has(node.key) === true) continue;
    const children = pendingOf(node.children, { depth: depth + 1, inAgent: inAgent || node.span.role === 'agent' }, listing);
    for (let at = children.length - 1; at >= 0; at--) next.push(children[at] as Pending<Span>);
  }
  return rows;
}

/** Siblings as rows: equal calls that follow one another become one. */
function pendingOf<Span extends TimelineSpan>(
  siblings: readonly Node<Span>[],
  { depth, inAgent }: Pick<Pending<Span>, 'depth' | 'inAgent'>,
  { groupFrom = groupFromDefault, openGroups, apart }: Listing<Span>,
): Pending<Span>[] {
  const parallel = parallelOf(siblings);
  const pending: Pending<Span>[] = [];
  for (let at = 0; at < siblings.length;) {
    const node = siblings[at] as Node<Span>;
    let end = at + 1;
    if (node.span.span_id !== apart)
      while (end < siblings.length && siblings[end]?.span.span_id !== apart && isSameCall(node, siblings[end] as Node<Span>)) end++;
    const members = siblings.slice(at, end);
    const isGroup = members.length >= groupFrom && openGroups?.has(groupKey(node)) !== true;
    for (const one of isGroup ? [node] : members)
      pending.push({ node: one, depth, inAgent, parallel: parallel.get(one) ?? 1, ...(isGroup ? { group: members } : {}) });
    at += members.length;
  }
  return pending;
}

function isSameCall<Span extends TimelineSpan>(one: Node<Span>, other: Node<Span>): boolean {
  return (
    one.children.length === 0 &&
    other.children.length === 0 &&
    one.span.role === other.span.role &&
    one.span.name === other.span.name &&
    one.span.tool === other.span.tool &&
    (one.span.status === 'error') === (other.span.status === 'error')
  );
}

export function groupKey({ key }: { readonly key: string }): string {
  return `group ${key}`;
}

/** How many of its siblings each overlaps in time, by chains of overlapping ones. */
function parallelOf<Span extends TimelineSpan>(siblings: readonly Node<Span>[]): ReadonlyMap<Node<Span>, number> {
  const found = new Map<Node<Span>, number>();
  const byStart = siblings.toSorted((one, other) => one.start - other.start);
  for (let at = 0; at < byStart.length;) {
    let [end, until] = [at + 1, byStart[at]?.end ?? 0];
    for (; end < byStart.length && (byStart[end]?.start ?? 0) < until; end++) until = Math.max(until, byStart[end]?.end ?? 0);
    for (let one = at; one < end; one++) found.set(byStart[one] as Node<Span>, end - at);
    at = end;
  }
  return found;
}

function rowOf<Span extends TimelineSpan>(
  { node, depth, parallel, inAgent, group }: Pending<Span>,
  { fromMicros, toMicros, closed }: Listing<Span>,
): WaterfallRow<Span> {
  const end = group?.reduce((last, one) => Math.max(last, one.end), node.end) ?? node.end;
  const length = toMicros - fromMicros;
  const placed = (at: number): number => (length === 0 ? 0 : Math.min(1, Math.max(0, (at - fromMicros) / length)));
  const isOutside = node.start < fromMicros || end > toMicros;
  return {
    key: group === undefined ? node.key : groupKey(node),
    span: node.span,
    depth,
    left: placed(node.start),
    width: length === 0 ? 1 : placed(end) - placed(node.start),
    startMicros: node.start,
    tookMicros: end - node.start,
    below: node.below,
    isOpen: group === undefined && node.children.length > 0 && closed?.has(node.key) !== true,
    parallel: group === undefined ? parallel : 1,
    isSubAgent: inAgent && node.span.role === 'agent',
    ...(group === undefined ? {} : { grouped: group.length }),
    note: node.note ?? (isOutside ? 'outside_scale' : undefined),
  };
}

function numberOr(value: number, other: number): number {
  return Number.isFinite(value) ? value : other;
}

/** Spans that say something about the run: agents, requests to models, calls of tools, retrievals, and every error. */
export function isEssential({ role, status }: TimelineSpan): boolean {
  return status === 'error' || (role !== null && role !== 'step' && role !== 'noise');
}
