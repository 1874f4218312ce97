/** Spans and log records of one trace → the runs in it, each with what it still waits for. Pure: the same spans give the same runs. */
import type { Message, SpanFacts, ToldResult } from '../../collectors/collector.ts';
import { lastText, systemText } from '../../collectors/reading/messages.ts';
import { unitedDefinitions } from '../../collectors/reading/definitions.ts';
import type { AgentTrace, ModelCall, RunKey, SubAgent, ToolCall } from '../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../model/ids.ts';
import type { JsonValue } from '../model/json.ts';
import type { LogRecord, Span } from '../model/span.ts';
import { agentScopes, type AgentScope } from './agents.ts';
import { toldById } from './asked-calls.ts';
import { toldOf, type Reading } from './facts.ts';
import type { Fragment } from './fragments.ts';
import { keyPlace, toldByMessages } from './linked.ts';
import { modelSpans, tokensOf, withoutNestedModels } from './model-calls.ts';
import { toolCalls } from './tool-calls.ts';
import { countBelow } from './times.ts';
import { tree, type Node } from './tree.ts';
import { truncatedParts } from './truncated.ts';

export interface Held {
  readonly span: Span;
  readonly arrivedMs: number;
}

/** A run as far as its spans have arrived. */
export interface Draft {
  readonly key: RunKey;
  /** The trace that the key's span is in. */
  readonly spanTraceId: TraceId;
  readonly parent: RunKey | undefined;
  readonly trace: AgentTrace;
  readonly dialects: readonly string[];
  /** The agent's span, else any span of the run. */
  readonly span: Span;
  readonly spans: readonly Span[];
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly lastArrivedMs: number;
  /** The agent's span (or the local root that stands in) has arrived. */
  readonly rootArrived: boolean;
  /** Its parent is named but has not arrived: it may turn out to work for another agent. */
  readonly parentMissing: boolean;
  /** What the spans announce and what has not arrived; empty = balanced. */
  readonly waitsFor: readonly ('parent_spans' | 'tool_results' | 'log_records' | 'earlier_requests')[];
  /** Its requests and tools have no span around them: it may go on in other traces, or be the rest of one. */
  readonly fragment?: Fragment;
}

export interface AssembleInput extends Reading {
  readonly tenant: Tenant;
  readonly held: readonly Held[];
}

/** All runs of a trace, agents before their sub-agents. Empty: no agent, model or tool span in it. */
export function assemble(input: AssembleInput): readonly Draft[] {
  const held = input.held.map(({ span, arrivedMs }) => ({ span, arrivedMs, told: toldOf(input, span) }));
  const built = tree(held);
  const context: Context = { tenant: input.tenant, told: toldById(built.nodes), waitsForParents: built.roots.filter(waitsForParent).map((root) => root.span.startUnixNano), records: input.records };
  const found: Draft[] = [];
  for (const scope of agentScopes(built)) addDrafts(scope, undefined, context, found);
  return found;
}

interface Context {
  readonly tenant: Tenant;
  readonly told: ReadonlyMap<string, ToldResult>;
  /** When the spans began whose parent has not arrived, in order. */
  readonly waitsForParents: readonly bigint[];
  readonly records: ReadonlyMap<SpanId, readonly LogRecord[]>;
}

/** What counts for a run of its own spans and those of its sub-agents. */
interface Family {
  readonly lastArrivedMs: number;
  readonly sessionId: string | undefined;
  /** Spans among them whose parent has not arrived. */
  readonly strays: readonly Node[];
  /** The model that was asked last, by the agent itself or by one that it handed over to. */
  readonly lastModel: Node | undefined;
}

