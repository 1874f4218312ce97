/** The shared parts of all agents: the tools, with a log of their work. */
import { appendFileSync } from 'node:fs';

export const model = 'gpt-4o-mini';
export const prompts = { order_support: 'You help customers of a lamp shop.', refund_desk: 'You pay money back to customers.' } as const;

const nowMs = (): number => performance.timeOrigin + performance.now();

/** One line of what truly happened. */
export function note(line: object): void {
  appendFileSync(process.env['RIG_LOG'] ?? '', `${JSON.stringify({ at: nowMs(), ...line })}\n`);
}

class RefundError extends Error {
  override readonly name = 'RefundError';
}

interface Schema {
  readonly type: string;
  readonly items?: Schema;
  readonly properties?: { readonly [key: string]: Schema };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
}

interface Definition {
  readonly description: string;
  readonly parameters: Schema;
  readonly run: (args: { readonly order_id: string; readonly amount: number }) => unknown;
}

const lamps = {
  order_id: 'A-1042',
  status: 'delivered',
  total: 79.9,
  items: [
    { sku: 'LAMP-3', quantity: 2 },
    { sku: 'BULB-9', quantity: 6 },
  ],
} as const;
const mug = { order_id: 'A-1043', status: 'on its way', total: 24, items: [{ sku: 'MUG-1', quantity: 1 }] } as const;

const definitions: { readonly [name: string]: Definition } = {
  find_order: {
    description: 'Looks an order up by its number.',
    parameters: { type: 'object', properties: { order_id: { type: 'string' } }, required: ['order_id'], additionalProperties: false },
    run: ({ order_id }) => (order_id === 'A-1042' ? lamps : mug),
  },
  refund_order: {
    description: 'Pays back a part of an order.',
    parameters: {
      type: 'object',
      properties: { order_id: { type: 'string' }, amount: { type: 'number' }, reasons: { type: 'array', items: { type: 'string' } } },
      required: ['order_id', 'amount', 'reasons'],
      additionalProperties: false,
    },
    run: ({ order_id, amount }) => {
      if (amount > 100) throw new RefundError(`amount ${amount} is more than the order total 79.9`);
      return { refund: 'RF-88', order_id, amount, state: 'accepted', note: 'Gutschrift in 3–5 Tagen' };
    },
  },
};

/** True when an agent works by itself: then it has all tools. */
interface Share {
  readonly alone?: boolean;
}

function namesOf(agent: string, { alone = false }: Share): readonly string[] {
  if (alone) return Object.keys(definitions);
  return agent === 'refund_desk' ? ['refund_order'] : ['find_order'];
}

interface Tool {
  readonly name: string;
  readonly description: string;
  readonly parameters: Schema;
  readonly run: (args: { readonly order_id: string; readonly amount: number }) => unknown;
}

/** The tools of an agent: `run` executes and logs. */
export function toolsOf(agent: string, share: Share = {}): readonly Tool[] {
  return namesOf(agent, share).flatMap((name) => {
    const definition = definitions[name];
    return definition === undefined ? [] : [{ ...definition, name, run: logged(agent, name, definition.run) }];
  });
}

/** The same tools as mere definitions, for comparisons. */
export function definitionsOf(
  agent: string,
  share: Share,
): readonly { readonly name: string; readonly description: string; readonly input_schema: unknown }[] {
  return toolsOf(agent, share).map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
}

function logged(agent: string, name: string, run: Definition['run']): Definition['run'] {
  return (args) => {
    const at = nowMs();
    try {
      const result = run(args);
      note({ kind: 'call', at, agent, name, arguments: args, result });
      return result;
    } catch (error) {
      const { message, name: type } = error as Error;
      note({ kind: 'call', at, agent, name, arguments: args, error: { message, type } });
      throw error;
    }
  };
}
