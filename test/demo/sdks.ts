/** The simulated SDKs of the demo, one for each kind of instrumentation. */
import type { CallOutcome, SdkName, SimulatedCall, SimulatedRun } from './scenarios.ts';
import { type JsonObject, jsonText, parseJson, plainText } from '../../src/model/json.ts';
import type { AttributeValue, SpanKind } from '../../src/model/span.ts';

export interface SpanData {
  readonly name: string;
  readonly kind?: SpanKind;
  readonly attributes: Attributes;
}

export interface Sdk {
  readonly scope: string;
  /** Its spans carry tool definitions. */
  readonly carriesTools: boolean;
  agent(run: SimulatedRun): SpanData;
  /** The model call of a turn; the number after the last turn is that of the answer. Absent when the SDK records no model calls. */
  readonly model?: (run: SimulatedRun, turn: number, callId: CallId) => SpanData;
  tool(run: SimulatedRun, call: SimulatedCall, callId: string): SpanData;
}

export interface Attributes {
  readonly [key: string]: AttributeValue;
}

/** The model's id of a call, by the number of the turn and of the call in it. */
type CallId = (turn: number, call: number) => string;

type SimulatedMessage =
  | { readonly role: 'system' | 'user' | 'assistant'; readonly text: string }
  | { readonly role: 'asks'; readonly calls: readonly RequestedTool[] }
  | { readonly role: 'tool'; readonly id: string; readonly tool: string; readonly text: string };

interface RequestedTool {
  readonly id: string;
  readonly tool: string;
  readonly argumentsText: string;
}

/** The messages to the model in a turn: instructions, question and everything since. */
function historyBefore(run: SimulatedRun, turn: number, callId: CallId): readonly SimulatedMessage[] {
  return [
    { role: 'system', text: run.agent.system },
    { role: 'user', text: run.input },
    ...run.turns
      .slice(0, turn)
      .flatMap((one, index): readonly SimulatedMessage[] => [
        { role: 'asks', calls: requestedIn(one.calls, index, callId) },
        ...one.calls.map(
          (call, at) => ({ role: 'tool', id: callId(index, at), tool: call.tool, text: outcomeText(call.outcome) }) as const,
        ),
      ]),
  ];
}

/** The message of the model in a turn. */
function replyIn(run: SimulatedRun, turn: number, callId: CallId): SimulatedMessage {
  const asking = run.turns[turn];
  return asking === undefined
    ? { role: 'assistant', text: run.answer ?? '' }
    : { role: 'asks', calls: requestedIn(asking.calls, turn, callId) };
}

function requestedIn(calls: readonly SimulatedCall[], turn: number, callId: CallId): readonly RequestedTool[] {
  return calls.map((call, at) => ({ id: callId(turn, at), tool: call.tool, argumentsText: jsonText(call.arguments) }));
}

/** A result in the form for the model. */
function outcomeText(outcome: CallOutcome): string {
  if (outcome.kind === 'returned') return plainText(outcome.result);
  return outcome.kind === 'failed' ? `error: ${outcome.message}` : '';
}

/** About four letters a token, as a rule of thumb. */
function tokensIn(messages: readonly SimulatedMessage[]): number {
  const letters = messages.reduce(
    (sum, message) =>
      sum +
      ('text' in message
        ? message.text.length
        : message.calls.reduce((all, call) => all + call.tool.length + call.argumentsText.length, 0)),
    0,
  );
  return Math.max(1, Math.ceil(letters / 4));
}

