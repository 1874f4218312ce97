/** Token counts in one JSON text: `{"input": 104, "input_cache_read": 16, "output": 23, "output_reasoning": 4, "total": 147}`. */
import { member, type JsonObject } from '../../src/model/json.ts';

/** The SDKs take cached, reasoning and other tokens out of the number that they belong to; a total that adds up without them proves otherwise. */
export function usageSum(usage: JsonObject, side: 'input' | 'output'): number | undefined {
  const rest = countIn(usage, side);
  if (rest === undefined || countIn(usage, 'total') === rest + (countIn(usage, side === 'input' ? 'output' : 'input') ?? 0)) return rest;
  return Object.keys(usage).reduce((sum, key) => (key.startsWith(`${side}_`) ? sum + (countIn(usage, key) ?? 0) : sum), rest);
}

export function countIn(usage: JsonObject, key: string): number | undefined {
  const value = member(usage, key);
  return typeof value === 'number' ? value : undefined;
}
