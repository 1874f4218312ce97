/** Nothing is sent to a judge with a budget before the store has reserved what it may use. */
import type { Refusal, Till, Tokens, Used } from '../model/budget.ts';

/** `limit`: the key of the budget. Whoever meets it ends the pair as `over_budget`. */
export function overBudget(limit: string): Refusal {
  return { refused: `over_budget: ${limit} leaves no room for this request` };
}

/** Which limit left no room; undefined: it was something else. */
export function overLimit(answer: { readonly kind: string; readonly error?: string }): string | undefined {
  return answer.kind === 'failed' ? /^over_budget: (\w+)/.exec(answer.error ?? '')?.[1] : undefined;
}

/** What a reply tells of its cost. */
interface Costing {
  readonly tokens?: Tokens | undefined;
  /** True: it was not answered, and may have been charged all the same. */
  readonly mayCost?: true;
  /** True: it did not leave. */
  readonly unsent?: true;
}

interface Unpaid {
  readonly kind: 'failed';
  readonly error: string;
  readonly unsent: true;
}

/** Sends once what is paid for. Without a till everything is. */
export async function paid<Reply extends { readonly kind: string } & Costing>(till: Till | undefined, most: Tokens, send: () => Promise<Reply>, signal?: AbortSignal): Promise<Reply | Unpaid> {
  if (till === undefined) return await send();
  const settle = await till.take(most, signal);
  if (typeof settle !== 'function') return { kind: 'failed', error: settle.refused, unsent: true };
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
function usedBy({ kind, tokens, mayCost, unsent }: { readonly kind: string } & Costing): Used {
  if (unsent === true) return 'unsent';
  if (tokens !== undefined) return tokens;
  return mayCost === true || kind === 'text' || kind === 'vectors' ? 'unknown' : 'nothing';
}

/** Beside the texts: roles, marks between messages, the envelope of a schema. */
const tokensAround = 200;

/** Of these texts. A token of any vocabulary stands for at least one byte. */
export function tokensMost(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 16, tokensAround);
}
