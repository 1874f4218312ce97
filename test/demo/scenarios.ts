/** Simulated runs as data: agents, scenarios and calls. `spans.ts` writes them in the form of an SDK. */
import type { ToolDefinition } from '../../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

/** The instrumentation of the agent, see `sdks.ts`. */
export type SdkName = 'plain' | 'flattened' | 'conventions' | 'ai_sdk';

export type CallOutcome =
  | { readonly kind: 'returned'; readonly result: JsonValue }
  | { readonly kind: 'failed'; readonly message: string }
  /** A requested call before the process died. */
  | { readonly kind: 'lost' };

export interface SimulatedCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  readonly outcome: CallOutcome;
  readonly tookMs: number;
  /** The agent that does the work of this tool. */
  readonly by?: SimulatedRun;
}

interface SimulatedTurn {
  readonly thoughtMs: number;
  readonly calls: readonly SimulatedCall[];
}

interface SimulatedAgent {
  readonly name: string;
  readonly sdk: SdkName;
  readonly version: string;
  readonly model: string;
  readonly system: string;
  readonly tools: readonly ToolDefinition[];
}

export interface SimulatedRun {
  readonly agent: SimulatedAgent;
  /** Name of the scenario. */
  readonly scenario: string;
  readonly input: string;
  readonly sessionId?: string;
  /** Each is one model call with its tool calls. */
  readonly turns: readonly SimulatedTurn[];
  /** Duration of the last model call. */
  readonly answerMs: number;
  /** Absent when the run broke off. */
  readonly answer?: string;
}

/** The duration of a run. */
export function tookMs(run: SimulatedRun): number {
  const turns = run.turns.reduce((sum, turn) => sum + turn.thoughtMs + turn.calls.reduce((calls, call) => calls + callMs(call), 0), 0);
  return edgeMs + turns + (run.answer === undefined ? 0 : run.answerMs) + edgeMs;
}

/** Time of an agent before its first and after its last step. */
export const edgeMs = 2;

export function callMs({ by, tookMs: own, outcome }: SimulatedCall): number {
  if (outcome.kind === 'lost') return 0;
  return by === undefined ? own : tookMs(by) + edgeMs;
}

const text = { type: 'string' } as const;

function tool(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[] = Object.keys(properties),
): ToolDefinition {
  return { name, description, inputSchema: { type: 'object', properties, required, additionalProperties: false } };
}

const date = { type: 'string', pattern: '^\\d{4}-\\d{2}-\\d{2}$' } as const;
const order = { type: 'string', pattern: '^ORD-\\d{6}$' } as const;

export const agents = {
  'travel-agent': {
    name: 'travel-agent',
    sdk: 'flattened',
    version: '2.3.0',
    model: 'gpt-4o-mini',
    system: 'You book trips. Use the tools, never guess prices.',
    tools: [
      tool('search_flights', 'Flights between two airports on a day.', { origin: text, destination: text, date }),
      tool('book_hotel', 'Books a hotel.', { city: text, nights: { type: 'integer', minimum: 1, maximum: 30 } }),
      tool('get_weather', 'Weather of a city on a day.', { city: text, date }, ['city']),
    ],
  },
  'order-support': {
    name: 'order-support',
    sdk: 'ai_sdk',
    version: '1.9.2',
    model: 'gpt-4o-mini',
    system: 'You help customers with their orders. Refund only what the policy allows.',
    tools: [
      tool('lookup_order', 'An order by its number.', { order_id: order }),
      tool('refund_order', 'Pays an amount back.', {
        order_id: order,
        amount: { type: 'number', exclusiveMinimum: 0 },
        reason: { enum: ['damaged', 'late', 'not_as_described'] },
      }),
      tool('send_email', 'Writes to the customer.', { to: text, subject: text }),
    ],
  },
  'research-assistant': {
    name: 'research-assistant',
    sdk: 'conventions',
    version: '0.8.1',
    model: 'claude-sonnet-4',
    system: 'You answer questions with sources. Let the web searcher read.',
    tools: [
      tool('ask_web_searcher', 'Lets another agent search and read the web.', { question: text }),
      tool('save_note', 'Keeps a note.', { title: text, body: text }),
    ],
  },
  'web-searcher': {
    name: 'web-searcher',
    sdk: 'conventions',
    version: '0.8.1',
    model: 'claude-haiku-4',
    system: 'You search and read.',
    tools: [
      tool('web_search', 'Finds pages.', { query: text, max_results: { type: 'integer', minimum: 1, maximum: 20 } }, ['query']),
      tool('read_page', 'The text of a page.', { url: { type: 'string', pattern: '^https://' } }),
    ],
  },
  'coding-agent': {
    name: 'coding-agent',
    sdk: 'plain',
    version: '4.0.0',
    model: 'gpt-5-mini',
    system: 'You mend code until the tests pass.',
    tools: [],
  },
} as const satisfies { readonly [name: string]: SimulatedAgent };

type AgentName = keyof typeof agents;

