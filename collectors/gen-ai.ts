/**
 * The OpenTelemetry GenAI conventions. Message content is in span attributes (versions 1.37 and later), in span events or log records of one message
 * each (1.28 to 1.36) or of one model call each, or in the attributes `gen_ai.prompt` and `gen_ai.completion` (before).
 */
import { isWaitingReason } from '../src/model/control-flow.ts';
import type { Mutable } from '../src/model/mutable.ts';
import { isJsonObject, member, type JsonObject } from '../src/model/json.ts';
import { type AttributeValue, idAttribute, textAttribute, type LogRecord, type Span } from '../src/model/span.ts';
import type { Collector, Message, RepeatedTexts, Repeats, SpanFacts, ToolFacts } from './collector.ts';
import { addTokens, contentKeys, readContent, tokenKeys } from './parsing/conventions.ts';
import { namesLibrary, readContentRecord } from './parsing/content-records.ts';
import { readDocuments } from './parsing/documents.ts';
import { isAgentNode } from './parsing/graph-agent.ts';
import { kindIn } from './parsing/kind-words.ts';
import { choiceIndex, choicesIn, eventMessages } from './parsing/message-events.ts';
import { lastText, readMessages } from './parsing/messages.ts';
import { jsonOf, parseContainer, parseText } from './parsing/parsing.ts';
import { handoffIn } from './parsing/span-names.ts';
import { isOverTools, isToolName } from './parsing/tool-classes.ts';
import { addArguments, addOutcome, eachText, repeatedArguments, repeatedResult } from './parsing/values.ts';

const messageEvents = [
  'gen_ai.system.message',
  'gen_ai.user.message',
  'gen_ai.assistant.message',
  'gen_ai.tool.message',
  'gen_ai.choice',
] as const;
const detailsEvent = 'gen_ai.client.inference.operation.details';

export const genAi: Collector = {
  id: 'gen_ai',
  summary: 'OpenTelemetry GenAI conventions (gen_ai.*), content on spans or in log records.',
  isConvention: true,
  recognisedBy: { keyPrefixes: ['gen_ai.'] },
  wants: {
    keys: [
      ...contentKeys,
      'gen_ai.operation.name',
      'gen_ai.agent.name',
      'gen_ai.workflow.name',
      'gen_ai.conversation.id',
      'session.id',
      'gen_ai.tool.name',
      'gen_ai.tool.call.id',
      'gen_ai.tool.call.arguments',
      'gen_ai.tool.call.result',
      'gen_ai.tool.description',
      'gen_ai.request.model',
      'gen_ai.request.choice.count',
      'gen_ai.response.model',
      'gen_ai.response.finish_reasons',
      'gen_ai.prompt',
      'gen_ai.completion',
      'gen_ai.retrieval.documents',
      ...tokenKeys,
    ],
    prefixes: [],
  },
  captureHints: {
    content:
      'Set OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true, and OTEL_LOGS_EXPORTER=otlp for instrumentations that send messages as log records.',
    tools:
      'Where the instrumentation knows the tools, they come with message content, for some only with OTEL_SEMCONV_STABILITY_OPT_IN=gen_ai_latest_experimental. Otherwise set gen_ai.tool.definitions (JSON) on the agent’s span.',
  },
  carriedBy: {
    input: ['gen_ai.input.messages', 'record gen_ai.user.message', 'record gen_ai.client.inference.operation.details'],
    final_response: ['gen_ai.output.messages', 'record gen_ai.choice', 'record gen_ai.client.inference.operation.details'],
    tool_calls: [
      'gen_ai.operation.name',
      'gen_ai.output.messages',
      'gen_ai.input.messages',
      'record gen_ai.choice',
      'record gen_ai.assistant.message',
      'record gen_ai.client.inference.operation.details',
    ],
    tool_arguments: [
      'gen_ai.tool.call.arguments',
      'gen_ai.output.messages',
      'gen_ai.input.messages',
      'record gen_ai.choice',
      'record gen_ai.assistant.message',
      'record gen_ai.client.inference.operation.details',
    ],
    tool_results: [
      'gen_ai.tool.call.result',
      'gen_ai.input.messages',
      'record gen_ai.tool.message',
      'record gen_ai.client.inference.operation.details',
    ],
    tool_definitions: ['gen_ai.tool.definitions', 'record gen_ai.client.inference.operation.details'],
    tokens: ['gen_ai.usage.input_tokens', 'gen_ai.usage.output_tokens'],
  },
  read,
  isAgents,
  logs: {
    events: [...messageEvents, detailsEvent],
    takes: namesLibrary,
    wants: { keys: [...contentKeys, 'event.name'], prefixes: [] },
    read: readRecords,
  },
};