/** The Vercel AI SDK, version 5. */
const aiSdk: Sdk = {
  scope: 'ai',
  carriesTools: true,
  agent: (run) => ({
    name: 'ai.generateText',
    attributes: {
      ...aiSdkOperation('ai.generateText', run),
      'ai.prompt': jsonText({ system: run.agent.system, prompt: run.input }),
      ...(run.answer === undefined ? {} : { 'ai.response.text': run.answer }),
    },
  }),
  model: (run, turn, callId) => {
    const history = historyBefore(run, turn, callId);
    const reply = replyIn(run, turn, callId);
    return {
      name: 'ai.generateText.doGenerate',
      attributes: {
        ...aiSdkOperation('ai.generateText.doGenerate', run),
        'ai.model.id': run.agent.model,
        'ai.prompt.messages': jsonText(history.map(aiSdkMessage)),
        'ai.prompt.tools': run.agent.tools.map(({ name, description, inputSchema }) =>
          jsonText({ type: 'function', name, description: description ?? '', inputSchema: inputSchema ?? {} }),
        ),
        ...(reply.role === 'asks'
          ? {
              'ai.response.toolCalls': jsonText(
                reply.calls.map(({ id, tool, argumentsText }) => ({ toolCallId: id, toolName: tool, input: argumentsText })),
              ),
            }
          : reply.role === 'tool'
            ? {}
            : { 'ai.response.text': reply.text }),
        'ai.usage.inputTokens': tokensIn(history),
        'ai.usage.outputTokens': tokensIn([reply]),
      },
    };
  },
  tool: (run, call, id) => ({
    name: 'ai.toolCall',
    attributes: {
      ...aiSdkOperation('ai.toolCall', run),
      'ai.toolCall.name': call.tool,
      'ai.toolCall.id': id,
      'ai.toolCall.args': jsonText(call.arguments),
      ...(call.outcome.kind === 'returned' ? { 'ai.toolCall.result': outcomeText(call.outcome) } : {}),
    },
  }),
};

function aiSdkOperation(id: string, { agent, sessionId }: SimulatedRun): Attributes {
  return {
    'operation.name': `${id} ${agent.name}`,
    'ai.operationId': id,
    'ai.telemetry.functionId': agent.name,
    ...(sessionId === undefined ? {} : { 'ai.telemetry.metadata.sessionId': sessionId }),
  };
}

function aiSdkMessage(one: SimulatedMessage): JsonObject {
  if (one.role === 'tool')
    return {
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: one.id, toolName: one.tool, output: { type: 'text', value: one.text } }],
    };
  if (one.role === 'asks')
    return {
      role: 'assistant',
      content: one.calls.map(({ id, tool, argumentsText }) => ({
        type: 'tool-call',
        toolCallId: id,
        toolName: tool,
        input: parseJson(argumentsText) ?? {},
      })),
    };
  return { role: one.role, content: one.role === 'user' ? [{ type: 'text', text: one.text }] : one.text };
}

/** The OpenTelemetry GenAI conventions, with content on the spans. */
const conventions: Sdk = {
  scope: 'demo.agents',
  carriesTools: true,
  agent: ({ agent, input, answer, sessionId }) => ({
    name: `invoke_agent ${agent.name}`,
    attributes: {
      ...genAiOperation('invoke_agent', sessionId),
      'gen_ai.agent.name': agent.name,
      'gen_ai.input.messages': jsonText([plainMessage('user', input)]),
      ...(answer === undefined ? {} : { 'gen_ai.output.messages': jsonText([plainMessage('assistant', answer)]) }),
    },
  }),
  model: (run, turn, callId) => {
    const history = historyBefore(run, turn, callId);
    const reply = replyIn(run, turn, callId);
    return {
      name: `chat ${run.agent.model}`,
      kind: 3,
      attributes: {
        ...genAiOperation('chat', run.sessionId),
        'gen_ai.request.model': run.agent.model,
        'gen_ai.system_instructions': jsonText([{ type: 'text', content: run.agent.system }]),
        'gen_ai.input.messages': jsonText(history.filter(({ role }) => role !== 'system').map(genAiMessage)),
        'gen_ai.output.messages': jsonText([genAiMessage(reply)]),
        'gen_ai.tool.definitions': jsonText(
          run.agent.tools.map(({ name, description, inputSchema }) => ({
            type: 'function',
            name,
            description: description ?? '',
            parameters: inputSchema ?? {},
          })),
        ),
        'gen_ai.usage.input_tokens': tokensIn(history),
        'gen_ai.usage.output_tokens': tokensIn([reply]),
      },
    };
  },
  tool: (run, call, id) => ({
    name: `execute_tool ${call.tool}`,
    attributes: {
      ...genAiOperation('execute_tool', run.sessionId),
      'gen_ai.tool.name': call.tool,
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.call.arguments': jsonText(call.arguments),
      ...(call.outcome.kind === 'returned' ? { 'gen_ai.tool.call.result': outcomeText(call.outcome) } : { 'error.type': 'Error' }),
    },
  }),
};

function genAiOperation(name: string, sessionId: string | undefined): Attributes {
  return { 'gen_ai.operation.name': name, ...(sessionId === undefined ? {} : { 'gen_ai.conversation.id': sessionId }) };
}

