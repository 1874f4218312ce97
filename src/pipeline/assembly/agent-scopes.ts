/** The scopes of agents in a trace: which spans belong to which agent, and which agent works for which. */
import type { SpanFacts } from '../../../collectors/collector.ts';
import { isAgentNode } from '../../../collectors/parsing/graph-agent.ts';
import type { SubAgent } from '../../model/agent-trace.ts';
import type { SpanId, TraceId } from '../../model/ids.ts';
import { lettersOf } from './event-spans.ts';
import { delegations } from './delegated-chains.ts';
import { chainsOf, placed, wholeOf, type Chain, type Whole } from './fragment-chains.ts';
import { fragmentOf, type Fragment } from './fragments.ts';
import { impliedAgents, isStep } from './implied-agents.ts';
import { modelSpans, requestsCalls } from './model-calls.ts';
import { canonical, messagesAfterUser } from './requested-calls.ts';
import { givenAgentName, ownName } from './span-facts.ts';
import { below, byStart, type Node, type Tree } from './span-tree.ts';
import { withoutAdopted } from './orphans.ts';
import { agentDepthMax, isStage } from './stages.ts';
import { promptOf, takeovers, targetOf } from './takeovers.ts';

/** One agent with its own spans: those below its span and not below another agent's. */
export interface AgentScope {
  /** The span that identifies the run; `undefined` while a local root has not arrived. */
  readonly node: Node | undefined;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** Spans that only wrap this agent (workflow, crew, outer frame), outermost last. Their input and output count as the agent's. */
  readonly frames: readonly Node[];
  readonly own: readonly Node[];
  readonly subAgents: readonly AgentScope[];
  /** The way the agent got its work; `undefined` when it does not work for another agent. */
  readonly via?: SubAgent['via'];
  readonly viaToolNode?: Node;
  /** Name of the tool, where only the request of the call names it. */
  readonly viaToolName?: string;
  /** True when no span names an agent, so the local root represents it. */
  readonly implicit: boolean;
  /** Name of an agent without a span: from a step, or from the span that represents it. */
  readonly impliedName?: string;
  /** Present when no span encloses its requests and tools, so other traces may hold parts of it. */
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
  viaToolName?: string;
  implicit: boolean;
  impliedName?: string;
  fragment?: Fragment;
}