/** Adds an agent's draft and then those of its sub-agents. */
function addDrafts(scope: AgentScope, parent: RunKey | undefined, context: Context, found: Draft[]): Family {
  const place = keyPlace(scope, parent);
  const key: RunKey = { tenant: context.tenant, traceId: place.traceId, spanId: place.spanId };
  const all = [...(scope.node === undefined ? [] : [scope.node]), ...scope.frames, ...scope.own];
  const subDrafts: Draft[] = [];
  const families = scope.subAgents.map((sub) => ({ ...addDrafts(sub, key, context, subDrafts), isTool: sub.via === 'tool' }));
  const own = withoutNestedModels(scope.own);
  const family: Family = {
    lastArrivedMs: [...all, ...families.map((one) => ({ arrivedMs: one.lastArrivedMs }))].reduce((latest, one) => Math.max(latest, one.arrivedMs), 0),
    sessionId: pick(all.map((node) => node.told.facts), 'sessionId') ?? families.find((one) => one.sessionId !== undefined)?.sessionId,
    strays: [...all.filter(waitsForParent), ...families.flatMap((one) => one.strays)],
    lastModel: latest([modelSpans(own).at(-1), ...families.filter((one) => !one.isTool).map((one) => one.lastModel)]),
  };
  const first = scope.node ?? all[0];
  if (first !== undefined) found.push(draftOf({ scope, all, own, first, family, key, spanTraceId: place.spanTraceId, parent, context }));
  for (const draft of subDrafts) found.push(draft);
  return family;
}

interface DraftParts {
  readonly scope: AgentScope;
  readonly all: readonly Node[];
  /** The agent's own spans, each request to a model once. */
  readonly own: readonly Node[];
  /** The agent's span, else any span of the run. */
  readonly first: Node;
  readonly family: Family;
  readonly key: RunKey;
  readonly spanTraceId: TraceId;
  readonly parent: RunKey | undefined;
  readonly context: Context;
}

function draftOf({ scope, all, own, first, family, key, spanTraceId, parent, context }: DraftParts): Draft {
  const calls = toolCalls(own, context.told, [...(scope.node === undefined ? [] : [scope.node]), ...scope.frames]);
  const outer = scope.frames.at(-1) ?? scope.node;
  const parentMissing = parent === undefined && outer?.awaits?.elsewhere === false;
  const { fragment } = scope;
  const times = { startUnixNano: scope.node?.span.startUnixNano ?? least(all), endUnixNano: scope.node?.span.endUnixNano ?? greatest(all) };
  return {
    key,
    spanTraceId,
    parent,
    trace: { ...agentTrace(scope, own, calls.calls, family), ...times },
    dialects: [...new Set(all.flatMap((node) => node.told.dialects))],
    span: first.span,
    spans: all.map((node) => node.span),
    ...times,
    lastArrivedMs: family.lastArrivedMs,
    rootArrived: scope.node !== undefined && !(scope.implicit && parentMissing),
    parentMissing,
    waitsFor: [...waitsFor(scope, family.strays, calls.unanswered, context), ...(fragment?.lacksEarlier === true ? ['earlier_requests' as const] : [])],
    ...(fragment === undefined ? {} : { fragment }),
  };
}

/** Of models that were asked at one time the one named last. */
function latest(models: readonly (Node | undefined)[]): Node | undefined {
  return models.reduce((found, node) => (found === undefined || (node !== undefined && node.span.startUnixNano >= found.span.startUnixNano) ? node : found), undefined);
}

/** A parent in another process may never come, and nothing here depends on it. */
function waitsForParent(node: Node): boolean {
  return node.parent === undefined && node.awaits?.elsewhere === false;
}

function waitsFor(scope: AgentScope, strays: readonly Node[], unanswered: number, context: Context): Draft['waitsFor'] {
  const waits: Draft['waitsFor'][number][] = [];
  const outer = scope.frames.at(-1) ?? scope.node;
  if (scope.node === undefined || strays.some((node) => node !== outer) || hasStraysBeside(scope.node, strays, context)) waits.push('parent_spans');
  if (unanswered > 0) waits.push('tool_results');
  const lacksRecords = scope.own.some((node) => node.told.facts.contentInLogs === true && !context.records.has(node.span.spanId));
  if (lacksRecords) waits.push('log_records');
  return waits;
}