/** Instrumentations that may send the content of their model spans as log records. */
const scopesWithRecords: ReadonlySet<string> = new Set([
  'opentelemetry.instrumentation.openai_v2',
  'opentelemetry.instrumentation.vertexai',
  'opentelemetry.util.genai.handler',
  '@opentelemetry/instrumentation-openai',
]);

function read(span: Span, repeats?: Repeats): SpanFacts {
  const facts = byOperation(span, repeats);
  const sessionId = idAttribute(span, 'gen_ai.conversation.id') ?? idAttribute(span, 'session.id');
  if (sessionId !== undefined) facts.sessionId = sessionId;
  return facts;
}

function isAgents(span: Span): boolean | undefined {
  const operation = textAttribute(span, 'gen_ai.operation.name');
  return operation === undefined ? undefined : (operation === 'invoke_agent' && !isNode(span)) || operation === 'invoke_workflow';
}

function byOperation(span: Span, repeats: Repeats | undefined): Mutable<SpanFacts> {
  const operation = textAttribute(span, 'gen_ai.operation.name');
  switch (operation) {
    case 'invoke_agent':
      return isNode(span) ? { role: 'step' } : agentFacts(span, repeats);
    case 'invoke_workflow':
      return { ...agentFacts(span, repeats), role: 'workflow' };
    case 'execute_tool': {
      const handoffTo = span.attribute('gen_ai.tool.name') === undefined ? handoffIn(span.name) : undefined;
      if (handoffTo !== undefined) return { role: 'step', handoffTo };
      const read = tool(span, repeats ?? eachText);
      // The span is over several calls.
      if (isOverTools(read.name ?? '')) return { role: 'step' };
      // No tool is named so: another reader may know that it is a step.
      return { role: 'tool', ...(isToolName(read.name ?? '') ? {} : { roleIsGuess: true }), tool: read };
    }
    case 'chat':
    case 'text_completion':
    case 'generate_content':
      return modelFacts(span, repeats);
    case 'retrieval':
      return retrievalFacts(span);
    case undefined:
      return {};
    default:
      // An SDK's own word for a request, beside the model and what it used.
      return kindIn(operation) === 'model' && modelOf(span) !== undefined && typeof span.attribute('gen_ai.usage.input_tokens') === 'number'
        ? modelFacts(span, repeats)
        : { role: 'step', roleIsGuess: true };
  }
}

/** A step within an agent that some instrumentations write as one more: the node of a prebuilt graph. */
function isNode(span: Span): boolean {
  return span.parentSpanId !== undefined && isAgentNode(textAttribute(span, 'gen_ai.agent.name'));
}

/** Some instrumentations write an agent span without a name around the one that has it. */
function agentFacts(span: Span, repeats: Repeats | undefined): Mutable<SpanFacts> {
  const facts = contentOf(span, repeats);
  const name = textAttribute(span, 'gen_ai.agent.name');
  const workflow = textAttribute(span, 'gen_ai.workflow.name');
  const input = lastText(facts.inputMessages ?? [], 'user');
  facts.role = name === undefined ? 'workflow' : 'agent';
  if (name !== undefined) facts.agentName = name;
  else if (workflow !== undefined) {
    facts.agentName = workflow;
    facts.agentNameIsGuess = true;
  }
  if (input !== undefined) facts.input = input;
  // Where the requests of an agent have no spans, its span names the model.
  const model = modelOf(span);
  if (model !== undefined) facts.model = model;
  addAgentEnd(span, facts);
  return addTokens(span, facts, true);
}

function modelOf(span: Span): string | undefined {
  return textAttribute(span, 'gen_ai.response.model') ?? textAttribute(span, 'gen_ai.request.model');
}

function modelFacts(span: Span, repeats: Repeats | undefined): Mutable<SpanFacts> {
  const facts = contentOf(span, repeats);
  const model = modelOf(span);
  const agentName = textAttribute(span, 'gen_ai.agent.name');
  facts.role = 'model';
  // Some SDKs name the agent only on its requests.
  if (agentName !== undefined && !isAgentNode(agentName)) facts.agentName = agentName;
  const choices = span.attribute('gen_ai.request.choice.count');
  if (typeof choices === 'number' && choices > 1) facts.choices = choices;
  if (model !== undefined) facts.model = model;
  addEnd(span, facts);
  if (facts.inputMessages === undefined && facts.outputMessages === undefined && scopesWithRecords.has(span.scope.name))
    facts.contentInLogs = true;
  return addTokens(span, facts, true);
}

/** A response with several choices has a finish reason for each of them, in an attribute or beside the messages. */
function addEnd(span: Span, facts: Mutable<SpanFacts>): void {
  const listed = span.attribute('gen_ai.response.finish_reasons');
  const beside = (facts.outputMessages ?? []).flatMap(({ end }) => end ?? []);
  const reasons: readonly AttributeValue[] = isList(listed) ? listed : beside;
  if (reasons.length > 0 && reasons.every((reason) => reason === 'error')) facts.failed = { message: '' };
  if (reasons.some(isWaitingReason) || beside.some(isWaitingReason)) facts.waits = true;
}

