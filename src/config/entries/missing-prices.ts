/** What money is counted with. */
import { member, type JsonObject } from '../../model/json.ts';
import { objectAt } from '../partial-value.ts';

/** Keys of a judge's `price` that are not given. */
export function missingPrices(judge: JsonObject): readonly string[] {
  return ['input_per_million', 'output_per_million'].filter((key) => member(objectAt(judge, 'price'), key) === undefined);
}