/** `{word}` in a text is replaced by a word of the run; a value of only `{word}` takes the type of the word. A call without an outcome is lost. */
export interface ScenarioCall {
  readonly tool: string;
  readonly arguments: JsonObject;
  /** The result. */
  readonly gives?: JsonValue;
  /** The error message. */
  readonly fails?: string;
  /** The scenario of a sub-agent whose answer is the result. */
  readonly by?: string;
}

export interface Scenario {
  readonly name: string;
  readonly agent: AgentName;
  /** Relative frequency; 0 for a scenario that is only part of others. */
  readonly weight: number;
  readonly input: string;
  /** One list of calls for each model call with tools. */
  readonly turns: readonly (readonly ScenarioCall[])[];
  /** Absent when the run breaks off. */
  readonly answer?: string;
  /** The next turn of the same user in the same session. */
  readonly next?: string;
  /** Duration of a slow first model call. */
  readonly slowMs?: number;
  /** Evaluators that find a fault; all others pass or skip. */
  readonly faults: readonly ('tool_call_validity' | 'tool_error' | 'tool_efficiency')[];
}

const search = {
  tool: 'search_flights',
  arguments: { origin: '{from}', destination: '{to}', date: '{date}' },
  gives: {
    flights: [
      { flight: 'AF007', price: 642.5 },
      { flight: 'DL262', price: 701 },
    ],
  },
} as const;
const hotel = {
  tool: 'book_hotel',
  arguments: { city: '{city}', nights: '{nights}' },
  gives: { confirmation: 'HX-{number}', city: '{city}', nights: '{nights}' },
} as const;
const lookup = {
  tool: 'lookup_order',
  arguments: { order_id: 'ORD-{number}' },
  gives: { order_id: 'ORD-{number}', status: 'delivered', total: 59.9 },
} as const;
const failingTests = { tool: 'run_tests', arguments: { path: '{file}' }, gives: { failed: 3, passed: 41 } } as const;

