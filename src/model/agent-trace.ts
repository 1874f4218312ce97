/** One run of one agent, reconstructed from its spans or built by hand. */
import type { SpanId, Tenant, TraceId } from './ids.ts';
import type { JsonObject, JsonValue } from './json.ts';

/** How we know a value. */
export type Provenance = 'tool_span' | 'span_event' | 'log_record' | 'model_message' | 'agent_span' | 'given';

export interface ToolError {
  readonly message: string;
  readonly type?: string;
  /** Which sign told us. */
  readonly sign: 'span_status' | 'exception_event' | 'error_type' | 'is_error' | 'result_status';
}

/** One execution of a tool. An absent member was not carried by the spans: it is unknown, not empty. */
export interface ToolCall {
  readonly name: string;
  /** The model's id of this call. */
  readonly id?: string;
  /** A stable id of the tool itself, not of the call. */
  readonly toolId?: string;
  /** Null: arguments were sent but are not an object; `argumentsText` holds what was sent. */
  readonly arguments?: JsonObject | null;
  readonly argumentsText?: string;
  /** Null: the tool returned nothing. */
  readonly result?: JsonValue;
  /** What the spans carry of arguments or a result that was cut short on the way. The value itself is then absent: it is not known. */
  readonly truncated?: { readonly arguments?: string; readonly result?: string };
  readonly error?: ToolError;
  /** The status of the tool's span is OK, which states success. A status that is unset states nothing. */
  readonly statedOk?: true;
  /** False: a model asked for the call and nothing shows that it ran. */
  readonly executed: boolean;
  readonly spanId?: SpanId;
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
  /** Calls with the same number were asked for in one model turn. */
  readonly turn?: number;
  readonly provenance?: { readonly [field in 'name' | 'id' | 'arguments' | 'result' | 'error']?: Provenance };
  /** What a program notes of the call besides, such as its latency; no evaluator of ours looks at it. */
  readonly metadata?: JsonObject;
}

/** The contract of a tool: what the model was told that it may call. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
  /** Its description or its schema was cut short on the way, and is absent. */
  readonly truncated?: true;
}

/** One message of the conversation, in order. */
export interface TraceMessage {
  /** As it was told: system, user, assistant, tool, … */
  readonly role: string;
  readonly text?: string;
  /** The calls that this message asks for, by their index in `toolCalls`. */
  readonly calls: readonly number[];
}

export interface ModelCall {
  readonly spanId?: SpanId;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  /** Among the input tokens. */
  readonly cachedInputTokens?: number;
  /** Among the output tokens. */
  readonly reasoningTokens?: number;
  /** US dollars, as the call itself was told to cost; never computed. */
  readonly toldCost?: number;
  /** True: the request ended in an error. */
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

/** A link to the agent trace of a sub-agent; `via` tells how the work was passed on. */
export interface SubAgent {
  readonly spanId: SpanId;
  /** Present where its run is known under another trace id than this one, having closed before it was known to work for it. */
  readonly traceId?: TraceId;
  readonly agent?: string;
  readonly via: 'handoff' | 'tool' | 'child_span';
  readonly viaTool?: string;
}

/**
 * complete: everything that the spans announce has arrived. partial: something was still missing when it closed.
 * abandoned: no agent span ever came. evicted: closed early to stay within memory.
 */
export type Completeness = 'complete' | 'partial' | 'abandoned' | 'evicted';

/** spans: a span of the agent or of a request to a model lost attributes, or the end of one, to a limit; calls, definitions or documents may be missing. */
export type TruncatedPart = 'input' | 'final_response' | 'system_prompt' | 'spans';

export interface AgentTrace {
  readonly agent?: string;
  readonly input?: string;
  readonly finalResponse?: JsonValue;
  readonly systemPrompt?: string;
  readonly model?: string;
  readonly sessionId?: string;
  /** Start and end of the run; absent where nothing tells them. */
  readonly startUnixNano?: bigint;
  readonly endUnixNano?: bigint;
  readonly status: 'ok' | 'error';
  readonly errorMessage?: string;
  /** In order: start time, then message order, then end time, then span id. */
  readonly toolCalls: readonly ToolCall[];
  readonly toolDefinitions: readonly ToolDefinition[];
  readonly modelCalls: readonly ModelCall[];
  readonly documents: readonly RetrievedDocument[];
  /** Absent: the order of texts and calls is known only as far as the other members tell it. */
  readonly messages?: readonly TraceMessage[];
  readonly reasoningSteps: readonly string[];
  readonly subAgents: readonly SubAgent[];
  /** Input and output tokens of this agent's own model calls; absent when no span carries any. */
  readonly tokens?: { readonly input?: number; readonly output?: number };
  /** Tasks that the spans or a builder name; absent when there are none to know. */
  readonly tasks?: readonly string[];
  readonly constraints?: string;
  /** False: this dialect, as configured, carries no tool data at all, so zero calls is no evidence. */
  readonly toolCallsCarried: boolean;
  /** What the spans carry in part only. Texts are there as far as they were carried. Absent: nothing shows that anything is missing. */
  readonly truncated?: readonly TruncatedPart[];
}

/** What identifies a run: the agent span (or local root) it hangs on. */
export interface RunKey {
  readonly tenant: Tenant;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
}

/** An agent trace with its place in the stream of spans. */
export interface Run extends RunKey {
  /** The trace that the agent's span is in, where that is another one: a run over linked traces is known, with its sub-agents, under one trace id. */
  readonly spanTraceId?: TraceId;
  readonly trace: AgentTrace;
  readonly dialects: readonly string[];
  readonly service?: string;
  readonly serviceVersion?: string;
  readonly resourceAttributes: JsonObject;
  readonly traceState: string;
  readonly parent?: RunKey;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly completeness: Completeness;
  /** 1 for the first close; spans that come later make 2, 3, … under the same key. */
  readonly revision: number;
  /** Hash of the content: a later revision is made only when it changes. */
  readonly contentHash: string;
  readonly expected?: JsonValue;
  /** This closed as a run, and later spans showed that it is part of another one, which says all that it said. */
  readonly partOf?: RunKey;
  /** It stands for the session whose last turn it is. */
  readonly session?: SessionSoFar;
}

/** A session as it is judged as a whole. */
export interface SessionSoFar {
  /** 1 for the first time that it is judged; a change of the session makes 2, 3, …. */
  readonly revision: number;
  readonly turns: number;
  /** Of these, the ones that are not shown. */
  readonly leftOut: number;
  /** The turns before the last one, in order; absent where nobody asks about them any more. */
  readonly earlier?: readonly AgentTrace[];
}