function plainMessage(role: string, text: string): JsonObject {
  return { role, parts: [{ type: 'text', content: text }] };
}

function genAiMessage(one: SimulatedMessage): JsonObject {
  if (one.role === 'tool') return { role: 'tool', parts: [{ type: 'tool_call_response', id: one.id, response: one.text }] };
  if (one.role !== 'asks') return plainMessage(one.role, one.text);
  return {
    role: 'assistant',
    parts: one.calls.map(({ id, tool, argumentsText }) => ({
      type: 'tool_call',
      id,
      name: tool,
      arguments: parseJson(argumentsText) ?? {},
    })),
  };
}

/** OpenInference: messages flattened into attribute keys. */
const flattened: Sdk = {
  scope: 'openinference.instrumentation.openai_agents',
  carriesTools: true,
  agent: ({ agent, input, answer, sessionId }) => ({
    name: agent.name,
    attributes: {
      ...kind('AGENT', sessionId),
      'agent.name': agent.name,
      'input.value': input,
      ...(answer === undefined ? {} : { 'output.value': answer }),
    },
  }),
  model: (run, turn, callId) => {
    const history = historyBefore(run, turn, callId);
    const reply = replyIn(run, turn, callId);
    const [sent, received] = [tokensIn(history), tokensIn([reply])];
    return {
      name: 'response',
      attributes: {
        ...kind('LLM', run.sessionId),
        'llm.model_name': run.agent.model,
        ...messages('llm.input_messages', history),
        ...messages('llm.output_messages', [reply]),
        ...Object.fromEntries(
          run.agent.tools.map(({ name, description, inputSchema }, at) => [
            `llm.tools.${at}.tool.json_schema`,
            jsonText({ type: 'function', function: { name, description: description ?? '', parameters: inputSchema ?? {} } }),
          ]),
        ),
        'llm.token_count.prompt': sent,
        'llm.token_count.completion': received,
        'llm.token_count.total': sent + received,
      },
    };
  },
  tool: (run, call, id) => ({
    name: call.tool,
    attributes: {
      ...kind('TOOL', run.sessionId),
      'tool.name': call.tool,
      'tool_call.id': id,
      'input.value': jsonText(call.arguments),
      'input.mime_type': 'application/json',
      ...(call.outcome.kind === 'returned' ? { 'output.value': outcomeText(call.outcome) } : {}),
    },
  }),
};

function kind(name: string, sessionId: string | undefined): Attributes {
  return { 'openinference.span.kind': name, ...(sessionId === undefined ? {} : { 'session.id': sessionId }) };
}

function messages(prefix: string, list: readonly SimulatedMessage[]): Attributes {
  return Object.fromEntries(
    list.flatMap((message, at) =>
      Object.entries(members(message)).map(([key, value]) => [`${prefix}.${at}.message.${key}`, String(value)]),
    ),
  );
}

function members(message: SimulatedMessage): JsonObject {
  if (message.role === 'tool') return { role: 'tool', content: message.text, tool_call_id: message.id };
  if (message.role !== 'asks') return { role: message.role, content: message.text };
  const calls = message.calls.map(({ id, tool, argumentsText }, at) => ({
    [`tool_calls.${at}.tool_call.id`]: id,
    [`tool_calls.${at}.tool_call.function.name`]: tool,
    [`tool_calls.${at}.tool_call.function.arguments`]: argumentsText,
  }));
  return Object.assign({ role: 'assistant' }, ...calls) as JsonObject;
}

/** Manual instrumentation: a name, an input, an output, without model calls and tool schemas. */
const plain: Sdk = {
  scope: 'demo.handmade',
  carriesTools: false,
  agent: ({ agent, input, answer, sessionId }) => ({
    name: agent.name,
    attributes: {
      'agent.name': agent.name,
      'input.value': input,
      ...(answer === undefined ? {} : { 'output.value': answer }),
      ...(sessionId === undefined ? {} : { 'session.id': sessionId }),
    },
  }),
  tool: (_run, call) => ({
    name: call.tool,
    attributes: {
      'tool.name': call.tool,
      'input.value': jsonText(call.arguments),
      ...(call.outcome.kind === 'returned' ? { 'output.value': outcomeText(call.outcome) } : {}),
    },
  }),
};

export const sdks: { readonly [name in SdkName]: Sdk } = { plain, flattened, conventions, ai_sdk: aiSdk };
