/**
 * `evaluators/pricing/list-prices.ts`, from the price data of genai-prices: models of the vendors themselves that take and give text, each under the
 * names that the vendor's API knows. Resellers stay out, for their prices differ under the same names.
 */
import { findProvider, type MatchLogic, type ModelInfo, type ModelPrice, type TieredPrices } from '@pydantic/genai-prices';
import { modelNames, type Price } from '../../evaluators/pricing/prices.ts';

export const vendors = ['openai', 'anthropic', 'google', 'mistral', 'deepseek', 'x-ai', 'cohere'] as const;

export interface ListedModel {
  readonly vendor: string;
  /** The name in the source. */
  readonly id: string;
  readonly names: readonly string[];
  readonly price: Price;
}

/** Models in the order of the vendors. A name that two models claim is left out of both, and so is one that a shorter name of the same model covers. */
export function listedModels(date: string): readonly ListedModel[] {
  const models = vendors.flatMap((vendor) =>
    (findProvider({ providerId: vendor })?.models ?? []).flatMap((model): readonly ListedModel[] => {
      const price = priceOn(model, date);
      const isForeign = vendor === 'google' && !model.id.startsWith('gemini');
      return price === undefined || isForeign || otherMedia.test(model.id) ? [] : [{ vendor, id: model.id, names: namesOf(model), price }];
    }),
  );
  const claims = new Map<string, number>();
  for (const { names } of models) for (const name of names) claims.set(name, (claims.get(name) ?? 0) + 1);
  return models
    .map((model) => ({ ...model, names: shortNames(model.names.filter((name) => claims.get(name) === 1)) }))
    .filter(({ names }) => names.length > 0);
}

export function listPricesText(date: string, source: string): string {
  const lines = listedModels(date).map(({ names, price }) => `  [${priceText(price)}, ${names.map((name) => `'${name}'`).join(', ')}],`);
  return `/**
 * List prices in US dollars of the vendors' own APIs, for models that \`prices\` of the configuration does not name.
 * Written by \`npm run check -- prices\`; source: ${source} (MIT licence).
 */
import type { Price, PriceTable } from './prices.ts';

/** The day on which these prices held. */
export const listPricesDate = '${date}';

/** A price, and the names of its model. */
const rows: readonly (readonly [Price, ...string[]])[] = [
${lines.join('\n')}
];

export const listPrices: PriceTable = Object.fromEntries(rows.flatMap(([price, ...names]) => names.map((name) => [name, price])));
`;
}

function priceText({ longContext, ...price }: Price): string {
  const fields = (of: object): string =>
    Object.entries(of)
      .map(([key, value]) => `${key}: ${String(value)}`)
      .join(', ');
  return `{ ${fields(price)}${longContext === undefined ? '' : `, longContext: { ${fields(longContext)} }`} }`;
}

/** The price in force on a day; undefined for a price by the hour and for models that take or give anything beside text. */
function priceOn({ prices }: ModelInfo, date: string): Price | undefined {
  if (!Array.isArray(prices)) return priceOf(prices);
  if (prices.some(({ constraint }) => constraint?.type === 'time_of_date')) return undefined;
  const inForce = prices.filter(
    ({ constraint }) => constraint === undefined || (constraint.type === 'start_date' && constraint.start_date <= date),
  );
  return inForce.length === 0 ? undefined : priceOf(inForce.at(-1)?.prices ?? {});
}

const otherMedia = /audio|image|video|realtime|tts|transcribe|live/;
const chargedOtherwise = /^output_(?:audio|image|video)|requests/;

function priceOf(prices: ModelPrice): Price | undefined {
  const [input, cached] = [prices['input_mtok'], prices['cache_read_mtok']];
  // An embedding has no output.
  const output = prices['output_mtok'] ?? 0;
  if (input === undefined || Object.keys(prices).some((key) => chargedOtherwise.test(key))) return undefined;
  const tiers = [input, output, cached].flatMap((one) => (isTiered(one) ? [one.tiers] : []));
  const starts = new Set(tiers.map(([tier]) => tier?.start));
  // One step up, at one size for all, is what the table can say.
  if (tiers.some((own) => own.length !== 1) || starts.size > 1) return undefined;
  const [start] = starts;
  const base = lineOf([input, output, cached], (one) => one.base);
  return start === undefined
    ? base
    : { ...base, longContext: { overInputTokens: start, ...lineOf([input, output, cached], (one) => one.tiers[0]?.price ?? one.base) } };
}

function isTiered(one: ModelPrice[string]): one is TieredPrices {
  return typeof one === 'object';
}

type Line = Omit<Price, 'longContext'>;

function lineOf(
  [input, output, cached]: readonly [ModelPrice[string], ModelPrice[string], ModelPrice[string]],
  pick: (tiered: TieredPrices) => number,
): Line {
  const of = (one: ModelPrice[string]): number => (isTiered(one) ? pick(one) : (one ?? 0));
  return { inputPerMillion: of(input), outputPerMillion: of(output), ...(cached === undefined ? {} : { cachedPerMillion: of(cached) }) };
}

/** Names in full; the beginning that a family of names shares is a separate name, and an open end is none. */
function namesOf({ id, match }: ModelInfo): readonly string[] {
  return [...new Set([id, ...saidNames(match)])].filter((name) => /^[a-z0-9][a-z0-9.-]*[a-z0-9]$/.test(name) && /[\d-]/.test(name));
}

function shortNames(names: readonly string[]): readonly string[] {
  return names.filter((name) => !modelNames(name).some((shorter) => shorter !== name && names.includes(shorter)));
}

function saidNames(match: MatchLogic): readonly string[] {
  if ('or' in match) return match.or.flatMap(saidNames);
  if ('equals' in match) return [match.equals];
  return 'starts_with' in match ? [match.starts_with] : [];
}
