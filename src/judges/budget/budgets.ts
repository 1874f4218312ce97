/** Budgets in their units, the names of their limits, and the reservation of what a request may use before it goes. */
import {
  eachMeasure,
  type Amount,
  type BudgetLimits,
  type Measure,
  type Tokens,
  type Refusal,
  type BudgetReservation,
  type Used,
} from '../../model/budget.ts';
import { present } from '../../model/present.ts';

/** US dollars per million tokens. */
export interface TokenPrice {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

const nanoPerUsd = 1_000_000_000;
/** Nano-dollars per token at a price of one dollar per million tokens. */
const nanoPerToken = 1_000;

/** In nano-dollars, rounded up. */
export function costOf({ input, output }: Tokens, { inputPerMillion, outputPerMillion }: TokenPrice): number {
  return Math.ceil((input * inputPerMillion + output * outputPerMillion) * nanoPerToken);
}

function nanoOf(usd: number): number {
  return Math.floor(usd * nanoPerUsd);
}

export function usdOf(nano: number): number {
  return nano / nanoPerUsd;
}

export interface Budget extends BudgetLimits {
  /** The kind of the configuration entry that sets it. */
  readonly of?: 'judge' | 'evaluator';
  readonly name: string;
  /** Token price of the judge; `undefined` when tokens cost nothing. */
  readonly price?: TokenPrice | undefined;
  /** True for batched questions. The endpoint chooses when it works on them, so the limits per minute do not apply. */
  readonly isBatched?: true;
}

/** The name of the account. A judge's name has no colon. */
export function accountOf({ of = 'judge', name }: Budget): string {
  return of === 'judge' ? name : `evaluator:${name}`;
}

export function limitsOfDay({ usdPerDay, requestsPerDay, tokensPerDay }: BudgetLimits): Partial<Amount> {
  return present({ nanoUsd: usdPerDay === undefined ? undefined : nanoOf(usdPerDay), requests: requestsPerDay, tokens: tokensPerDay });
}

export function limitsOfMinute({ requestsPerMinute, tokensPerMinute, isBatched }: Budget): Partial<Amount> {
  if (isBatched === true) return {};
  return present({ requests: requestsPerMinute, tokens: tokensPerMinute });
}

export function isBoundedByMinute(budget: Budget): boolean {
  return Object.keys(limitsOfMinute(budget)).length > 0;
}

/** The amount of one request. */
export function amountUsed(tokens: Tokens, price: TokenPrice | undefined): Amount {
  return { nanoUsd: price === undefined ? 0 : costOf(tokens, price), requests: 1, tokens: Math.ceil(tokens.input + tokens.output) };
}

/** The part of the amount that these limits bound. */
export function counted(amount: Amount, limits: Partial<Amount>): Amount {
  return eachMeasure((measure) => (limits[measure] === undefined ? 0 : amount[measure]));
}

const words: { readonly [measure in Measure]: string } = { nanoUsd: 'usd_per_day', requests: 'requests_per_day', tokens: 'tokens_per_day' };

/** The key of a limit of the day. */
export function limitName(measure: Measure): string {
  return words[measure];
}

/** The reason of a decision; it names the owner of the limit. */
export function reasonOf({ of }: Budget, measure: Measure): string {
  return of === 'evaluator' ? `evaluator_${words[measure]}` : words[measure];
}

/** Converts to the unit of the limit: US dollars, requests or tokens. */
export function inUnit(measure: Measure, value: number): number {
  return measure === 'nanoUsd' ? usdOf(value) : value;
}

/** `limit`: the key of the limit. The pair of run and evaluator ends as `over_budget`. */
export function overBudget(limit: string): Refusal {
  return { refused: `over_budget: ${limit} leaves no room for this request` };
}

/** The limit that refused the request; `undefined` for any other outcome. */
export function overLimit(answer: { readonly kind: string; readonly error?: string }): string | undefined {
  return answer.kind === 'failed' ? /^over_budget: (\w+)/.exec(answer.error ?? '')?.[1] : undefined;
}

/** The cost that a reply reports. */
interface Costing {
  readonly tokens?: Tokens | undefined;
  /** True when the request has no answer but may have been charged. */
  readonly mayCost?: true;
  /** True when the request was not sent. */
  readonly unsent?: true;
}

interface Unsent {
  readonly kind: 'failed';
  readonly error: string;
  readonly unsent: true;
}

/** Sends within a reservation and settles it. Sends at once when there is no reservation. */
export async function withReservation<Reply extends { readonly kind: string } & Costing>(
  reservation: BudgetReservation | undefined,
  most: Tokens,
  send: () => Promise<Reply>,
  signal?: AbortSignal,
): Promise<Reply | Unsent> {
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

/** An answer without usage counts as the most that it may have cost, a refusal as nothing. */
function usedBy({ kind, tokens, mayCost, unsent }: { readonly kind: string } & Costing): Used {
  if (unsent === true) return 'unsent';
  if (tokens !== undefined) return tokens;
  return mayCost === true || kind === 'text' || kind === 'vectors' ? 'unknown' : 'nothing';
}

/** Tolerance: endpoints add messages, and some count reasoning beside the limit of the answer. */
const mostTimes = 2;
const mostMore = 1_000;
/** Tokens of one answer without a configured limit. */
const answerTokensMax = 1_000_000;

/**
 * True when a request bounded by `most` can have used the reported tokens. A wrong or hostile number must neither exhaust the day's budget
 * nor make the judge free.
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

/** Removes a usage that is not believable, so the reply counts as the most that it may have cost. */
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

/** Tokens beside the texts: roles, separators, the envelope of a schema. */
const tokensAround = 200;

/** An upper bound for these texts: a token of any vocabulary covers at least one byte. */
export function tokensMost(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 16, tokensAround);
}
