/** Where agents begin and end in a trace: which span is whose, who works under whom. */
import type { SubAgent } from '../../model/agent-trace.ts';
import type { SpanId, TraceId } from '../../model/ids.ts';
import { lettersOf } from './event-spans.ts';
import { chainsOf, placed, wholeOf, type Chain, type Whole } from './fragment-chains.ts';
import { fragmentOf, type Fragment } from './fragments.ts';
import { impliedAgents, isStep } from './implied-agents.ts';
import { modelSpans } from './model-calls.ts';
import { givenAgentName, ownName } from './span-facts.ts';
import { below, byStart, type Node, type Tree } from './span-tree.ts';
import { promptOf, takeovers, targetOf } from './takeovers.ts';

/** One agent at work, with the spans that are its own: below its span, and not below another agent's. */
export interface AgentScope {
  /** The span that identifies the run. Absent only while a local root has not arrived. */
  readonly node: Node | undefined;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** Enclosing spans that only wrap this agent (workflow, crew, outer frame); outermost last. They lend it input and output. */
  readonly frames: readonly Node[];
  readonly own: readonly Node[];
  readonly subAgents: readonly AgentScope[];
  /** How the work came to it; absent for an agent that works for no other. */
  readonly via?: SubAgent['via'];
  readonly viaToolNode?: Node;
  /** No span says that an agent is at work: the local root stands in. */
  readonly implicit: boolean;
  /** The name of an agent that has no span of its own: a step's, or that of the span which stands for it. */
  readonly impliedName?: string;
  /** Its requests and tools have nothing around them: other traces may hold parts of it. */
  readonly fragment?: Fragment;
}

interface Draft {
  node: Node | undefined;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  frames: Node[];
  own: Node[];
  subAgents: Draft[];
  via?: SubAgent['via'];
  viaToolNode?: Node;
  implicit: boolean;
  impliedName?: string;
  fragment?: Fragment;
}

/** Agents nested deeper than this are read as steps of the one above: nothing real nests so deep, and a hostile trace must not exhaust the stack. */
export const agentDepthMax = 64;

/** All agents of a trace that work for no other agent, their sub-agents below them, in order of start time. */
export function agentScopes(tree: Tree): readonly AgentScope[] {
  const orphans = new Map<SpanId, Node[]>();
  const found: Draft[] = [];
  const strays: Draft[] = [];
  /** Requests and calls with no span around them. */
  const bare: Node[] = [];
  const marks = marksOf(tree);
  const top = topAgent(tree, marks);
  for (const root of tree.roots) {
    if (root === top) continue;
    const agents = scopesIn(root, marks);
    for (const agent of agents) (top === undefined || agent.implicit ? found : strays).push(agent);
    if (agents.length > 0 || !marks.working.has(root)) continue;
    const missing = root.awaits?.spanId;
    const siblings = missing === undefined ? undefined : orphans.get(missing);
    if (isWhole(root)) found.push(implicitScope(root, marks));
    else if (missing === undefined) bare.push(root);
    else if (siblings === undefined) orphans.set(missing, [root]);
    else siblings.push(root);
  }
  if (top !== undefined) found.push(agentScope(top, marks, strays));
  const runs = gathered(found, chainsOf(bare));
  // Spans whose common parent has not arrived belong together; the run will hang on that parent.
  for (const [spanId, roots] of orphans) runs.push(orphanScope(spanId, roots));
  for (const run of runs) addTakeovers(run);
  return runs.sort(byScopeStart);
}