function isList(value: AttributeValue | undefined): value is readonly AttributeValue[] {
  return Array.isArray(value);
}

function addAgentEnd(span: Span, facts: Mutable<SpanFacts>): void {
  addEnd(span, facts);
  const choice = span.events.findLast(({ name }) => name === 'gen_ai.choice');
  if (choice !== undefined && isWaitingReason(textAttribute(choice, 'finish_reason'))) facts.waits = true;
}

function retrievalFacts(span: Span): SpanFacts {
  const documents = readDocuments(span.attribute('gen_ai.retrieval.documents')).map((document) => ({ spanId: span.spanId, ...document }));
  return { role: 'retriever', ...(documents.length === 0 ? {} : { documents }) };
}

/** Attributes of version 1.37 and later; else span events, as those before; else the two attributes of the first versions. */
function contentOf(span: Span, repeats: Repeats | undefined): Mutable<SpanFacts> {
  const content = readContent(span, repeats);
  if (content.inputMessages !== undefined && content.outputMessages !== undefined) return content;
  const details = detailsOf(span);
  if (details !== undefined) return { ...content, ...details };
  if (content.inputMessages !== undefined || content.outputMessages !== undefined) return content;
  const { input, output, choices } = eventMessages(span);
  const [inputMessages, outputMessages] =
    input.length > 0 || output.length > 0
      ? [input, output]
      : [promptMessages(span), readMessages(span.attribute('gen_ai.completion'), 'assistant')];
  return {
    ...(inputMessages.length === 0 ? {} : { inputMessages }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
    ...(choices === undefined ? {} : { choices }),
    ...content,
  };
}

/** Instructions, input and output may come in an event each. */
function detailsOf({ events }: Span): SpanFacts | undefined {
  let found: SpanFacts | undefined;
  for (const event of events) if (event.name === detailsEvent) found = { ...readContent(event), ...found };
  return found;
}

/** A prompt in words may hold several messages run together, without their roles. */
function promptMessages(span: Span): readonly Message[] {
  const prompt = textAttribute(span, 'gen_ai.prompt') ?? '';
  const isOne = textAttribute(span, 'gen_ai.operation.name') === 'text_completion';
  return isOne || parseContainer(prompt) !== undefined ? readMessages(prompt, 'user') : [];
}

function tool(span: Span, texts: RepeatedTexts): ToolFacts {
  const result = span.attribute('gen_ai.tool.call.result');
  const outcome = result === undefined ? undefined : repeatedResult(result, texts);
  // Instrumentations without the key may write the message that holds the id.
  const id = textAttribute(span, 'gen_ai.tool.call.id') ?? outcome?.callId;
  const description = textAttribute(span, 'gen_ai.tool.description');
  const name = textAttribute(span, 'gen_ai.tool.name');
  const facts: Mutable<ToolFacts> = { name: name ?? span.name.replace(/^execute_tool /, '') };
  if (name === undefined && !span.name.startsWith('execute_tool ')) facts.nameIsGuess = true;
  if (id !== undefined) facts.id = id;
  addArguments(repeatedArguments(span.attribute('gen_ai.tool.call.arguments'), texts), facts);
  if (outcome !== undefined) addOutcome(outcome, facts);
  if (description !== undefined) facts.description = description;
  return facts;
}

function readRecords(records: readonly LogRecord[]): SpanFacts {
  const inputs: Message[] = [];
  const outputs: Message[] = [];
  const numbers: (number | undefined)[] = [];
  let content: SpanFacts = {};
  for (const record of records) {
    if (record.eventName === detailsEvent) {
      // One call may send its input and its output in separate records.
      content = { ...readContent(record), ...content };
      continue;
    }
    if (namesLibrary(record.eventName)) {
      content = { ...content, ...readContentRecord(record) };
      continue;
    }
    const body = record.body();
    const value = body === undefined ? undefined : typeof body === 'string' ? parseText(body) : jsonOf(body);
    const message: JsonObject = isJsonObject(value) ? value : {};
    if (record.eventName === 'gen_ai.choice') {
      numbers.push(choiceIndex(message));
      outputs.push(
        ...readMessages(
          [{ role: 'assistant', ...(isJsonObject(member(message, 'message')) ? (member(message, 'message') as JsonObject) : message) }],
          'assistant',
        ),
      );
    } else inputs.push(...readMessages([{ ...message, role: record.eventName.slice('gen_ai.'.length, -'.message'.length) }], 'user'));
  }
  return {
    ...(inputs.length === 0 ? {} : { inputMessages: inputs }),
    ...(outputs.length === 0 ? {} : { outputMessages: outputs }),
    ...choicesIn(numbers),
    ...content,
  };
}
