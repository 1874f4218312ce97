/** Routes on the spans of one run as its collectors read them: the timeline, one span, and the conversation with the models. */
import type { ReportedResult, RequestedCall, ToolFacts } from '../../../collectors/collector.ts';
import { type JsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import { endOf, type Span } from '../../model/span.ts';
import { timeText } from '../../model/timestamp.ts';
import { type ConversationMessage, conversationOf, repeatedMessages } from '../../pipeline/reporting/conversation.ts';
import type { ReadSpan } from '../../pipeline/reporting/span-readings.ts';
import { gone, spansGone } from './run-json.ts';
import { serviceOf, spanJson, spanKinds, spanResource } from './span-json.ts';
import { type ReadRun, readSpans, readSpansMax } from '../run-reader.ts';
import { collectorsOf, runKeyOf, spanId } from './one-run.ts';
import { tenant, traceId } from './run-list.ts';
import type { ApiDeps, Parameters, Route } from './route.ts';

/** Messages of one answer, and characters of all of them. */
const messagesMax = 2_000;
const answerCharsMax = 4_000_000;
/** Characters of a text of a message. */
const textCharsDefault = 20_000;
const textCharsMax = 1_000_000;
/** Characters of a name or of an error in the timeline. */
const nameCharsMax = 200;
const listMax = 200;

const whole = api.orNull(api.flag, 'False when some spans of the trace are not stored.');
const spansGoneShape = api.optional(gone, 'Why the store has no spans.');
const textMax = {
  type: 'integer',
  minimum: 100,
  maximum: textCharsMax,
  default: textCharsDefault,
  description: 'Characters of one text, argument list or result. `cut` marks messages with a longer one.',
} as const;
const roles = ['agent', 'workflow', 'model', 'tool', 'retriever', 'step', 'noise'] as const;
const role: JsonObject = { enum: [...roles, null], description: 'The role of the span. Null when no collector knows it.' };
const path = { trace: traceId, span: spanId };
const brief = {
  enum: ['true', 'false'],
  description:
    '`true`: spans without `kind`, `service`, tokens and `events`, without members that are null or empty, and without the `trace_id` of the run.',
} as const;

interface TimelineRow extends ReadSpan {
  readonly isOwn: boolean;
}

const timelineSpan = api.part<TimelineRow>()({
  trace_id: [api.text, ({ span }) => span.traceId],
  span_id: [api.text, ({ span }) => span.spanId],
  parent_span_id: [api.textOrNull(), ({ span }) => span.parentSpanId],
  of_run: [{ ...api.flag, description: 'True for the run’s span and its descendants.' }, ({ isOwn }) => isOwn],
  name: [api.text, ({ span }) => short(span.name)],
  kind: [{ enum: spanKinds }, ({ span }) => spanKinds[span.kind]],
  role: [role, ({ reading }) => reading.facts.role],
  agent: [api.textOrNull(), ({ reading }) => short(reading.facts.agentName)],
  tool: [api.textOrNull(), ({ reading }) => short(reading.facts.tool?.name)],
  model: [api.textOrNull(), ({ reading }) => short(reading.facts.model)],
  service: [api.textOrNull(), ({ span }) => short(serviceOf(span))],
  status: [{ enum: ['unset', 'ok', 'error'] }, ({ span }) => span.status.code],
  status_message: [api.text, ({ span }) => short(span.status.message)],
  started_at: [api.time, ({ span }) => timeText(span.startUnixNano)],
  ended_at: [api.time, ({ span }) => timeText(endOf(span))],
  input_tokens: [api.countOrNull(), ({ reading }) => tokens(reading.facts.inputTokens)],
  output_tokens: [api.countOrNull(), ({ reading }) => tokens(reading.facts.outputTokens)],
  events: [api.count, ({ span }) => span.events.length],
});

const { span_id: ofSpan, of_run: ofRun, name, status, started_at: startedAt, ended_at: endedAt, ...more } = timelineSpan.properties;
const timelineSchema: JsonObject = {
  ...api.object({ span_id: ofSpan, of_run: ofRun, name, status, started_at: startedAt, ended_at: endedAt }, more),
  description: 'All members are present without `brief`.',
};

/** Members that a waterfall shows. The others would be megabytes for a run of thousands of spans. */
const briefAlways = ['span_id', 'of_run', 'name', 'status', 'started_at', 'ended_at'];
const briefMembers = [...briefAlways, 'trace_id', 'parent_span_id', 'role', 'agent', 'tool', 'model', 'status_message'];

const anything = (description?: string): JsonObject => (description === undefined ? {} : { description });

const requestedCall = api.resource<Bounded<RequestedCall>>()('RequestedCall', {
  id: api.textOrNull(),
  name: api.text,
  arguments: [anything('An object, or the text of arguments that are none; null: not carried.'), ({ value }) => value],
});

const reportedResult = api.resource<Bounded<ReportedResult>>()('ReportedResult', {
  id: api.textOrNull(),
  name: api.textOrNull(),
  result: [anything('Null when the tool returned nothing, or its result is not carried.'), ({ value }) => value],
  is_error: api.orNull(api.flag),
});

interface ShownMessage extends ConversationMessage {
  readonly model: string | undefined;
  readonly charsMax: number;
  readonly calls: readonly Bounded<RequestedCall>[];
  readonly results: readonly Bounded<ReportedResult>[];
}

const messageResource = api.resource<ShownMessage>()('Message', {
  role: [{ enum: ['system', 'user', 'assistant', 'tool'] }, ({ message }) => message.role],
  text: [api.textOrNull(), ({ message, charsMax }) => message.text?.slice(0, charsMax)],
  reasoning: [api.textOrNull(), ({ message, charsMax }) => message.reasoning?.slice(0, charsMax)],
  calls: api.many(requestedCall),
  results: api.many(reportedResult),
  of_answer: [{ ...api.flag, description: 'True when the model gave it; false when the request contains it.' }, ({ isAnswer }) => isAnswer],
  trace_id: [{ ...api.text, description: 'Trace of the model call.' }, ({ span }) => span.traceId],
  span_id: [{ ...api.text, description: 'Span of the model call that shows the message first.' }, ({ span }) => span.spanId],
  at: [api.time, ({ isAnswer, span }) => timeText(isAnswer ? endOf(span) : span.startUnixNano)],
  model: api.textOrNull(),
  cut: [{ ...api.flag, description: 'True when a text is shortened.' }, isCut],
});

const toolOfSpan = api.inline<ToolFacts & { readonly charsMax: number }>()({
  name: api.textOrNull(),
  id: api.textOrNull(),
  arguments: [anything('An object, or a text; null: not carried.'), (tool) => bounded(argumentsOf(tool), tool.charsMax).value],
  result_carried: [api.flag, ({ result, resultPart }) => result !== undefined || resultPart !== undefined],
  result: [anything(), ({ result, resultPart, charsMax }) => bounded(result ?? resultPart ?? null, charsMax).value],
  description: api.textOrNull(),
  input_schema: [anything(), ({ inputSchema, charsMax }) => bounded(inputSchema ?? null, charsMax).value],
});

interface ShownSpan extends TimelineRow {
  readonly charsMax: number;
  readonly messages: readonly JsonObject[];
  readonly repeatedMessages: number;
  readonly leftOut: number;
}

/** The messages, arguments and results of model and tool calls say the same as `input` and `output`. */
const isCall = ({ reading: { facts } }: ShownSpan): boolean => facts.role === 'model' || facts.role === 'tool';

const readSpan = api.resource<ShownSpan>()('ReadSpan', {
  span: [spanResource.schema, ({ span, isOwn }) => spanJson(span, isOwn)],
  role: [role, ({ reading }) => reading.facts.role],
  agent: [api.textOrNull(), ({ reading }) => reading.facts.agentName],
  dialects: [api.many(api.text, 'Collectors that read the span.'), ({ reading }) => [...reading.dialects]],
  model: [api.textOrNull(), ({ reading }) => reading.facts.model],
  input_tokens: [api.countOrNull(), ({ reading }) => tokens(reading.facts.inputTokens)],
  output_tokens: [api.countOrNull(), ({ reading }) => tokens(reading.facts.outputTokens)],
  cached_input_tokens: [api.countOrNull(), ({ reading }) => tokens(reading.facts.cachedInputTokens)],
  reasoning_tokens: [api.countOrNull(), ({ reading }) => tokens(reading.facts.reasoningTokens)],
  input: [
    api.textOrNull('Input of an agent or a retriever.'),
    (row) => (isCall(row) ? null : (row.reading.facts.input ?? row.reading.facts.inputDump)?.slice(0, row.charsMax)),
  ],
  output: [
    anything('Output of an agent or a retriever.'),
    (row) => (isCall(row) ? null : bounded(row.reading.facts.output ?? row.reading.facts.outputDump ?? null, row.charsMax).value),
  ],
  tool: [api.optional(toolOfSpan), ({ reading: { facts }, charsMax }) => facts.tool && { ...facts.tool, charsMax }],
  tool_definitions: [
    api.many(api.object({ name: api.text, description: api.textOrNull(), input_schema: {} }), 'Tools that the model call offers.'),
    ({ reading: { facts }, charsMax }) =>
      (facts.toolDefinitions ?? []).slice(0, listMax).map(({ name: own, description, inputSchema }) => ({
        name: own,
        description: description ?? null,
        input_schema: bounded(inputSchema ?? null, charsMax).value,
      })),
  ],
  documents: [
    api.many(api.object({ id: api.textOrNull(), content: api.textOrNull(), score: api.numberOrNull() })),
    ({ reading: { facts }, charsMax }) =>
      (facts.documents ?? [])
        .slice(0, listMax)
        .map(({ id, content, score }) => ({ id: id ?? null, content: content?.slice(0, charsMax) ?? null, score: score ?? null })),
  ],
  messages: api.many(messageResource.schema),
  repeated_messages: { ...api.count, description: 'Leading messages that the model call before it had too.' },
  left_out: { ...api.count, description: `Messages beyond ${messagesMax}, or beyond the size of an answer.` },
});

export const runSpanSchemas: { readonly [name: string]: JsonObject } = {
  TimelineSpan: timelineSchema,
  ...api.schemasOf(requestedCall, reportedResult, messageResource, readSpan),
};

export const runSpanRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs/{trace}/{span}/timeline',
    summary: `At most ${readSpansMax} stored spans of the run’s trace, without attributes, with the role of each. Spans of the run come first, by start.`,
    path_parameters: path,
    query_parameters: { tenant, brief },
    answer: api.object({
      spans: api.many(api.reference('TimelineSpan')),
      next: { type: 'null' },
      left_out: { ...api.count, description: `Spans beyond ${readSpansMax}.` },
      whole,
      spans_gone: spansGoneShape.schema,
    }),
    async handle(deps, query) {
      const found = await foundRun(deps, query);
      if (found === undefined) return undefined;
      const { spans, gone: whyGone } = found;
      if (spans === undefined) return { spans: [], next: null, left_out: 0, whole: null, spans_gone: await whyGone() };
      const { kept, read, own } = spans;
      return {
        spans: read.map((one) => {
          const row = timelineSpan.write({ ...one, isOwn: own.has(one.span) });
          return query['brief'] === 'true' ? briefJson(row, query['trace']) : row;
        }),
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
    answer: readSpan.schema,
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
      // The model call before it shows which messages are new.
      return readSpan.write(shownSpan({ ...one, isOwn }, isOwn ? read.slice(0, Math.max(0, at)) : [], charsOf(query)));
    },
  },
  {
    method: 'get',
    path: '/runs/{trace}/{span}/conversation',
    summary: `The conversation of the run and its sub-agents with their models as it grew: each message once, ${messagesMax} at most.`,
    path_parameters: path,
    query_parameters: { tenant, text_max: textMax },
    answer: api.object({
      messages: api.many(messageResource.schema),
      next: { type: 'null' },
      left_out: { ...api.count, description: 'Messages beyond the limits of an answer.' },
      whole,
      spans_gone: spansGoneShape.schema,
    }),
    async handle(deps, query) {
      const found = await foundRun(deps, query);
      if (found === undefined) return undefined;
      const { spans, gone: whyGone } = found;
      if (spans === undefined) return { messages: [], next: null, left_out: 0, whole: null, spans_gone: await whyGone() };
      const { kept, read, own } = spans;
      // A trace that lacks the run's span does not show which spans are the run's.
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
      return spansGoneShape.write(run && spansGone(run));
    },
  };
}