/** Divides what lies below one span among the agents that take over from one another there. */
function addTakeovers(agent: Draft): void {
  for (const sub of agent.subAgents) addTakeovers(sub);
  if (agent.subAgents.length > 0) nameByHandover(agent);
  const found = takeovers(agent.own);
  if (found.length === 0) return;
  const others = new Set(found.flatMap(({ own }) => own));
  agent.own = agent.own.filter((node) => !others.has(node));
  for (const { via, name, node, own } of found) {
    const known = name === undefined ? undefined : agent.subAgents.find((sub) => isSameName(nameOf(sub), name));
    if (known !== undefined) {
      // A span that tells a whole conversation tells that of others too; the requests tell the agent's own.
      if (known.node !== undefined && isIdle(known)) known.node = withoutMessages(known.node);
      known.own = [...known.own, ...own];
      continue;
    }
    agent.subAgents.push({
      node,
      traceId: node.span.traceId,
      spanId: node.span.spanId,
      frames: [],
      own: [...own],
      subAgents: [],
      via,
      implicit: true,
      ...(name === undefined ? {} : { impliedName: name }),
    });
  }
}

function withoutMessages(node: Node): Node {
  const { inputMessages: _input, outputMessages: _output, ...facts } = node.reading.facts;
  return { ...node, reading: { ...node.reading, facts } };
}

function nameOf(agent: Draft | undefined): string | undefined {
  return agent?.impliedName ?? (agent?.node === undefined ? undefined : givenAgentName(agent.node.reading.facts));
}

/** Calls may tell an id that is made of the name. */
function isSameName(name: string | undefined, other: string): boolean {
  return name !== undefined && lettersOf(name) === lettersOf(other);
}

/**
 * Where a call hands over to an agent at whose span nothing works, the agent that works after it under other instructions is that one: graphs
 * name a node's span after the function that it runs.
 */
function nameByHandover(agent: Draft): void {
  for (const node of agent.own) {
    const { role, tool } = node.reading.facts;
    const target = role === 'tool' && tool !== undefined ? targetOf(tool) : undefined;
    const known = target === undefined ? [] : [agent, ...agent.subAgents].filter((one) => isSameName(nameOf(one), target));
    if (target === undefined || known.some((one) => one === agent || !isIdle(one))) continue;
    const next = agent.subAgents
      .filter((sub) => sub.node !== undefined && !isIdle(sub) && sub.node.span.startUnixNano >= node.span.startUnixNano)
      .sort(byScopeStart)[0];
    if (next === undefined || !isOtherwiseInstructed(agent, next)) continue;
    next.impliedName = nameOf(known[0]) ?? target;
    next.own = [...next.own, ...known.flatMap((one) => [...(one.node === undefined ? [] : [one.node]), ...one.own])];
    agent.subAgents = agent.subAgents.filter((sub) => !known.includes(sub));
  }
}

function isIdle({ own, subAgents }: Draft): boolean {
  return subAgents.length === 0 && !own.some(isWork);
}

function isOtherwiseInstructed(agent: Draft, sub: Draft): boolean {
  const [own, other] = [agent, sub].map((one) => modelSpans(one.own).map(promptOf)[0]);
  return own !== undefined && other !== undefined && own !== other;
}

/** A trace has one root. When that is an agent, all agents whose parent has not arrived work below it. */
function topAgent(tree: Tree, marks: Marks): Node | undefined {
  const [only, ...more] = tree.roots.filter((root) => root.awaits === undefined);
  return only !== undefined && more.length === 0 && marks.agents.has(only) ? only : undefined;
}

/** A subtree whose root is neither a model nor a tool span: it can stand for an agent by itself. */
function isWhole(root: Node): boolean {
  return !isWork(root);
}

/** What the search needs to know of spans, found out once for the whole trace. */
interface Marks {
  readonly agents: ReadonlySet<Node>;
  /** Those among them that have no span of their own, with their names. */
  readonly implied: ReadonlyMap<Node, string | undefined>;
  /** Spans that do work, and all spans above them. */
  readonly working: ReadonlySet<Node>;
  /** The nearest tool span above a span, below its agent. */
  readonly toolAbove: ReadonlyMap<Node, Node>;
}

