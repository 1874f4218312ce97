/**
 * A scripted model behind the interfaces of OpenAI (chat, responses), Anthropic, Gemini and Bedrock Converse.
 * The first part of a request's path (m1, m2) names the agent that asks; the n-th request of an agent gets the n-th answer of its script.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import type { Answer, Script } from './scenarios.ts';

const created = 1_790_000_000;

export interface ModelRequest {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly agent: string;
  readonly answer: Answer;
  readonly used: { readonly input: number; readonly output: number };
  /** Results that this request brought, by call id. */
  readonly told: ReadonlyMap<string, unknown>;
}

/** A message or a part of one, as far as it brings results. */
interface Message {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly output?: unknown;
  readonly tool_call_id?: string;
  readonly call_id?: string;
  readonly tool_use_id?: string;
  readonly toolResult?: { readonly toolUseId: string; readonly content: readonly { readonly text?: string; readonly json?: unknown }[] };
  readonly functionResponse?: { readonly id?: string; readonly response: unknown };
}

interface Asked {
  readonly messages?: readonly Message[];
  readonly input?: string | readonly Message[];
  readonly contents?: readonly { readonly parts?: readonly Message[] }[];
  readonly model?: string;
  readonly stream?: boolean;
  readonly stream_options?: { readonly include_usage?: boolean };
  readonly instructions?: string;
  readonly tools?: readonly unknown[];
}

interface Given extends Answer {
  readonly used: ModelRequest['used'];
  readonly key: string;
}

/** One answer, or the events of a stream: [name, data]. */
type Made = object | readonly (readonly [string | null, object | string])[];

export interface ModelServer {
  readonly address: string;
  readonly requests: readonly ModelRequest[];
  close(): void;
}