function charsOf({ text_max: given }: Parameters): number {
  return typeof given === 'number' ? given : textCharsDefault;
}

/** Without members that are empty, or the same as in the run. */
function briefJson(row: JsonObject, trace: Parameters[string]): JsonObject {
  const members = briefMembers.map((name_) => [name_, row[name_] ?? null] as const);
  return Object.fromEntries(
    members.filter(
      ([name_, value]) => briefAlways.includes(name_) || (value !== null && value !== '' && !(name_ === 'trace_id' && value === trace)),
    ),
  );
}

/** `before`: spans of the run that started earlier. */
function shownSpan(row: TimelineRow, before: readonly ReadSpan[], charsMax: number): ShownSpan {
  const { span, reading } = row;
  const { inputMessages = [], outputMessages = [], model } = reading.facts;
  const all = [
    ...inputMessages.map((message) => ({ message, span, isAnswer: false })),
    ...outputMessages.map((message) => ({ message, span, isAnswer: true })),
  ];
  const earlier = before.findLast(
    ({ reading: { facts }, span: other }) =>
      facts.role === 'model' && (facts.inputMessages?.length ?? 0) > 0 && other.endUnixNano <= span.endUnixNano,
  )?.reading.facts;
  const known = [...(earlier?.inputMessages ?? []), ...(earlier?.outputMessages ?? [])];
  const { messages, leftOut } = boundedMessages(all, charsMax, () => model);
  return { ...row, charsMax, messages, leftOut, repeatedMessages: Math.min(repeatedMessages(inputMessages, known), messages.length) };
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

function messageJson(one: ConversationMessage, model: string | undefined, charsMax: number): JsonObject {
  const { requested, results } = one.message;
  return messageResource.write({
    ...one,
    model,
    charsMax,
    calls: requested.slice(0, listMax).map((call) => ({ ...call, ...bounded(argumentsOf(call), charsMax) })),
    results: results.slice(0, listMax).map((own) => ({ ...own, ...bounded(own.result ?? own.resultPart ?? null, charsMax) })),
  });
}

function isCut({ message, charsMax, calls, results }: ShownMessage): boolean {
  return (
    (message.text?.length ?? 0) > charsMax ||
    (message.reasoning?.length ?? 0) > charsMax ||
    message.requested.length > listMax ||
    message.results.length > listMax ||
    [...calls, ...results].some((one) => one.isCut)
  );
}

function argumentsOf({ arguments: sent, argumentsText, argumentsPart }: Partial<RequestedCall>): JsonValue {
  return sent ?? argumentsText ?? argumentsPart ?? null;
}

interface Shortened {
  readonly value: JsonValue;
  readonly isCut: boolean;
}

type Bounded<Of> = Of & Shortened;

/** A larger value becomes the beginning of its text. */
function bounded(value: JsonValue, charsMax: number): Shortened {
  const written = typeof value === 'string' ? value : jsonText(value);
  return written.length <= charsMax ? { value, isCut: false } : { value: written.slice(0, charsMax), isCut: true };
}

function short(given: string | undefined): string | undefined {
  return given?.slice(0, nameCharsMax);
}

function tokens(value: number | undefined): JsonValue {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : null;
}