/** The agents of a trace that work for no other agent, with their sub-agents, by start time. */
export function agentScopes(tree: Tree): readonly AgentScope[] {
  const orphans = new Map<SpanId, Node[]>();
  const found: Draft[] = [];
  /** Steps with work below them whose parent is missing. */
  const apart = new Map<Node, readonly Node[]>();
  const strays: Draft[] = [];
  /** Requests and calls without an enclosing span. */
  const bare: Node[] = [];
  const marks = marksOf(tree);
  const top = topAgent(tree, marks);
  for (const root of tree.roots) {
    if (root === top) continue;
    if (isPart(root, marks)) {
      bare.push(root);
      continue;
    }
    const agents = scopesIn(root, marks);
    for (const agent of agents) (top === undefined || agent.implicit ? found : strays).push(agent);
    if (agents.length > 0 || !marks.working.has(root)) continue;
    const missing = root.awaits?.spanId;
    const siblings = missing === undefined ? undefined : orphans.get(missing);
    if (isWhole(root)) {
      if (missing === undefined) found.push(implicitScope(root, marks));
      else apart.set(root, [root]);
    } else if (missing === undefined) bare.push(root);
    else if (siblings === undefined) orphans.set(missing, [root]);
    else siblings.push(root);
  }
  if (top !== undefined) found.push(agentScope(top, marks, strays));
  const homeless = new Set(withoutAdopted([...orphans.values(), ...apart.values()], found));
  const runs = gathered(found, chainsOf(bare));
  // Spans with the same missing parent belong together; that parent will identify the run.
  for (const [spanId, roots] of orphans) if (homeless.has(roots)) runs.push(orphanScope(spanId, roots));
  for (const [root, roots] of apart) if (homeless.has(roots)) runs.push(implicitScope(root, marks));
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
      // A span that holds a whole conversation also holds the messages of other agents; the requests hold only the agent's.
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

/** The id of a call may be made of the name. */
function isSameName(name: string | undefined, other: string): boolean {
  return name !== undefined && lettersOf(name) === lettersOf(other);
}

/**
 * Where a call hands over to an agent at whose span nothing works, the agent that works after it under other instructions is that one:
 * graphs name a node's span after the function that it runs.
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

/** When the only root of a trace is an agent, all agents with a missing parent work below it. */
function topAgent(tree: Tree, marks: Marks): Node | undefined {
  const [only, ...more] = tree.roots.filter((root) => root.awaits === undefined);
  return only !== undefined && more.length === 0 && marks.agents.has(only) ? only : undefined;
}

/** True when the root is neither a model nor a tool span, so that the subtree can represent an agent. */
function isWhole(root: Node): boolean {
  return !isWork(root);
}

/**
 * True when a framework's step, without an agent span, holds requests of a run that continues in other traces: the first has results of calls that an
 * earlier request asked for, or the last asks for calls that nothing in the trace runs.
 */
function isPart(root: Node, { agents, implied, working }: Marks): boolean {
  if (root.awaits !== undefined || root.reading.facts.role !== 'step' || !working.has(root)) return false;
  const inside = [root, ...below(root)];
  if (inside.some((node) => (agents.has(node) && !implied.has(node)) || node.reading.facts.role === 'tool')) return false;
  const models = modelSpans(inside);
  const isGoingOn = messagesAfterUser(models[0]?.reading.facts.inputMessages ?? []).some(({ results }) => results.length > 0);
  const last = models.at(-1);
  return isGoingOn || (last !== undefined && requestsCalls(last));
}

/** Properties of the spans, computed once per trace. */
interface Marks {
  readonly agents: ReadonlySet<Node>;
  /** Agents without a span, with their names. */
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
      // Only descendants read the depth.
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

/**
 * Inner agents without work: stages that frameworks call agents, and spans that only name an agent whose work is in other spans. `steps`
 * are spans without a role.
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

/** True when the span has the same answer as the workflow without a given name around it: that span names the agent of the workflow. */
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

/** The agents of a subtree; none when it has work but no agents. */
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

/** True when one of the agents names another as its successor, so that they form one run. */
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

/** The agents below a span without another agent in between. */
function outermostAgents(node: Node, agents: ReadonlySet<Node>): Node[] {
  if (agents.size === 0 || (agents.size === 1 && agents.has(node))) return [];
  return below(node, (child) => child.parent === node || child.parent === undefined || !agents.has(child.parent)).filter((child) =>
    agents.has(child),
  );
}

/** The nodes below a span that belong to no inner agent. */
function ownNodes(node: Node, agents: ReadonlySet<Node>): Node[] {
  return below(node, (child) => !agents.has(child));
}

/** A span around agents without work or a name is their frame; any other span is an agent. */
function frameOrAgent(node: Node, all: Node[], inner: Draft[], marks: Marks): Draft {
  const own = inner.some((one) => one.impliedName !== undefined) ? withoutRequestedTools(all, inner) : all;
  const first = inner.sort(byScopeStart)[0];
  const facts = node.reading.facts;
  const named = marks.implied.has(node) || (facts.role === 'agent' && givenAgentName(facts) !== undefined);
  const sameName = first?.node?.reading.facts.agentName !== undefined && first.node.reading.facts.agentName === facts.agentName;
  const isAround = first !== undefined && asksForItsAgents(node, own, inner);
  if (
    first === undefined ||
    (own.some(isWork) && !isAround) ||
    (named && !sameName && !isWrapper(node, inner, marks) && !isOfOtherTracer(node, inner))
  ) {
    const impliedName = marks.implied.get(node) ?? (marks.implied.has(node) ? stepName(node, marks) : undefined);
    for (const sub of inner) setVia(sub, node, marks);
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
  const byName = new Map(inner.toReversed().map((agent) => [nameOf(agent), agent]));
  const homes = new Map<Node, Draft>();
  for (const one of own) {
    const { parent } = one;
    const name = givenAgentName(one.reading.facts);
    // Everything inside a request is a part of it.
    const around = parent?.reading.facts.role === 'model' ? homes.get(parent) : undefined;
    const home = around ?? (name === undefined ? undefined : byName.get(name)) ?? first;
    homes.set(one, home);
    home.own.push(one);
  }
  joinVisits(first, inner.slice(1));
  return first;
}

/** A workflow asks no model itself: beside agents that have only calls, the requests are theirs. */
function asksForItsAgents({ reading: { facts } }: Node, own: readonly Node[], inner: readonly Draft[]): boolean {
  return (
    facts.role === 'workflow' &&
    own.every((node) => !isWork(node) || node.reading.facts.role === 'model') &&
    inner.some((agent) => agent.own.some(isWork)) &&
    inner.every(
      ({ implicit, subAgents, own: work }) =>
        !implicit && subAgents.length === 0 && work.every((node) => node.reading.facts.role !== 'model'),
    )
  );
}

/** The name of the outermost step of an agent inside a tool that is neither the framework's nor that of a graph's node. */
function stepName(node: Node, { working }: Marks): string | undefined {
  let at = node;
  for (let depth = 0; depth < agentDepthMax; depth++) {
    const name = ownName(at.span);
    if (name !== undefined) return isAgentNode(name) ? undefined : name;
    const [only, ...others] = at.children.filter((child) => working.has(child));
    if (only === undefined || others.length > 0 || !isStep(only)) return undefined;
    at = only;
  }
  return undefined;
}

/**
 * The outermost agent that reports nothing, or only what the other reports, and only starts one other agent: a runner, named after the application.
 */
function isWrapper(node: Node, [only, ...others]: readonly Draft[], { agents, implied }: Marks): boolean {
  const { facts } = node.reading;
  return (
    only?.node !== undefined &&
    others.length === 0 &&
    only.own.some(isWork) &&
    givenAgentName(only.node.reading.facts) !== undefined &&
    !implied.has(node) &&
    (isSilent(node) || reportsTheSame(facts, only.node.reading.facts)) &&
    (facts.systemPrompt ?? facts.toolDefinitions ?? facts.handoffTo) === undefined &&
    !isInside(node, agents)
  );
}

function reportsTheSame(outer: SpanFacts, inner: SpanFacts): boolean {
  return (
    typeof outer.input === 'string' && outer.input === inner.input && typeof outer.output === 'string' && outer.output === inner.output
  );
}

/** Another instrumentation than that of the agents below wrote the span, and names the runner after the application. */
function isOfOtherTracer({ span, reading: { facts } }: Node, inner: readonly Draft[]): boolean {
  return (
    (facts.systemPrompt ?? facts.toolDefinitions ?? facts.handoffTo) === undefined &&
    inner.every((one) => {
      const outer = one.frames.at(-1) ?? one.node;
      return outer !== undefined && !one.implicit && outer.parent?.span === span && outer.span.scope.name !== span.scope.name;
    })
  );
}

/**
 * Workflow steps may run tools beside the steps of agents. Such a call belongs to the agent whose model requested its id, or, without one, a call
 * of this name with these arguments.
 */
function withoutRequestedTools(all: readonly Node[], inner: readonly Draft[]): Node[] {
  const requesters = new Map<string, Draft | undefined>();
  for (const agent of inner)
    for (const { reading } of agent.own)
      for (const message of reading.facts.outputMessages ?? [])
        for (const call of message.requested) {
          if (call.id !== undefined) requesters.set(call.id, agent);
          const key = `${call.name} ${canonical(call)}`;
          // A call that two agents request does not show whose it is.
          requesters.set(key, requesters.has(key) && requesters.get(key) !== agent ? undefined : agent);
        }
  return all.filter((node) => {
    const { role, tool } = node.reading.facts;
    const agent = role === 'tool' && tool !== undefined ? requesters.get(tool.id ?? `${tool.name} ${canonical(tool)}`) : undefined;
    if (agent !== undefined) agent.own = [...agent.own, node];
    return agent === undefined;
  });
}

/** A repeated visit of a graph, or a further turn, belongs to the agent of that name, as each has its span. Other agents took over. */
function joinVisits(first: Draft, others: readonly Draft[]): void {
  const byName = new Map<string, Draft>();
  const note = (agent: Draft): void => {
    const name = nameOf(agent);
    if (name !== undefined && !byName.has(name)) byName.set(name, agent);
  };
  for (const agent of [first, ...first.subAgents]) note(agent);
  const visits = new Map<Draft, Node[]>();
  for (const other of others) {
    const name = nameOf(other);
    const agent = name === undefined ? undefined : byName.get(name);
    if (agent === undefined) {
      other.via = 'handoff';
      first.subAgents.push(other);
      note(other);
      continue;
    }
    const nodes = visits.get(agent) ?? [];
    visits.set(agent, nodes);
    if (other.node !== undefined) nodes.push(other.node);
    for (const node of other.own) nodes.push(node);
    for (const sub of other.subAgents) {
      agent.subAgents.push(sub);
      if (agent === first) note(sub);
    }
  }
  for (const [agent, nodes] of visits) agent.own = [...agent.own, ...nodes];
}

/** Sets how a sub-agent got its work: as a tool, or as a nested span. */
function setVia(sub: Draft, under: Node, { toolAbove }: Marks): void {
  const outer = sub.frames.at(-1) ?? sub.node;
  const tool = outer === undefined ? undefined : toolAbove.get(outer);
  sub.via = tool === undefined || tool === under ? 'child_span' : 'tool';
  if (tool !== undefined && tool !== under) sub.viaToolNode = tool;
}

/** Assigns requests and tools without an enclosing span to agents with the same conversation; the others become runs. */
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
  return [...agents, ...bareScopes(alone)];
}

/** Chains become runs, or sub-agents of those whose call they carry out. */
function bareScopes(chains: readonly Chain[]): Draft[] {
  const given = delegations(chains);
  const scopes = new Map(chains.flatMap((chain) => bareScope(chain).map((scope) => [chain, scope] as const)));
  const runs: Draft[] = [];
  for (const [chain, scope] of scopes) {
    const delegation = given.get(chain);
    const above = delegation === undefined ? undefined : scopes.get(delegation.by);
    if (delegation === undefined || above === undefined) {
      runs.push(scope);
      continue;
    }
    scope.via = 'tool';
    scope.viaToolName = delegation.tool;
    above.subAgents.push(scope);
  }
  return runs;
}

/** An agent whose SDK encloses its requests in no span: its first request represents it. */
function bareScope({ pieces }: Chain): Draft[] {
  const node = pieces[0]?.roots[0];
  if (node === undefined) return [];
  const own = pieces.flatMap((piece) => piece.own);
  const impliedName = isWork(node) ? undefined : callerName(modelSpans(own)[0]);
  return [
    {
      node,
      ...(impliedName === undefined ? {} : { impliedName }),
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

/** The agent that the nearest step around a request names. */
function callerName(request: Node | undefined): string | undefined {
  let at = request;
  for (let depth = 0; at !== undefined && depth < agentDepthMax; depth++) {
    const name = givenAgentName(at.reading.facts);
    if (name !== undefined) return name;
    at = at.parent;
  }
  return undefined;
}

function implicitScope(root: Node, marks: Marks): Draft {
  const node = innermostWhole(root, marks);
  // A single model or tool span is a run by itself.
  const own = isWork(node) ? [node, ...below(node)] : below(node);
  return { node, traceId: node.span.traceId, spanId: node.span.spanId, frames: [], own, subAgents: [], implicit: true };
}

/** The innermost span around all work: server, client and message spans around it are not the agent. */
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