function marksOf(tree: Tree): Marks {
  const agents = new Set<Node>();
  const working = new Set<Node>();
  const toolAbove = new Map<Node, Node>();
  const depths = new Map<Node, number>();
  const steps: Node[] = [];
  for (const root of tree.roots) {
    for (const node of [root, ...below(root)]) {
      const above = node.parent === undefined ? 0 : (depths.get(node.parent) ?? 0);
      const counts = isAgents(node) && above < agentDepthMax && !isStage(node, agents);
      if (counts) agents.add(node);
      if (!counts && isStep(node) && (node.reading.facts.agentName ?? node.parent?.reading.facts.role) !== undefined) steps.push(node);
      // Asked only for what lies below.
      if (node.children.length > 0) depths.set(node, counts ? above + 1 : above);
      if (isWork(node)) for (let at: Node | undefined = node; at !== undefined && !working.has(at); at = at.parent) working.add(at);
      if (node.parent === undefined || agents.has(node.parent)) continue;
      const tool = node.parent.reading.facts.role === 'tool' ? node.parent : toolAbove.get(node.parent);
      if (tool !== undefined) toolAbove.set(node, tool);
    }
  }
  const implied = steps.length === 0 ? noneImplied : impliedAgents(steps, { agents, working });
  for (const node of implied.keys()) agents.add(node);
  for (const node of hollowAmong({ agents, working, implied }, steps)) agents.delete(node);
  return { agents, implied, working, toolAbove };
}

const noneImplied: ReadonlyMap<Node, string | undefined> = new Map();

function isAgents({ reading: { facts } }: Node): boolean {
  return facts.role === 'agent' || facts.role === 'workflow';
}

/** A graph or a chain without a name, inside an agent that has one, is a stage of its work. */
function isStage(node: Node, agents: ReadonlySet<Node>): boolean {
  if (node.reading.facts.role !== 'workflow' || givenAgentName(node.reading.facts) !== undefined) return false;
  let at = node.parent;
  for (let depth = 0; at !== undefined && depth < agentDepthMax; depth++) {
    if (agents.has(at)) return at.reading.facts.role === 'agent' && givenAgentName(at.reading.facts) !== undefined;
    if (at.reading.facts.role === 'tool') return false;
    at = at.parent;
  }
  return false;
}

/**
 * Agents inside others in which nothing works: stages that frameworks call agents, and spans that only tell the name of an agent whose work
 * stands in other spans. `steps` are spans without a role.
 */
function hollowAmong({ agents, working, implied }: Omit<Marks, 'toolAbove'>, steps: readonly Node[]): readonly Node[] {
  const idle = agents.size < 2 ? [] : [...agents].filter((node) => !working.has(node) && node.parent !== undefined);
  if (idle.length === 0) return [];
  const atWork = new Set<string | undefined>();
  for (const node of [...agents, ...steps]) if (working.has(node)) atWork.add(implied.get(node) ?? givenAgentName(node.reading.facts));
  return idle.filter((node) => {
    const name = givenAgentName(node.reading.facts);
    return isInside(node, agents) && (name === undefined || (atWork.has(name) && isSilent(node)) || isSameRun(node, agents));
  });
}

/** A workflow that nobody named, and in it a span with its answer, beside which the work stands: that names the agent of the workflow. */
function isSameRun({ parent, reading: { facts } }: Node, agents: ReadonlySet<Node>): boolean {
  const around = parent !== undefined && agents.has(parent) ? parent.reading.facts : undefined;
  return (
    around?.role === 'workflow' &&
    givenAgentName(around) === undefined &&
    typeof facts.output === 'string' &&
    facts.output === around.output
  );
}

function isInside({ parent }: Node, agents: ReadonlySet<Node>): boolean {
  let at = parent;
  for (let depth = 0; at !== undefined && depth < agentDepthMax; depth++) {
    if (agents.has(at)) return true;
    at = at.parent;
  }
  return false;
}

function isSilent({ reading: { facts } }: Node): boolean {
  return (facts.input ?? facts.output ?? facts.inputMessages ?? facts.outputMessages) === undefined;
}

function isWork(node: Node): boolean {
  const role = node.reading.facts.role;
  return role === 'model' || role === 'tool' || role === 'retriever';
}

