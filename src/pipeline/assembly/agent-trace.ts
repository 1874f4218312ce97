/** Builds the agent trace from the spans of one agent. */
import type { Message, SpanFacts, ToolFacts } from '../../../collectors/collector.ts';
import { unitedDefinitions } from '../../../collectors/parsing/definitions.ts';
import { lastText, systemText } from '../../../collectors/parsing/messages.ts';
import type {
  AgentTrace,
  ModelCall,
  RetrievedDocument,
  SubAgent,
  ToolCall,
  ToolDefinition,
  TruncatedPart,
  RunKey,
} from '../../model/agent-trace.ts';
import { statesPause } from '../../model/control-flow.ts';
import type { Mutable } from '../../model/mutable.ts';
import type { JsonValue } from '../../model/json.ts';
import type { AgentScope } from './agent-scopes.ts';
import { lettersOf } from './event-spans.ts';
import { inferredLimit, longestReported, withCutTexts } from './inferred-limit.ts';
import { graphName } from './graph-names.ts';
import { requestsIn, tokensOf, withAgentSum } from './model-calls.ts';
import { failureOf } from './failures.ts';
import { runEnd } from './run-end.ts';
import { answerIn } from './output-tools.ts';
import type { ToolCallsOf } from './tool-calls.ts';
import { givenAgentName, isFrameworkName, ownName } from './span-facts.ts';
import { type Node, byStart } from './span-tree.ts';
import { spoken } from '../../../collectors/parsing/reasoning.ts';
import { withoutWrappers } from './wrapped-arguments.ts';
import { isCutShort } from '../../../collectors/parsing/truncation.ts';
import { endOf } from '../../model/span.ts';
import type { TraceId } from '../../model/ids.ts';

export interface AgentSpans {
  readonly scope: AgentScope;
  /** The agent's span and its frames. */
  readonly outer: readonly Node[];
  /** The agent's own spans, without duplicates of a request. */
  readonly own: readonly Node[];
  /** All of these, with duplicates. */
  readonly all: readonly Node[];
  /** Its requests to models, by start time. */
  readonly models: readonly Node[];
  readonly family: {
    readonly sessionId: string | undefined;
    readonly userId: string | undefined;
    /** The first request and the last one, also of an agent that this one handed over to. */
    readonly firstModel: Node | undefined;
    readonly lastModel: Node | undefined;
  };
}

interface Bounds {
  readonly startUnixNano: bigint;
  /** `undefined` when no span gives it. */
  readonly endUnixNano?: bigint;
}

