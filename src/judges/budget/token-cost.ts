/** What tokens cost, in billionths of a US dollar: a price a million tokens, times tokens, is a whole number of these more often than not. */
import type { Tokens } from '../../model/budget.ts';

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
