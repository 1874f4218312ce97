/** Routes on the spans of one run as its collectors read them: the timeline, one span, and the conversation with the models. */
import type { Message, ReportedResult, RequestedCall, SpanFacts, ToolFacts } from '../../../collectors/collector.ts';
import { type JsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import { endOf, type Span } from '../../model/span.ts';
import { timeText } from '../../model/timestamp.ts';
import { type ConversationMessage, conversationOf, repeatedMessages } from '../../pipeline/reporting/conversation.ts';
import type { ReadSpan } from '../../pipeline/reporting/span-readings.ts';
import { spanJson, spanKinds, spansGoneJson } from './json.ts';
import { type ReadRun, readSpans, readSpansMax } from '../run-reader.ts';
import { collectorsOf, runKeyOf, spanId } from './one-run.ts';
import { tenant, traceId } from './run-list.ts';
import { type ApiDeps, count, object, type Parameters, type Route, text, time } from './route.ts';

/** Messages of one answer, and characters of all of them. */
const messagesMax = 2_000;
const answerCharsMax = 4_000_000;
/** Characters of a text of a message. */
const textCharsDefault = 20_000;
const textCharsMax = 1_000_000;
/** Characters of a name or of an error in the timeline. */
const nameCharsMax = 200;
const listMax = 200;

const orNull = (schema: JsonObject): JsonObject => ({ ...schema, type: [String(schema['type']), 'null'] });
const textOrNull = orNull(text);
const gone: JsonObject = { anyOf: [{ $ref: '#/components/schemas/Gone' }, { type: 'null' }], description: 'Why the store has no spans.' };
const textMax = {
  type: 'integer',
  minimum: 100,
  maximum: textCharsMax,
  default: textCharsDefault,
  description: 'Characters of one text, argument list or result. `cut` marks messages with a longer one.',
} as const;
const roles = ['agent', 'workflow', 'model', 'tool', 'retriever', 'step', 'noise'] as const;
const role: JsonObject = { enum: [...roles, null], description: 'What the span stands for; null: no collector knows it.' };
const path = { trace: traceId, span: spanId };
const brief = {
  enum: ['true', 'false'],
  description:
    '`true`: spans without `kind`, `service`, tokens and `events`, without members that are null or empty, and without the `trace_id` of the run.',
} as const;

export const runSpanSchemas: { readonly [name: string]: JsonObject } = {
  TimelineSpan: {
    ...object(
      {
        span_id: text,
        of_run: { type: 'boolean', description: 'True: it is the run’s span or a descendant.' },
        name: text,
        status: { enum: ['unset', 'ok', 'error'] },
        started_at: time,
        ended_at: time,
      },
      {
        trace_id: text,
        parent_span_id: textOrNull,
        kind: { enum: spanKinds },
        role,
        agent: textOrNull,
        tool: textOrNull,
        model: textOrNull,
        service: textOrNull,
        status_message: text,
        input_tokens: orNull(count),
        output_tokens: orNull(count),
        events: count,
      },
    ),
    description: 'All members are present without `brief`.',
  },
  RequestedCall: object({
    id: textOrNull,
    name: text,
    arguments: { description: 'An object, or the text of arguments that are none; null: not carried.' },
  }),
  ReportedResult: object({
    id: textOrNull,
    name: textOrNull,
    result: { description: 'Null: the tool returned nothing, or its result is not carried.' },
    is_error: orNull({ type: 'boolean' }),
  }),
  Message: object({
    role: { enum: ['system', 'user', 'assistant', 'tool'] },
    text: textOrNull,
    reasoning: textOrNull,
    calls: { type: 'array', items: { $ref: '#/components/schemas/RequestedCall' } },
    results: { type: 'array', items: { $ref: '#/components/schemas/ReportedResult' } },
    of_answer: { type: 'boolean', description: 'True: the model gave it; false: the request contains it.' },
    trace_id: { ...text, description: 'Of the model call.' },
    span_id: { ...text, description: 'Of the model call that shows the message first.' },
    at: time,
    model: textOrNull,
    cut: { type: 'boolean', description: 'True: a text is shortened.' },
  }),
  ReadSpan: object({
    span: { $ref: '#/components/schemas/Span' },
    role,
    agent: textOrNull,
    dialects: { type: 'array', items: text, description: 'Collectors that read the span.' },
    model: textOrNull,
    input_tokens: orNull(count),
    output_tokens: orNull(count),
    cached_input_tokens: orNull(count),
    reasoning_tokens: orNull(count),
    input: { ...textOrNull, description: 'Of an agent or a retriever.' },
    output: { description: 'Of an agent or a retriever.' },
    tool: {
      anyOf: [
        object({
          name: textOrNull,
          id: textOrNull,
          arguments: { description: 'An object, or a text; null: not carried.' },
          result_carried: { type: 'boolean' },
          result: {},
          description: textOrNull,
          input_schema: {},
        }),
        { type: 'null' },
      ],
    },
    tool_definitions: {
      type: 'array',
      items: object({ name: text, description: textOrNull, input_schema: {} }),
      description: 'What the model call offers.',
    },
    documents: { type: 'array', items: object({ id: textOrNull, content: textOrNull, score: { type: ['number', 'null'] } }) },
    messages: { type: 'array', items: { $ref: '#/components/schemas/Message' } },
    repeated_messages: { ...count, description: 'Leading messages that the model call before it had too.' },
    left_out: { ...count, description: `Messages beyond ${messagesMax}, or beyond the size of an answer.` },
  }),
};

export const runSpanRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs/{trace}/{span}/timeline',
    summary: `At most ${readSpansMax} stored spans of the run’s trace, without attributes, with what each stands for. Spans of the run come first, by start.`,
    path_parameters: path,
    query_parameters: { tenant, brief },
    answer: {
      type: 'object',
      required: ['spans', 'next', 'left_out', 'whole', 'spans_gone'],
      properties: {
        spans: { type: 'array', items: { $ref: '#/components/schemas/TimelineSpan' } },
        next: { type: 'null' },
        left_out: { ...count, description: `Spans beyond ${readSpansMax}.` },
        whole: { type: ['boolean', 'null'], description: 'False: some spans of the trace are not stored.' },
        spans_gone: gone,
      },
    },
    async handle(deps, query) {
      const found = await foundRun(deps, query);
      if (found === undefined) return undefined;
      const { spans, gone: whyGone } = found;
      if (spans === undefined) return { spans: [], next: null, left_out: 0, whole: null, spans_gone: await whyGone() };
      const { kept, read, own } = spans;
      return {
        spans: read.map((one) =>
          query['brief'] === 'true' ? briefJson(one, own.has(one.span), query['trace']) : timelineJson(one, own.has(one.span)),
        ),
        next: null,
        left_out: kept.spans.length - read.length,
        whole: kept.isWhole,
        spans_gone: null,
      };
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/spans/{id}',
    summary: 'One stored span of the run’s trace, with what the collectors read of it, such as the messages of a model call.',
    path_parameters: { ...path, id: spanId },
    query_parameters: { tenant, text_max: textMax },
    answer: { $ref: '#/components/schemas/ReadSpan' },
    missing: { message: 'The store has no such span.', todo: 'Read spans_gone of the run, and the ids of its timeline.' },
    async handle(deps, query) {
      const spans = (await foundRun(deps, query))?.spans;
      if (spans === undefined) return undefined;
      const { kept, read, own } = spans;
      const isWanted = ({ spanId: id }: Span): boolean => id === query['id'];
      const at = read.findIndex(({ span }) => isWanted(span));
      const unread = at < 0 ? kept.spans.find(isWanted) : undefined;
      const one = read[at] ?? (unread === undefined ? undefined : (await readSpans({ ...kept, spans: [unread] }, collectorsOf(deps)))[0]);
      if (one === undefined) return undefined;
      const isOwn = own.has(one.span);
      // The model call before it says which messages are new.
      return readSpanJson(one, { before: isOwn ? read.slice(0, Math.max(0, at)) : [], isOwn, charsMax: charsOf(query) });
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/conversation',
    summary: `The conversation of the run and its sub-agents with their models as it grew: each message once, ${messagesMax} at most.`,
    path_parameters: path,
    query_parameters: { tenant, text_max: textMax },
    answer: {
      type: 'object',
      required: ['messages', 'next', 'left_out', 'whole', 'spans_gone'],
      properties: {
        messages: { type: 'array', items: { $ref: '#/components/schemas/Message' } },
        next: { type: 'null' },
        left_out: { ...count, description: 'Messages beyond the limits of an answer.' },
        whole: { type: ['boolean', 'null'], description: 'False: some spans of the trace are not stored.' },
        spans_gone: gone,
      },
    },
    async handle(deps, query) {
      const found = await foundRun(deps, query);
      if (found === undefined) return undefined;
      const { spans, gone: whyGone } = found;
      if (spans === undefined) return { messages: [], next: null, left_out: 0, whole: null, spans_gone: await whyGone() };
      const { kept, read, own } = spans;
      // A trace that lacks the run's span says nothing about what is the run's.
      const ofRun = own.size === 0 ? read : read.filter(({ span }) => own.has(span));
      const calls = ofRun.filter(({ reading }) => reading.facts.role === 'model');
      const models = new Map(calls.map(({ span, reading }) => [span, reading.facts.model]));
      const { messages, leftOut } = boundedMessages(conversationOf(calls), charsOf(query), ({ span }) => models.get(span));
      return { messages, next: null, left_out: leftOut, whole: kept.isWhole, spans_gone: null };
    },
  },
];

interface FoundRun {
  /** `undefined` when the store has none. */
  readonly spans: ReadRun | undefined;
  /** Why there are none. */
  readonly gone: () => Promise<JsonValue>;
}

/** Without the content and the verdicts of the run: a large one has megabytes. */
async function foundRun(deps: ApiDeps, query: Parameters): Promise<FoundRun | undefined> {
  const { store, runs } = deps;
  const key = runKeyOf(query);
  const [known] = await store.known([key]);
  if (known?.runs.some(({ spanId: id }) => id === key.spanId) !== true) return undefined;
  return {
    spans: await runs.read(key, collectorsOf(deps)),
    async gone() {
      const run = await store.run(key);
      return run === undefined ? null : spansGoneJson(run);
    },
  };
}

function charsOf({ text_max: given }: Parameters): number {
  return typeof given === 'number' ? given : textCharsDefault;
}

function timelineJson({ span, reading: { facts } }: ReadSpan, isOwn: boolean): JsonObject {
  const service = span.resource.attribute('service.name');
  return {
    trace_id: span.traceId,
    span_id: span.spanId,
    parent_span_id: span.parentSpanId ?? null,
    of_run: isOwn,
    name: short(span.name),
    kind: spanKinds[span.kind],
    role: facts.role ?? null,
    agent: facts.agentName === undefined ? null : short(facts.agentName),
    tool: facts.tool?.name === undefined ? null : short(facts.tool.name),
    model: facts.model === undefined ? null : short(facts.model),
    service: typeof service === 'string' ? short(service) : null,
    status: span.status.code,
    status_message: short(span.status.message),
    started_at: timeText(span.startUnixNano),
    ended_at: timeText(endOf(span)),
    input_tokens: tokens(facts.inputTokens),
    output_tokens: tokens(facts.outputTokens),
    events: span.events.length,
  };
}

/** What a waterfall shows. A run of thousands of spans has megabytes of members that say nothing. */
function briefJson({ span, reading: { facts } }: ReadSpan, isOwn: boolean, trace: Parameters[string]): JsonObject {
  const row: { [key: string]: JsonValue } = {
    span_id: span.spanId,
    of_run: isOwn,
    name: short(span.name),
    status: span.status.code,
    started_at: timeText(span.startUnixNano),
    ended_at: timeText(endOf(span)),
  };
  if (span.traceId !== trace) row['trace_id'] = span.traceId;
  if (span.parentSpanId !== undefined) row['parent_span_id'] = span.parentSpanId;
  if (facts.role !== undefined) row['role'] = facts.role;
  if (facts.agentName !== undefined) row['agent'] = short(facts.agentName);
  if (facts.tool?.name !== undefined) row['tool'] = short(facts.tool.name);
  if (facts.model !== undefined) row['model'] = short(facts.model);
  if (span.status.message !== '') row['status_message'] = short(span.status.message);
  return row;
}

interface ReadSpanOptions {
  /** Spans of the run that started earlier. */
  readonly before: readonly ReadSpan[];
  readonly isOwn: boolean;
  readonly charsMax: number;
}

function readSpanJson({ span, reading: { facts, dialects } }: ReadSpan, { before, isOwn, charsMax }: ReadSpanOptions): JsonObject {
  const { inputMessages = [], outputMessages = [] } = facts;
  const messages = [
    ...inputMessages.map((message) => ({ message, span, isAnswer: false })),
    ...outputMessages.map((message) => ({ message, span, isAnswer: true })),
  ];
  const earlier = before.findLast(
    ({ reading, span: other }) =>
      reading.facts.role === 'model' && (reading.facts.inputMessages?.length ?? 0) > 0 && other.endUnixNano <= span.endUnixNano,
  );
  const known =
    earlier === undefined ? [] : [...(earlier.reading.facts.inputMessages ?? []), ...(earlier.reading.facts.outputMessages ?? [])];
  const bounded = boundedMessages(messages, charsMax, () => facts.model);
  return {
    span: spanJson(span, isOwn),
    role: facts.role ?? null,
    agent: facts.agentName ?? null,
    dialects: [...dialects],
    model: facts.model ?? null,
    input_tokens: tokens(facts.inputTokens),
    output_tokens: tokens(facts.outputTokens),
    cached_input_tokens: tokens(facts.cachedInputTokens),
    reasoning_tokens: tokens(facts.reasoningTokens),
    ...inputAndOutput(facts, charsMax),
    tool: facts.tool === undefined ? null : toolJson(facts.tool, charsMax),
    tool_definitions: (facts.toolDefinitions ?? []).slice(0, listMax).map(({ name, description, inputSchema }) => ({
      name,
      description: description ?? null,
      input_schema: boundedJson(inputSchema ?? null, charsMax).value,
    })),
    documents: (facts.documents ?? []).slice(0, listMax).map(({ id, content, score }) => ({
      id: id ?? null,
      content: content?.slice(0, charsMax) ?? null,
      score: score ?? null,
    })),
    messages: bounded.messages,
    repeated_messages: Math.min(repeatedMessages(inputMessages, known), bounded.messages.length),
    left_out: bounded.leftOut,
  };
}

/** Of model and tool calls the messages, arguments and results say the same. */
function inputAndOutput({ role: of, input, output, inputDump, outputDump }: SpanFacts, charsMax: number): JsonObject {
  if (of === 'model' || of === 'tool') return { input: null, output: null };
  return {
    input: (input ?? inputDump)?.slice(0, charsMax) ?? null,
    output: boundedJson(output ?? outputDump ?? null, charsMax).value,
  };
}

function toolJson(tool: ToolFacts, charsMax: number): JsonObject {
  const { name, id, result, resultPart, description, inputSchema } = tool;
  return {
    name: name ?? null,
    id: id ?? null,
    arguments: boundedJson(argumentsOf(tool), charsMax).value,
    result_carried: result !== undefined || resultPart !== undefined,
    result: boundedJson(result ?? resultPart ?? null, charsMax).value,
    description: description ?? null,
    input_schema: boundedJson(inputSchema ?? null, charsMax).value,
  };
}

function boundedMessages(
  all: readonly ConversationMessage[],
  charsMax: number,
  modelOf: (message: ConversationMessage) => string | undefined,
): { readonly messages: readonly JsonObject[]; readonly leftOut: number } {
  const messages: JsonObject[] = [];
  let chars = 0;
  for (const one of all.slice(0, messagesMax)) {
    const json = messageJson(one, modelOf(one), charsMax);
    chars += jsonText(json).length;
    if (messages.length > 0 && chars > answerCharsMax) break;
    messages.push(json);
  }
  return { messages, leftOut: all.length - messages.length };
}

function messageJson({ message, span, isAnswer }: ConversationMessage, model: string | undefined, charsMax: number): JsonObject {
  const { role: of, text: said, reasoning, requested, results } = message;
  const calls = requested.slice(0, listMax).map((call) => callJson(call, charsMax));
  const reported = results.slice(0, listMax).map((result) => resultJson(result, charsMax));
  return {
    role: of,
    text: said?.slice(0, charsMax) ?? null,
    reasoning: reasoning?.slice(0, charsMax) ?? null,
    calls: calls.map(({ json }) => json),
    results: reported.map(({ json }) => json),
    of_answer: isAnswer,
    trace_id: span.traceId,
    span_id: span.spanId,
    at: timeText(isAnswer ? endOf(span) : span.startUnixNano),
    model: model ?? null,
    cut:
      (said?.length ?? 0) > charsMax ||
      (reasoning?.length ?? 0) > charsMax ||
      isAnyCut(message) ||
      [...calls, ...reported].some(({ isCut }) => isCut),
  };
}

function isAnyCut({ requested, results }: Message): boolean {
  return requested.length > listMax || results.length > listMax;
}

function callJson(call: RequestedCall, charsMax: number): { readonly json: JsonObject; readonly isCut: boolean } {
  const { value, isCut } = boundedJson(argumentsOf(call), charsMax);
  return { json: { id: call.id ?? null, name: call.name, arguments: value }, isCut };
}

function resultJson(
  { id, name, result, resultPart, isError }: ReportedResult,
  charsMax: number,
): { readonly json: JsonObject; readonly isCut: boolean } {
  const { value, isCut } = boundedJson(result ?? resultPart ?? null, charsMax);
  return { json: { id: id ?? null, name: name ?? null, result: value, is_error: isError ?? null }, isCut };
}

function argumentsOf({ arguments: sent, argumentsText, argumentsPart }: Partial<RequestedCall>): JsonValue {
  return sent ?? argumentsText ?? argumentsPart ?? null;
}

/** A larger value becomes the beginning of its text. */
function boundedJson(value: JsonValue, charsMax: number): { readonly value: JsonValue; readonly isCut: boolean } {
  const written = typeof value === 'string' ? value : jsonText(value);
  return written.length <= charsMax ? { value, isCut: false } : { value: written.slice(0, charsMax), isCut: true };
}

function short(name: string): string {
  return name.slice(0, nameCharsMax);
}

function tokens(value: number | undefined): JsonValue {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