export const scenarios: readonly Scenario[] = [
  {
    name: 'a trip is booked',
    agent: 'travel-agent',
    weight: 12,
    input: 'Find me a flight from {from} to {to} on {date} and book a hotel in {city} for {nights} nights.',
    turns: [[search], [hotel]],
    answer: 'Flight AF007 is found and {nights} nights in {city} are booked (HX-{number}).',
    faults: [],
  },
  {
    name: 'flights and weather at once',
    agent: 'travel-agent',
    weight: 6,
    input: 'What does a flight from {from} to {to} cost on {date}, and what is the weather in {city}?',
    turns: [[search, { tool: 'get_weather', arguments: { city: '{city}', date: '{date}' }, gives: { celsius: 17, sky: 'clear' } }]],
    answer: '642.50 EUR with AF007, and 17 degrees in {city}.',
    next: 'the hotel is booked after all',
    faults: [],
  },
  {
    name: 'the hotel is booked after all',
    agent: 'travel-agent',
    weight: 0,
    input: 'Good. Then book a hotel there for {nights} nights.',
    turns: [[hotel]],
    answer: 'Done: {nights} nights in {city}, HX-{number}.',
    next: 'thanks',
    faults: [],
  },
  {
    name: 'thanks',
    agent: 'travel-agent',
    weight: 0,
    input: 'Thank you!',
    turns: [],
    answer: 'You are welcome. Have a good time in {city}.',
    faults: [],
  },
  {
    name: 'the hotel cannot be booked',
    agent: 'travel-agent',
    weight: 3,
    input: 'Book a hotel in {city} for {nights} nights.',
    turns: [[{ tool: 'book_hotel', arguments: hotel.arguments, fails: 'booking backend timed out after 10 s' }]],
    answer: 'I could not book a hotel in {city}; please try again later.',
    faults: ['tool_error'],
  },
  {
    name: 'nights written as a word',
    agent: 'travel-agent',
    weight: 3,
    input: 'Book {city} for a few nights.',
    turns: [[{ tool: 'book_hotel', arguments: { city: '{city}', nights: 'three' }, gives: { confirmation: 'HX-{number}' } }]],
    answer: 'Booked: HX-{number}.',
    faults: ['tool_call_validity'],
  },
  {
    name: 'a slow model',
    agent: 'travel-agent',
    weight: 1,
    slowMs: 30_000,
    input: 'Compare all flights from {from} to {to} on {date}.',
    turns: [[search]],
    answer: 'AF007 is the cheapest at 642.50 EUR.',
    faults: [],
  },

  {
    name: 'an order is explained',
    agent: 'order-support',
    weight: 10,
    input: 'Where is my order ORD-{number}?',
    turns: [[lookup]],
    answer: 'ORD-{number} was delivered.',
    next: 'the order is refunded',
    faults: [],
  },
  {
    name: 'the order is refunded',
    agent: 'order-support',
    weight: 5,
    input: 'It came broken. I want my money for ORD-{number} back.',
    turns: [
      [lookup],
      [
        { tool: 'refund_order', arguments: { order_id: 'ORD-{number}', amount: '{amount}', reason: 'damaged' }, gives: { refunded: true } },
        { tool: 'send_email', arguments: { to: 'customer@example.com', subject: 'Your refund' }, gives: { sent: true } },
      ],
    ],
    answer: '{amount} EUR will be paid back.',
    faults: [],
  },
  {
    name: 'a refund with an invented reason',
    agent: 'order-support',
    weight: 3,
    input: 'I changed my mind about ORD-{number}.',
    turns: [
      [
        {
          tool: 'refund_order',
          arguments: { order_id: '{number}', amount: '{amount}', reason: 'changed_mind' },
          gives: { refunded: true },
        },
      ],
    ],
    answer: 'You get {amount} EUR back.',
    faults: ['tool_call_validity'],
  },
  {
    name: 'the shop is down',
    agent: 'order-support',
    weight: 3,
    input: 'What about ORD-{number}?',
    turns: [[{ tool: 'lookup_order', arguments: { order_id: 'ORD-{number}' }, fails: '503 from the shop' }]],
    answer: 'I cannot see your order at the moment.',
    faults: ['tool_error'],
  },
  {
    name: 'the process dies',
    agent: 'order-support',
    weight: 2,
    input: 'Refund ORD-{number} at once!',
    turns: [[lookup], [{ tool: 'refund_order', arguments: { order_id: 'ORD-{number}', amount: '{amount}', reason: 'late' } }]],
    faults: [],
  },
  {
    name: 'small talk',
    agent: 'order-support',
    weight: 2,
    input: 'Are you a human?',
    turns: [],
    answer: 'No, I am the support assistant of the shop.',
    faults: [],
  },

  {
    name: 'a question is researched',
    agent: 'research-assistant',
    weight: 7,
    input: 'What is known about {topic}?',
    turns: [
      [{ tool: 'ask_web_searcher', arguments: { question: 'Sources on {topic}?' }, by: 'pages are read' }],
      [{ tool: 'save_note', arguments: { title: '{topic}', body: 'Two sources agree.' }, gives: { saved: true } }],
    ],
    answer: 'Two sources on {topic} agree; see the note.',
    faults: [],
  },
  {
    name: 'pages are read',
    agent: 'web-searcher',
    weight: 0,
    input: 'Sources on {topic}?',
    turns: [
      [
        {
          tool: 'web_search',
          arguments: { query: '{topic}', max_results: 5 },
          gives: { urls: ['https://example.org/1', 'https://example.org/2'] },
        },
      ],
      [{ tool: 'read_page', arguments: { url: 'https://example.org/1' }, gives: 'A long text about {topic}.' }],
    ],
    answer: 'Found and read: https://example.org/1.',
    faults: [],
  },
  {
    name: 'a question is searched in circles',
    agent: 'research-assistant',
    weight: 3,
    input: 'Find a contradiction about {topic}.',
    turns: [
      [{ tool: 'ask_web_searcher', arguments: { question: 'Contradictions about {topic}?' }, by: 'the same search again and again' }],
    ],
    answer: 'None was found.',
    faults: [],
  },
  {
    name: 'the same search again and again',
    agent: 'web-searcher',
    weight: 0,
    input: 'Contradictions about {topic}?',
    turns: Array.from({ length: 4 }, () => [
      { tool: 'web_search', arguments: { query: '{topic} contradiction', max_results: 5 }, gives: { urls: [] } },
    ]),
    answer: 'Nothing found.',
    faults: ['tool_efficiency'],
  },
  {
    name: 'a page that is not a page',
    agent: 'research-assistant',
    weight: 2,
    input: 'Summarise the intranet page on {topic}.',
    turns: [[{ tool: 'read_page', arguments: { url: 'intranet/{number}' }, fails: 'unknown tool' }]],
    answer: 'I cannot read the intranet.',
    faults: ['tool_call_validity', 'tool_error'],
  },

  {
    name: 'a test is mended',
    agent: 'coding-agent',
    weight: 8,
    input: 'The tests of {file} fail. Mend them.',
    turns: [
      [{ tool: 'read_file', arguments: { path: '{file}' }, gives: 'export const a = 1;' }],
      [failingTests],
      [{ tool: 'write_file', arguments: { path: '{file}', content: 'export const a = 2;' }, gives: { written: true } }],
      [{ tool: 'run_tests', arguments: { path: '{file}', watch: false }, gives: { failed: 0, passed: 44 } }],
    ],
    answer: 'All 44 tests of {file} pass.',
    faults: [],
  },
  {
    name: 'the tests are run in circles',
    agent: 'coding-agent',
    weight: 4,
    input: 'Make {file} green.',
    turns: Array.from({ length: 6 }, () => [failingTests]),
    answer: 'The tests still fail.',
    faults: ['tool_efficiency'],
  },
  {
    name: 'no rights to write',
    agent: 'coding-agent',
    weight: 2,
    input: 'Rename the class in {file}.',
    turns: [
      [{ tool: 'read_file', arguments: { path: '{file}' }, gives: 'class A {}' }],
      [{ tool: 'write_file', arguments: { path: '{file}', content: 'class B {}' }, fails: 'EACCES: permission denied' }],
    ],
    answer: 'I may not write {file}.',
    faults: ['tool_error'],
  },
];
