/** Assembles the spans and log records of one trace into runs, with what each run waits for. Pure: the same spans give the same runs. */
import type { AgentTrace, RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { wire } from '../../model/attributes.ts';
import { endOf, textAttribute, reportedEnd, type LogRecord, type Span } from '../../model/span.ts';
import { agentName, agentTrace, type AgentSpans, keyPlace } from './agent-trace.ts';
import { agentScopes, type AgentScope } from './agent-scopes.ts';
import { traceResults, type TraceResults } from './requested-calls.ts';
import { spanReadingOf, type Reading } from './span-facts.ts';
import { withJoinedEvents } from './event-spans.ts';
import type { Fragment } from './fragments.ts';
import { withoutCounterparts } from './counterparts.ts';
import { modelSpans, withCallSpansInRequests, withoutNestedModels, withoutRepeatedRequests } from './model-calls.ts';
import { toolCalls } from './tool-calls.ts';
import { runSteps, type Steps } from '../../runtime/cooperative.ts';
import { spansPerStep, byStart, looseNode, tree, type Node } from './span-tree.ts';
import { firstId } from '../../../collectors/parsing/evidence-values.ts';
import { keyEvidenceOf } from '../../../collectors/parsing/key-evidence.ts';
import { leastSure, type EvidenceClass, type RunEvidence, type SpanEvidence } from '../../model/evidence.ts';
import type { Collector } from '../../../collectors/collector.ts';
import type { ReadLimit } from '../../../collectors/parsing/limits.ts';
import type { JsonValue } from '../../model/json.ts';
import { countBelow } from '../../model/nano-time.ts';

export interface Held {
  readonly span: Span;
  readonly arrivedMs: number;
}

/** A run as far as its spans have arrived. */
export interface Draft {
  readonly key: RunKey;
  /** The trace of the key's span. */
  readonly spanTraceId: TraceId;
  readonly parent: RunKey | undefined;
  readonly trace: AgentTrace;
  readonly dialects: readonly string[];
  readonly configuredDialect?: string;
  readonly evidence?: RunEvidence;
  /** Bounds that left a part of some span unread, each once. */
  readonly limits?: readonly ReadLimit[];
  /** The agent's span, else any span of the run. */
  readonly span: Span;
  readonly spans: readonly Span[];
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly lastArrivedMs: number;
  /** True when the agent's span, or the local root that represents it, has arrived. */
  readonly rootArrived: boolean;
  /** True when its parent has not arrived, so that it may work for another agent. */
  readonly parentMissing: boolean;
  /** Announced data that has not arrived; empty when nothing is missing. */
  readonly waitsFor: readonly ('parent_spans' | 'tool_results' | 'log_records' | 'earlier_requests')[];
  /** Present when no span encloses its requests and tools, so it may continue in other traces. */
  readonly fragment?: Fragment;
  /** Other turns of its session may complete its tool definitions. */
  readonly asksSession?: true;
}

interface AssembleInput extends Reading {
  readonly tenant: Tenant;
  /** In the order of arrival. */
  readonly held: readonly Held[];
}

/** All runs of a trace, agents before their sub-agents; empty without an agent, model or tool span. */
export function assemble(input: AssembleInput): readonly Draft[] {
  return runSteps(assembling(input));
}

/** As `assemble`, in steps. The caller must not change `held` meanwhile. */
export function* assembling(input: AssembleInput): Steps<readonly Draft[]> {
  const isLong = input.held.length > spansPerStep;
  const nodes: Node[] = [];
  while (nodes.length < input.held.length) {
    addNodes(input, nodes);
    if (isLong) yield;
  }
  const built = yield* tree([...withoutCounterparts(withoutRepeatedRequests(withCallSpansInRequests(withJoinedEvents(nodes))))]);
  if (isLong) yield;
  const context: Context = {
    tenant: input.tenant,
    readings: traceResults(built.nodes),
    waitsForParents: built.roots.filter(waitsForParent).map((root) => root.span.startUnixNano),
    records: input.records,
    collectors: input.collectors,
  };
  if (isLong) yield;
  const scopes = agentScopes(built);
  if (isLong) yield;
  const parts: DraftParts[] = [];
  for (const scope of scopes) addParts(scope, undefined, context, parts);
  if (isLong) yield;
  const found: Draft[] = [];
  let spans = 0;
  for (const one of parts) {
    if (spans >= spansPerStep) {
      yield;
      spans = 0;
    }
    spans += one.all.length;
    found.push(yield* draftOf(one));
  }
  return found;
}

/** Reads the spans of the next step. */
function addNodes(input: AssembleInput, nodes: Node[]): void {
  const until = Math.min(input.held.length, nodes.length + spansPerStep);
  while (nodes.length < until) {
    const { span, arrivedMs } = input.held[nodes.length] as Held;
    nodes.push(looseNode(span, arrivedMs, spanReadingOf(input, span), nodes.length));
  }
}

interface Context {
  readonly tenant: Tenant;
  readonly readings: TraceResults;
  /** Start times, sorted, of the spans whose parent has not arrived. */
  readonly waitsForParents: readonly bigint[];
  readonly records: ReadonlyMap<SpanId, readonly LogRecord[]>;
  readonly collectors: readonly Collector[];
}

/** Properties of a run that include its sub-agents. */
interface Family {
  lastArrivedMs: number;
  sessionId: string | undefined;
  userId: string | undefined;
  /** When the last request to a model, or the agent's span, ended. Other services may have other clocks. */
  endUnixNano: bigint;
  /** Spans whose parent has not arrived. */
  readonly strays: Node[];
  /** The first request and the last one, also of an agent that this one handed over to. */
  firstModel: Node | undefined;
  lastModel: Node | undefined;
}

/** Collects the parts of an agent's draft, then those of its sub-agents. */
function addParts(scope: AgentScope, parent: RunKey | undefined, context: Context, found: DraftParts[]): Family {
  const place = keyPlace(scope, parent);
  const key: RunKey = { tenant: context.tenant, traceId: place.traceId, spanId: place.spanId };
  const outer = scope.node === undefined ? scope.frames : [scope.node, ...scope.frames];
  const all = [...outer, ...scope.own];
  const own = withoutNestedModels(scope.own);
  const models = modelSpans(own);
  const family: Family = {
    lastArrivedMs: 0,
    sessionId: undefined,
    userId: userOn([...outer, ...models.slice(0, 1)]),
    endUnixNano: greatest(scope.node === undefined ? all : [scope.node, ...models]),
    strays: all.filter(waitsForParent),
    firstModel: models[0],
    lastModel: models.at(-1),
  };
  for (const {
    arrivedMs,
    reading: { facts },
  } of all) {
    if (arrivedMs > family.lastArrivedMs) family.lastArrivedMs = arrivedMs;
    family.sessionId ??= facts.sessionId;
  }
  const first = scope.node ?? all[0];
  if (first !== undefined)
    found.push({ scope, outer, all, own, models, first, family, key, spanTraceId: place.spanTraceId, parent, context });
  for (const sub of scope.subAgents) {
    const inner = addParts(sub, key, context, found);
    addSubFamily(family, inner, sub.via === 'tool');
    if (inner.endUnixNano > family.endUnixNano && isSameService(sub.node, scope.node)) family.endUnixNano = inner.endUnixNano;
  }
  if (parent === undefined) family.sessionId ??= sessionOn(nodesAbove(outer.at(-1)));
  // A sub-agent works for the user of the agent that called it.
  family.userId ??= userOn(nodesAbove(outer.at(-1)));
  return family;
}

/** Limit of spans above an agent that are searched for the session and the user. */
const spansUpMax = 32;

/** Spans around the agent, such as the one of the request that the application serves; the nearest first. */
function nodesAbove(node: Node | undefined): readonly Node[] {
  const above: Node[] = [];
  for (let at = node?.parent; at !== undefined && above.length < spansUpMax; at = at.parent) above.push(at);
  return above;
}

function sessionOn(nodes: readonly Node[]): string | undefined {
  for (const { span, reading } of nodes) {
    const found = reading.facts.sessionId ?? firstId(span, keyEvidenceOf(span), 'sessionId');
    if (found !== undefined) return found;
  }
  return undefined;
}

function userOn(nodes: readonly Node[]): string | undefined {
  for (const { span } of nodes) {
    const found = firstId(span, keyEvidenceOf(span), 'userId');
    if (found !== undefined) return found;
  }
  return undefined;
}

function addSubFamily(family: Family, sub: Family, isTool: boolean): void {
  family.lastArrivedMs = Math.max(family.lastArrivedMs, sub.lastArrivedMs);
  family.sessionId ??= sub.sessionId;
  family.userId ??= sub.userId;
  for (const stray of sub.strays) family.strays.push(stray);
  if (isTool) return;
  family.firstModel ??= sub.firstModel;
  family.lastModel = latest(family.lastModel, sub.lastModel);
}

interface DraftParts extends AgentSpans {
  /** The agent's span, else any span of the run. */
  readonly first: Node;
  readonly family: Family;
  readonly key: RunKey;
  readonly spanTraceId: TraceId;
  readonly parent: RunKey | undefined;
  readonly context: Context;
}

function* draftOf(parts: DraftParts): Steps<Draft> {
  const { scope, outer, all, own, first, family, key, spanTraceId, parent, context } = parts;
  const successors = scope.subAgents.flatMap((sub) => (sub.via === 'handoff' ? (agentName(sub) ?? []) : []));
  const calls = yield* toolCalls(own, context.readings, { enclosing: outer, successors });
  if (own.length > spansPerStep) yield;
  const parentMissing = parent === undefined && outer.at(-1)?.awaits?.elsewhere === false;
  const { fragment } = scope;
  const startUnixNano = scope.node === undefined || scope.node.span.startUnixNano === 0n ? least(all) : scope.node.span.startUnixNano;
  // An agent's span may end when its answer begins to stream, or have no end.
  const endUnixNano = calls.endUnixNano > family.endUnixNano ? calls.endUnixNano : family.endUnixNano;
  const isTimed = endUnixNano > startUnixNano || scope.node === undefined || reportedEnd(scope.node.span) !== undefined;
  const trace = agentTrace(parts, calls, { startUnixNano, ...(isTimed ? { endUnixNano } : {}) });
  return {
    key,
    spanTraceId,
    parent,
    trace,
    ...readBy(all, context.collectors),
    ...evidenceOf(parts, trace),
    ...limitsOf(all),
    span: first.span,
    spans: all.map((node) => node.span),
    startUnixNano,
    endUnixNano,
    lastArrivedMs: family.lastArrivedMs,
    rootArrived: scope.node !== undefined && !(scope.implicit && parentMissing),
    parentMissing,
    waitsFor: waitsFor(scope, family.strays, calls.unanswered, context),
    ...(fragment === undefined ? {} : { fragment }),
  };
}

function readBy(all: readonly Node[], collectors: readonly Collector[]): Pick<Draft, 'dialects' | 'configuredDialect'> {
  const dialects = dialectsOf(all);
  const own = collectors.find(({ id, isConfigured }) => isConfigured === true && dialects.includes(id));
  return { dialects, ...(own === undefined ? {} : { configuredDialect: own.id }) };
}

function dialectsOf(all: readonly Node[]): readonly string[] {
  const found: string[] = [];
  for (const {
    reading: { dialects },
  } of all)
    for (const dialect of dialects) if (!found.includes(dialect)) found.push(dialect);
  return found;
}

/** Values that only the reader by evidence reported, for fields with one source; of calls and requests the least certain counts. */
function evidenceOf({ all, outer, own, models, family: { lastModel }, context }: DraftParts, trace: AgentTrace): Pick<Draft, 'evidence'> {
  if (all.every(({ reading }) => reading.evidence === undefined)) return {};
  const of = (node: Node | undefined): SpanEvidence => node?.reading.evidence?.() ?? {};
  const telling = (name: 'agentName' | 'input' | 'output', value: JsonValue | undefined): Node | undefined =>
    value === undefined ? undefined : outer.find(({ reading: { facts } }) => facts[name] === value);
  const [input, output] = [telling('input', trace.input), telling('output', trace.finalResponse)];
  const found: { [field in keyof RunEvidence['fields']]: EvidenceClass | undefined } = {
    agent: of(telling('agentName', trace.agent)).agentName,
    input: input === undefined ? (trace.input === undefined ? undefined : of(models[0]).model) : of(input).input,
    final_response: output === undefined ? (trace.finalResponse === undefined ? undefined : of(lastModel).model) : of(output).output,
    tool_calls: leastSure(own.map((node) => of(node).tool)),
    model_calls: leastSure(models.map((node) => of(node).model)),
  };
  const fields = Object.entries(found).filter(([, by]) => by !== undefined);
  const provenance = context.collectors.find((collector) => collector.evidenceOf !== undefined)?.id;
  return fields.length === 0 || provenance === undefined ? {} : { evidence: { provenance, fields: Object.fromEntries(fields) } };
}

function limitsOf(all: readonly Node[]): Pick<Draft, 'limits'> {
  return all.every(({ reading }) => reading.limits === undefined)
    ? {}
    : { limits: [...new Set(all.flatMap(({ reading }) => reading.limits ?? []))] };
}

function latest(one: Node | undefined, other: Node | undefined): Node | undefined {
  return one === undefined || (other !== undefined && byStart(other, one) > 0) ? other : one;
}

/** A parent in another process may never come, so nothing waits for it. */
function waitsForParent(node: Node): boolean {
  return node.parent === undefined && node.awaits?.elsewhere === false;
}

function waitsFor(scope: AgentScope, strays: readonly Node[], unanswered: number, context: Context): Draft['waitsFor'] {
  const waits: Draft['waitsFor'][number][] = [];
  const outer = scope.frames.at(-1) ?? scope.node;
  if (scope.node === undefined || strays.some((node) => node !== outer) || hasStraysBeside(scope.node, strays, context))
    waits.push('parent_spans');
  if (unanswered > 0) waits.push('tool_results');
  const lacksRecords = scope.own.some((node) => node.reading.facts.contentInLogs === true && !context.records.has(node.span.spanId));
  if (lacksRecords) waits.push('log_records');
  if (scope.fragment?.lacksEarlier === true) waits.push('earlier_requests');
  return waits;
}

/** True when a span with a missing parent began while the agent worked, so that it may belong to it. */
function hasStraysBeside({ span: { startUnixNano, endUnixNano } }: Node, strays: readonly Node[], { waitsForParents }: Context): boolean {
  const all = countBelow(waitsForParents, endUnixNano + 1n) - countBelow(waitsForParents, startUnixNano);
  return all > strays.filter(({ span }) => span.startUnixNano >= startUnixNano && span.startUnixNano <= endUnixNano).length;
}

function isSameService(one: Node | undefined, other: Node | undefined): boolean {
  return one !== undefined && other !== undefined && serviceOf(one) === serviceOf(other);
}

function serviceOf({ span: { resource } }: Node): string | undefined {
  return textAttribute(resource, wire.serviceName);
}

/** A start of zero is unknown. */
function least(nodes: readonly Node[]): bigint {
  let found = 0n;
  for (const { span } of nodes) if (span.startUnixNano > 0n && (found === 0n || span.startUnixNano < found)) found = span.startUnixNano;
  return found;
}

function greatest(nodes: readonly Node[]): bigint {
  let found = 0n;
  for (const { span } of nodes) if (endOf(span) > found) found = endOf(span);
  return found;
}
