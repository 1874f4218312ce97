/**
 * A budget in the units in which it is counted, the names of its limits, and the reservation. The store reserves what a request may use
 * before the request goes to a judge with a budget.
 */
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

/** US dollars per million tokens. */
export interface TokenPrice {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
}

const nanoPerUsd = 1_000_000_000;
/** Nano-dollars that a token costs at one dollar a million. */
const nanoPerToken = 1_000;

/** Never less than it is. */
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
  /** Whose entry in the configuration it is. */
  readonly of?: 'judge' | 'evaluator';
  readonly name: string;
  /** Of the judge that is asked; absent: tokens cost nothing. */
  readonly price?: TokenPrice | undefined;
  /**
   * The budget of questions in a batch. A batch is one request, and the endpoint chooses when it works on the questions. So no limit of
   * the minute applies.
   */
  readonly isBatched?: true;
}

/** A judge's name has no colon. */
export function accountOf({ of = 'judge', name }: Budget): string {
  return of === 'judge' ? name : `evaluator:${name}`;
}

export function limitsOfDay({ usdPerDay, requestsPerDay, tokensPerDay }: BudgetLimits): Partial<Amount> {
  return {
    ...(usdPerDay === undefined ? {} : { nanoUsd: nanoOf(usdPerDay) }),
    ...(requestsPerDay === undefined ? {} : { requests: requestsPerDay }),
    ...(tokensPerDay === undefined ? {} : { tokens: tokensPerDay }),
  };
}

export function limitsOfMinute({ requestsPerMinute, tokensPerMinute, isBatched }: Budget): Partial<Amount> {
  if (isBatched === true) return {};
  return {
    ...(requestsPerMinute === undefined ? {} : { requests: requestsPerMinute }),
    ...(tokensPerMinute === undefined ? {} : { tokens: tokensPerMinute }),
  };
}

export function isBoundedByMinute(budget: Budget): boolean {
  return Object.keys(limitsOfMinute(budget)).length > 0;
}

/** Of one request. */
export function amountUsed(tokens: Tokens, price: TokenPrice | undefined): Amount {
  return { nanoUsd: price === undefined ? 0 : costOf(tokens, price), requests: 1, tokens: Math.ceil(tokens.input + tokens.output) };
}

/** What is counted against these limits; the rest is not. */
export function counted(amount: Amount, limits: Partial<Amount>): Amount {
  return eachMeasure((measure) => (limits[measure] === undefined ? 0 : amount[measure]));
}

const words: { readonly [measure in Measure]: string } = { nanoUsd: 'usd_per_day', requests: 'requests_per_day', tokens: 'tokens_per_day' };

/** The key of a limit of the day. */
export function limitName(measure: Measure): string {
  return words[measure];
}

/** As the reason of a decision: it says whose limit it is. */
export function reasonOf({ of }: Budget, measure: Measure): string {
  return of === 'evaluator' ? `evaluator_${words[measure]}` : words[measure];
}

/** In the unit of its key: US dollars, requests or tokens. */
export function inUnit(measure: Measure, value: number): number {
  return measure === 'nanoUsd' ? usdOf(value) : value;
}

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