export function agentTrace(
  { scope, outer, own, all, models, family: { sessionId, userId, firstModel: firstOfAll, lastModel } }: AgentSpans,
  { calls: found, answer }: Pick<ToolCallsOf, 'calls' | 'answer'>,
  { startUnixNano, endUnixNano }: Bounds,
): AgentTrace {
  const firstModel = models[0]?.reading.facts;
  const trace: Mutable<Partial<AgentTrace>> = {};
  const agent = agentName(scope);
  if (agent !== undefined) trace.agent = agent;
  // When agents hand over inside a frame, the input and output of the first are only a part.
  const handsOver = scope.frames.length > 0 && scope.subAgents.some(({ via }) => via === 'handoff');
  const around = handsOver ? scope.frames.toReversed() : [];
  const response = finalResponse(handsOver ? around : outer, lastModel, answer) ?? pick(outer, 'outputDump');
  const input =
    newerInput(scope.node?.reading.facts.inputMessages, firstModel?.inputMessages) ??
    (handsOver ? (pick(around, 'input') ?? lastUserText(pick(around, 'inputMessages'))) : undefined) ??
    laterInput(pick(outer, 'input'), firstModel?.inputMessages, response) ??
    pick(outer, 'input') ??
    lastUserText(scope.node?.reading.facts.inputMessages) ??
    lastUserText(firstModel?.inputMessages) ??
    reportedByMessages(own)?.input ??
    lastUserText(firstOfAll?.reading.facts.inputMessages) ??
    pick(outer, 'inputDump') ??
    pick(own, 'inputDump');
  if (input !== undefined) trace.input = input;
  if (response !== undefined) trace.finalResponse = response;
  const systemPrompt = wholePrompt(
    agent,
    pick(outer, 'systemPrompt'),
    pick(models, 'systemPrompt') ?? systemText(firstModel?.inputMessages ?? []),
  );
  if (systemPrompt !== undefined) trace.systemPrompt = systemPrompt;
  const limit = inferredLimit(all, longestReported([input, response, systemPrompt], found));
  const calls = limit === undefined ? found : withCutTexts(found, limit);
  const cut = truncatedParts(trace, limit, outer, models);
  const model = pick(models, 'model') ?? pick(outer, 'model') ?? pick(own.filter(passesCallsOn), 'model');
  if (model !== undefined) trace.model = model;
  if (sessionId !== undefined) trace.sessionId = sessionId;
  if (userId !== undefined) trace.userId = userId;
  const modelCalls = withAgentSum(models.map(modelCall), {
    models,
    own,
    sum: summedUp(outer),
    usedBelow: inputTokensBelow(scope),
  });
  const tokens = wholeUsage(modelCalls, scope.subAgents.length === 0 ? summedUp(outer) : undefined) ?? usedInLoops(own);
  if (tokens !== undefined) trace.tokens = tokens;
  Object.assign(trace, runEnd({ scope, outer, own, models, lastModel, calls, response }));
  const isPaused = trace.status === 'paused';
  // The state of a run that waits is not an answer.
  if (isPaused && statesPause(response)) delete trace.finalResponse;
  trace.toolDefinitions = definitionsIn(outer, own);
  trace.modelCalls = modelCalls;
  trace.documents = documentsIn(own);
  trace.reasoningSteps = reasoningIn(models);
  trace.subAgents = subAgents(scope, calls);
  const unwrapped = withoutWrappers(calls, trace.toolDefinitions);
  trace.toolCalls = isPaused ? unwrapped.map(waiting) : unwrapped;
  // A truncated request may have lost its calls, so zero calls proves nothing.
  trace.toolCallsCarried =
    calls.length > 0 ||
    (!cut.includes('spans') && (models.length === 0 || models.some((node) => node.reading.facts.outputMessages !== undefined)));
  if (cut.length > 0) trace.truncated = cut;
  trace.startUnixNano = startUnixNano;
  if (endUnixNano !== undefined) trace.endUnixNano = endUnixNano;
  return trace as AgentTrace;
}

/** A call that had not run when the run paused. */
function waiting(call: ToolCall): ToolCall {
  return call.executed || (call.result ?? call.error ?? call.hold) !== undefined ? call : { ...call, hold: 'waiting' };
}

/**
 * An agent's span may have a part of its instructions, such as its backstory; the model gets them whole: `You are NAME. PART`. The text that
 * frameworks write around whole instructions does not begin with the agent's name.
 */
function wholePrompt(name: string | undefined, reported: string | undefined, sent: string | undefined): string | undefined {
  if (reported === undefined || sent === undefined || name === undefined) return reported ?? sent;
  return sent.slice(0, Math.max(0, sent.indexOf(reported))).includes(name) ? sent : reported;
}

/** The value of the first node that has one. */
function pick<K extends keyof SpanFacts>(from: readonly Node[], key: K): SpanFacts[K] | undefined {
  for (const {
    reading: { facts },
  } of from)
    if (facts[key] !== undefined) return facts[key];
  return undefined;
}

/** A step that has the calls of a request may have its model too. */
function passesCallsOn({ reading: { facts } }: Node): boolean {
  return facts.role === 'step' && facts.outputMessages !== undefined;
}

function summedUp(outer: readonly Node[]): AgentTrace['tokens'] {
  const sums = outer.find(({ reading: { facts } }) => (facts.inputTokens ?? facts.outputTokens) !== undefined)?.reading.facts;
  return sums === undefined
    ? undefined
    : {
        ...(sums.inputTokens === undefined ? {} : { input: sums.inputTokens }),
        ...(sums.outputTokens === undefined ? {} : { output: sums.outputTokens }),
      };
}

