/**
 * The contract of a collector: how one dialect of span attributes is recognised, which keys it wants, and how it reads them.
 * Collectors here gather a run out of spans; the OpenTelemetry Collector is another program.
 */
import type { RetrievedDocument, ToolDefinition } from '../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Attributed, LogRecord, Span } from '../src/model/span.ts';
import type { SpanEvidence } from '../src/model/evidence.ts';

/**
 * agent: one agent at work. workflow: encloses agents and is none itself. model: one request to a model. tool: one execution of a tool.
 * retriever: one retrieval. step: a stage of the framework without a meaning of its own.
 * noise: a span that tells nothing and whose children belong to its parent.
 */
export type SpanRole = 'agent' | 'workflow' | 'model' | 'tool' | 'retriever' | 'step' | 'noise';

/** A tool call as a model asked for it. */
export interface RequestedCall {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: JsonObject | null;
  readonly argumentsText?: string;
  /** What is left of arguments that were cut short on the way; `arguments` is then absent. */
  readonly argumentsPart?: string;
  /** True: the provider of the model runs the tool itself. */
  readonly byProvider?: true;
}

/** A tool's result as a model was told it. */
export interface ReportedResult {
  readonly id?: string;
  readonly name?: string;
  /** Absent: the model was told a result, but its content is not carried. */
  readonly result?: JsonValue;
  /** What is left of a result that was cut short on the way. */
  readonly resultPart?: string;
  readonly isError?: boolean;
}

/** One message of a conversation with a model, whatever the dialect. */
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
  /** True: the name is spelled as the framework spells it, and the model may have another spelling. */
  readonly nameIsGuess?: true;
  /** Null: the tool returned nothing. Absent: not carried. */
  readonly result?: JsonValue;
  /** What is left of a result that was cut short on the way; `result` is then absent. */
  readonly resultPart?: string;
  /** The dialect marks the call as failed beyond the span's status. */
  readonly failed?: { readonly message: string; readonly type?: string };
  /** The dialect marks the call as one that waits for a person or another program. */
  readonly waits?: true;
  readonly description?: string;
  readonly inputSchema?: JsonValue;
  /** The span tells how the call of the tool span around it was carried out; the tool may bear another name there. */
  readonly insideCall?: true;
}

/** What one span, or the log records that belong to it, tell about a run. An absent member is not told. */
export interface SpanFacts {
  readonly role?: SpanRole;
  /** True: the span names an operation that the conventions do not know, so that another reader may know its role better. */
  readonly roleIsGuess?: boolean;
  readonly agentName?: string;
  /** True: the name is only the span's name, and another span may know a better one. */
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
  /** Answers that the request asked for, where it says so. */
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
  /** The span lost attributes, or the end of one, to a limit: what it does not tell may have been there. */
  readonly truncated?: true;
  /** The span goes on with the work of the spans that its links name, mostly in other traces: together they are one run. */
  readonly followsLinks?: true;
  /** The span stands for one event of a request or call; `told` holds the facts that the event carries. */
  readonly event?: {
    /** What the event happened to. */
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
  /** No span of which this is true. The same for all spans with the same keys. */
  readonly unless?: (span: Span) => boolean;
  /** For the reader by evidence alone: whether the keys of a span say enough. The same for all spans with the same keys. */
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

/** What evaluators look at and spans can carry. */
export type Carried = 'input' | 'final_response' | 'tool_calls' | 'tool_arguments' | 'tool_results' | 'tool_definitions' | 'tokens';

/** The places where a dialect writes it, the most direct first: a span's attribute (`*` ends a prefix), `event NAME` on a span, `record NAME` in the log. */
export type CarriedBy = { readonly [field in Carried]?: readonly string[] };

/** A list that is flattened into keys under a prefix, with its trailing dot. */
export interface Flattened {
  readonly prefix: string;
}

/** Texts that spans of one trace repeat: arguments and results stand on the tool's span and in the messages of the requests around it. */
export interface RepeatedTexts {
  /** What the text tells. A text is always read by the same function. The value must not be changed. */
  text<T>(text: string, read: (text: string) => T): T;
}

/**
 * What the spans of one trace have told. Every request to a model repeats the conversation so far and mostly the same tools: of the next one
 * only what is new is read. What is told is the same as without it, only sooner. Each key and list must always be read in the same way.
 */
export interface Repeats extends RepeatedTexts {
  /** The messages in the text under a key. */
  conversation(from: Attributed, key: string, role: Message['role']): readonly Message[];
  /** What the text under a key tells, for what every request of an agent says in the same words. It must not be changed. */
  same<T>(from: Attributed, key: string, read: (from: Attributed, key: string) => T): T;
  /** What the items of a flattened list tell. */
  items<T>(from: Attributed, list: Flattened, read: (item: JsonValue, texts: RepeatedTexts) => readonly T[]): readonly T[];
  /** True: `holds` says so of every key of a flattened list, or said so where an earlier one had the same items. Always the same is asked. */
  every(from: Attributed, list: Flattened, holds: (from: Attributed, key: string) => boolean): boolean;
  /** What the text under a key, or a flattened list, tells; for what is mostly the same in many traces. It must not be changed. */
  value<T>(from: Attributed, where: string | Flattened, read: () => T): T;
}

export interface Collector {
  readonly id: string;
  /** True: it reads names that many instrumentations write, so that the reader by evidence may add to what it tells. */
  readonly isConvention?: boolean;
  /** True: an entry of `dialects` describes it. */
  readonly isConfigured?: boolean;
  /** One line for the dialect page. */
  readonly summary: string;
  readonly recognisedBy: Recognition;
  readonly wants: Wants;
  /** `known`: what the collectors before it in the table read of the span. */
  read(span: Span, repeats?: Repeats, known?: SpanFacts): SpanFacts;
  /** For the reader by evidence alone: whether it reads a span whose keys say nothing by its events. */
  hasEvidenceInEvents?(span: Span): boolean;
  /** For the reader by evidence alone: how it knows what it told, where the collectors before it told `before`. */
  evidenceOf?(span: Span, told: SpanFacts, before: SpanFacts): SpanEvidence;
  /**
   * Whether `read` would tell the role of an agent or a workflow; undefined: it would tell no role. For dialects that know it without reading the
   * span: every span is asked when it comes, and most are read only when their run closes.
   */
  isAgents?(span: Span): boolean | undefined;
  /** What is left of all that the readers of a span told. Absent: the collector takes nothing away. */
  readonly without?: (facts: SpanFacts) => SpanFacts;
  /** Public pages that it was written from, where no recording of the dialect exists. */
  readonly documentedAt?: readonly string[];
  /** What to switch on in the SDK so that the spans carry what evaluators need, a sentence each. */
  readonly captureHints?: CaptureHints;
  /** What the dialect writes itself, beside what spans of it say in another dialect. A test proves each place with a recording. */
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

/** The dialects of the configuration before the built-in ones. The same list while the dialects are the same: what is known of it is kept by it. */
export function collectorsInForce(dialects: () => readonly Collector[], collectors: readonly Collector[]): () => readonly Collector[] {
  let known: readonly Collector[] = [];
  let all = collectors;
  return () => {
    const own = dialects();
    if (own !== known) [known, all] = [own, own.length === 0 ? collectors : [...own, ...collectors]];
    return all;
  };
}