/** The agents in a subtree that has any; a subtree with work but without agents gives none. */
function scopesIn(root: Node, marks: Marks): Draft[] {
  if (marks.agents.has(root)) return [agentScope(root, marks)];
  const outermost = outermostAgents(root, marks.agents);
  if (outermost.length === 0) return [];
  const scopes = outermost.map((node) => agentScope(node, marks));
  const own = ownNodes(root, marks.agents);
  const frames =
    root.reading.facts.input !== undefined ||
    root.reading.facts.output !== undefined ||
    (scopes.length > 1 &&
      (own.some((node) => node.reading.facts.followsLinks === true) ||
        outermost.some((node) => marks.implied.has(node)) ||
        handsOver(scopes)));
  return frames || own.some(isWork) ? [frameOrAgent(root, own, scopes, marks)] : scopes;
}

/** One of the agents names another as the one that takes over: together they are one run. */
function handsOver(scopes: readonly Draft[]): boolean {
  const names = new Set(scopes.flatMap(({ node }) => (node === undefined ? [] : (givenAgentName(node.reading.facts) ?? []))));
  return scopes.some(({ node, own }) =>
    own.some(({ reading: { facts } }) => {
      const target = facts.handoffTo;
      return target !== undefined && names.has(target) && target !== node?.reading.facts.agentName;
    }),
  );
}

function agentScope(node: Node, marks: Marks, strays: readonly Draft[] = []): Draft {
  const inner = outermostAgents(node, marks.agents).map((one) => agentScope(one, marks));
  return frameOrAgent(node, ownNodes(node, marks.agents), [...inner, ...strays], marks);
}

/** The agents below a span that have no other agent between them and it. */
function outermostAgents(node: Node, agents: ReadonlySet<Node>): Node[] {
  if (agents.size === 0 || (agents.size === 1 && agents.has(node))) return [];
  return below(node, (child) => child.parent === node || child.parent === undefined || !agents.has(child.parent)).filter((child) =>
    agents.has(child),
  );
}

/** Nodes below that no inner agent claims. */
function ownNodes(node: Node, agents: ReadonlySet<Node>): Node[] {
  return below(node, (child) => !agents.has(child));
}

/** A span around agents that does no work of its own and has no name of its own is their frame, not another agent. */
function frameOrAgent(node: Node, all: Node[], inner: Draft[], marks: Marks): Draft {
  const own = inner.some((one) => one.impliedName !== undefined) ? withoutAskedFor(all, inner) : all;
  const first = inner.sort(byScopeStart)[0];
  const facts = node.reading.facts;
  const named = marks.implied.has(node) || (facts.role === 'agent' && givenAgentName(facts) !== undefined);
  const sameName = first?.node?.reading.facts.agentName !== undefined && first.node.reading.facts.agentName === facts.agentName;
  if (first === undefined || own.some(isWork) || (named && !sameName)) {
    const impliedName = marks.implied.get(node) ?? (marks.implied.has(node) ? ownName(node.span) : undefined);
    for (const sub of inner) passOn(sub, node, marks);
    return {
      node,
      traceId: node.span.traceId,
      spanId: node.span.spanId,
      frames: [],
      own,
      subAgents: inner,
      implicit: !marks.agents.has(node),
      ...(impliedName === undefined ? {} : { impliedName }),
    };
  }
  first.frames.push(node);
  first.own = [...first.own, ...own];
  for (const other of inner.slice(1)) {
    const before =
      other.impliedName === undefined ? undefined : [first, ...first.subAgents].find((one) => one.impliedName === other.impliedName);
    if (before !== undefined) goOn(before, other);
    else {
      other.via = 'handoff';
      first.subAgents.push(other);
    }
  }
  return first;
}

/** Steps of a workflow run the tools beside the steps of its agents: a call is that of the agent whose model asked for it, by its id. */
function withoutAskedFor(all: readonly Node[], inner: readonly Draft[]): Node[] {
  const asking = new Map<string, Draft>();
  for (const agent of inner)
    for (const { reading } of agent.own)
      for (const message of reading.facts.outputMessages ?? [])
        for (const { id } of message.asked) if (id !== undefined) asking.set(id, agent);
  return all.filter((node) => {
    const { role, tool } = node.reading.facts;
    const agent = role === 'tool' && tool?.id !== undefined ? asking.get(tool.id) : undefined;
    if (agent !== undefined) agent.own = [...agent.own, node];
    return agent === undefined;
  });
}

