/** Details that the vectors name and the product puts in other words. */
import { member } from '../../src/model/json.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Verdict } from '../../src/model/verdict.ts';

export function derivedDetails({ details }: Verdict): JsonObject {
  const [matched, expected] = [member(details, 'matched_count'), member(details, 'expected_count')];
  return matched === undefined || expected === undefined ? {} : { matches: matched === expected };
}
