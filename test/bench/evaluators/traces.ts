/**
 * The runs that evaluators are measured on: as many tool calls as asked for, of five tools by turns, one in ten failing; all of them are
 * expected unchanged.
 */
import type { JsonObject, JsonValue } from '../../../src/model/json.ts';
import type { AgentTrace, ToolCall, ToolDefinition } from '../../../src/model/agent-trace.ts';
import { spanId, agentTrace } from '../../builders/agent-trace.ts';

const text = { type: 'string', description: 'As the user wrote it.' } as const;
const number = { type: 'number', description: 'A whole number.' } as const;
const tools: readonly ToolDefinition[] = [
  tool('search_flights', 'Finds flights between two cities on a day.', { from: text, to: text, day: number }),
  tool('get_weather', 'Tells the weather in a city on a day.', { city: text, day: number }),
  tool('book_hotel', 'Books a room in a hotel of a city.', { city: text, nights: number, guest: text }),
  tool('convert_money', 'Converts an amount into another currency.', { amount: number, from: text, to: text }),
  tool('send_message', 'Sends a message to the traveller.', { to: text, body: text }),
];

const secondNano = 1_000_000_000n;
const startUnixNano = 1_800_000_000n * secondNano;
/** The place among ten calls. */
const failing = 3;
const tokensOfCall = { input: 900, output: 60 } as const;

/** The same call number always is the same call. */
function callAt(at: number): ToolCall {
  const { name } = tools[at % tools.length] ?? { name: 'search_flights' };
  const started = startUnixNano + BigInt(at) * 2n * secondNano;
  const end: Pick<ToolCall, 'result' | 'error'> =
    at % 10 === failing ? { error: { message: 'timed out', sign: 'span_status' } } : { result: resultOf(name, at) };
  return {
    name,
    id: `call_${at}`,
    arguments: argumentsOf(name, at),
    ...end,
    executed: true,
    spanId: spanId(at + 2),
    turn: at,
    startUnixNano: started,
    endUnixNano: started + secondNano,
  };
}

function argumentsOf(name: string, at: number): JsonObject {
  switch (name) {
    case 'search_flights':
      return { from: 'Paris', to: `City ${at}`, day: at };
    case 'get_weather':
      return { city: `City ${at}`, day: at };
    case 'book_hotel':
      return { city: `City ${at}`, nights: 2 + (at % 5), guest: 'Ada Lovelace' };
    case 'convert_money':
      return { amount: 100 + at, from: 'EUR', to: 'USD' };
    default:
      return { to: 'ada@example.com', body: `Stop ${at} of your trip is planned.` };
  }
}

function resultOf(name: string, at: number): JsonValue {
  return name === 'search_flights'
    ? { flights: [{ number: `AF${at}`, price: 120 + at, seats: ['12A', '14C'] }], cached: false }
    : { status: 'ok', reference: `REF-${at}`, note: 'Confirmed by the provider, no further action is needed.' };
}

/** The answer of the run: a value of some forty leaves, with any number of calls. */
const finalResponse: JsonObject = {
  status: 'booked',
  embedding: [0.1, 0.3, 0.2, 0.7, 0.5, 0.1, 0.2, 0.4],
  text: 'Your trip from Paris is booked and the hotel expects you.',
  stops: Array.from({ length: 10 }, (_, at) => ({ city: `City ${at}`, nights: 2 + at, reference: `REF-${at}` })),
};

/** A value that is near to it: some texts and numbers differ. */
const expectedOutput: JsonObject = {
  status: 'booked',
  embedding: [0.1, 0.2, 0.2, 0.6, 0.5, 0.3, 0.2, 0.4],
  text: 'The trip from Paris is booked, and a hotel expects you.',
  stops: Array.from({ length: 10 }, (_, at) => ({
    city: `City ${at}`,
    nights: 3 + at,
    reference: at % 3 === 0 ? `REF-${at + 1}` : `REF-${at}`,
  })),
};

export interface MeasuredRun {
  readonly trace: AgentTrace;
  /** Everything that can be expected of it, as users write it. */
  readonly expected: JsonObject;
  /** The same run as messages of the OpenAI chat API. */
  readonly messages: readonly JsonObject[];
}

export function measuredRun(calls: number): MeasuredRun {
  const toolCalls = Array.from({ length: calls }, (_, at) => callAt(at));
  const input = `Plan a trip for Ada Lovelace from Paris through ${calls} stops, and write to ada@example.com in between.`;
  const trace = agentTrace({
    agent: 'travel-agent',
    input,
    finalResponse,
    systemPrompt: 'You are a travel agent.',
    model: 'gpt-5-mini',
    startUnixNano,
    endUnixNano: startUnixNano + BigInt(calls + 1) * 2n * secondNano,
    toolCalls,
    toolDefinitions: tools,
    modelCalls: toolCalls.map((_, at) => ({
      spanId: spanId(1_000_000 + at),
      model: 'gpt-5-mini',
      inputTokens: tokensOfCall.input,
      outputTokens: tokensOfCall.output,
    })),
    reasoningSteps: toolCalls.map((_, at) => `Next comes stop ${at}.`),
    documents: [{ id: 'guide', content: 'A guide to ten cities.\n\n```json\n{ "cities": ["Paris", "Rome"] }\n```\n', score: 0.9 }],
    tokens: { input: calls * tokensOfCall.input, output: calls * tokensOfCall.output },
  });
  const messages = messagesOf(input, toolCalls);
  return { trace, messages, expected: expectedOf(toolCalls, messages) };
}

function expectedOf(calls: readonly ToolCall[], messages: readonly JsonObject[]): JsonObject {
  const names = calls.map(({ name }) => name);
  return {
    tool_calls: calls.map(({ name, arguments: sent }) => ({ name, arguments: sent ?? {} })),
    tool_outputs: calls.map(({ name, result }) => ({ name, output: result ?? null })),
    tool_calls_count: Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length])),
    tool_calls_order: names,
    messages,
    tasks: ['Plan the trip.'],
    output: expectedOutput,
    search_text: ['booked', 'REF-4'],
  };
}

function messagesOf(input: string, calls: readonly ToolCall[]): readonly JsonObject[] {
  const turns = calls.flatMap(({ id = '', name, arguments: sent, result }): readonly JsonObject[] => [
    { role: 'assistant', content: '', tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(sent) } }] },
    { role: 'tool', tool_call_id: id, content: JSON.stringify(result ?? null) },
  ]);
  return [{ role: 'user', content: input }, ...turns, { role: 'assistant', content: JSON.stringify(finalResponse) }];
}

function tool(name: string, description: string, properties: JsonObject): ToolDefinition {
  return { name, description, inputSchema: { type: 'object', additionalProperties: false, required: Object.keys(properties), properties } };
}
