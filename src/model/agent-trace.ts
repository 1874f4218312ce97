/** One run of one agent, reconstructed from its spans or built by hand. */
import { wire } from './attributes.ts';
import type { CallHold } from './control-flow.ts';
import type { RunEvidence } from './evidence.ts';
import type { SpanId, Tenant, TraceId } from './ids.ts';
import { type JsonObject, type JsonValue, member } from './json.ts';

/** Source of a value. */
export type Provenance = 'tool_span' | 'span_event' | 'log_record' | 'model_message' | 'agent_span' | 'given';

export interface ToolError {
  readonly message: string;
  readonly type?: string;
  /** The sign that showed the failure. */
  readonly sign: 'span_status' | 'exception_event' | 'error_type' | 'is_error' | 'result_status' | 'result_text';
}

/** One execution of a tool. An absent member is unknown, as the spans did not carry it; it is not empty. */
export interface ToolCall {
  readonly name: string;
  /** The model's id of this call. */
  readonly id?: string;
  /** A stable id of the tool itself, not of the call. */
  readonly toolId?: string;
  /** `null` when the arguments in the spans are not an object; `argumentsText` holds them. */
  readonly arguments?: JsonObject | null;
  readonly argumentsText?: string;
  /** `null` when the tool returned nothing. */
  readonly result?: JsonValue;
  /** The beginning of arguments or a result that was truncated on the way. The member of the value itself is then absent. */
  readonly truncated?: { readonly arguments?: string; readonly result?: string };
  readonly error?: ToolError;
  /** True when the status of the tool's span is OK. An unset status states no outcome. */
  readonly statedOk?: true;
  /** False when a model requested the call and no span shows that it ran. */
  readonly executed: boolean;
  /** True when the provider of the model ran the tool itself, so that no span and no definition need show it. */
  readonly byProvider?: true;
  /** waiting: the call goes on when a person or another program has answered. refused: a person refused it, and it did not run. */
  readonly hold?: CallHold;
  readonly spanId?: SpanId;
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
  /** Calls with the same number were requested in one model turn. */
  readonly turn?: number;
  readonly provenance?: { readonly [field in 'name' | 'id' | 'arguments' | 'result' | 'error']?: Provenance };
  /** Notes of a program, such as a latency; no built-in evaluator reads them. */
  readonly metadata?: JsonObject;
}

/** The contract of a tool, as the model got it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
  /** True when the model must give every argument, and gives null for an optional one that it leaves out. */
  readonly strict?: true;
  /** True when the entry brings further tools, which the spans need not list: a search for tools, or a server. */
  readonly open?: true;
  /** True when the description or the schema was truncated on the way and is left out. */
  readonly truncated?: true;
}

/** One message of the conversation, in order. */
export interface TraceMessage {
  /** As the spans name it: system, user, assistant, tool, … */
  readonly role: string;
  readonly text?: string;
  /** Indices in `toolCalls` of the calls that this message requests. */
  readonly calls: readonly number[];
}

export interface ModelCall {
  readonly spanId?: SpanId;
  readonly model?: string;
  /** Number of requests that the span covers: some SDKs write one span over a loop of requests and calls. Default: 1. */
  readonly requests?: number;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Part of the input tokens. */
  readonly cachedInputTokens?: number;
  /** Part of the output tokens. */
  readonly reasoningTokens?: number;
  /** US dollars, as the spans report them; never computed. */
  readonly toldCost?: number;
  /** True when the request ended in an error. */
  readonly failed?: boolean;
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
}

export interface RetrievedDocument {
  readonly spanId?: SpanId;
  readonly id?: string;
  readonly content?: string;
  readonly score?: number;
}

/** A link to the agent trace of a sub-agent; `via` names how the agent delegated the work. */
export interface SubAgent {
  readonly spanId: SpanId;
  /**
   * Trace id of the sub-agent's run; absent when it is that of this run. It differs when the sub-agent's run closed before the link was
   * known.
   */
  readonly traceId?: TraceId;
  readonly agent?: string;
  readonly via: 'handoff' | 'tool' | 'child_span';
  readonly viaTool?: string;
}

/**
 * complete: everything that the spans announce has arrived. partial: something was missing at the close. abandoned: no agent span arrived.
 * evicted: closed early to limit memory.
 */
export type Completeness = 'complete' | 'partial' | 'abandoned' | 'evicted';

/**
 * Truncated parts. spans: an agent or model span lost attributes, or the end of one, to a limit, so calls, definitions or documents may be
 * missing.
 */
export type TruncatedPart = 'input' | 'final_response' | 'system_prompt' | 'spans';