export async function modelServer(script: Script): Promise<ModelServer> {
  const asked = new Map<string, number>();
  const requests: ModelRequest[] = [];
  const next = (place: string, body: Asked): Given | undefined => {
    const agent = place === 'm2' ? 'refund_desk' : 'order_support';
    const answers = script[agent] ?? [];
    const nth = asked.get(agent) ?? 0;
    const answer = answers[Math.min(nth, answers.length - 1)];
    // An agent that goes on asking is in a loop.
    if (answer === undefined || nth > answers.length + 2) return undefined;
    asked.set(agent, nth + 1);
    const used = { input: 211 + 37 * requests.length, output: 23 + 6 * requests.length };
    requests.push({ at: performance.timeOrigin + performance.now(), agent, answer, used, told: new Map(toldIn(body)) });
    return { ...(answer.calls === undefined ? answer : { calls: answer.calls }), used, key: `${place}-${nth}` };
  };
  const answerTo = async (path: string, body: string): Promise<readonly [number, string, string]> => {
    const [, place = '', rest = ''] = /^\/([^/]+)\/(.*)$/.exec(path) ?? [];
    const maker = interfaces.find(({ path: pattern }) => pattern.test(rest));
    const asking = JSON.parse(body) as Asked;
    const answer = maker === undefined ? undefined : next(place, asking);
    if (maker === undefined || answer === undefined) {
      process.stderr.write(`the model server has nothing at ${path}\n`);
      return [404, 'application/json', JSON.stringify({ error: { message: `nothing at ${path}`, type: 'invalid_request_error' } })];
    }
    if (process.env['RIG_SHOW'] !== undefined) process.stderr.write(`${path}: ${body.slice(0, Number(process.env['RIG_SHOW']))}\n`);
    const made = maker.answer(asking, answer, rest);
    if (!Array.isArray(made)) return [200, 'application/json', JSON.stringify(made)];
    const events = (made as readonly (readonly [string | null, object | string])[]).map(
      ([name, data]) => `${name === null ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`,
    );
    return [200, 'text/event-stream', events.join('')];
  };
  const server = createServer((request, response) => {
    const [path = ''] = (request.url ?? '').split('?');
    void textOf(request)
      .then((body) => answerTo(path, body))
      .then(([status, type, body]) => response.writeHead(status, { 'content-type': type }).end(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests, close: () => void server.close() };
}

const interfaces: readonly { readonly path: RegExp; readonly answer: (body: Asked, given: Given, rest: string) => Made }[] = [
  { path: /chat\/completions$/, answer: chat },
  { path: /responses$/, answer: responses },
  { path: /messages$/, answer: anthropic },
  { path: /:(generateContent|streamGenerateContent)$/, answer: gemini },
  { path: /model\/[^/]+\/converse$/, answer: converse },
];

/** Results by call id, in every interface. */
function toldIn({ messages = [], input = [], contents = [] }: Asked): readonly (readonly [string, unknown])[] {
  const items = [...messages, ...(typeof input === 'string' ? [] : input), ...contents.flatMap(({ parts = [] }) => parts)];
  return items
    .flatMap((item) => [item, ...(Array.isArray(item.content) ? (item.content as readonly Message[]) : [])])
    .flatMap((item) => {
      if (item.toolResult !== undefined)
        return [[item.toolResult.toolUseId, item.toolResult.content.map(({ text, json }) => text ?? json)[0]] as const];
      if (item.functionResponse?.id !== undefined) return [[item.functionResponse.id, item.functionResponse.response] as const];
      const id = item.tool_call_id ?? item.call_id ?? item.tool_use_id;
      const told = item.output ?? item.content;
      return id === undefined || told === undefined ? [] : [[id, told] as const];
    });
}

function pieces(text: string, size = 12): readonly string[] {
  const points = [...text];
  return Array.from({ length: Math.ceil(points.length / size) }, (_, at) => points.slice(at * size, at * size + size).join(''));
}

function chat(body: Asked, { calls, text, used, key }: Given): Made {
  const usage = { prompt_tokens: used.input, completion_tokens: used.output, total_tokens: used.input + used.output };
  const base = { id: `chatcmpl-${key}`, created, model: `${body.model ?? 'gpt-4o-mini'}` };
  const finish = calls ? 'tool_calls' : 'stop';
  const toolCalls = (calls ?? []).map((call) => ({
    id: call.id,
    type: 'function',
    function: { name: call.name, arguments: JSON.stringify(call.arguments) },
  }));
  if (!body.stream) {
    const message = { role: 'assistant', content: text ?? null, refusal: null, ...(calls ? { tool_calls: toolCalls } : {}) };
    return { ...base, object: 'chat.completion', usage, choices: [{ index: 0, message, logprobs: null, finish_reason: finish }] };
  }
  const chunk = (delta: object, reason: string | null = null): readonly [null, object] => [
    null,
    { ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, logprobs: null, finish_reason: reason }] },
  ];
  const events: (readonly [null, object])[] = [
    chunk({ role: 'assistant', content: text === undefined ? null : '' }),
    ...pieces(text ?? '').map((part) => chunk({ content: part })),
  ];
  for (const [index, call] of toolCalls.entries()) {
    events.push(chunk({ tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }] }));
    events.push(...pieces(call.function.arguments).map((part) => chunk({ tool_calls: [{ index, function: { arguments: part } }] })));
  }
  events.push(chunk({}, finish));
  if (body.stream_options?.include_usage) events.push([null, { ...base, object: 'chat.completion.chunk', choices: [], usage }]);
  return [...events, [null, '[DONE]']];
}

