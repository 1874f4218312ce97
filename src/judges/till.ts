/** Nothing is sent to a judge with a budget before the store has reserved what it may cost. */
import type { Tokens } from './openai-client.ts';

/** What became of a request: what it used; nothing; or nobody knows, and it counts as the most that it may have cost. */
export type Used = Tokens | 'nothing' | 'unknown';

export interface Till {
  /** `most` is an upper bound of what the request uses. Undefined: there is no budget for it. Rejects when the store cannot say so. */
  take(most: Tokens): Promise<((used: Used) => void) | undefined>;
}

interface Unpaid {
  readonly kind: 'failed';
  readonly error: string;
}

/** Whoever meets it ends the pair as `over_budget`. */
export const unpaid: Unpaid = { kind: 'failed', error: 'over_budget: the budget of the judge leaves no room for this request' };

export function isUnpaid(answer: { readonly kind: string; readonly error?: string }): boolean {
  return answer.kind === 'failed' && answer.error === unpaid.error;
}

/** What a reply tells of its cost. */
interface Costing {
  readonly tokens?: Tokens | undefined;
  /** True: it was not answered, and may have been charged all the same. */
  readonly mayCost?: true;
}

/** Sends once what is paid for. Without a till everything is. */
export async function paid<Reply extends { readonly kind: string } & Costing>(till: Till | undefined, most: Tokens, send: () => Promise<Reply>): Promise<Reply | Unpaid> {
  if (till === undefined) return await send();
  const settle = await till.take(most);
  if (settle === undefined) return unpaid;
  let used: Used = 'unknown';
  try {
    const reply = await send();
    used = usedBy(reply);
    return reply;
  } finally {
    settle(used);
  }
}

/** An answer that tells no usage costs what it may have cost; a refusal nothing. */
function usedBy({ kind, tokens, mayCost }: { readonly kind: string } & Costing): Used {
  if (tokens !== undefined) return tokens;
  return mayCost === true || kind === 'text' || kind === 'vectors' ? 'unknown' : 'nothing';
}

/** Beside the texts: roles, marks between messages, the envelope of a schema. */
const tokensAround = 200;

/** Of these texts. A token of any vocabulary stands for at least one byte. */
export function tokensMost(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 16, tokensAround);
}
