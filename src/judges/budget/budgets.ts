/** A budget in the units in which it is counted, and the names of its limits. */
import { eachMeasure, type Amount, type BudgetLimits, type Measure, type Tokens } from '../../model/budget.ts';

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

export function nanoOf(usd: number): number {
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
  /** Of what goes in a batch: many questions are one request then, whose endpoint works on them when it likes, so that no minute bounds them. */
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
