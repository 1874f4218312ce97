/**
 * The contract of a collector: how one dialect of span attributes is recognised, which keys it wants, and how it reads them.
 * Collectors here gather a run out of spans; the OpenTelemetry Collector is another program.
 */
import type { RetrievedDocument, ToolDefinition } from '../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Attributed, LogRecord, Span } from '../src/model/span.ts';
import type { SpanEvidence } from '../src/model/evidence.ts';

/**
 * agent: one agent at work. workflow: encloses agents and is not an agent. model: one request to a model. tool: one execution of a tool. retriever:
 * one retrieval. step: a stage of the framework without further meaning. noise: a span without facts, whose children belong to its parent.
 */
export type SpanRole = 'agent' | 'workflow' | 'model' | 'tool' | 'retriever' | 'step' | 'noise';

/** A tool call as a model asked for it. */
export interface RequestedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: JsonObject | null;
  readonly argumentsText?: string;
  /** The remainder of arguments that were truncated on the way; `arguments` is then absent. */
  readonly argumentsPart?: string;
  /** True when the provider of the model runs the tool itself. */
  readonly byProvider?: true;
}

/** A tool's result as the model received it. */
export interface ReportedResult {
  readonly id?: string;
  readonly name?: string;
  /** Absent when the model received a result whose content is not carried. */
  readonly result?: JsonValue;
  /** The remainder of a result that was truncated on the way. */
  readonly resultPart?: string;
  readonly isError?: boolean;
}

/** One message of a conversation with a model, in any dialect. */
export interface Message {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly text?: string;
  readonly reasoning?: string;
  /** The finish reason beside the message. */
  readonly end?: string;
  readonly requested: readonly RequestedCall[];
  readonly results: readonly ReportedResult[];
}

export interface ToolFacts extends Partial<RequestedCall> {
  readonly toolId?: string;
  /** True when the name has the framework's spelling, and the model may use another one. */
  readonly nameIsGuess?: true;
  /** `null` when the tool returned nothing, absent when it is not carried. */
  readonly result?: JsonValue;
  /** The remainder of a result that was truncated on the way; `result` is then absent. */
  readonly resultPart?: string;
  /** The dialect marks the call as failed beyond the span's status. */
  readonly failed?: { readonly message: string; readonly type?: string };
  /** The dialect marks the call as one that waits for a person or another program. */
  readonly waits?: true;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
  /** True when the span shows how the call of the tool span around it was carried out; the tool may have another name there. */
  readonly insideCall?: true;
}

/** The facts about a run in one span, or in the log records that belong to it. An absent member is not reported. */
export interface SpanFacts {
  readonly role?: SpanRole;
  /** True when the span names an operation that the conventions do not know, so that another reader may know its role better. */
  readonly roleIsGuess?: boolean;
  readonly agentName?: string;
  /** True when the name is only the span's name, and another span may know a better one. */
  readonly agentNameIsGuess?: boolean;
  readonly sessionId?: string;
  readonly input?: string;
  readonly output?: JsonValue;
  /** Dumps that hold the input or output among other things. Used only where nothing better is known. */
  readonly inputDump?: string;
  readonly outputDump?: string;
  readonly systemPrompt?: string;
  readonly inputMessages?: readonly Message[];
  readonly outputMessages?: readonly Message[];
  readonly tool?: ToolFacts;
  readonly toolDefinitions?: readonly ToolDefinition[];
  /** The number of answers that the request asked for, if it has one. */
  readonly choices?: number;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly reasoningTokens?: number;
  readonly documents?: readonly RetrievedDocument[];
  /** The dialect marks the run as one that waits for a person or another program. */
  readonly waits?: true;
  /** The dialect marks the span as failed beyond its status. */
  readonly failed?: { readonly message: string; readonly type?: string };
  /** The agent that a hand-over names as its target. */
  readonly handoffTo?: string;
  /** True when the span lost attributes, or the end of one, to a limit: facts that it lacks may have been there. */
  readonly truncated?: true;
  /** The span goes on with the work of the spans that its links name, mostly in other traces: together they are one run. */
  readonly followsLinks?: true;
  /** Set when the span represents one event of a request or call; `facts` holds the facts of the event. */
  readonly event?: {
    /** The subject of the event. */
    readonly of: string;
    readonly phase: 'begin' | 'between' | 'end';
    readonly facts: SpanFacts;
  };
  /** The content of this span travels in log records, which may come later. */
  readonly contentInLogs?: boolean;
}

/** Any one of these signs is enough, unless `not` names a key that is there. */
export interface Recognition {
  readonly scopes?: readonly string[];
  readonly scopePrefixes?: readonly string[];
  readonly scopeMatches?: (name: string) => boolean;
  readonly keys?: readonly string[];
  readonly keyPrefixes?: readonly string[];
  /** For spans that have no other sign. */
  readonly namePrefixes?: readonly string[];
  readonly notKeys?: readonly string[];
  /** Excludes spans for which it is true. The same for all spans with the same keys. */
  readonly unless?: (span: Span) => boolean;
  /** Only for the reader by evidence: true when the keys of a span suffice. The same for all spans with the same keys. */
  readonly evidence?: (span: Span) => boolean;
}

/** The attribute keys that `read` looks at. A test proves that it looks at no other. */
export interface Wants {
  readonly keys: readonly string[];
  readonly prefixes: readonly string[];
}

export interface CaptureHints {
  /** Inputs, answers, arguments and results. */
  readonly content: string;
  /** Tool definitions and their schemas. */
  readonly tools?: string;
}