/** A span whose parent is missing hangs somewhere: if it began while this agent worked, it may be its own. */
function hasStraysBeside({ span: { startUnixNano, endUnixNano } }: Node, strays: readonly Node[], { waitsForParents }: Context): boolean {
  const all = countBelow(waitsForParents, endUnixNano + 1n) - countBelow(waitsForParents, startUnixNano);
  return all > strays.filter(({ span }) => span.startUnixNano >= startUnixNano && span.startUnixNano <= endUnixNano).length;
}

function agentTrace(scope: AgentScope, own: readonly Node[], calls: readonly ToolCall[], { sessionId, lastModel }: Family): AgentTrace {
  const facts = scope.node?.told.facts ?? {};
  const frames = scope.frames.map((node) => node.told.facts);
  const models = modelSpans(own);
  const firstModel = models[0]?.told.facts;
  const systemPrompt = pick([facts, ...frames, ...models.map((node) => node.told.facts)], 'systemPrompt') ?? systemText(firstModel?.inputMessages ?? []);
  const input = pick([facts, ...frames], 'input') ?? lastUserText(facts.inputMessages) ?? lastUserText(firstModel?.inputMessages) ?? pick(toldByMessages(own), 'input') ?? pick([facts, ...frames], 'inputDump');
  const response = finalResponse(scope, [facts, ...frames], lastModel) ?? pick([facts, ...frames], 'outputDump');
  // A root in error does not mean that the run failed: with a final response it went on after the error.
  const failed = response === undefined ? [scope.node, ...scope.frames].find((node) => node?.span.status.code === 'error')?.span : undefined;
  const agent = agentName(scope);
  const cut = truncatedParts({ ...(input === undefined ? {} : { input }), ...(response === undefined ? {} : { finalResponse: response }), ...(systemPrompt === undefined ? {} : { systemPrompt }) }, [scope.node, ...scope.frames, ...models]);
  const model = pick([...models.map((node) => node.told.facts), facts, ...frames], 'model');
  const modelCalls = models.map(modelCall);
  const tokens = tokensOf(modelCalls);
  return {
    ...(agent === undefined ? {} : { agent }),
    ...(input === undefined ? {} : { input }),
    ...(response === undefined ? {} : { finalResponse: response }),
    ...(systemPrompt === undefined ? {} : { systemPrompt }),
    ...(model === undefined ? {} : { model }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(tokens === undefined ? {} : { tokens }),
    status: failed === undefined ? 'ok' : 'error',
    ...(failed === undefined || failed.status.message === '' ? {} : { errorMessage: failed.status.message }),
    toolCalls: calls,
    toolDefinitions: unitedDefinitions([...[facts, ...frames].map((from) => from.toolDefinitions ?? []), ...own.map((node) => definitionsOf(node.told.facts))]),
    modelCalls,
    documents: own.flatMap((node) => node.told.facts.documents ?? []),
    reasoningSteps: models.flatMap((node) => (node.told.facts.outputMessages ?? []).flatMap((message) => message.reasoning ?? [])),
    subAgents: subAgents(scope, calls),
    // A request that lost a part may have lost calls: then none is no evidence.
    toolCallsCarried: calls.length > 0 || (cut.truncated?.includes('spans') !== true && (models.length === 0 || models.some((node) => node.told.facts.outputMessages !== undefined))),
    ...cut,
  };
}

function pick<K extends keyof SpanFacts>(from: readonly SpanFacts[], key: K): SpanFacts[K] | undefined {
  return from.find((facts) => facts[key] !== undefined)?.[key];
}

function lastUserText(messages: readonly Message[] | undefined): string | undefined {
  return messages === undefined ? undefined : lastText(messages, 'user');
}

/** The agent's own word, else what a frame says for it, else a name that is only a span's. */
function agentName(scope: AgentScope): string | undefined {
  const told = [scope.node, ...scope.frames].map((node) => node?.told.facts).filter((facts) => facts?.agentName !== undefined);
  const sure = told.find((facts) => facts?.agentNameIsGuess !== true);
  const inside = sure === undefined ? scope.own.find((node) => node.told.facts.agentName !== undefined)?.told.facts : undefined;
  return sure?.agentName ?? inside?.agentName ?? told[0]?.agentName ?? (scope.implicit && scope.node?.told.facts.role === undefined ? scope.node?.span.name : undefined);
}

/** What the agent's span or a frame says, else the last text that a model gave, its hand-overs included. */
function finalResponse(scope: AgentScope, told: readonly SpanFacts[], lastModel: Node | undefined): JsonValue | undefined {
  for (const facts of told) {
    if (facts.output !== undefined) return facts.output;
    const text = lastText(facts.outputMessages ?? [], 'assistant');
    if (text !== undefined && !asksForTools(facts.outputMessages)) return text;
  }
  const aborted = [scope.node, ...scope.frames].some((node) => node?.span.status.code === 'error');
  const last = lastModel?.told.facts;
  if (last === undefined || (aborted && asksForTools(last.outputMessages))) return undefined;
  return lastText(last.outputMessages ?? [], 'assistant');
}

function asksForTools(messages: readonly Message[] | undefined): boolean {
  return (messages?.at(-1)?.asked.length ?? 0) > 0 && (messages?.at(-1)?.text ?? '') === '';
}

function definitionsOf(facts: SpanFacts): NonNullable<SpanFacts['toolDefinitions']> {
  const tool = facts.tool;
  if (facts.toolDefinitions !== undefined || tool?.name === undefined || (tool.description === undefined && tool.inputSchema === undefined)) return facts.toolDefinitions ?? [];
  return [{ name: tool.name, ...(tool.description === undefined ? {} : { description: tool.description }), ...(tool.inputSchema === undefined ? {} : { inputSchema: tool.inputSchema }) }];
}

function modelCall(node: Node): ModelCall {
  const { model, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = node.told.facts;
  return {
    spanId: node.span.spanId,
    startUnixNano: node.span.startUnixNano,
    endUnixNano: node.span.endUnixNano,
    ...(model === undefined ? {} : { model }),
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
    ...(node.span.status.code === 'error' ? { failed: true } : {}),
  };
}

/** Handing over is offered as a tool, and no model is offered more tools than this. */
const handoverToolsMax = 200;

function subAgents(scope: AgentScope, calls: readonly ToolCall[]): readonly SubAgent[] {
  const names = [...new Set(calls.map((call) => call.name))].slice(0, handoverToolsMax).map((name) => ({ name, plain: lettersOf(name) }));
  return scope.subAgents.map((sub) => {
    const agent = agentName(sub);
    const via = sub.via ?? 'child_span';
    // The pseudo tool of a hand-over: its name holds the name of the agent that took over.
    const handover = via === 'handoff' && agent !== undefined ? handoverTo(lettersOf(agent), names) : undefined;
    const viaTool = sub.viaToolNode?.told.facts.tool?.name ?? handover;
    return { spanId: sub.spanId, via, ...(agent === undefined ? {} : { agent }), ...(viaTool === undefined ? {} : { viaTool }) };
  });
}

function handoverTo(agent: string, tools: readonly { readonly name: string; readonly plain: string }[]): string | undefined {
  return tools.find(({ plain }) => plain.includes(agent))?.name;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

function least(nodes: readonly Node[]): bigint {
  return nodes.reduce((found, node) => (node.span.startUnixNano < found ? node.span.startUnixNano : found), nodes[0]?.span.startUnixNano ?? 0n);
}

function greatest(nodes: readonly Node[]): bigint {
  return nodes.reduce((found, node) => (node.span.endUnixNano > found ? node.span.endUnixNano : found), 0n);
}