function responses(body: Asked, { calls, text = '', used, key }: Given): Made {
  const output = calls
    ? calls.map((call, n) => ({
        type: 'function_call',
        id: `fc_${key}${n}`,
        call_id: call.id,
        name: call.name,
        arguments: JSON.stringify(call.arguments),
        status: 'completed',
      }))
    : [
        {
          type: 'message',
          id: `msg_${key}`,
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [], logprobs: [] }],
        },
      ];
  const usage = {
    input_tokens: used.input,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: used.output,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: used.input + used.output,
  };
  const answer = {
    id: `resp_${key}`,
    object: 'response',
    created_at: created,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: null,
    metadata: {},
    model: body.model ?? 'gpt-4o-mini',
    output,
    parallel_tool_calls: true,
    previous_response_id: null,
    reasoning: { effort: null, summary: null },
    store: false,
    temperature: 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: body.tools ?? [],
    top_p: 1,
    truncation: 'disabled',
    user: null,
    usage,
  };
  if (!body.stream) return answer;
  const events: (readonly [string, object])[] = [];
  const emit = (type: string, fields: object): number => events.push([type, { type, sequence_number: events.length, ...fields }]);
  emit('response.created', { response: { ...answer, status: 'in_progress', output: [], usage: null } });
  for (const [output_index, item] of output.entries()) {
    const at = { item_id: item.id, output_index };
    if ('arguments' in item) {
      emit('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', arguments: '' } });
      for (const delta of pieces(item.arguments)) emit('response.function_call_arguments.delta', { ...at, delta });
      emit('response.function_call_arguments.done', { ...at, arguments: item.arguments, name: item.name });
    } else {
      const [part] = item.content;
      emit('response.output_item.added', { output_index, item: { ...item, status: 'in_progress', content: [] } });
      emit('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } });
      for (const delta of pieces(text)) emit('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] });
      emit('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] });
      emit('response.content_part.done', { ...at, content_index: 0, part });
    }
    emit('response.output_item.done', { output_index, item });
  }
  emit('response.completed', { response: answer });
  return events;
}

function anthropic(body: Asked, { calls, text = '', used, key }: Given): Made {
  const content = calls
    ? calls.map((call) => ({ type: 'tool_use', id: call.id, name: call.name, input: call.arguments }))
    : [{ type: 'text', text, citations: null }];
  const message = {
    id: `msg_${key}`,
    type: 'message',
    role: 'assistant',
    model: body.model,
    content,
    stop_reason: calls ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: used.input, output_tokens: used.output, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 },
  };
  if (!body.stream) return message;
  const events: (readonly [string, object])[] = [];
  const emit = (type: string, fields: object): number => events.push([type, { type, ...fields }]);
  emit('message_start', { message: { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } } });
  for (const [index, block] of content.entries()) {
    emit('content_block_start', { index, content_block: 'text' in block ? { type: 'text', text: '' } : { ...block, input: {} } });
    const deltas =
      'text' in block
        ? pieces(block.text).map((part) => ({ type: 'text_delta', text: part }))
        : pieces(JSON.stringify(block.input)).map((part) => ({ type: 'input_json_delta', partial_json: part }));
    for (const delta of deltas) emit('content_block_delta', { index, delta });
    emit('content_block_stop', { index });
  }
  emit('message_delta', { delta: { stop_reason: message.stop_reason, stop_sequence: null }, usage: { output_tokens: used.output } });
  emit('message_stop', {});
  return events;
}

function gemini(_body: Asked, { calls, text = '', used, key }: Given, rest: string): Made {
  const parts = calls ? calls.map((call) => ({ functionCall: { id: call.id, name: call.name, args: call.arguments } })) : [{ text }];
  const answer = (content: readonly object[]): object => ({
    candidates: [{ content: { role: 'model', parts: content }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: used.input, candidatesTokenCount: used.output, totalTokenCount: used.input + used.output },
    modelVersion: 'gemini-2.5-flash',
    responseId: key,
  });
  if (!rest.endsWith(':streamGenerateContent')) return answer(parts);
  return calls ? [[null, answer(parts)]] : pieces(text, 20).map((part) => [null, answer([{ text: part }])]);
}

function converse(_body: Asked, { calls, text = '', used }: Given): Made {
  const content = calls ? calls.map((call) => ({ toolUse: { toolUseId: call.id, name: call.name, input: call.arguments } })) : [{ text }];
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: calls ? 'tool_use' : 'end_turn',
    usage: { inputTokens: used.input, outputTokens: used.output, totalTokens: used.input + used.output },
    metrics: { latencyMs: 12 },
  };
}