/** The data that evaluators look at and spans can carry. */
export type Carried = 'input' | 'final_response' | 'tool_calls' | 'tool_arguments' | 'tool_results' | 'tool_definitions' | 'tokens';

/** The places where a dialect writes it, the most direct first: a span's attribute (`*` ends a prefix), `event NAME` on a span, `record NAME` in the log. */
export type CarriedBy = { readonly [field in Carried]?: readonly string[] };

/** A list that is flattened into keys under a prefix, with its trailing dot. */
export interface Flattened {
  readonly prefix: string;
}

/** Texts that spans of one trace repeat: arguments and results are on the tool's span and in the messages of the requests around it. */
export interface RepeatedTexts {
  /** The value of a text, which must not be changed. A text is always read by the same function. */
  text<T>(text: string, read: (text: string) => T): T;
}

/**
 * The facts that the spans of one trace have shown. Every request to a model repeats the conversation so far and mostly the same tools: only the new
 * part of the next request is read. The facts are the same as without it, only sooner. Each key and list must always be read in the same way.
 */
export interface Repeats extends RepeatedTexts {
  /** The messages in the text under a key. */
  conversation(from: Attributed, key: string, role: Message['role']): readonly Message[];
  /** The value of the text under a key, where every request of an agent repeats the same words. It must not be changed. */
  same<T>(from: Attributed, key: string, read: (from: Attributed, key: string) => T): T;
  /** The values of the items of a flattened list. */
  items<T>(from: Attributed, list: Flattened, read: (item: JsonValue, texts: RepeatedTexts) => readonly T[]): readonly T[];
  /**
   * True when `holds` is true for every key of a flattened list, or was true where an earlier one had the same items. `holds` must always be the
   * same.
   */
  every(from: Attributed, list: Flattened, holds: (from: Attributed, key: string) => boolean): boolean;
  /** The value of the text under a key, or of a flattened list, that is mostly the same in many traces. It must not be changed. */
  value<T>(from: Attributed, where: string | Flattened, read: () => T): T;
}

export interface Collector {
  readonly id: string;
  /** True when it reads names that many instrumentations write, so that the reader by evidence may add to its facts. */
  readonly isConvention?: boolean;
  /** True when an entry of `dialects` describes it. */
  readonly isConfigured?: boolean;
  /** One line for the dialect page. */
  readonly summary: string;
  readonly recognisedBy: Recognition;
  readonly wants: Wants;
  /** `known`: what the collectors before it in the table read of the span. */
  read(span: Span, repeats?: Repeats, known?: SpanFacts): SpanFacts;
  /** Only for the reader by evidence: true when it reads by its events a span whose keys show nothing. */
  hasEvidenceInEvents?(span: Span): boolean;
  /** Only for the reader by evidence: the evidence for its facts, where the collectors before it reported `before`. */
  evidenceOf?(span: Span, told: SpanFacts, before: SpanFacts): SpanEvidence;
  /**
   * True when `read` would give the role of an agent or a workflow, `undefined` when it would give no role. For dialects that know it without reading
   * the span: every span is asked when it comes, and most are read only when their run closes.
   */
  isAgents?(span: Span): boolean | undefined;
  /** Removes facts from those that the readers of a span reported. Omitted when the collector takes nothing away. */
  readonly without?: (facts: SpanFacts) => SpanFacts;
  /** Public pages that it was written from, where no recording of the dialect exists. */
  readonly documentedAt?: readonly string[];
  /** The settings of the SDK that make the spans carry what evaluators need, a sentence each. */
  readonly captureHints?: CaptureHints;
  /** The data that the dialect writes itself, beside the data of its spans in another dialect. A test proves each place with a recording. */
  readonly carriedBy?: CarriedBy;
  /** Log records that carry content of this dialect. `read` gets all records of one span, in order of time. */
  readonly logs?: {
    readonly events: readonly string[];
    /** Names of further events, where an event is named after the library that sent it. */
    readonly takes?: (eventName: string) => boolean;
    /** Attribute keys beside the body; declared like those of spans. */
    readonly wants: Wants;
    read(records: readonly LogRecord[]): SpanFacts;
  };
}

export function takesEvent({ logs }: Collector, eventName: string): boolean {
  return logs !== undefined && (logs.events.includes(eventName) || logs.takes?.(eventName) === true);
}

export function recognises(collector: Collector, span: Span): boolean {
  const by = collector.recognisedBy;
  if (by.notKeys?.some((key) => span.attribute(key) !== undefined)) return false;
  const isSigned =
    (by.scopes?.includes(span.scope.name) ?? false) ||
    (by.scopePrefixes?.some((prefix) => span.scope.name.startsWith(prefix)) ?? false) ||
    (by.scopeMatches?.(span.scope.name) ?? false) ||
    (by.namePrefixes?.some((prefix) => span.name.startsWith(prefix)) ?? false) ||
    (by.evidence?.(span) ?? false) ||
    (by.keys?.some((key) => span.attribute(key) !== undefined) ?? false) ||
    (by.keyPrefixes !== undefined && span.attributeKeys().some((key) => by.keyPrefixes?.some((prefix) => key.startsWith(prefix))));
  return isSigned && by.unless?.(span) !== true;
}

/** The dialects of the configuration before the built-in ones. Returns the same list while the dialects are the same, because caches are kept by list. */
export function collectorsInForce(dialects: () => readonly Collector[], collectors: readonly Collector[]): () => readonly Collector[] {
  let known: readonly Collector[] = [];
  let all = collectors;
  return () => {
    const own = dialects();
    if (own !== known) [known, all] = [own, own.length === 0 ? collectors : [...own, ...collectors]];
    return all;
  };
}
