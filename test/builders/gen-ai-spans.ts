/** Spans of an agent at work, in the GenAI conventions: agents, requests to models, tools. */
import type { AttributeValue, LogRecord, Span } from '../../src/model/span.ts';
import { record, span, type SpanData } from './spans.ts';

export interface CallData {
  readonly id?: string;
  readonly name: string;
  readonly arguments?: AttributeValue;
}

export interface ResultData {
  readonly id?: string;
  readonly name?: string;
  readonly response?: AttributeValue;
  readonly is_error?: boolean;
}

export function agentSpan(data: SpanData & { readonly agent?: string; readonly input?: string; readonly output?: string }): Span {
  return span({
    ...data,
    attributes: {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': data.agent ?? `agent ${data.id}`,
      ...(data.input === undefined ? {} : { 'gen_ai.input.messages': [user(data.input)] }),
      ...(data.output === undefined ? {} : { 'gen_ai.output.messages': [assistant({ text: data.output })] }),
      ...data.attributes,
    },
  });
}

export interface ModelData extends SpanData {
  /** The question; answers to earlier calls follow it. */
  readonly user?: string;
  readonly history?: readonly AttributeValue[];
  readonly told?: readonly ResultData[];
  readonly asks?: readonly CallData[];
  readonly says?: string;
}

export function modelSpan(data: ModelData): Span {
  const input = [
    ...(data.user === undefined ? [] : [user(data.user)]),
    ...(data.history ?? []),
    ...(data.told === undefined ? [] : [toolMessage(data.told)]),
  ];
  return span({
    ...data,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm',
      ...(input.length === 0 ? {} : { 'gen_ai.input.messages': input }),
      ...(data.asks === undefined && data.says === undefined
        ? {}
        : { 'gen_ai.output.messages': [assistant({ text: data.says, asks: data.asks })] }),
      ...data.attributes,
    },
  });
}

export function toolSpan(
  data: SpanData & {
    readonly tool?: string;
    readonly call?: string;
    readonly arguments?: AttributeValue;
    readonly result?: AttributeValue;
  },
): Span {
  return span({
    ...data,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': data.tool ?? 't',
      ...(data.call === undefined ? {} : { 'gen_ai.tool.call.id': data.call }),
      ...(data.arguments === undefined ? {} : { 'gen_ai.tool.call.arguments': data.arguments }),
      ...(data.result === undefined ? {} : { 'gen_ai.tool.call.result': data.result }),
      ...data.attributes,
    },
  });
}

/** A request to a model whose instrumentation sends the content as log records. */
export function modelSpanWithRecords(data: SpanData): Span {
  return modelSpan({ ...data, scope: 'opentelemetry.instrumentation.openai_v2' });
}

export function choiceRecord(data: {
  readonly span: number;
  readonly time?: number;
  readonly text?: string;
  readonly asks?: readonly CallData[];
}): LogRecord {
  return record({
    span: data.span,
    ...(data.time === undefined ? {} : { time: data.time }),
    event: 'gen_ai.choice',
    body: {
      message: {
        role: 'assistant',
        ...(data.text === undefined ? {} : { content: data.text }),
        tool_calls: (data.asks ?? []).map((call) => ({
          ...(call.id === undefined ? {} : { id: call.id }),
          type: 'function',
          function: { name: call.name, arguments: call.arguments ?? '{}' },
        })),
      },
    },
  });
}

export function user(text: string): AttributeValue {
  return { role: 'user', parts: [{ type: 'text', content: text }] };
}

export function assistant({
  text,
  asks,
}: {
  readonly text?: string | undefined;
  readonly asks?: readonly CallData[] | undefined;
}): AttributeValue {
  return {
    role: 'assistant',
    parts: [
      ...(text === undefined ? [] : [{ type: 'text', content: text }]),
      ...(asks ?? []).map((call) => ({ type: 'tool_call', ...call })),
    ],
  };
}

export function toolMessage(told: readonly ResultData[]): AttributeValue {
  return { role: 'tool', parts: told.map((one) => ({ type: 'tool_call_response', ...one })) };
}

/** An agent's spans while it works, and when it is done: one run of `finder`, which starts at this time. */
export function halves(trace: number, startMs = 0): readonly [readonly Span[], readonly Span[]] {
  const id = `c${trace}`;
  const call = { id, name: 'find', arguments: '{"x":1}' };
  const from = (start: number, end: number) => ({ trace, start: startMs + start, end: startMs + end });
  return [
    [
      modelSpan({ ...from(1, 2), id: 2, parent: 1, user: 'where is it?', asks: [call] }),
      toolSpan({ ...from(3, 4), id: 3, parent: 1, call: id, tool: 'find', arguments: '{"x":1}', result: 'there' }),
    ],
    [agentSpan({ ...from(0, 7), id: 1, agent: 'finder', input: 'where is it?', output: 'there' })],
  ];
}
