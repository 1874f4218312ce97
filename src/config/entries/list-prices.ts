/** The list prices of vendors behind the prices that the configuration gives. */
import { listPrices } from '../../../evaluators/pricing/list-prices.ts';
import { priceOf, priceTableSchema } from '../../../evaluators/pricing/prices.ts';
import { snakeMembers } from '../../../evaluators/configuration/option-forms.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { ownMembers } from '../schema.ts';
import { objectAt } from '../partial-value.ts';

/**
 * The configuration with a price for every listed model. A list price gives way to any price of the configuration that is for the same
 * model, under a shorter name or one with `*` too.
 */
export function withListPrices(value: JsonObject): JsonObject {
  const own = objectAt(value, 'prices');
  const named = ownPrices(own);
  const listed = Object.entries(snakeMembers(priceTableSchema, listPrices as unknown as JsonObject) as JsonObject).filter(
    ([model]) => priceOf(model, named) === undefined,
  );
  return ownMembers([
    ...Object.entries(value).filter(([key]) => key !== 'prices'),
    ['prices', ownMembers([...Object.entries(own), ...listed])],
  ]);
}

/** The way back: `config print` has only the prices that the author wrote. */
export function withOwnPrices(value: JsonObject, own: JsonObject): JsonObject {
  return ownMembers(Object.entries(value).map(([key, below]) => [key, key === 'prices' ? objectAt(own, key) : below]));
}

/** Only names count here. */
function ownPrices(own: JsonObject): { readonly [model: string]: { readonly inputPerMillion: number; readonly outputPerMillion: number } } {
  return Object.fromEntries(Object.keys(own).map((model) => [model, { inputPerMillion: 0, outputPerMillion: 0 }]));
}

/** Keys of a judge's `price` that are not given. */
export function missingPrices(judge: JsonObject): readonly string[] {
  return ['input_per_million', 'output_per_million'].filter((key) => member(objectAt(judge, 'price'), key) === undefined);
}