/**
 * The sum on the agent's span counts where requests leave a number out, or report only the beginning of their answers: the same input and less
 * output. Where both numbers are greater, the sum holds the earlier turns of the session too.
 */
function wholeUsage(calls: readonly ModelCall[], sum: AgentTrace['tokens']): AgentTrace['tokens'] {
  const requested = tokensOf(calls);
  if (requested === undefined || sum === undefined) return requested ?? sum;
  const isLeftOut = (key: 'inputTokens' | 'outputTokens'): boolean => calls.some((call) => call.failed !== true && call[key] === undefined);
  const { input = 0, output = 0 } = requested;
  const isMoreOutput = (sum.output ?? 0) > output && (isLeftOut('outputTokens') || sum.input === input);
  return {
    ...requested,
    ...(sum.input !== undefined && sum.input > input && isLeftOut('inputTokens') ? { input: sum.input } : {}),
    ...(sum.output !== undefined && isMoreOutput ? { output: sum.output } : {}),
  };
}

/** Sums of the loops whose requests report no usage. */
function usedInLoops(own: readonly Node[]): AgentTrace['tokens'] {
  let [input, output]: (number | undefined)[] = [];
  for (const {
    reading: { facts },
  } of own) {
    if (facts.role !== 'step') continue;
    if (facts.inputTokens !== undefined) input = (input ?? 0) + facts.inputTokens;
    if (facts.outputTokens !== undefined) output = (output ?? 0) + facts.outputTokens;
  }
  if ((input ?? output) === undefined) return undefined;
  return { ...(input === undefined ? {} : { input }), ...(output === undefined ? {} : { output }) };
}

/** Input tokens of all sub-agents: of their requests, or of the sum on their own span if that is more. */
function inputTokensBelow({ subAgents }: AgentScope): number {
  let sum = 0;
  for (const sub of subAgents) {
    let requested = inputTokensBelow(sub);
    for (const { reading } of sub.own) if (reading.facts.role === 'model') requested += reading.facts.inputTokens ?? 0;
    sum += Math.max(requested, sub.node?.reading.facts.inputTokens ?? 0);
  }
  return sum;
}

function isInError({ span }: Node): boolean {
  return span.status.code === 'error';
}

function documentsIn(own: readonly Node[]): AgentTrace['documents'] {
  const found: RetrievedDocument[] = [];
  for (const {
    reading: {
      facts: { documents },
    },
  } of own)
    if (documents !== undefined) for (const document of documents) found.push(document);
  return found;
}

function reasoningIn(models: readonly Node[]): readonly string[] {
  const found: string[] = [];
  for (const {
    reading: {
      facts: { outputMessages },
    },
  } of models)
    if (outputMessages !== undefined) for (const { reasoning } of outputMessages) if (reasoning !== undefined) found.push(reasoning);
  return found;
}

function lastUserText(messages: readonly Message[] | undefined): string | undefined {
  return messages === undefined ? undefined : lastText(messages, 'user');
}

/**
 * Some agent spans have the history without the new question: the input is then the message that the first request adds to it, after the
 * instructions. A single message is not a history.
 */
function newerInput(history: readonly Message[] = [], asked: readonly Message[] = []): string | undefined {
  if (history.length < 2 || asked.length <= history.length) return undefined;
  const [told, request] = [textsOf(history), textsOf(asked)];
  const from = [0, 1].find((start) => told.every((text, at) => request[start + at] === text));
  const added = from === undefined ? [] : request.slice(from + told.length);
  const last = asked.at(-1);
  return added.length === 1 && last?.role === 'user' && last.text === added[0] ? added[0] : undefined;
}

/**
 * Some agent spans have the first question of the conversation as their input. It is not the input where the run's first request has that
 * question too, and a later one behind an answer. Requests that were written down after the run hold its own answer.
 */