/**
 * ok: nothing shows an error. error: the run ended in one. paused: it ended while a call waits for a person or another program, and goes on
 * later.
 */
export const runStatuses = ['ok', 'error', 'paused'] as const;
export type RunStatus = (typeof runStatuses)[number];

export interface AgentTrace {
  readonly agent?: string;
  readonly input?: string;
  readonly finalResponse?: JsonValue;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly sessionId?: string;
  /** Id of the person or customer that the agent works for, as the application names it. */
  readonly userId?: string;
  /** Start and end of the run; absent when unknown. */
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
  readonly status: RunStatus;
  /** The error that ended the run: its message, its class, and the span that states it. */
  readonly errorMessage?: string;
  readonly errorType?: string;
  readonly errorSpanId?: SpanId;
  /** In order: start time, then message order, then end time, then span id. */
  readonly toolCalls: readonly ToolCall[];
  readonly toolDefinitions: readonly ToolDefinition[];
  readonly modelCalls: readonly ModelCall[];
  readonly documents: readonly RetrievedDocument[];
  /** When omitted, the order of texts and calls is known only as far as the other members imply it. */
  readonly messages?: readonly TraceMessage[];
  readonly reasoningSteps: readonly string[];
  readonly subAgents: readonly SubAgent[];
  /** Input and output tokens of this agent's own model calls; absent when no span carries any. */
  readonly tokens?: { readonly input?: number; readonly output?: number };
  /** Tasks that the spans or a builder name; absent when there are none. */
  readonly tasks?: readonly string[];
  readonly constraints?: string;
  /** False when this dialect, as configured, carries no tool data, so that zero calls prove nothing. */
  readonly toolCallsCarried: boolean;
  /** Truncated parts. Texts hold what arrived. Omitted when no truncation is known. */
  readonly truncated?: readonly TruncatedPart[];
}

/** The empty lists of a run that is known only by its fields. */
export const noParts = {
  toolCalls: [],
  toolDefinitions: [],
  modelCalls: [],
  documents: [],
  reasoningSteps: [],
  subAgents: [],
} as const satisfies Partial<AgentTrace>;

/** Class and message of the error that ended a run; empty when the spans carry neither. */
export function runErrorText({ errorType, errorMessage }: Pick<AgentTrace, 'errorType' | 'errorMessage'>): string {
  return [errorType, errorMessage].filter((text) => text !== undefined && text !== '').join(': ');
}

/** The identity of a run: its agent span or local root. */
export interface RunKey {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
}

/** An agent trace with its place in the stream of spans. */
export interface Run extends RunKey {
  /** Trace of the agent's span, when it differs: a run over linked traces has one trace id with its sub-agents. */
  readonly spanTraceId?: TraceId;
  readonly trace: AgentTrace;
  readonly dialects: readonly string[];
  /** The first of them that the configuration describes. */
  readonly configuredDialect?: string;
  /** Omitted when only collectors of SDKs and conventions read it. */
  readonly evidence?: RunEvidence;
  readonly service?: string;
  readonly serviceVersion?: string;
  readonly resourceAttributes: JsonObject;
  readonly traceState: string;
  readonly parent?: RunKey;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly completeness: Completeness;
  /** 1 for the first close; late spans make 2, 3, … under the same key. */
  readonly revision: number;
  /** Hash of the content: only a change makes a new revision. */
  readonly contentHash: string;
  readonly expected?: JsonValue;
  /** Key of the run that this one belongs to, when later spans showed it. That run contains everything of this one. */
  readonly partOf?: RunKey;
  /** The session whose last turn this is, when the run represents the session. */
  readonly session?: SessionSoFar;
}

/** A session as evaluators of whole sessions see it. */
export interface SessionSoFar {
  /** 1 for the first evaluation; a change of the session makes 2, 3, …. */
  readonly revision: number;
  readonly turns: number;
  /** Number of turns that are left out of the judge input. */
  readonly leftOut: number;
  /** The turns before the last one, in order; absent when no evaluator needs them. */
  readonly earlier?: readonly AgentTrace[];
}

/** Number of requests to models that the calls represent. */
export function requestCount(modelCalls: readonly ModelCall[]): number {
  return modelCalls.reduce((sum, { requests = 1 }) => sum + requests, 0);
}

/** The deployment of the run's service, by the name in the conventions now, else by the one until 1.27. */
export function environmentOf({ resourceAttributes }: Pick<Run, 'resourceAttributes'>): string | undefined {
  return [wire.environment, wire.environmentBefore]
    .map((key) => member(resourceAttributes, key))
    .find((value): value is string => typeof value === 'string' && value !== '');
}
