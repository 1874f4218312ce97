/**
 * Dialects that put one input and one output on every span and say in a word what the span is: they differ in names only, so each is
 * a table over these readings.
 */
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { AttributeValue } from '../../src/model/span.ts';
import type { Message, SpanFacts, ToolFacts } from '../collector.ts';
import { readDefinitions } from './definitions.ts';
import { readDocuments } from './documents.ts';
import { requestInRepr } from './message-reprs.ts';
import { answerIn, readMessages } from './messages.ts';
import { runInput, runOutput } from './run-values.ts';
import { jsonOf, parseText } from './parsing.ts';
import { answerOfChunks } from './streamed-answer.ts';
import { callIdBeside, outcomeOf, readArguments, readResult } from './values.ts';

export interface Observation {
  readonly name: string;
  readonly input: AttributeValue | undefined;
  readonly output: AttributeValue | undefined;
}

/** An agent or what encloses one. */
export function observedRun({ input, output }: Observation): SpanFacts {
  const asked = runInput(input);
  const answered = runOutput(output);
  return {
    ...(asked.value === undefined ? {} : { input: asked.value }),
    ...(asked.dump === undefined ? {} : { inputDump: asked.dump }),
    ...(answered.value === undefined ? {} : { output: answered.value }),
    ...(answered.dump === undefined ? {} : { outputDump: answered.dump }),
  };
}

/** True for an object with the span's name and the tools or hand-overs that it may use. Source: `AgentSpanData` of the OpenAI Agents SDK. */
export function describesAgent(name: string, input: AttributeValue | undefined): boolean {
  const described = typeof input === 'string' && input.includes('"name"') ? parseText(input) : input;
  return (
    isJsonObject(described) &&
    member(described, 'name') === name &&
    ['tools', 'handoffs'].some((key) => isJsonArray(member(described, key)))
  );
}

/** One execution of a tool. */
export function observedTool({ name, input, output }: Observation): ToolFacts {
  const read = output === undefined ? undefined : readResult(output);
  const id = read?.callId ?? callIdBeside(input);
  return {
    name,
    ...readArguments(input, name),
    ...(read === undefined ? {} : outcomeOf(read)),
    ...(id === undefined ? {} : { id }),
  };
}

/** One retrieval. */
export function observedRetrieval(output: AttributeValue | undefined): SpanFacts {
  const documents = readDocuments(output);
  return { role: 'retriever', ...(documents.length === 0 ? {} : { documents }) };
}

/** A request to a model, as its API takes and answers it. */
export function observedModel({ input, output }: Observation): SpanFacts {
  const request = parsed(input);
  const inputMessages = requestMessages(request);
  const outputMessages = responseMessages(parsed(output));
  const toolDefinitions = [...readDefinitions(requestMember(request, ['tools', 'function_tools'])), ...mixedInDefinitions(request)];
  return {
    role: 'model',
    ...(inputMessages.length === 0 ? {} : { inputMessages }),
    ...(outputMessages.length === 0 ? {} : { outputMessages }),
    ...(toolDefinitions.length === 0 ? {} : { toolDefinitions }),
  };
}

function parsed(raw: AttributeValue | undefined): JsonValue {
  const value = raw === undefined ? null : jsonOf(raw);
  const read = typeof value === 'string' ? parseText(value) : value;
  return typeof read === 'string' ? (requestInRepr(read) ?? read) : read;
}

/** Messages are a list, or the member under the API's name for them; the Responses API keeps the instructions apart. */
function requestMessages(request: JsonValue): readonly Message[] {
  if (isJsonArray(request))
    return readMessages(
      request.filter((item) => !isDefinition(item)),
      'user',
    );
  if (!isJsonObject(request)) return readMessages(request, 'user');
  const list =
    ['messages', 'contents', 'input', 'prompts']
      .map((key) => member(request, key))
      .find((value) => value !== undefined && value !== null) ?? Object.values(request).find(areMessages);
  const instructions = requestMember(request, ['instructions', 'system', 'systemInstruction', 'system_instruction']);
  return [
    ...(instructions === undefined || instructions === null || instructions === '' ? [] : systemMessage(instructions)),
    ...readMessages(list, 'user'),
  ];
}

/** A list of messages, as an argument of any name. */
function areMessages(value: JsonValue): boolean {
  return isJsonArray(value) && value.length > 0 && value.every((item) => isJsonObject(item) && typeof member(item, 'role') === 'string');
}

/** A member of a request beside its messages; Gemini's API keeps it in `config`, Pydantic AI in `model_request_parameters`. */
function requestMember(request: JsonValue, names: readonly string[]): JsonValue | undefined {
  if (!isJsonObject(request)) return undefined;
  const parts = ['config', 'model_request_parameters'].map((key) => member(request, key)).filter(isJsonObject);
  for (const from of [request, ...parts]) for (const name of names) if (Object.hasOwn(from, name)) return member(from, name);
  return undefined;
}

function systemMessage(instructions: JsonValue): readonly Message[] {
  const content = isJsonObject(instructions) ? member(instructions, 'parts') : instructions;
  return typeof content === 'string' || isJsonArray(content) ? readMessages([{ role: 'system', content }]) : [];
}

/** Langfuse lists the tools among the messages: role tool, with a definition where the content should be. */
function isDefinition(item: JsonValue): boolean {
  const content = isJsonObject(item) ? member(item, 'content') : undefined;
  return isJsonObject(content) && isJsonObject(member(content, 'function')) && member(content, 'type') === 'function';
}

function mixedInDefinitions(request: JsonValue): NonNullable<SpanFacts['toolDefinitions']> {
  const list = isJsonArray(request)
    ? request
    : isJsonObject(request) && isJsonArray(member(request, 'messages'))
      ? (member(request, 'messages') as readonly JsonValue[])
      : [];
  return list.filter(isDefinition).flatMap((item) => readDefinitions(member(item as JsonObject, 'content')));
}

/** A bare message, a list, or what the APIs wrap around it: choices, generations, output items, a message member. */
function responseMessages(given: JsonValue): readonly Message[] {
  const response = isJsonArray(given) ? (answerOfChunks(given) ?? given) : given;
  if (!isJsonObject(response)) return readMessages(response, 'assistant');
  for (const key of ['choices', 'generations', 'candidates', 'output', 'replies']) {
    const list = member(response, key);
    if (isJsonArray(list)) return readMessages(list.flat(), 'assistant');
    // Bedrock: `{"output": {"message": …}}`.
    if (isJsonObject(list) && isJsonObject(member(list, 'message'))) return readMessages([list], 'assistant');
  }
  // The whole conversation: the answer follows what others said, and a request that is only prepared has none.
  const conversation = member(response, 'messages');
  if (isJsonArray(conversation)) return answerIn(readMessages(conversation, 'assistant'));
  return readMessages([response], 'assistant');
}