function laterInput(told: JsonValue | undefined, asked: readonly Message[] = [], response: JsonValue | undefined): string | undefined {
  if (typeof told !== 'string') return undefined;
  const at = asked.findLastIndex(({ role, text }) => role === 'user' && text !== undefined);
  const [answer, last] = [asked[at - 1], asked[at]];
  if (last?.text === told || answer?.role !== 'assistant' || !answer.text || answer.requested.length > 0) return undefined;
  const before = asked.slice(0, at);
  const isEarlier = before.some(({ role, text }) => role === 'user' && text === told);
  return isEarlier && !before.some(({ role, text }) => role === 'assistant' && text === response) ? last?.text : undefined;
}

function textsOf(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ text }) => (text === undefined || text === '' ? [] : [text]));
}

/** The agent's own name, else one from a frame, else the name of a span. */
export function agentName(scope: AgentScope): string | undefined {
  const named = [scope.node, ...scope.frames].map((node) => node?.reading.facts).filter((facts) => facts?.agentName !== undefined);
  return (
    scope.impliedName ??
    firstGiven(named) ??
    firstGiven(scope.own.map((node) => node.reading.facts)) ??
    graphName(scope) ??
    named.find((facts) => facts?.agentNameIsGuess !== true || !isFrameworkName(facts.agentName ?? ''))?.agentName ??
    (scope.implicit && scope.node?.reading.facts.role === undefined ? ownName(scope.node?.span) : undefined)
  );
}

function firstGiven(facts: readonly (SpanFacts | undefined)[]): string | undefined {
  for (const one of facts) {
    const name = one === undefined ? undefined : givenAgentName(one);
    if (name !== undefined) return name;
  }
  return undefined;
}

/** The output of the agent's span or a frame, else what an output tool was given, else the last text of a model, hand-overs included. */
function finalResponse(outer: readonly Node[], lastModel: Node | undefined, given: JsonValue | undefined): JsonValue | undefined {
  for (const {
    reading: { facts },
  } of outer) {
    if (facts.output !== undefined) return typeof facts.output === 'string' ? spoken(facts.output).text : facts.output;
    if (given !== undefined) continue;
    const text = lastText(facts.outputMessages ?? [], 'assistant');
    if (text !== undefined && !requestsTools(facts.outputMessages)) return text;
  }
  if (given !== undefined) return given;
  const last = lastModel?.reading.facts;
  if (last === undefined || (outer.some(isInError) && requestsTools(last.outputMessages))) return undefined;
  return answerIn(last.outputMessages) ?? lastText(last.outputMessages ?? [], 'assistant');
}

function requestsTools(messages: readonly Message[] | undefined): boolean {
  return (messages?.at(-1)?.requested.length ?? 0) > 0 && (messages?.at(-1)?.text ?? '') === '';
}

/** Tool definitions of all spans, tool spans included. */
function definitionsIn(outer: readonly Node[], own: readonly Node[]): readonly ToolDefinition[] {
  const lists: (readonly ToolDefinition[])[] = [];
  for (const {
    reading: { facts },
  } of outer)
    if (facts.toolDefinitions !== undefined) lists.push(facts.toolDefinitions);
  for (const {
    reading: { facts },
  } of own) {
    const list = facts.toolDefinitions ?? ownDefinition(facts.tool);
    if (list !== undefined) lists.push(list);
  }
  return unitedDefinitions(lists);
}

function ownDefinition(tool: ToolFacts | undefined): readonly ToolDefinition[] | undefined {
  if (tool?.name === undefined || (tool.description === undefined && tool.inputSchema === undefined)) return undefined;
  return [
    {
      name: tool.name,
      ...(tool.description === undefined ? {} : { description: tool.description }),
      ...(tool.inputSchema === undefined ? {} : { inputSchema: tool.inputSchema }),
    },
  ];
}

