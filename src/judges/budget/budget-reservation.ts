/** Nothing is sent to a judge with a budget before the store has reserved what it may use. */
import type { Refusal, BudgetReservation, Tokens, Used } from '../../model/budget.ts';

/** `limit`: the key of the budget. It ends the pair of run and evaluator as `over_budget`. */
export function overBudget(limit: string): Refusal {
  return { refused: `over_budget: ${limit} leaves no room for this request` };
}

/** Which limit left no room; undefined: it was something else. */
export function overLimit(answer: { readonly kind: string; readonly error?: string }): string | undefined {
  return answer.kind === 'failed' ? /^over_budget: (\w+)/.exec(answer.error ?? '')?.[1] : undefined;
}

/** What a reply says of its cost. */
interface Costing {
  readonly tokens?: Tokens | undefined;
  /** True: it was not answered, but may have been charged. */
  readonly mayCost?: true;
  /** True: it did not leave. */
  readonly unsent?: true;
}

interface Unpaid {
  readonly kind: 'failed';
  readonly error: string;
  readonly unsent: true;
}

/** Sends once what is paid for. Without a reservation everything is. */
export async function withReservation<Reply extends { readonly kind: string } & Costing>(
  reservation: BudgetReservation | undefined,
  most: Tokens,
  send: () => Promise<Reply>,
  signal?: AbortSignal,
): Promise<Reply | Unpaid> {
  if (reservation === undefined) return await send();
  const settle = await reservation.take(most, signal);
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

/** An answer without a usage counts with the most that it may have cost, a refusal with nothing. */
function usedBy({ kind, tokens, mayCost, unsent }: { readonly kind: string } & Costing): Used {
  if (unsent === true) return 'unsent';
  if (tokens !== undefined) return tokens;
  return mayCost === true || kind === 'text' || kind === 'vectors' ? 'unknown' : 'nothing';
}

/** Endpoints add messages of their own, and some count thoughts beside the limit of the answer. */
const mostTimes = 2;
const mostMore = 1_000;
/** Tokens of one answer where nothing bounds it. */
const answerTokensMax = 1_000_000;

/**
 * Whether a request that uses `most` by our own count can have used what the endpoint reports. A mistyped or hostile number must neither end the budget of the day nor make the
 * judge free.
 */
export function isBelievable({ input, output }: Tokens, most: Tokens, answers: boolean): boolean {
  const outputMax = most.output === 0 ? answerTokensMax : most.output * mostTimes + mostMore;
  return (
    Number.isSafeInteger(input) &&
    Number.isSafeInteger(output) &&
    input > 0 &&
    input <= most.input * mostTimes + mostMore &&
    output >= (answers ? 1 : 0) &&
    output <= outputMax
  );
}

/** A reply without the usage that cannot be believed: it then costs the most that it may have cost. */
export function believed<Reply extends { readonly kind: string; readonly tokens?: Tokens | undefined }>(
  reply: Reply,
  most: Tokens,
  onDisbelief: () => void,
): Reply {
  const { tokens, ...others } = reply;
  if (tokens === undefined || isBelievable(tokens, most, reply.kind === 'text')) return reply;
  onDisbelief();
  return {
    ...others,
    ...(reply.kind === 'text' || reply.kind === 'vectors' ? { tokens: undefined } : { mayCost: true }),
  } as unknown as Reply;
}

/** Beside the texts: roles, marks between messages, the envelope of a schema. */
const tokensAround = 200;

/** Of these texts. A token of any vocabulary stands for at least one byte. */
export function tokensMost(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 16, tokensAround);
}