/** A graph that comes back to an agent goes on with it: each visit is a step of its own. */
function goOn(agent: Draft, visit: Draft): void {
  agent.own = [...agent.own, ...(visit.node === undefined ? [] : [visit.node]), ...visit.own];
  agent.subAgents.push(...visit.subAgents);
}

/** How a sub-agent came to work: called as a tool, or simply nested. */
function passOn(sub: Draft, under: Node, { toolAbove }: Marks): void {
  const outer = sub.frames.at(-1) ?? sub.node;
  const tool = outer === undefined ? undefined : toolAbove.get(outer);
  sub.via = tool === undefined || tool === under ? 'child_span' : 'tool';
  if (tool !== undefined && tool !== under) sub.viaToolNode = tool;
}

/** Puts requests and tools that have nothing around them into the agents that tell the same conversation; the others are runs by themselves. */
function gathered(agents: readonly Draft[], chains: readonly Chain[]): Draft[] {
  const wholes = new Map<Whole, Draft>();
  for (const agent of agents) {
    const whole =
      agent.node === undefined || agent.implicit || agent.subAgents.length > 0 || agent.own.some(isWork) ? undefined : wholeOf(agent.node);
    if (whole !== undefined) wholes.set(whole, agent);
  }
  if (wholes.size === 0 && chains.length === 0) return [...agents];
  const { within, alone } = placed(chains, [...wholes.keys()]);
  for (const [whole, agent] of wholes) {
    const parts = (within.get(whole) ?? []).flatMap(({ pieces }) => pieces);
    agent.own = [...agent.own, ...parts.flatMap(({ own }) => own)];
    agent.fragment = fragmentOf([whole.ties, ...parts.map(({ ties }) => ties)], true);
  }
  return [...agents, ...alone.flatMap(bareScope)];
}

/** An agent whose SDK puts no span around its requests: the first of them stands in. */
function bareScope({ pieces }: Chain): Draft[] {
  const node = pieces[0]?.roots[0];
  if (node === undefined) return [];
  const own = pieces.flatMap((piece) => piece.own);
  return [
    {
      node,
      traceId: node.span.traceId,
      spanId: node.span.spanId,
      frames: [],
      own,
      subAgents: [],
      implicit: true,
      fragment: fragmentOf(
        pieces.map(({ ties }) => ties),
        false,
      ),
    },
  ];
}

function implicitScope(root: Node, marks: Marks): Draft {
  const node = innermostWhole(root, marks);
  // A model or tool span that stands alone is its own run: there is nothing else to hang it on.
  const own = isWork(node) ? [node, ...below(node)] : below(node);
  return { node, traceId: node.span.traceId, spanId: node.span.spanId, frames: [], own, subAgents: [], implicit: true };
}

/** Server, client and message spans around the work are not the agent: the span inside them is, if there is just one. */
function innermostWhole(root: Node, { working }: Marks): Node {
  let at = root;
  for (;;) {
    const inside = at.children.filter((child) => working.has(child));
    const only = inside[0];
    if (at.reading.dialects.length > 0 || at.span.kind < 2 || inside.length !== 1 || only === undefined || isWork(only)) return at;
    at = only;
  }
}

function orphanScope(spanId: SpanId, roots: readonly Node[]): Draft {
  const own = roots.flatMap((root) => [root, ...below(root)]);
  const traceId = roots[0]?.span.traceId;
  if (traceId === undefined) throw new Error('an orphan scope has at least one span');
  return { node: undefined, traceId, spanId, frames: [], own, subAgents: [], implicit: true };
}

function byScopeStart(a: Draft, b: Draft): number {
  const left = a.node ?? a.own[0];
  const right = b.node ?? b.own[0];
  return left === undefined || right === undefined ? 0 : byStart(left, right);
}