function modelCall(node: Node): ModelCall {
  const { model, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = node.reading.facts;
  const call: Mutable<ModelCall> = {
    spanId: node.span.spanId,
    startUnixNano: node.span.startUnixNano,
    endUnixNano: node.endedAtUnixNano ?? endOf(node.span),
  };
  if (model !== undefined) call.model = model;
  const requests = requestsIn(node);
  if (requests > 1) call.requests = requests;
  if (inputTokens !== undefined) call.inputTokens = inputTokens;
  if (outputTokens !== undefined) call.outputTokens = outputTokens;
  if (cachedInputTokens !== undefined) call.cachedInputTokens = cachedInputTokens;
  if (reasoningTokens !== undefined) call.reasoningTokens = reasoningTokens;
  if (failureOf(node) !== undefined) call.failed = true;
  return call;
}

/** Limit of tool names that may name a successor. */
const handoverToolsMax = 200;

function subAgents(scope: AgentScope, calls: readonly ToolCall[]): readonly SubAgent[] {
  if (scope.subAgents.length === 0) return [];
  const names = [...new Set(calls.map((call) => call.name))].slice(0, handoverToolsMax).map((name) => ({ name, plain: lettersOf(name) }));
  return scope.subAgents.map((sub) => {
    const agent = agentName(sub);
    const via = sub.via ?? 'child_span';
    // A hand-over is a pseudo tool whose name contains the successor's.
    const handover = via === 'handoff' && agent !== undefined ? handoverTo(lettersOf(agent), names) : undefined;
    const viaTool = sub.viaToolNode?.reading.facts.tool?.name ?? sub.viaToolName ?? handover;
    return { spanId: sub.spanId, via, ...(agent === undefined ? {} : { agent }), ...(viaTool === undefined ? {} : { viaTool }) };
  });
}

function handoverTo(agent: string, tools: readonly { readonly name: string; readonly plain: string }[]): string | undefined {
  return tools.find(({ plain }) => plain.includes(agent))?.name;
}

/** Parts of the run that an SDK or a length limit truncated. `sources`: the agent's span, its frames and its requests. */
function truncatedParts(
  { input, finalResponse, systemPrompt }: Pick<AgentTrace, 'input' | 'finalResponse' | 'systemPrompt'>,
  limit: number | undefined,
  ...sources: readonly (readonly Node[])[]
): readonly TruncatedPart[] {
  const parts: TruncatedPart[] = [];
  if (isCut(input, limit)) parts.push('input');
  if (isCut(finalResponse, limit)) parts.push('final_response');
  if (isCut(systemPrompt, limit)) parts.push('system_prompt');
  if (limit !== undefined || sources.some((nodes) => nodes.some(isTruncated))) parts.push('spans');
  return parts;
}

function isTruncated({ reading: { facts } }: Node): boolean {
  return facts.truncated === true;
}

function isCut(value: JsonValue | undefined, limit: number | undefined): boolean {
  return typeof value === 'string' && (value.length === limit || isCutShort(value));
}

/**
 * The key of a run over linked traces, such as agents on a message bus. Such a run has no enclosing span. Its key is the span of the
 * answer, to which all traces lead; sub-agents share its trace id. Before there is an answer, the key is the first agent's span.
 */
export function keyPlace(
  scope: AgentScope,
  parent: RunKey | undefined,
): Pick<RunKey, 'traceId' | 'spanId'> & { readonly spanTraceId: TraceId } {
  const { traceId, spanId } = scope;
  if (parent !== undefined) return { traceId: parent.traceId, spanId, spanTraceId: traceId };
  const answer = answersIn(scope, []).sort(byStart).at(-1)?.span;
  return answer === undefined
    ? { traceId, spanId, spanTraceId: traceId }
    : { traceId: answer.traceId, spanId: answer.spanId, spanTraceId: answer.traceId };
}

/** Facts of the first message span that has the input. */
function reportedByMessages(own: readonly Node[]): SpanFacts | undefined {
  return own.find(({ reading: { facts } }) => facts.followsLinks === true && facts.input !== undefined)?.reading.facts;
}

/** Appends the spans with answers to `found`. */
function answersIn({ own, subAgents }: AgentScope, found: Node[]): Node[] {
  for (const node of own)
    if (node.reading.facts.followsLinks === true && lastText(node.reading.facts.outputMessages ?? [], 'assistant') !== undefined)
      found.push(node);
  for (const sub of subAgents) answersIn(sub, found);
  return found;
}
