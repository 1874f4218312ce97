/** The runs that the pages are tested with, and what is true of them. */
import type { CallStory, RunStory } from './agent-run.ts';

export interface PlacedStory {
  readonly story: RunStory;
  /** Before the newest run. */
  readonly agoMs: number;
}

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;

const refundTools = [
  {
    type: 'function',
    name: 'find_order',
    description: 'Finds one order by its id.',
    parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'], additionalProperties: false },
  },
  {
    type: 'function',
    name: 'refund_order',
    description: 'Pays money back for an order.',
    parameters: {
      type: 'object',
      properties: { order_id: { type: 'string' }, amount: { type: 'number', minimum: 0 }, reason: { type: 'string' } },
      required: ['order_id', 'amount'],
      additionalProperties: false,
    },
  },
] as const;

/** For each version of the refund agent: the number of runs, and of those that fail in refund_order with a text as the amount. */
export const refunds = {
  '1.0': { runs: 48, failing: 4 },
  '1.1': { runs: 48, failing: 20 },
} as const;
export const refundAgent = 'refund-agent';
export const refundError = 'amount must be a number, not "everything"';
/** The model of each call. */
export const refundTokens = { input: 400, output: 50 } as const;
export const refundModel = 'gpt-5-mini';

/** The old version over the day before yesterday's and yesterday's hours, the new one in the last two hours. */
export function refundStories(): readonly PlacedStory[] {
  return Object.entries(refunds).flatMap(([version, { runs, failing }]) =>
    Array.from({ length: runs }, (_, nth) => ({
      story: refundStory(version, nth, Math.floor(((nth + 1) * failing) / runs) > Math.floor((nth * failing) / runs)),
      agoMs: version === '1.0' ? 26 * hourMs + nth * 20 * minuteMs : 2 * minuteMs + nth * 2 * minuteMs,
    })),
  );
}

export function refundStory(version: string, nth: number, fails: boolean): RunStory {
  const order = `A-${1000 + nth}`;
  const find: CallStory = { tool: 'find_order', arguments: { order_id: order }, result: { order_id: order, total: 79.9 } };
  const refund: CallStory = fails
    ? { tool: 'refund_order', arguments: { order_id: order, amount: 'everything' }, error: refundError }
    : { tool: 'refund_order', arguments: { order_id: order, amount: 10 + nth / 2 }, result: { refund: `RF-${nth}` } };
  return {
    agent: refundAgent,
    version,
    model: refundModel,
    input: `Order ${order}: please refund ${fails ? 'everything' : `${10 + nth / 2}`}.`,
    answer: fails ? 'I could not refund it.' : `Refunded, the number is RF-${nth}.`,
    turns: [[find], [refund]],
    tools: refundTools,
    tokens: refundTokens,
  };
}

/** A planner with two sub-agents at once; one calls three tools at once. */
export const plannerStory: RunStory = {
  agent: 'travel-planner',
  version: '3.2.0',
  model: 'claude-sonnet-4',
  input: 'Plan two days in Lisbon for four people, vegetarian, not more than 900 euros.',
  answer: 'Day one: Alfama and the castle. Day two: Belém. The total is 812 euros.',
  tokens: { input: 1_200, output: 300 },
  turns: [
    [
      {
        tool: 'research',
        arguments: { city: 'Lisbon' },
        result: 'Three museums, one castle.',
        by: {
          agent: 'researcher',
          version: '3.2.0',
          input: 'What is there to see in Lisbon?',
          answer: 'Three museums, one castle.',
          turns: [
            [
              { tool: 'search_web', arguments: { query: 'Lisbon museums' }, result: ['Gulbenkian', 'MAAT', 'Azulejo'] },
              { tool: 'search_web', arguments: { query: 'Lisbon castle' }, result: ['São Jorge'] },
              { tool: 'search_web', arguments: { query: 'Lisbon trams' }, error: 'the search engine is over its limit' },
            ],
          ],
        },
      },
      {
        tool: 'price',
        arguments: { people: 4, nights: 2 },
        result: { total: 812, currency: 'EUR' },
        by: {
          agent: 'pricer',
          version: '3.2.0',
          input: 'What do two nights for four cost?',
          answer: '812 euros.',
          turns: [[{ tool: 'hotel_rates', arguments: { nights: 2 }, result: { rate: 203 } }]],
        },
      },
    ],
  ],
};

export const session = 'conversation-7';
/** The third turn has no final answer. */
const sessionStories: readonly RunStory[] = [
  { input: 'Hello, is my parcel on its way?', answer: 'Which order is it?' },
  { input: 'A-2000.', answer: 'It left the warehouse this morning.' },
  { input: 'And when does it come?' },
  { input: 'Are you still there?', answer: 'Yes. It comes tomorrow before noon.' },
].map((turn) => ({
  agent: 'parcel-support',
  version: '2.0',
  attributes: { 'user.id': 'u-7' },
  resource: { 'deployment.environment.name': 'staging' },
  session,
  turns: [[{ tool: 'track', arguments: { order_id: 'A-2000' }, result: { state: 'sent' } }]],
  ...turn,
}));

/** Everything that a world has at least: story `n` has the trace of the number `n + 1`. */
export function sentStories(): readonly PlacedStory[] {
  return [
    ...refundStories(),
    { story: plannerStory, agoMs: 5 * minuteMs },
    ...sessionStories.map((story, nth) => ({ story, agoMs: hourMs - nth * 3 * minuteMs })),
  ];
}

/** One run of about this many spans. */
export const largeAgent = 'bulk-importer';
export const largeSpans = 5_000;
export function largeStory(spans: number): RunStory {
  const turns = Math.floor((spans - 2) / 5);
  return {
    agent: largeAgent,
    version: '9.1',
    input: `Import ${turns * 4} rows.`,
    answer: 'All rows are imported.',
    turns: Array.from({ length: turns }, (_, turn) =>
      Array.from({ length: 4 }, (_call, nth) => ({
        tool: 'insert_row',
        arguments: { row: turn * 4 + nth, values: ['a', 'b', 'c'] },
        ms: 20,
        ...(turn % 97 === 5 && nth === 2 ? { error: 'duplicate key' } : { result: 'ok' }),
      })),
    ),
  };
}
