/** The agents of the demonstration and their tools. */
import type { ToolDefinition } from '../../model/agent-trace.ts';
import type { JsonObject } from '../../model/json.ts';
import type { SimulatedAgent } from './simulated.ts';

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

export type AgentName = keyof typeof agents;
